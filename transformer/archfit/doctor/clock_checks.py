"""The clock of this machine. What a machine can know by itself: whether its files are from the future.

How far it is off, only a server can tell: `archfit doctor --registry HOST` compares it with its answer's Date header.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime

from archfit.base.printable import span
from archfit.doctor.findings import Diagnostic, note, ok, wrong

SUBJECT = "clock"
_TOLERATED_SECONDS = 60
_SET = "timedatectl shows whether the clock is synchronised; timedatectl set-ntp true turns it on"


def clock(now: float, files: Iterable[str]) -> Iterator[Diagnostic]:
    """now: Unix seconds. files: those whose times are compared; one that is missing counts for nothing."""
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    ahead = {path: seconds for path in files if (seconds := _mtime(path) - now) > _TOLERATED_SECONDS}
    if not ahead:
        yield ok(SUBJECT, f"{shown}; no file of archfit is later (--registry HOST compares)")
        return
    path, seconds = max(ahead.items(), key=lambda item: item[1])
    yield note(
        SUBJECT,
        f"{shown}, but {path} was written {span(seconds)} later: the clock is behind, or it was ahead then",
        _SET,
    )


def skew(date: str, now: float, origin: str) -> Iterator[Diagnostic]:
    """date: the Date header of an answer (RFC 9110, section 6.6.1), "" for none."""
    try:
        seconds = parsedate_to_datetime(date).timestamp() - now
    except ValueError:
        yield note(SUBJECT, f"{origin} sent no date to compare the clock with")
        return
    if abs(seconds) <= _TOLERATED_SECONDS:
        yield ok(SUBJECT, f"agrees with {origin} within a minute")
        return
    direction = "behind" if seconds > 0 else "ahead of"
    yield wrong(SUBJECT, f"is {span(abs(seconds))} {direction} {origin}", _SET)


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0
