"""The judge of objects: what an API server says about them (tests/judges/schema).

    judge.load(paths)            definitions from files; the kinds that it knows from then on
    judge.errors(object)         ["spec.a: unknown field", ..] by the kind's schema or Go type
    judge.knows(object)          "schema", "types" or "" for neither

Compare the errors before and after: a sample that lacks what the schema requires lacks it afterwards, too.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from line_judge import LineJudge


class SchemaJudge(LineJudge):
    """One running judge."""

    def __init__(self, binary: Path) -> None:
        super().__init__(binary)
        self.kinds: dict[tuple[str, str], list[str]] = {}

    def load(self, paths: Iterable[Path]) -> None:
        """Read definitions. `kinds` maps (group, kind) to the versions that are known. Raises AssertionError."""
        answer = self.ask({"crds": [str(path) for path in paths]})
        assert not answer["errors"], answer["errors"]
        for name in answer["kinds"]:
            group, version, kind = name.split("/")
            self.kinds.setdefault((group, kind), []).append(version)

    def errors(self, value: Any) -> list[str]:
        """What is wrong with the object, sorted; [] for a kind that is not known."""
        errors: list[str] = self.ask({"object": value})["errors"]
        return errors

    def knows(self, value: Any) -> str:
        """By what the object is judged."""
        by: str = self.ask({"object": value})["by"]
        return by
