"""Checks that run side by side, each in a thread, all of them within one deadline.

A check is a function that yields findings. What it found before the deadline counts; then one more finding says that it
did not end. Programs that it started are ended with it (`external_program.until`). A check that fails by a bug is a
finding too: the others are still of use.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from archfit.errors import ArchfitError
from archfit.integrations.external_program import until
from archfit.report.doctor_findings import WRONG, Finding

Check: TypeAlias = Callable[[], Iterable[Finding]]


def run_checks(checks: Mapping[str, Check], seconds: float) -> list[Finding]:
    """The findings in the order of the checks. checks: by the subject that a finding has where none ended in time."""
    ends = time.monotonic() + seconds
    found: dict[str, list[Finding]] = {subject: [] for subject in checks}
    threads = {
        subject: threading.Thread(target=_collect, args=(check, ends, subject, found[subject]), daemon=True)
        for subject, check in checks.items()
    }
    for thread in threads.values():
        thread.start()
    for thread in threads.values():
        # A program that is ended at the deadline still has to be waited for.
        thread.join(max(0.0, ends - time.monotonic()) + 1.0)
    return [
        finding
        for subject, thread in threads.items()
        for finding in (*tuple(found[subject]), *_late(subject, seconds, late=thread.is_alive()))
    ]


def _late(subject: str, seconds: float, *, late: bool) -> Sequence[Finding]:
    words = f"did not end within {seconds:g} s, and was given up"
    return (Finding(subject, WRONG, words, "archfit doctor --timeout 60s"),) if late else ()


def _collect(check: Check, ends: float, subject: str, into: list[Finding]) -> None:
    try:
        with until(ends):
            into.extend(check())
    except ArchfitError as error:
        into.append(Finding(subject, WRONG, str(error)))
    except Exception as error:  # noqa: BLE001 - one check must not hide what the others found
        into.append(Finding(subject, WRONG, f"could not be checked: {type(error).__name__}: {error}"))
