"""What to write instead of a flag that a command does not have.

    archfit lock --require arm64     another command has it: which ones
    archfit check -f web.yaml        a habit from another tool
    archfit check --formt json       nearly one of its own: `options.arguments` has said that already
    archfit --formt json             nearly one of another command's

"" where there is nothing to add to the parser's own message.
"""

from __future__ import annotations

from archfit.base.spelling import nearest
from archfit.cli.usage.command_row import MESSAGES, Command
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, MAIN

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
    "--debug": "--verbose says why each pod is placed as it is, --report FILE writes every decision",
    "--username": "archfit reads what docker login writes; another file is --authfile FILE",
    "--password": "archfit reads what docker login writes; another file is --authfile FILE",
}


def remedy(program: str, flag: str) -> str:
    """The message about a flag that the command does not have. program: as in `archfit check`."""
    own = BY_NAME.get(program.removeprefix("archfit").strip(), MAIN)
    head = f"{program} has no flag {flag}"
    takers = _takers(flag)
    if takers:
        return f"{head}: {_listed(takers)}; see {own_help(own)}"
    if flag in ("-A", "--all-namespaces") and own.name == "audit":
        return f"{head}: all namespaces are read unless -n names one"
    if flag in _HABITS:
        return f"{head}: {_HABITS[flag].format(program=program)}"
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
