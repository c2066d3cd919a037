"""From the words of the command line to a row of the table, and from the row to its function."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from archfit.base.errors import UsageError
from archfit.base.spelling import nearest
from archfit.cli.usage.command_row import Command
from archfit.cli.usage.command_table import MAIN, find, first_words, words_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MANIFESTS = (".yaml", ".yml", ".json")


def start(argv: Sequence[str], streams: Mapping[str, Callable[[], Any]]) -> int:
    """Runs the command that argv names. streams: by name, as the table writes it. Raises ArchfitError."""
    command, words = (MAIN, argv) if _is_path(argv[0]) and not find(argv)[0] else named(argv)
    if words == ["help"] and not os.path.exists("help"):  # as in `archfit setup help`
        from archfit.cli.usage.help import short_help

        streams["stdout"]().write(short_help(command).encode())
        return 0
    if not command.run:
        raise UsageError(_unknown_member(command, words[0] if words else ""))
    module, _, function = command.run.partition(":")
    run = getattr(import_module(module), function)
    code: int = run(*command.leading, words, *(streams[name]() for name in command.streams))
    return code


def help_for(argv: Sequence[str], *, whole: bool = False) -> str:
    """The help of the command that argv names, else of archfit. whole: as --help-all shows it."""
    from archfit.cli.usage.help import help_text, short_help

    command, rest = find(argv)
    if command and command.name == "help":  # archfit help check --help-all
        command = find(rest)[0] or command
    return help_text(command or MAIN) if whole else short_help(command or MAIN)


def named(words: Sequence[str]) -> tuple[Command, Sequence[str]]:
    """The command that the words begin with, and the words after its name. Raises UsageError."""
    command, rest = find(words)
    if command is None:
        raise UsageError(_unknown(words[0]))
    return command, rest


def _is_path(word: str) -> bool:
    """Whether a first word that is no command names what is to be transformed."""
    return os.sep in word or word.endswith(_MANIFESTS) or os.path.exists(word)


def _unknown(word: str) -> str:
    near = nearest(word, first_words())
    hint = f"did you mean {near!r}?" if near else f"the commands are {', '.join(first_words())}."
    return f"{word!r} is not a command: {hint} See archfit --help"


def _unknown_member(group: Command, word: str) -> str:
    names = words_below(group)
    near = nearest(word, names)
    if near:
        return f"{group.program} {word}: there is no such tool: did you mean {group.program} {near}?"
    head = f"{group.program} {word}: there is no such tool: " if word and word[0] != "-" else ""
    return f"{head}name what to set up: {group.program} {', '.join(names[:-1])} or {names[-1]}"
