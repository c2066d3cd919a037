"""Run the tests of this project on all processors; `make test`, `make test-all` and `make lowest` do.

    python tests/support/run_tests.py [--quick] [pytest's options and paths..]

Without --quick pytest runs twice. First all tests that have no marker `load`, in one worker for each processor (at
most 8). Then, alone and one after the other, the tests with that marker: they bound time and memory. --quick leaves
these out (tests/conftest.py), so that one run is enough.

The exit status is pytest's: of the first run, where that failed, else of the second. A run that finds no test is a
failure (5) only where the other one finds none either.
"""

from __future__ import annotations

import subprocess
import sys

WORKERS = ("-n", "auto", "--maxprocesses", "8")
TOGETHER = (*WORKERS, "--dist", "loadfile", "--no-loadscope-reorder")
NO_TESTS = 5
# pytest's statuses after which a second run makes sense: all passed, some failed, no test found.
COMPLETE = {0, 1, NO_TESTS}


def run(words: list[str]) -> int:
    """Run pytest, twice without --quick. The exit status."""
    if "--quick" in words:
        return _pytest(*WORKERS, "--dist", "worksteal", *words)
    first = _pytest("-m", "not load", *TOGETHER, *words)
    if first not in COMPLETE:
        return first
    second = _pytest("-m", "load", *words)
    statuses = [status for status in (first, second) if status != NO_TESTS]
    return next(filter(None, statuses), 0) if statuses else NO_TESTS


def _pytest(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
