"""A row of the table of commands: what a command is called, what it takes, what it says about itself."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any

from archfit.base.errors import UsageError
from archfit.base.spelling import refused
from archfit.options.arguments import Parser, add_alone
from archfit.options.table import BY_KEY, CONFIG_FLAG, OPERATOR, Option
from archfit.startup.record import Record

ALL_STREAMS = ("stdin", "stdout", "stderr", "environ")
NO_INPUT = ("stdout", "stderr", "environ")
DONE = (0, "done")
WRONG_USAGE = (2, "wrong usage")
DONE_OR_FAILED = (DONE, (1, "failed: standard output is empty"), WRONG_USAGE)
SET_UP = (DONE, (1, "failed"), WRONG_USAGE, (3, "--check found something wrong"))
MANIFESTS = (
    "FILE|DIR ..",
    "Rendered manifests: files, and folders, of which archfit reads *.yaml, *.yml and *.json. - is standard input, "
    "which archfit reads if you name none.",
)


JSON_FLAG = "--json"
"""Everywhere the same as `--format json`."""
GENERAL = ("-h", "--help", "--help-all", "-V", "--version")
MESSAGES = (BY_KEY["quiet"], BY_KEY["color"])
_PATHS = ("FILE", "DIR", "FILE|DIR", "PATH")
_PARTS = re.compile(r" (?!-)|(?=\[=)")


class Flag(Record):
    """A flag of one command. head: its names, the short one first, and what stands for its value, as help shows them.

    values: which there are, where they are known. bare: its value where none follows, "" if one has to; where the
    metavar is `[=..]`, a value follows behind "=" alone, so that the next argument is a file. default: None where there
    is none. brief: a few words for the help that fits a screen; "": the first sentence of `help`. rare: that help names
    it without a word where there is no room.
    """

    head: str
    help: str
    values: str = ""
    repeatable: bool = False
    bare: str = ""
    several: bool = False
    default: str | None = None
    brief: str = ""
    rare: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """As in ("-o", "--output")."""
        return tuple(_PARTS.split(self.head, 1)[0].split(", "))

    @property
    def metavar(self) -> str:
        """What stands for its value, "" for a switch."""
        return "".join(_PARTS.split(self.head, 1)[1:])

    @property
    def words(self) -> tuple[str, ...]:
        """Its values, () where any text is one."""
        return tuple(self.values.split())

    @property
    def takes_next(self) -> bool:
        """Whether the next argument may be its value."""
        return bool(self.metavar) and not self.metavar.startswith("[=")

    @property
    def is_json_too(self) -> bool:
        """Whether `--json` says the same as one of its values."""
        return self.head.startswith("--format ") and "json" in self.words


class Command(Record):
    """One row.

    name: the words after `archfit`; "setup" is a group: its commands are the rows "setup ..". usage: what follows
    `archfit`, one line for each form. run: module:function, which takes `leading`, the words after the name, and what
    `streams` names. arguments: (what stands there, what it means). flags: the command's own; the others are those of
    `options`, without any those of MESSAGES. group: where the
    help that fits a screen lists it. about: paragraphs; a line that begins with two blanks is an example and stays as
    it is. exits: (exit code, meaning).
    """

    name: str
    summary: str
    usage: tuple[str, ...]
    run: str = ""
    streams: tuple[str, ...] = ALL_STREAMS
    leading: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = ()
    options: tuple[Option, ...] = ()
    group: str = "archfit itself"
    about: str = ""
    exits: tuple[tuple[int, str], ...] = (DONE, (1, "failed"), WRONG_USAGE)

    @property
    def words(self) -> tuple[str, ...]:
        """What its first argument may be, where there are few."""
        return tuple(name for name, _ in self.arguments if name.islower())

    @property
    def program(self) -> str:
        """What the user types, as in `archfit setup cluster`."""
        return f"archfit {self.name}"

    def flags_alone(self, argv: Sequence[str]) -> argparse.Namespace:
        """Its flags, where it takes nothing else. Raises UsageError."""
        flags, words = self.parser().parse(argv)
        if words:
            raise UsageError(f"{words[0]!r} is not expected; see {self.program} --help")
        return flags

    def parser(self) -> Parser:
        """A parser with the command's own flags; the options are added when it reads."""
        parser = Parser(self.program)
        for flag in self.flags:
            if flag.metavar and not flag.takes_next:
                parser.attached |= dict.fromkeys(flag.names, flag.bare)
            parser.add_argument(*flag.names, **_form(flag))
            if flag.is_json_too:
                action = "append_const" if flag.repeatable else "store_const"
                parser.add_argument(
                    JSON_FLAG, dest="format", action=action, const="json", default=argparse.SUPPRESS
                )
        if not self.options:
            for option in MESSAGES:
                add_alone(parser, option)
        return parser


def _form(flag: Flag) -> dict[str, Any]:
    if not flag.metavar:
        return {"action": "store_true"}
    appended = {"metavar": flag.metavar, "action": "append", "default": []}
    if flag.several:
        return {**appended, "action": "extend", "nargs": "+"}
    if flag.bare and flag.takes_next:
        return {**appended, "nargs": "?", "const": flag.bare}
    if flag.bare or flag.repeatable:
        return appended
    is_path = flag.metavar in _PATHS and flag.default != ""
    checked = _one_of(flag) if flag.words else _path(flag) if is_path else str
    return {"metavar": flag.metavar, "default": flag.default, "type": checked}


def _one_of(flag: Flag) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if text not in flag.words:
            raise UsageError(f"{flag.names[-1]}: {refused(text, flag.words)}")
        return text

    return checked


def _path(flag: Flag) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if not text:  # a variable of a script that is not set
            raise UsageError(f"{flag.names[-1]}: is empty: write a path, or leave the flag out")
        return text

    return checked


def flags_of(command: Command) -> dict[str, tuple[str, ...] | None]:
    """The values of each flag: None for a switch, () where any text may follow."""
    values: dict[str, tuple[str, ...] | None] = {}
    for flag in command.flags:
        values |= dict.fromkeys(flag.names, flag.words if flag.takes_next else None)
        if flag.is_json_too:
            values[JSON_FLAG] = None
    for option in command.options or MESSAGES:
        words = tuple(option.type.schema.get("enum", ())) if option.metavar else None
        values |= dict.fromkeys((*option.flags, *filter(None, [option.short])), words)
    if command.options:
        values[CONFIG_FLAG] = ()
    return values | dict.fromkeys(GENERAL)


def operator_options_without(*keys: str) -> tuple[Option, ...]:
    """All options of the operator but these."""
    return tuple(option for option in OPERATOR if option.key not in keys)


def options_named(*keys: str) -> tuple[Option, ...]:
    """The options with these keys."""
    return tuple(BY_KEY[key] for key in keys)


AS_JSON = Flag("--format text|json", "Write the same as JSON.", values="text json", default="text")
CHECK_FLAG = Flag(
    "--check",
    "Write nothing. Say what is wrong with an installation.",
    brief="Say what is wrong with an installation; write nothing.",
)
CONFIG = Flag(
    f"{CONFIG_FLAG} FILE",
    "The configuration whose `spec:` is written, and compared by --check; default: the file that ARCHFIT_CONFIG names.",
    brief="The configuration whose `spec:` is written, and compared.",
)
REMOVE_FLAG = Flag(
    "--remove",
    "Take away what this command wrote and nobody changed, and name what stays. Give the flags that you wrote it with.",
    brief="Take away what this command wrote and nobody changed.",
    rare=True,
)
OUTPUT = Flag(
    "-o, --output FILE", "Where to write; default: standard output. An existing file is never overwritten."
)
