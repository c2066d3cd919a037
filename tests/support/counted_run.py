"""A warm run of the whole program in a process of its own, counted and not timed.

    counted(stream)        Counts of `archfit < stream`, whose cache the caller has warmed

As a program, with the path of a file as its argument, it runs archfit on its standard input, and writes what it has
counted to the file as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Counts(NamedTuple):
    """What one run did.

    statements: those that SQLite ran, each of a connection. opened: files but for Python's modules, by name.
    writes: system calls that write, to files, pipes and the database. written: bytes of these calls.
    """

    output: bytes
    messages: str
    connections: int
    statements: Sequence[str]
    opened: Sequence[str]
    writes: int
    written: int


def counted(stream: bytes) -> Counts:
    """Runs archfit on the stream, without options. Raises CalledProcessError where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.json"
        command = [sys.executable, "-I", "-B", __file__, str(path)]
        done = subprocess.run(command, input=stream, capture_output=True, check=True)
        return Counts(done.stdout, done.stderr.decode(), **json.loads(path.read_text(encoding="utf-8")))


_OF_PYTHON = (".py", ".pyc", ".pth", ".so", ".cfg", ".zip")


def _count(path: str) -> int:
    import _sqlite3

    statements: list[str] = []
    connections: list[str] = []
    opened: list[str] = []
    connect = _sqlite3.connect

    def connected(*arguments: object, **options: object) -> object:
        connections.append(str(arguments[0]))
        made = connect(*arguments, **options)
        made.set_trace_callback(statements.append)
        return made

    _sqlite3.connect = connected

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and not arguments[0].endswith(_OF_PYTHON):
            opened.append(arguments[0])

    sys.addaudithook(heard)
    from archfit.cli.main import main

    calls, written = _writes()
    code = main([])
    sys.stdout.flush()
    calls_now, written_now = _writes()
    found = {
        "connections": len(connections),
        "statements": statements,
        "opened": [name for name in opened if name != _IO],
        "writes": calls_now - calls,
        "written": written_now - written,
    }
    Path(path).write_text(json.dumps(found), encoding="utf-8")
    return code


_IO = "/proc/self/io"


def _writes() -> tuple[int, int]:
    """(calls, bytes) so far (proc(5))."""
    lines = dict(line.split(": ") for line in Path(_IO).read_text(encoding="ascii").splitlines())
    return int(lines["syscw"]), int(lines["wchar"])


if __name__ == "__main__":
    sys.exit(_count(sys.argv[1]))
