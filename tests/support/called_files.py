"""Files of archfit whose functions one run calls, in the main thread: the rooms that a document walks through.

    called(["check"], stream)     their names, as `placement/decide.py`; the caller has warmed the cache

As a program it runs archfit with its own arguments on its standard input, and writes the names and their number to
standard error. What a module does while it is imported does not count.
"""

from __future__ import annotations

import subprocess
import sys
from inspect import CO_OPTIMIZED
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType


def called(words: Sequence[str], stream: bytes) -> list[str]:
    """The files that `archfit WORDS < stream` calls, sorted. Exit code 3 is an answer, as of a check."""
    command = [sys.executable, "-I", "-B", __file__, *words]
    done = subprocess.run(command, input=stream, capture_output=True, check=False)
    assert done.returncode in {0, 3}, done.stderr
    lines = done.stderr.decode().splitlines()
    return [line.removeprefix("called ") for line in lines if line.startswith("called ")]


def _main(words: list[str]) -> int:
    codes: set[CodeType] = set()

    def heard(frame: object, event: str, _argument: object) -> None:
        if event == "call":
            codes.add(frame.f_code)  # type: ignore[attr-defined]

    from archfit.cli.main import main

    sys.setprofile(heard)
    try:
        status = main(words)
    finally:
        sys.setprofile(None)
    import archfit

    (root,) = archfit.__path__
    files = {
        code.co_filename.removeprefix(f"{root}/")
        for code in codes
        if code.co_filename.startswith(f"{root}/") and code.co_flags & CO_OPTIMIZED
    }
    sys.stdout.flush()
    for name in sorted(files):
        sys.stderr.write(f"called {name}\n")
    sys.stderr.write(f"{len(files)} files\n")
    return status


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
