"""The file of --history: a line of JSON for each audit of one cluster, and how a line is added.

    {"schema":"archfit.dev/audit-history/v1alpha1","date":"2026-11-23T00:30:00Z","cluster":"prod-eu",..}

    the file holds                        what becomes of it
    lines of this cluster                 one more line; the same snapshot, counted alike, renews its line
    lines of another cluster, of another  stays as it is: `Refused`
      namespace; no line at all
    a line that is cut or no such line    stays in its place, is not counted, and is named
    more than MOST_LINES                  the oldest leave the file; said

The file is replaced as a whole, under a lock of its own (flock), so that two runs lose no line and no reader sees half
of one. Nothing here raises for what a file holds: a history never changes how an audit ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import EAGAIN

from archfit.audit.reports import WrongRecord, read_record
from archfit.audit.trend.trend import Point
from archfit.base.errors import UsageError
from archfit.base.files import read_regular, replace
from archfit.base.printable import count, visible
from archfit.base.record_json import record_value
from archfit.base.results import Result
from archfit.startup.record import Record

SCHEMA = "archfit.dev/audit-history/v1alpha1"
MOST_LINES = 5_000
MOST_BYTES = 32 << 20
_ANY_SCHEMA = b'{"schema":"archfit.dev/audit-history/'
_LOCK_SECONDS = 10.0
_PAUSE = 0.02
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch


class Line(Record):
    """One line as it is. point: None where it is cut, or no line of this version."""

    text: bytes
    point: Point | None = None


class History(Record):
    """What a file holds. refusal: why nothing can be added to it, with the remedy; "" else."""

    path: str
    lines: tuple[Line, ...] = ()
    refusal: str = ""

    @property
    def points(self) -> tuple[Point, ...]:
        """Those of the lines that count."""
        return tuple(line.point for line in self.lines if line.point is not None)

    def refused(self, point: Point) -> str:
        """Why the point cannot be added, with the remedy; "" where it can."""
        if self.refusal:
            return self.refusal
        for other in self.points:
            if not point.is_of_cluster(other):
                known = point.uid and other.uid
                same = "" if known else f", or add --cluster {visible(other.cluster)} if it is the same one"
                return (
                    f"{self.path} is the history of the cluster {_named(other)}, and this audit is of {_named(point)}: "
                    f"name another file{same}"
                )
            if point.namespace != other.namespace:
                return (
                    f"{self.path} is the history of {_scope(other)}, and this audit is of {_scope(point)}: name "
                    "another file"
                )
        return ""


def check_path(path: str) -> None:
    """Raises UsageError for a path where no history can be, before anything is asked."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"--history: there is no folder {folder!r}: make it, or name another file")
    try:
        mode = os.stat(path).st_mode
    except OSError:
        mode = stat.S_IFREG
    if not stat.S_ISREG(mode):
        raise UsageError(f"--history: {path!r} is not a regular file: name one, which need not exist")
    target = os.path.dirname(os.path.realpath(path))
    if not os.access(target, os.W_OK | os.X_OK) or (os.path.exists(path) and not os.access(path, os.R_OK)):
        raise UsageError(
            f"--history: {path!r} cannot be read and replaced: name a file in a folder that you can write to"
        )


def read_history(path: str) -> History:
    """What the file holds; nothing where it is not there."""
    try:
        data = read_regular(path, MOST_BYTES + 1)
    except FileNotFoundError:
        return History(path)
    except OSError as error:
        return History(path, (), f"cannot read {path!r} ({error.strerror}): name another file")
    if len(data) > MOST_BYTES:
        return History(
            path,
            (),
            f"{path} is larger than {MOST_BYTES >> 20} MiB, so it is no history: name another file, or move it",
        )
    texts = data.removesuffix(b"\n").split(b"\n") if data else []
    if any(text.strip() for text in texts) and not any(text.startswith(_ANY_SCHEMA) for text in texts):
        return History(path, (), f"{path} is no history of archfit audit: name another file, or move it")
    return History(path, tuple(Line(text, _point(text)) for text in texts))


