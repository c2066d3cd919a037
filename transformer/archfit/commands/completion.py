"""`archfit completion bash|zsh|fish`: the completion script, made from the table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from archfit.errors import UsageError
from archfit.spelling import refused
from archfit.usage.command_table import BY_NAME
from archfit.usage.completion import SHELLS, script


def run(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    words = BY_NAME["completion"].parser().read(argv)[1]
    if words and words[0] not in SHELLS:
        raise UsageError(f"archfit completion: {refused(words[0], SHELLS)}")
    if len(words) != 1:
        raise UsageError("name one shell: archfit completion bash, zsh or fish")
    stdout.write(script(words[0]).encode())
    return 0
