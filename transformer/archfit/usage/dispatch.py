"""From the words of the command line to a row of the table, and from the row to its function."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from archfit.errors import UsageError
from archfit.usage.command_row import Command
from archfit.usage.command_table import BY_NAME, MAIN, find, first_words, words_below
from archfit.usage.help import help_text


def start(argv: Sequence[str], streams: Mapping[str, Callable[[], Any]]) -> int:
    """Runs the command that argv names. streams: by name, as the table writes it. Raises ArchfitError."""
    command, words = find(argv)
    if command is None:
        raise UsageError(_unknown(argv[0]))
    if not command.run:
        raise UsageError(_unknown_member(command, words[0] if words else ""))
    module, _, function = command.run.partition(":")
    run = getattr(import_module(module), function)
    code: int = run(*command.leading, words, *(streams[name]() for name in command.streams))
    return code


def help_for(argv: Sequence[str]) -> str:
    """The help of the command that argv names, else of archfit."""
    command, _ = find(argv)
    return help_text(command or MAIN)


def _unknown(word: str) -> str:
    if os.path.exists(word) or word.endswith((".yaml", ".yml", ".json")):
        return f"{word!r} is not a command, and archfit reads standard input: archfit < {word}"
    near = get_close_matches(word, BY_NAME, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(first_words())}."
    return f"{word!r} is not a command: {hint} See archfit --help"


def _unknown_member(group: Command, word: str) -> str:
    names = words_below(group)
    near = get_close_matches(word, names, 1)
    if near:
        return f"{group.program} {word}: there is no such tool: did you mean {group.program} {near[0]}?"
    return f"name what to set up: {group.program} {', '.join(names[:-1])} or {names[-1]}"
