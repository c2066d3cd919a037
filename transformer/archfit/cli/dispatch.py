"""From the words of the command line to a row of the table, from the row to its function; unknown flags."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from archfit.base.errors import UsageError
from archfit.base.files import SUFFIXES
from archfit.base.spelling import nearest
from archfit.cli.setup.chart import retired
from archfit.cli.usage.command_row import GENERAL, JSON_FLAG, Command, flags_of
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, MAIN, find, first_words, words_below
from archfit.cli.usage.help import help_text, short_help

_OF_ALL = {*GENERAL, JSON_FLAG}


def start(argv: Sequence[str], streams: Mapping[str, Callable[[], Any]]) -> int:
    """Runs the command that argv names. streams: by name, as the table writes it. Raises ArchfitError."""
    command, words = find(argv)
    if command is None:
        word = argv[0]
        if not (os.sep in word or word.endswith(SUFFIXES) or os.path.exists(word)):
            hint = _command_hint(word) or f"the commands are {', '.join(first_words())}. See archfit --help"
            raise UsageError(f"{word!r} is not a command: {hint}")
        command = MAIN
    if words == ["help"] and not os.path.exists("help"):  # as in `archfit setup help`
        streams["stdout"]().write(short_help(command).encode())
        return 0
    if not command.run:
        raise UsageError(_unknown_member(command, words))
    module, _, function = command.run.partition(":")
    run = getattr(import_module(module), function)
    code: int = run(*command.leading, words, *(streams[name]() for name in command.streams))
    return code


def help_for(argv: Sequence[str], *, whole: bool) -> str:
    """The help of the command that argv names, else of archfit. whole: as --help-all shows it."""
    command, rest = find(argv)
    if command and command.name == "help":  # archfit help check --help-all
        command = find(rest)[0] or command
    return help_text(command or MAIN) if whole else short_help(command or MAIN)


def _command_hint(word: str) -> str:
    """What to write in place of a word that is no command, "" where nothing comes near."""
    if word in _VERBS:
        return _VERBS[word]
    near = nearest(word, first_words())
    return f"did you mean {near!r}? See archfit --help" if near else ""


def _unknown_member(group: Command, words: Sequence[str]) -> str:
    names, word = words_below(group), words[0] if words else ""
    if at := next((at for at, name in enumerate(words) if at and name in names), 0):
        right = shlex.join([*group.program.split(), words[at], *words[:at], *words[at + 1 :]])
        return f"{words[at]!r} is a tool: write it first, as in {right}"
    if group.name == "setup" and (instead := retired(word)):
        return instead
    near = nearest(word, names)
    if near:
        return f"{group.program} {word}: there is no such tool: did you mean {group.program} {near}?"
    head = f"{group.program} {word}: there is no such tool: " if word and word[0] != "-" else ""
    return f"{head}name what to set up: {group.program} {', '.join(names[:-1])} or {names[-1]}"


def _each(rows: Mapping[str, str]) -> dict[str, str]:
    return {word: text for words, text in rows.items() for word in words.split()}


_VERBS = _each(
    {
        "diff plan": "write archfit --diff FILE, or pipe manifests into archfit --diff",
        "fix apply format update upgrade": "write archfit --in-place FILE",
        "lint validate verify test": "archfit check says what would change, archfit explain why",
        "template render build kustomize kubectl kpt": "helm template CHART | archfit, "
        "kustomize build DIR | archfit, or kubectl kustomize DIR | archfit",
        "init install config": "archfit setup TOOL plugs archfit into a tool; "
        "archfit setup cluster writes a configuration file",
        "uninstall remove delete undo revert": "archfit help undo.md says how to take archfit out",
        "scan report get list": "archfit audit reports what a cluster runs",
        "image images show describe": "archfit inspect IMAGE shows what a registry has",
        "login": "archfit reads what docker login writes; archfit login-check HOST tests it",
    }
)
"""Commands of other tools, and what archfit has for them."""
_HABITS = _each(
    {
        "-f --file --filename --input": "name files without a flag, as in {program} web.yaml; - is standard input",
        "-k --kustomize": "render first: kustomize build DIR | {program}",
        "--helm": "render first: helm template CHART | {program}",
        "--dry-run": "archfit check says what would change, and changes nothing",
        "--arch": "the architectures of the cluster's nodes are --cluster-architectures amd64,arm64; "
        "archfit check --require arm64 checks images",
        "--platform": "archfit check --require linux/arm64 checks images for a platform",
        "--insecure": "a registry in plain HTTP is --mirror HOST=http://HOST; a CA of your own is --ca-file FILE",
        "-i -w": "write --in-place",
        "-A --all-namespaces": "archfit audit --live reads all namespaces",
        "--silent": "write --quiet",
        "--no-color": "write --color never, or set NO_COLOR=1",
        "--format --json": "it has one form alone",
        "-o --output": "it writes to standard output: add > FILE",
        "--debug": "--verbose says why each pod is placed as it is, --report FILE writes every decision",
        "--username --password": "archfit reads what docker login writes; another file is --authfile FILE",
    }
)
_HERE = {
    "audit": _each({"-A --all-namespaces": "all namespaces are read unless -n names one"}),
    "check": _each({"-o --output": "write --format FORM=FILE, as in --format json=report.json"}),
    "lock": _each({"-o --output": "the file is --lock-file FILE"}),
    "transform": _each(
        {"--format --json": "--report FILE writes every decision as JSON", "--into": "the folder is -o DIR/"}
    ),
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
    taken = flags_of(own)
    if flag in {"-o", "--output"} and "--into" in taken:
        return f"{head}: the folder is --into DIR"
    if flag == "--into" and "--output" in taken:
        return f"{head}: the file is -o FILE"
    if flag in _HABITS:
        return f"{head}: {_HABITS[flag].format(program=program)}"
    flags = {command.program: {*flags_of(command)} - _OF_ALL for command in COMMANDS if command.run}
    subject, name = "it", flag
    if not any(flag in names for names in flags.values()):
        if nearest(flag, flags[own.program]):
            return ""
        subject = name = nearest(flag, set().union(*flags.values()))
    takers = [taker for taker, names in flags.items() if name in names]
    if not takers:
        return ""
    if len(takers) > 4:
        takers[4:] = [f"{len(takers) - 4} more"]
    listed = " and ".join(filter(None, [", ".join(takers[:-1]), takers[-1]]))
    all_flags = "archfit --help-all" if own is MAIN else f"{own.program} --help-all"
    return f"{head}: {subject} is a flag of {listed}; see {all_flags}"
