"""What container runtimes take from an index, by their own code (tests/judges/runtime).

    judge.taken(index, node)  -> {"containerd": "sha256:..", "containerd-transfer": "", "cri-o": "sha256:.."}

A value is the digest of the config of what the runtime takes on the node, "" where it takes nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

RUNTIMES = ("containerd", "containerd-transfer", "cri-o")


class Documents(NamedTuple):
    """An index and all that it names, by digest. top: the index's own."""

    top: str
    media_type: str
    blobs: dict[str, bytes]

    @property
    def body(self) -> bytes:
        return self.blobs[self.top]


def digest_of(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


class RuntimeJudge:
    """One running judge: a process that answers one line of JSON for each line of JSON."""

    def __init__(self, binary: Path) -> None:
        self._process = subprocess.Popen(
            [binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"GOTRACEBACK": "none"}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def taken(self, documents: Documents, node: dict[str, str]) -> dict[str, str]:
        """By runtime, the config of what it takes on a node such as {"os": "linux", "architecture": "arm64"}."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        blobs = {name: base64.b64encode(body).decode() for name, body in documents.blobs.items()}
        question = {
            "index": documents.top,
            "mediaType": documents.media_type,
            "blobs": blobs,
            "node": node,
        }
        stdin.write(json.dumps(question).encode() + b"\n")
        stdin.flush()
        line = stdout.readline()
        assert line, "the judge of the runtimes ended"
        answer: dict[str, Any] = json.loads(line)
        return answer
