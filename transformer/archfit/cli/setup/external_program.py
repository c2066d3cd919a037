"""A program that is run to its end: Helm, kustomize, kpt, kubectl, or archfit itself.

It runs in a process group of its own, which is ended as a whole: a shell script that is given up leaves nothing behind
that holds its pipes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar

from archfit.base.errors import ArchfitError

LONGEST_SECONDS = 60.0
_ends: ContextVar[float] = ContextVar("ends", default=float("inf"))


@contextlib.contextmanager
def until(ends: float) -> Iterator[None]:
    """Programs that this thread starts meanwhile are given up at that time at the latest. ends: by time.monotonic()."""
    token = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(token)


def run_program(words: Sequence[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a program without input. Raises ArchfitError if it cannot be started or does not end."""
    seconds = max(0.0, min(LONGEST_SECONDS, _ends.get() - time.monotonic()))
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own programs, from PATH or named by flag; no shell
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            encoding="utf-8",
            errors="replace",
            process_group=0,
        )
    except OSError as error:
        raise ArchfitError(f"{words[0]} cannot be run: {error.strerror}") from None
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise ArchfitError(f"{' '.join(words)} did not end within {seconds:.3g} s") from None
    except BaseException:
        _end(process)
        raise
    return subprocess.CompletedProcess(list(words), process.returncode, stdout, stderr)


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
