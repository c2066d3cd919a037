"""The help that fits a screen, 80 columns: what `--help`, `archfit help` and a bare `archfit` on a terminal show.

usage: archfit check [OPTION].. [FILE|-]..

Says what archfit would change ...

  helm get manifest web | archfit check       `about`; only its examples where all of it does not fit

  --format text|json|..     the command's own flags: `brief`, else the first sentence of what they do

  --mirror SOURCE=URL       the options that have a `brief`

Exit: 0 nothing found, ..                     and where the rest is

That of archfit itself lists the commands by `group`; those of `setup` are one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from archfit.documentation import place
from archfit.options.table import CONFIG_BRIEF, CONFIG_FLAG
from archfit.usage.command_row import Command, Flag
from archfit.usage.command_table import MAIN, by_group, members
from archfit.usage.help import EXAMPLE, entries, exits, flag_head, option_head, paragraphs, usage

LINES, COLUMNS = 40, 80
_INDENT = 28
_GROUP_INDENT = 24
_SENTENCE = re.compile(r"(.+?[^.][.])(?: |$)", re.DOTALL).match


def short_help(command: Command) -> str:
    """What `--help` shows."""
    common = _common(command)
    if command is MAIN:
        return _text(
            command, paragraphs(command.about, COLUMNS), _commands(), ["options:", *_two_columns(common)]
        )
    summary = list(paragraphs(command.summary, COLUMNS))
    if not command.run:
        rows = ((one.name, one.summary) for one in members(command))
        return _text(command, summary, entries(rows, _GROUP_INDENT, COLUMNS))
    about = list(paragraphs(command.about, COLUMNS))
    examples = [line for line in about if line.startswith(EXAMPLE)]
    own, rest = list(_two_columns(_own(command))), list(_two_columns(common))
    names = ", ".join(re.sub(" [^-].*", "", head).split(", ")[-1] for head, _ in common)
    texts = [
        _text(command, summary, about, own, rest),
        _text(command, summary, examples, own, rest),
        _text(command, summary, examples, own, paragraphs(f"Also: {names}.", COLUMNS)),
    ]
    return next((text for text in texts if text.count("\n") <= LINES), texts[-1])


def _text(command: Command, *parts: Iterable[str]) -> str:
    texts = ("\n".join(part) for part in (usage(command), *parts, _rest(command)))
    return "\n\n".join(text for text in texts if text) + "\n"


def _commands() -> Iterator[str]:
    yield "commands:"
    rows = [
        (title, ", ".join(one.name.split()[-1] for one in commands)) for title, commands in by_group().items()
    ]
    yield from entries(rows, _GROUP_INDENT, COLUMNS)


def _own(command: Command) -> list[tuple[str, str]]:
    arguments = ((name, _first_sentence(text)) for name, text in command.arguments)
    return [*arguments, *((flag_head(flag), _brief(flag)) for flag in command.flags)]


def _common(command: Command) -> list[tuple[str, str]]:
    """What most people use: of archfit itself, only those of its own flags that have a `brief`."""
    rows = [(flag_head(flag), flag.brief) for flag in command.flags if flag.brief and command is MAIN]
    rows += [(option_head(option), option.brief) for option in command.options if option.brief]
    return [*rows, (f"{CONFIG_FLAG} FILE", CONFIG_BRIEF)] if command.options else rows


def _two_columns(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """`entries`, where a long name and a short text share a line."""
    for head, text in rows:
        line = f"{EXAMPLE}{head}  {text}"
        if len(head) + 4 > _INDENT and len(line) <= COLUMNS:
            yield line
        else:
            yield from entries([(head, text)], _INDENT, COLUMNS)


def _brief(flag: Flag) -> str:
    return flag.brief or _first_sentence(flag.help)


def _first_sentence(text: str) -> str:
    match = _SENTENCE(text)
    return match[1] if match else text


def _rest(command: Command) -> Iterator[str]:
    """The exit codes, and where more is."""
    if command is not MAIN and command.run:
        yield from paragraphs(exits(command), COLUMNS)
        if command.options or command.flags:
            yield f"All options: {command.program} --help-all"
    elif command is not MAIN:
        yield f"More about a tool: {command.program} TOOL --help"
    else:
        yield "More about a command: archfit COMMAND --help"
        yield "All options:          archfit --help-all, man archfit"
        yield f"When something fails: {place('troubleshooting')}"
