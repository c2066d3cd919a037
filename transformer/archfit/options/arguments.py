"""Command-line arguments. argparse reads them; each mistake is one sentence.

Flags are never abbreviated. An empty argument is ignored, as Helm passes one for an empty
--post-renderer-args. Behind `--` no word is a flag.
"""

from __future__ import annotations

import argparse
import re

from archfit.base.errors import UnknownFlag, UsageError
from archfit.base.spelling import nearest
from archfit.options.option_types import SWITCH
from archfit.options.table import CONFIG_FLAG, TABLE, Option, flag_layer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from archfit.options.settings import Layer


class Parser(argparse.ArgumentParser):
    """argparse without exits, abbreviations and texts of its own: wrong usage raises UsageError.

    program: what the user typed, as in `archfit setup cluster`, to name where help is found.
    """

    def __init__(self, program: str) -> None:
        super().__init__(
            prog=program,
            add_help=False,
            allow_abbrev=False,
            exit_on_error=False,
            usage="",
            formatter_class=_formatter,
        )
        self.attached: dict[str, str] = {}
        """The value of each flag that has one behind "=" alone, where it stands without one."""

    def error(self, message: str) -> NoReturn:
        """What argparse calls for mistakes that it has no exception for."""
        raise UsageError(f"{message}; see {self.prog} --help")

    def parse(self, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """The flags, and the arguments that are none; empty ones are dropped. Raises UsageError."""
        known = self.flags()
        end = list(argv).index("--") if "--" in argv else len(argv)
        for word in argv[:end]:
            flag, _, value = word.partition("=")
            if value == "--" and flag in known:  # argparse takes it away, or for a word, by its version
                raise UsageError(self.misuse(flag))
        try:
            argv_of_flags = [
                f"{word}={self.attached[word]}" if word in self.attached else word for word in argv[:end]
            ]
            flags, rest = self.parse_known_args(argv_of_flags)
        except argparse.ArgumentError as error:
            raise UsageError(self.misuse((error.argument_name or "").split("/")[-1])) from None
        words = [word for word in rest if word]
        for word in words:
            name = word.partition("=")[0]
            if word.startswith("-") and word != "-":
                raise UnknownFlag(self.unknown(name, known), self.prog, name)
        return flags, words + [word for word in argv[end + 1 :] if word]

    def flags(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings]

    def misuse(self, flag: str) -> str:
        """A switch with a value, or a flag without one."""
        action = next(action for action in self._actions if flag in action.option_strings)
        if action.nargs == 0:
            both = [known.option_strings[0] for known in self._actions if known.dest == action.dest]
            return f"{flag}: takes no value: write {' or '.join(both)}"
        return f"{flag}: has no value: write {flag}={action.metavar}"

    def unknown(self, name: str, known: Sequence[str]) -> str:
        """A flag that does not exist, or one argument that should be two."""
        head = name.split(None, 1)[0]
        if head in known and head != name:
            return f"{head}: its value is in the same argument: write {head}=VALUE, or two arguments"
        near = nearest(name, known)
        return f"there is no flag {name!r}: {f'write {near}' if near else f'see {self.prog} --help'}"


def _formatter(prog: str) -> argparse.HelpFormatter:
    # argparse makes one for each option; without a width, it loads shutil (1.4 ms) to ask for the terminal's.
    return argparse.HelpFormatter(prog, width=80)


def add(parser: argparse.ArgumentParser, option: Option) -> None:
    """Adds an option's flags; each occurrence is kept as the text that a variable would hold."""
    short = (option.short,) if option.short else ()
    if option.type is SWITCH:
        for flag, text in zip(
            (*option.flags, *short), ("true", "true") if short else ("true", "false"), strict=False
        ):
            parser.add_argument(flag, dest=option.key, action="append_const", const=text)
    elif option.flags:
        parser.add_argument(*option.flags, dest=option.key, action="append", metavar=option.metavar)


def add_alone(parser: argparse.ArgumentParser, option: Option) -> None:
    """Adds an option's flags to a command that has no settings; its value is checked and kept."""
    names = (*([option.short] if option.short else ()), *option.flags)
    if option.type is SWITCH:
        parser.add_argument(*names, dest=option.key, action="store_true")
    else:
        parser.add_argument(
            *names, dest=option.key, metavar=option.metavar, type=lambda text: option.flag_value([text])
        )


def from_arguments(
    argv: Sequence[str], rows: Sequence[Option] = TABLE, program: str = "archfit"
) -> tuple[Layer, str | None]:
    """The layer of the flags, and the configuration file that they name.

    rows: the options of the command at hand. Raises UsageError.
    """
    layer, path, _, words = parse(Parser(program), argv, rows)
    if words:
        shown = re.sub("://.*@", "://***@", words[0])
        raise UsageError(f"{shown!r} is not expected: {program} takes flags alone")
    return layer, path


def parse(
    parser: Parser, argv: Sequence[str], rows: Sequence[Option]
) -> tuple[Layer, str | None, argparse.Namespace, list[str]]:
    """The layer of the flags, the configuration file that they name, everything found, and the other words.

    parser: with the command's own flags, which are no options. Raises UsageError.
    """
    parser.add_argument(CONFIG_FLAG, dest="config", metavar="FILE")
    for option in rows:
        add(parser, option)
    flags, words = parser.parse(argv)
    if flags.config == "":
        raise UsageError(f"{CONFIG_FLAG}: is empty: write the path of the file")
    return flag_layer(vars(flags), rows), flags.config, flags, words
