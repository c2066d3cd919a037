"""What holds for every run, whatever the registry, the disk, the cache or the caller does.

in time     it ends within its deadline plus two seconds
exit 0      standard output is the true stream
exit 1      standard output is empty, and standard error names one problem for each image at most
killed      standard output is empty or the true stream
always      nothing "itself failed", no traceback, no secret, no control character; a report says what happened
after it    no process is left; the cache is whole, and a run from it writes the true stream
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

GRACE_SECONDS = 2.0
_LONGEST_WORDS = 16_384
_BUGS = (
    "archfit itself failed", "Traceback", "Exception ignored", "Exception in thread", "Fatal Python error",
)  # fmt: skip
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


class Ended(NamedTuple):
    """A run. status: the exit code, negative for a signal.

    seconds: from its start to its end, without those in which the machine gave it no processor.
    """

    status: int
    stdout: bytes
    stderr: str
    seconds: float


class Expected(NamedTuple):
    """truths: streams that may be written. statuses: exit codes that are right. heard: standard error can be read."""

    truths: Collection[bytes]
    deadline: float
    secrets: Collection[str]
    images: int
    statuses: Collection[int] = (0, 1)
    heard: bool = True


def broken(ended: Ended, expected: Expected, *, killed: bool) -> Iterator[str]:
    if ended.seconds > expected.deadline + GRACE_SECONDS:
        yield f"late: {ended.seconds:.2f} s with a deadline of {expected.deadline} s"
    if killed and ended.status < 0:
        if ended.stdout and ended.stdout not in expected.truths:
            yield "killed: the output is neither empty nor true"
    elif ended.status not in expected.statuses:
        yield f"status {ended.status}, not one of {list(expected.statuses)}"
    elif ended.status == 0 and ended.stdout not in expected.truths:
        yield "exit 0 with an output that is not true"
    elif ended.status == 1:
        yield from _refusal(ended, expected)
    yield from (f"said: {bug}" for bug in _BUGS if bug in ended.stderr)
    if any(secret in ended.stderr or secret.encode() in ended.stdout for secret in expected.secrets):
        yield "a secret is shown"
    if found := _CONTROL.search(ended.stderr):
        yield f"a control character is shown: {found[0]!r}"


def _refusal(ended: Ended, expected: Expected) -> Iterator[str]:
    if ended.stdout:
        yield "exit 1 with an output"
    if not expected.heard:
        return
    errors = [line for line in ended.stderr.splitlines() if line.startswith("archfit: error: ")]
    if not 1 <= len(errors) <= max(1, expected.images):
        yield f"exit 1 with {len(errors)} errors for {expected.images} images"
    if len(ended.stderr) > _LONGEST_WORDS:
        yield f"{len(ended.stderr)} characters of words"


def report(path: Path, status: int) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if status in {0, 1}:
            yield "no report was written"
        return
    try:
        said = json.loads(text)["exit"]
    except (ValueError, KeyError) as error:
        yield f"the report is damaged: {error}"
        return
    if said != status and status >= 0:
        yield f"the report says exit {said}, the run ended with {status}"


def cache(path: Path) -> Iterator[str]:
    if not path.exists():
        return
    file = sqlite3.connect(path)
    try:
        said = file.execute("PRAGMA integrity_check").fetchall()
        if said != [("ok",)]:
            yield f"the cache is damaged: {said}"
    except sqlite3.DatabaseError as error:
        yield f"the cache is damaged: {error}"
    finally:
        file.close()


def kept(folder: Path, secrets: Collection[str]) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in secrets):
            yield f"a secret is kept in {path.relative_to(folder)}"
