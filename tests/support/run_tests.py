"""Run the tests of this project on all processors; `make test`, `make test-real` and `make lowest` do.

    python tests/support/run_tests.py [-m MARKERS] [pytest's options and paths..]

pytest runs twice. First all tests that have no marker `load`, in one worker for each processor (at most 8). Then, alone
and one after the other, the tests with that marker: they bound time and memory.

The exit status is pytest's: of the first run, where that failed, else of the second. A run that finds no test is a
failure (5) only where the other one finds none either.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

TOGETHER = ("-n", "auto", "--maxprocesses", "8", "--dist", "loadfile", "--no-loadscope-reorder")
NO_TESTS = 5
# pytest's statuses after which a second run makes sense: all passed, some failed, no test found.
COMPLETE = {0, 1, NO_TESTS}


def run(markers: str, options: list[str]) -> int:
    """Run pytest twice. `markers`: an expression as for `pytest -m`, "" for all tests. The exit status."""
    chosen = f"({markers}) and " if markers else ""
    first = _pytest("-m", f"{chosen}not load", *TOGETHER, *options)
    if first not in COMPLETE:
        return first
    second = _pytest("-m", f"{chosen}load", *options)
    statuses = [status for status in (first, second) if status != NO_TESTS]
    return next(filter(None, statuses), 0) if statuses else NO_TESTS


def _pytest(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-m", dest="markers", default="")
    known, others = parser.parse_known_args()
    sys.exit(run(known.markers, others))
