"""What container runtimes take from an index, by their own code (tests/judges/runtime).

    judge.taken(index, node)  -> {"containerd": "sha256:..", "containerd-transfer": "", "cri-o": "sha256:.."}

A value is the digest of the config of what the runtime takes on the node, "" where it takes nothing.
"""

import base64
import hashlib
from typing import NamedTuple

from line_judge import LineJudge

NODES = {
    "amd64": {"os": "linux", "architecture": "amd64"},
    "arm64": {"os": "linux", "architecture": "arm64", "variant": "v8"},
    "arm": {"os": "linux", "architecture": "arm", "variant": "v7"},
    "386": {"os": "linux", "architecture": "386"},
    "s390x": {"os": "linux", "architecture": "s390x"},
}
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


class RuntimeJudge(LineJudge):
    """One running judge."""

    def taken(self, documents: Documents, node: dict[str, str]) -> dict[str, str]:
        """By runtime, the config of what it takes on a node such as {"os": "linux", "architecture": "arm64"}."""
        blobs = {name: base64.b64encode(body).decode() for name, body in documents.blobs.items()}
        question = {"index": documents.top, "mediaType": documents.media_type, "blobs": blobs, "node": node}
        answer: dict[str, str] = self.ask(question)
        return answer
