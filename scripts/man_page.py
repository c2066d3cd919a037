"""The manual page archfit(1), in the man macros of roff, from the tables of commands and options.

    python3 scripts/man_page.py > archfit.1

It needs no other package: the tables are imported from the sources beside this file, and they import nothing of others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "transformer"))

from archfit import __version__
from archfit.cli.usage.command_row import MESSAGES, Command
from archfit.cli.usage.command_table import COMMANDS, MAIN
from archfit.cli.usage.help import EXAMPLE, exits, flag_entry, general, option_entry
from archfit.options.table import TABLE


def man_page() -> str:
    """The manual page archfit(1), in the man macros of roff."""
    lines = [
        f'.TH ARCHFIT 1 "" "archfit {__version__}" "User Commands"',
        ".SH NAME",
        _text("archfit - places pods by the CPU architectures that their images support"),
        ".SH SYNOPSIS",
        *_synopsis(MAIN),
        *(line for command in COMMANDS if command.run and command is not MAIN for line in _synopsis(command)),
        ".SH DESCRIPTION",
        _text(MAIN.summary),
        *_roff_about(MAIN.about),
        ".SH COMMANDS",
    ]
    for command in COMMANDS:
        if command.run and command is not MAIN:
            lines += [f".SS {_text(command.name)}", _text(command.summary), *_roff_about(command.about)]
            own = [*command.arguments, *(flag_entry(flag) for flag in command.flags)]
            lines += [*_entries(own), *_options_of(command), ".PP", _text(exits(command))]
    lines += [
        ".SH OPTIONS",
        *_entries(option_entry(option) for option in TABLE if option.flags),
        *_entries(general(MAIN)),
        ".SH EXIT STATUS",
        *_entries((str(code), why) for code, why in MAIN.exits),
        *_entries([("3", "check, lock --check: something was found")]),
        ".SH ENVIRONMENT",
        _text(
            "Each option has a variable: its flag in capitals behind ARCHFIT_, with _ for -. Flags win over variables,"
        ),
        _text("variables over the configuration file. A variable separates repeated values by blanks."),
        ".SH FILES",
        *_entries(
            [
                ("$XDG_CACHE_HOME/archfit/lookups.sqlite", "The answers of registries; see archfit cache."),
                ("$XDG_STATE_HOME/archfit/last.json", "The last run's report; see archfit last."),
            ]
        ),
    ]
    return "\n".join([*lines, ""])


def _synopsis(command: Command) -> Iterator[str]:
    for form in command.usage:
        yield f".B archfit {_text(form)}"
        yield ".br"


def _roff_about(text: str) -> Iterator[str]:
    if text:
        yield ".PP"
    for line in text.split("\n") if text else ():
        if line.startswith(EXAMPLE):
            yield from (".PP", ".nf", _text(line), ".fi")
        else:
            yield _text(line) if line else ".PP"


def _entries(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for head, text in rows:
        yield from (".TP", f".B {_text(head)}", _text(text))


def _options_of(command: Command) -> Iterator[str]:
    if command.options == TABLE:
        yield from (".PP", "All options below count, too.")
    else:
        names = ", ".join(option.flags[0] for option in command.options or MESSAGES if option.flags)
        yield from (".PP", _text(f"Of the options below, these count: {names}."))


def _text(text: str) -> str:
    """One line of text in roff: no request, no escape, hyphens that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{text}" if text.startswith(".") else text


if __name__ == "__main__":
    sys.stdout.write(man_page())
