"""Questions to the Go judge, many in one line of JSON, while this process makes the next ones.

    asking.send(questions)      returns at once
    asking.answers()            what the judge says of them, in order; None for one that kills it

Comparisons are asked as compare.go of tests/judges/yaml takes them, streams as its readers.go does. The judge is one
process. A stream that kills it (a stack overflow is fatal in Go) costs a new process, nothing else.
"""

import base64
import gc
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

Question: TypeAlias = dict[str, Any] | str
Answer = dict[str, Any]
Item = TypeVar("Item")

BATCH = 50


def question(
    before: bytes, after: bytes | None, documents: int, patch: Sequence[Any], *, both: bool
) -> Question:
    return {
        "before": base64.b64encode(before).decode("ascii"),
        "after": None if after is None else base64.b64encode(after).decode("ascii"),
        "documents": documents,
        "patch": patch,
        "both": both,
    }


class Asking:
    """One running judge. asked, answered: the names of the lists of questions and of answers."""

    def __init__(self, binary: Path, asked: str = "compare", answered: str = "compared") -> None:
        self._binary = binary
        self._names = asked, answered
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: list[Question] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._end()

    def ask(self, questions: Sequence[Question]) -> list[Answer | None]:
        self.send(questions)
        return self.answers()

    def send(self, questions: Sequence[Question]) -> None:
        """Ask; the answers to what was asked before have to be fetched first."""
        self._asked = list(questions)
        if self._asked:
            self._write(self._asked)

    def answers(self) -> list[Answer | None]:
        """The answers to what was sent."""
        asked, self._asked = self._asked, []
        if not asked:
            return []
        line = self._read()
        if line:
            answers: list[Answer | None] = json.loads(line)[self._names[1]]
            return answers
        self._end()
        if len(asked) == 1:
            return [None]
        half = len(asked) // 2
        return [*self.ask(asked[:half]), *self.ask(asked[half:])]

    def _write(self, questions: list[Question]) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [self._binary],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"GOTRACEBACK": "none", "GOGC": "400"},
            )
        if self._process.stdin is None:
            raise AssertionError("the judge was started without pipes")
        try:
            self._process.stdin.write(json.dumps({self._names[0]: questions}).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._end()

    def _read(self) -> bytes:
        if self._process is None or self._process.stdout is None:
            return b""
        return self._process.stdout.readline()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def answered(
    asking: Asking,
    numbers: range,
    made: Callable[[int], Item],
    question_of: Callable[[Item], Question | None],
    seconds: float,
) -> Iterator[tuple[Item, Answer | None]]:
    """What is made of each number, with its answer, for at most so long.

    The judge works on one batch while the next one is made. What has no question has no answer.
    """
    gc.set_threshold(100_000, 50, 100)  # nearly all that a run makes goes at its end
    until = time.monotonic() + seconds
    waiting: list[Item] = []

    def taken() -> list[tuple[Item, Answer | None]]:
        left = iter(asking.answers())
        return [(one, next(left) if question_of(one) else None) for one in waiting]

    for first in range(numbers.start, numbers.stop, BATCH):
        batch = [made(number) for number in range(first, min(first + BATCH, numbers.stop))]
        yield from taken()
        waiting = batch
        asking.send([asked for one in batch if (asked := question_of(one))])
        if time.monotonic() > until:
            break
    yield from taken()
