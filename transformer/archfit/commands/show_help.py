"""`archfit help [COMMAND]`: what `archfit COMMAND --help` shows, for users of git and kubectl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from archfit.usage.command_table import BY_NAME, MAIN
from archfit.usage.dispatch import named
from archfit.usage.short_help import short_help


def run(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    words = BY_NAME["help"].parser().read(argv)[1]
    command, _rest = named(words) if words else (MAIN, words)
    stdout.write(short_help(command).encode())
    return 0
