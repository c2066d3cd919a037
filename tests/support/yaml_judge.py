"""The independent judge of YAML: what kubectl, kustomize and Helm 4 read, by their own Go code (tests/judges/yaml).

    judge.kubectl(b"a: on")       -> [{"a": True}]
    judge.kustomize(b"a: on")     -> [{"a": "on"}]
    judge.helm4(b"---foo")        raises Refused, with the reader's own message

Values are what `json` makes of them: integers are exact, and a float is a float. Python holds `True == 1 ==
1.0`, so compare the texts of `typed(value)`.
"""

import base64
import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Refused(Exception):
    """The reader's error. `documents` are those that it had handed out before (kubectl applies them)."""

    def __init__(self, message: str, documents: list[Any]) -> None:
        super().__init__(message)
        self.message = message
        self.documents = documents


def typed(value: object) -> str:
    """The value as text that keeps types apart (`true`, `1`, `1.0`, `"1"`) and ignores the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


class Judge:
    """One running judge: a process that answers one line of JSON for each line of JSON."""

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def kubectl(self, text: bytes) -> list[Any]:
        """The documents as kubectl reads them, nulls left out. Raises Refused."""
        return self.read("kubectl", text)

    def kustomize(self, text: bytes) -> list[Any]:
        """The documents as kustomize reads and prints them, a lone List kept whole. Raises Refused."""
        return self.read("kustomize", text)

    def helm4(self, text: bytes) -> list[Any]:
        """The documents as Helm 4 reads a post-renderer's output, a lone List taken apart. Raises Refused."""
        return self.read("helm4", text)

    def read(self, reader: str, text: bytes) -> list[Any]:
        """The documents of `text` by one of the readers named in the class. Raises Refused."""
        process = self._started()
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the judge was started without pipes")
        question = json.dumps({"reader": reader, "text": base64.b64encode(text).decode("ascii")})
        process.stdin.write(question.encode("ascii") + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            # Some input kills the reader outright (a stack overflow is fatal in Go), and kustomize with it.
            self._process = None
            raise Refused(f"crashed: {process.communicate()[1].decode(errors='replace').strip()}", [])
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"], answer["documents"])
        documents: list[Any] = answer["documents"]
        return documents

    def close(self) -> None:
        """End the process; the next question would start another."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self._binary],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"GOTRACEBACK": "none"},
            )
        return self._process