def add(path: str, point: Point) -> list[Result]:
    """Adds the point, and says what is to be said of the file. Never raises."""
    real = os.path.realpath(path)
    try:
        with _locked(real):
            history = read_history(real).replace(path=path)
            if refusal := history.refused(point):
                return [_warning(f"{refusal}. Nothing was added")]
            lines, left = _with(history.lines, point)
            content = b"".join(line.text + b"\n" for line in lines)
            if lines != history.lines:
                replace(real, content, sync=True)
    except OSError as error:
        return [_warning(f"cannot write {path!r} ({error.strerror}): nothing was added")]
    results = [_warning(words) for words in _uncounted(path, lines, point)]
    if left:
        results.append(
            Result(
                "info",
                f"--history: {path} keeps the newest {MOST_LINES:,} lines: {count(left, 'older line')} left it",
            )
        )
    return results


def _with(lines: tuple[Line, ...], point: Point) -> tuple[tuple[Line, ...], int]:
    """The lines with the point, and how many of the oldest had to go."""
    for place, line in enumerate(lines):
        if line.point is not None and point.renews(line.point):
            whole = point.with_architectures_of(line.point)
            new = line if whole == line.point else _line(whole)
            return (*lines[:place], new, *lines[place + 1 :]), 0
    everything = (*lines, _line(point))
    return everything[-MOST_LINES:], max(0, len(everything) - MOST_LINES)


def _line(point: Point) -> Line:
    value = {"schema": SCHEMA, **record_value(point)}
    return Line(json.dumps(value, separators=(",", ":")).encode(), point)


def _point(text: bytes) -> Point | None:
    if not text.startswith(_ANY_SCHEMA):
        return None
    try:
        value = json.loads(text)
        if value.pop("schema") != SCHEMA:
            return None
        found = read_record(Point, value, "the line")
    except (ValueError, RecursionError, WrongRecord):
        return None
    return found if isinstance(found, Point) and _DATE(found.date) else None


def _uncounted(path: str, lines: Sequence[Line], point: Point) -> Iterator[str]:
    """What of the file counts for no trend, and what to do."""
    cut = [number for number, line in enumerate(lines, 1) if line.point is None and line.text.strip()]
    if cut:
        numbers = ";".join(f"{number}d" for number in cut[:5])
        more = f" (the first 5 of {len(cut)})" if len(cut) > 5 else ""
        verb = "is" if len(cut) == 1 else "are"
        yield (
            f"{count(len(cut), 'line')} of {path} {verb} cut, or not of this version of archfit: kept, not counted. "
            f"To delete{more}: sed -i.bak '{numbers}' {shlex.quote(path)}"
        )
    other = sum(1 for line in lines if line.point and line.point.assume_cpu != point.assume_cpu)
    if other:
        yield (
            f"{count(other, 'line')} of {path} counted pods without CPU requests otherwise (--assume-cpu): kept, and "
            "no part of this trend"
        )


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Holds the lock of the file, which is made where it is not there. Raises OSError, also where others keep it."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another run may have put a new file in the place of the one that was opened.
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                yield
                return
        except BlockingIOError:
            if time.monotonic() > until:
                raise OSError(
                    EAGAIN, f"another process has kept its lock for {_LOCK_SECONDS:g} seconds"
                ) from None
            time.sleep(_PAUSE)
        finally:
            os.close(descriptor)


def _warning(words: str) -> Result:
    return Result("warning", f"--history: {words}")


def _named(point: Point) -> str:
    more = f" (uid {point.uid})" if point.uid and point.uid != point.cluster else ""
    return f"{visible(point.cluster)}{more}"


def _scope(point: Point) -> str:
    return f"the namespace {visible(point.namespace)}" if point.namespace else "the whole cluster"
