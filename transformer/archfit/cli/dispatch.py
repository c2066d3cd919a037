"""From the words of the command line to a row of the table, from the row to its function; unknown flags.

archfit lock --require arm64     another command has it: which ones
archfit check -f web.yaml        a habit from another tool
archfit check --formt json       nearly one of its own: `options.arguments` has said that already
archfit --formt json             nearly one of another command's
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from archfit.base.errors import UsageError
from archfit.base.spelling import nearest
from archfit.cli.usage.command_row import MESSAGES, Command
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, MAIN, find, first_words, words_below
from archfit.cli.usage.help import help_text, short_help

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MANIFESTS = (".yaml", ".yml", ".json")


def start(argv: Sequence[str], streams: Mapping[str, Callable[[], Any]]) -> int:
    """Runs the command that argv names. streams: by name, as the table writes it. Raises ArchfitError."""
    command, words = (MAIN, argv) if _is_path(argv[0]) and not find(argv)[0] else named(argv)
    if words == ["help"] and not os.path.exists("help"):  # as in `archfit setup help`
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
    if word in _VERBS:
        return f"{word!r} is not a command: {_VERBS[word]}"
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


_DIFF = "write archfit --diff FILE, or pipe manifests into archfit --diff"
_IN_PLACE = "write archfit --in-place FILE"
_LOOK = "archfit check says what would change, archfit explain why"
_RENDER = "archfit --helm CHART or --kustomize DIR renders, too"
_SET_UP = "archfit setup TOOL plugs archfit into a tool; archfit setup cluster writes a configuration file"
_VERBS = {
    **dict.fromkeys(("diff", "plan"), _DIFF),
    **dict.fromkeys(("fix", "apply", "format", "update", "upgrade"), _IN_PLACE),
    **dict.fromkeys(("lint", "validate", "verify", "test"), _LOOK),
    **dict.fromkeys(("template", "render", "build"), _RENDER),
    **dict.fromkeys(("init", "install", "config"), _SET_UP),
    **dict.fromkeys(("uninstall", "remove", "delete"), "archfit help undo.md says how to take archfit out"),
    **dict.fromkeys(("scan", "report", "get", "list"), "archfit audit reports what a cluster runs"),
    **dict.fromkeys(
        ("image", "images", "show", "describe"), "archfit inspect IMAGE shows what a registry has"
    ),
    "login": "archfit reads what docker login writes; archfit login-check HOST tests it",
}
"""Commands of other tools, and what archfit has for them."""

_FILES = "name files without a flag, as in {program} web.yaml; - is standard input"
_HABITS = {
    "-f": _FILES,
    "--file": _FILES,
    "--filename": _FILES,
    "--input": _FILES,
    "-k": "render first: kustomize build DIR | {program}",
    "--dry-run": "archfit check says what would change, and changes nothing",
    "--arch": "the architectures of the cluster's nodes are --cluster-architectures amd64,arm64; "
    "archfit check --require arm64 checks images",
    "--platform": "archfit check --require linux/arm64 checks images for a platform",
    "--insecure": "a registry in plain HTTP is --mirror HOST=http://HOST; a CA of your own is --ca-file FILE",
    "-i": "write --in-place",
    "-w": "write --in-place",
    "-A": "archfit audit --live reads all namespaces",
    "--all-namespaces": "archfit audit --live reads all namespaces",
    "--silent": "write --quiet",
    "--no-color": "write --color never, or set NO_COLOR=1",
    "--format": "it has one form alone",
    "--json": "it has one form alone",
    "-o": "it writes to standard output: add > FILE",
    "--output": "it writes to standard output: add > FILE",
    "--debug": "--verbose says why each pod is placed as it is, --report FILE writes every decision",
    "--username": "archfit reads what docker login writes; another file is --authfile FILE",
    "--password": "archfit reads what docker login writes; another file is --authfile FILE",
}


_OUTPUT = ("-o", "--output")
_HERE: dict[str, dict[str, str]] = {
    "audit": dict.fromkeys(("-A", "--all-namespaces"), "all namespaces are read unless -n names one"),
    "check": dict.fromkeys(_OUTPUT, "write --format FORM=FILE, as in --format json=report.json"),
    "lock": dict.fromkeys(_OUTPUT, "the file is --lock-file FILE"),
    "transform": dict.fromkeys(("--format", "--json"), "--report FILE writes every decision as JSON"),
}
"""Flags of other tools that mean something else in one command."""


def remedy(program: str, flag: str) -> str:
    """The message about a flag that the command does not have, "" where the parser's own says it. program: as in
    `archfit check`.
    """
    own = BY_NAME.get(program.removeprefix("archfit").strip(), MAIN)
    head = f"{program} has no flag {flag}"
    if flag in _HERE.get(own.name, {}):
        return f"{head}: {_HERE[own.name][flag]}"
    if flag in _HABITS:
        return f"{head}: {_HABITS[flag].format(program=program)}"
    if takers := _takers(flag):
        return f"{head}: {_listed(takers)}; see {own_help(own)}"
    if nearest(flag, _flags(own)):
        return ""
    near = nearest(flag, {name for command in COMMANDS if command.run for name in _flags(command)})
    return f"{head}: {_listed(_takers(near), f'{near} is a flag of')}; see {own_help(own)}" if near else ""


def own_help(command: Command) -> str:
    """Where all flags of a command are."""
    return "archfit --help-all" if command is MAIN else f"{command.program} --help-all"


def _takers(flag: str) -> list[str]:
    return [command.program for command in COMMANDS if command.run and flag in _flags(command)]


def _listed(programs: list[str], verb: str = "it is a flag of") -> str:
    shown, more = programs[:4], len(programs) - 4
    names = [*shown, f"{more} more"] if more > 0 else shown
    return f"{verb} {names[0] if len(names) == 1 else ', '.join(names[:-1]) + ' and ' + names[-1]}"


def _flags(command: Command) -> list[str]:
    options = command.options or MESSAGES
    named = [name for option in options for name in (*option.flags, option.short) if name]
    return [
        *(name for flag in command.flags for name in flag.names),
        *named,
        *(["--config"] if command.options else []),
    ]
