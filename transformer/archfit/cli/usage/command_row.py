"""A row of the table of commands: what a command is called, what it takes, what it says about itself.

name         the words after `archfit`; "setup" is a group: its commands are the rows "setup ..."
summary      one sentence, for lists of commands
usage        what follows `archfit`, one line for each form
run          module:function, which takes `leading`, the words after the name, and what `streams` names
streams      some of stdin, stdout, stderr, environ, in the order in which `run` takes them
arguments    (what stands there, what it means)
flags        the command's own; its other flags are those of `options`, rows of `options.table`. A command without
             `options` takes those of MESSAGES
words        what its first argument may be, for completion
group        where the help that fits a screen lists it
about        paragraphs; a line that begins with two blanks is an example and stays as it is
exits        (exit code, meaning)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

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
SET_UP = (DONE, (1, "failed, or --check found something wrong"), WRONG_USAGE)
MANIFESTS = (
    "FILE|DIR ..",
    "Rendered manifests: files, and folders, of which archfit reads *.yaml, *.yml and *.json. - is standard input, "
    "which archfit reads if you name none.",
)


JSON_FLAG = "--json"
"""Everywhere the same as `--format json`."""
_GENERAL = ("-h", "--help", "--help-all", "-V", "--version")
MESSAGES = (BY_KEY["quiet"], BY_KEY["color"])


class Flag(Record):
    """A flag of one command. names: the short one first. metavar: "" for a switch.

    words: its values, where they are known. bare: its value where none follows, "" if one has to; where the metavar is
    `[=..]`, a value follows behind "=" alone, so that the next argument is a file. default: None where there is none.
    brief: a few words for the help that fits a screen; "": the first sentence of `help`. rare: that help
    names it without a word where there is no room.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    words: tuple[str, ...] = ()
    repeatable: bool = False
    bare: str = ""
    several: bool = False
    default: str | None = None
    brief: str = ""
    rare: bool = False


class Command(Record):
    """One row; see the module."""

    name: str
    summary: str
    usage: tuple[str, ...]
    run: str = ""
    streams: tuple[str, ...] = ALL_STREAMS
    leading: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = ()
    options: tuple[Option, ...] = ()
    words: tuple[str, ...] = ()
    group: str = "archfit itself"
    about: str = ""
    exits: tuple[tuple[int, str], ...] = (DONE, (1, "failed"), WRONG_USAGE)

    @property
    def program(self) -> str:
        """What the user types, as in `archfit setup cluster`."""
        return f"archfit {self.name}"

    def parser(self) -> Parser:
        """A parser with the command's own flags; the options are added when it reads."""
        parser = Parser(self.program)
        for flag in self.flags:
            if not flag.metavar:
                parser.add_argument(*flag.names, action="store_true")
            elif flag.bare and flag.metavar.startswith("[="):
                parser.attached |= dict.fromkeys(flag.names, flag.bare)
                parser.add_argument(*flag.names, metavar=flag.metavar, action="append", default=[])
            elif flag.bare:
                parser.add_argument(
                    *flag.names, metavar=flag.metavar, action="append", nargs="?", const=flag.bare, default=[]
                )
            elif flag.several:
                parser.add_argument(*flag.names, metavar=flag.metavar, action="extend", nargs="+", default=[])
            elif flag.repeatable:
                parser.add_argument(*flag.names, metavar=flag.metavar, action="append", default=[])
            else:
                parser.add_argument(
                    *flag.names,
                    metavar=flag.metavar,
                    default=flag.default,
                    type=_one_of(flag) if flag.words else str,
                )
            if _is_json_too(flag):
                action = "append_const" if flag.repeatable else "store_const"
                parser.add_argument(
                    JSON_FLAG, dest="format", action=action, const="json", default=argparse.SUPPRESS
                )
        if not self.options:
            for option in MESSAGES:
                add_alone(parser, option)
        return parser


def _one_of(flag: Flag) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in flag.words:
            raise UsageError(f"{flag.names[-1]}: {refused(text, flag.words)}")
        return text

    return read


def _is_json_too(flag: Flag) -> bool:
    """Whether `--json` says the same as one of its values."""
    return flag.names == ("--format",) and "json" in flag.words


def flags_of(command: Command) -> dict[str, tuple[str, ...] | None]:
    """The values of each flag: None for a switch, () where any text may follow."""
    found: dict[str, tuple[str, ...] | None] = {}
    for flag in command.flags:
        found |= dict.fromkeys(flag.names, flag.words if flag.metavar and flag.metavar[:2] != "[=" else None)
        if _is_json_too(flag):
            found[JSON_FLAG] = None
    for option in command.options or MESSAGES:
        values = tuple(option.type.schema.get("enum", ())) if option.metavar else None
        found |= dict.fromkeys((*option.flags, *([option.short] if option.short else ())), values)
    if command.options:
        found[CONFIG_FLAG] = ()
    return found | dict.fromkeys(_GENERAL)


def operator_options_without(*keys: str) -> tuple[Option, ...]:
    """All options of the operator but these."""
    return tuple(option for option in OPERATOR if option.key not in keys)


def options_named(*keys: str) -> tuple[Option, ...]:
    """The options with these keys."""
    return tuple(BY_KEY[key] for key in keys)


RENDERERS = (
    Flag(
        ("--helm",),
        "CHART ..",
        "Run helm template CHART, and read what it writes. The words after CHART go to Helm, except for flags that "
        "only archfit has.",
        brief="Read what helm template CHART .. writes.",
    ),
    Flag(
        ("--kustomize",),
        "DIR ..",
        "Run kustomize build DIR, or kubectl kustomize DIR, and read what it writes. The words after DIR go to it, "
        "except for flags of archfit.",
        brief="Read what kustomize build DIR .. writes.",
    ),
)
"""A renderer that archfit starts: `inputs.renderer_command` has the grammar."""
AS_JSON = Flag(("--format",), "text|json", "Write the same as JSON.", words=("text", "json"), default="text")
CHECK_FLAG = Flag(
    ("--check",),
    "",
    "Write nothing. Say what is wrong with an installation.",
    brief="Say what is wrong with an installation; write nothing.",
)
REMOVE_FLAG = Flag(
    ("--remove",),
    "",
    "Take away what this command wrote and nobody changed, and name what stays. Give the flags that you wrote it with.",
    brief="Take away what this command wrote and nobody changed.",
    rare=True,
)
OUTPUT = Flag(
    ("-o", "--output"),
    "FILE",
    "Where to write; default: standard output. An existing file is never overwritten.",
)
