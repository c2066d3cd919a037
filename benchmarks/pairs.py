"""Whole processes, timed in turn: A B A B ..., so that a machine whose speed drifts slows both alike.

Wall time from start to reaping; peak memory as the kernel accounts it for the finished process (getrusage). Output
is read by nobody: it goes to /dev/null. Quote medians of the ratios, never single times.

The kernel counts the memory of whoever starts a process as the process's own until it runs its program. So this file is
also a program, which is small: it reads the commands as JSON and does the measuring.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Command(NamedTuple):
    """A process to time. stdin: the file it reads, None for nothing."""

    argv: Sequence[str]
    environ: Mapping[str, str]
    stdin: Path | None = None


class Run(NamedTuple):
    """One finished process. processor_seconds: user and system time, which a busy machine changes least."""

    seconds: float
    processor_seconds: float
    peak_mib: float


class Pair(NamedTuple):
    """Medians of two commands run in turn. The ratios: the median of first over second, pair by pair."""

    first: Run
    second: Run
    ratio: float
    processor_ratio: float
    pairs: int


def timed(command: Command) -> Run:
    """Runs the command once. Raises RuntimeError if it fails: a failure is quick and would look good."""
    reader = os.open(command.stdin or os.devnull, os.O_RDONLY)
    writer = os.open(os.devnull, os.O_WRONLY)
    actions = [
        (os.POSIX_SPAWN_DUP2, reader, 0),
        (os.POSIX_SPAWN_DUP2, writer, 1),
        (os.POSIX_SPAWN_DUP2, writer, 2),
    ]
    started = time.perf_counter()
    pid = os.posix_spawnp(command.argv[0], list(command.argv), dict(command.environ), file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    os.close(reader)
    os.close(writer)
    if status:
        raise RuntimeError(f"{' '.join(command.argv)} ended with status {os.waitstatus_to_exitcode(status)}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def compared(first: Command, second: Command, runs: int, seconds: float = 30) -> Pair:
    """The two commands in turn after one warm-up, started by a small process.

    At most `runs` pairs; fewer, but at least three, where those would take longer than `seconds`.
    """
    job = json.dumps(
        {"first": first._asdict(), "second": second._asdict(), "runs": runs, "seconds": seconds}, default=str
    )
    done = subprocess.run(
        [sys.executable, "-I", __file__], input=job, stdout=subprocess.PIPE, text=True, check=True
    )
    one, other, *ratios, count = json.loads(done.stdout)
    return Pair(Run(*one), Run(*other), *ratios, count)


def _compared(first: Command, second: Command, runs: int, seconds: float) -> Pair:
    once = timed(first).seconds + timed(second).seconds
    pairs = [(timed(first), timed(second)) for _ in range(max(min(runs, 3), min(runs, int(seconds / once))))]
    return Pair(
        _medians([one for one, _ in pairs]),
        _medians([other for _, other in pairs]),
        median(one.seconds / other.seconds for one, other in pairs),
        median(one.processor_seconds / other.processor_seconds for one, other in pairs),
        len(pairs),
    )


def _medians(runs: Sequence[Run]) -> Run:
    return Run(*(median(column) for column in zip(*runs, strict=True)))


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    commands = Command(**asked["first"]), Command(**asked["second"])
    print(json.dumps(_compared(*commands, asked["runs"], asked["seconds"])))
