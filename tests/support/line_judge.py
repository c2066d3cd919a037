"""A judge that is a program: it answers one line of JSON for each line of JSON (tests/judges)."""

import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class LineJudge:
    """One running judge."""

    def __init__(self, binary: Path) -> None:
        environ = {**os.environ, "GOTRACEBACK": "none"}
        self._process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, question: object) -> Any:
        """The answer. Raises AssertionError where the judge has ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(question).encode() + b"\n")
        stdin.flush()
        line = stdout.readline()
        assert line, "the judge ended"
        return json.loads(line)
