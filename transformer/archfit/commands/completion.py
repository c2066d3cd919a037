"""`archfit completion bash|zsh|fish`: the completion script, made from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from archfit.errors import UsageError
from archfit.usage.completion import SHELLS, script


def run(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    if len(argv) != 1 or argv[0] not in SHELLS:
        raise UsageError("name one shell: archfit completion bash, zsh or fish")
    stdout.write(script(argv[0]).encode())
    return 0
