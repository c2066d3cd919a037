"""The reference of all commands in Markdown, from their table: docs/commands.md between its markers.

| [`archfit check`](#archfit-check) | Says what .. |         the list

## archfit check                                              a section for each
Says what archfit would change ..                             `summary`
    archfit check [OPTION].. [FILE|-]..                       `usage`
archfit check writes no manifests ..                          `about`, its examples as code
| Argument or flag | What it does |                           `arguments` and `flags`
It takes all [options](configuration.md#options).
Exit: 0 nothing found, ..
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from archfit.options.table import CONFIG_FLAG, TABLE
from archfit.usage.command_row import MESSAGES, Command
from archfit.usage.command_table import COMMANDS
from archfit.usage.help import EXAMPLE, exits, flag_entry, listed

_OPTIONS_PAGE = "configuration.md#options"


def markdown_list() -> str:
    """Every command as a GitHub table, with a line ending after the last row."""
    rows = (
        f"| [`archfit {name}`](#archfit-{name.replace(' ', '-')}) | {summary} |" for name, summary in listed()
    )
    return _lines(("| Command | What it does |", "| --- | --- |", *rows))


def markdown_reference() -> str:
    """Every command with its forms, flags and exit codes."""
    blocks = (block for command in COMMANDS if command.run for block in _section(command))
    return "\n".join(blocks)


def _section(command: Command) -> Iterator[str]:
    yield f"## archfit {command.name}\n"
    yield f"{_escaped(command.summary)}\n"
    yield _fenced("text", [f"archfit {form}" for form in command.usage])
    yield from _about(command.about)
    own = [*command.arguments, *(flag_entry(flag) for flag in command.flags)]
    if own:
        rows = (f"| `{_cell(head)}` | {_escaped(_cell(text))} |" for head, text in own)
        yield _lines(("| Argument or flag | What it does |", "| --- | --- |", *rows))
    yield from _options(command)
    yield f"{_escaped(exits(command))}\n"


def _about(text: str) -> Iterator[str]:
    examples: list[str] = []
    for line in text.split("\n") if text else ():
        if line.startswith(EXAMPLE):
            examples.append(line.removeprefix(EXAMPLE))
            continue
        if examples:
            yield _fenced("sh", examples)
            examples = []
        if line:
            yield f"{_escaped(line)}\n"
    if examples:
        yield _fenced("sh", examples)


def _options(command: Command) -> Iterator[str]:
    names = [option.flags[0] for option in command.options if option.flags]
    if command.options == TABLE:
        yield f"It takes all [options]({_OPTIONS_PAGE}).\n"
    elif names:
        listed_names = ", ".join(f"`{name}`" for name in [*names, CONFIG_FLAG])
        yield f"It takes these [options]({_OPTIONS_PAGE}): {listed_names}.\n"
    else:
        listed_names = ", ".join(f"`{option.flags[0]}`" for option in MESSAGES)
        yield f"It takes these [options]({_OPTIONS_PAGE}), as flags and variables: {listed_names}.\n"


def _fenced(language: str, lines: Iterable[str]) -> str:
    return _lines((f"```{language}", *lines, "```"))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text in which Markdown would read something: globs, placeholders; code spans stay as they are."""
    parts = text.split("`")
    parts[::2] = (part.replace("*", "\\*").replace("<", "&lt;").replace("_", "\\_") for part in parts[::2])
    return "`".join(parts)
