"""The judge of objects: what an API server says about them (tests/judges/schema).

    judge.load(paths)            definitions from files; the kinds that it knows from then on
    judge.errors(object)         ["spec.a: unknown field", ..] by the kind's schema or Go type
    judge.knows(object)          "schema", "types" or "" for neither

Compare the errors before and after: a sample that lacks what the schema requires lacks it afterwards, too.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class SchemaJudge:
    """One running judge: a process that answers one line of JSON for each line of JSON."""

    def __init__(self, binary: Path) -> None:
        self._process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.kinds: dict[tuple[str, str], list[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def load(self, paths: Iterable[Path]) -> None:
        """Read definitions. `kinds` maps (group, kind) to the versions that are known. Raises AssertionError."""
        answer = self._asked({"crds": [str(path) for path in paths]})
        assert not answer["errors"], answer["errors"]
        for name in answer["kinds"]:
            group, version, kind = name.split("/")
            self.kinds.setdefault((group, kind), []).append(version)

    def errors(self, value: Any) -> list[str]:
        """What is wrong with the object, sorted; [] for a kind that is not known."""
        errors: list[str] = self._asked({"object": value})["errors"]
        return errors

    def knows(self, value: Any) -> str:
        """By what the object is judged."""
        by: str = self._asked({"object": value})["by"]
        return by

    def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("the judge was started without pipes")
        self._process.stdin.write(json.dumps(question).encode("ascii") + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer
