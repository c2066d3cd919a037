"""The table of options, the page of all commands and the schema of the chart's values.

From the rows of `archfit.options.table` and `archfit.cli.usage.command_table`:

## archfit check
Says what archfit would change ..                             `summary`
    archfit check [OPTION].. [FILE|-]..                       `usage`
archfit check writes no manifests ..                          `about`, its examples as code
| Argument or flag | What it does |                           `arguments` and `flags`
Also [those of several commands](#flags-of-several-commands): `--helm`, `--kustomize`.
It takes all [options](configuration.md#options).

The exit codes are a table of their own. Every command takes --quiet and --color, which is said once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cache

from archfit.cli.usage.command_row import Command
from archfit.cli.usage.command_table import BY_NAME, COMMANDS
from archfit.cli.usage.help import EXAMPLE, command_rows, flag_entry
from archfit.options.config_file import schema
from archfit.options.option_types import Schema
from archfit.options.table import CONFIG_FLAG, CONFIG_HELP, CONFIG_VARIABLE, SPEC, TABLE, Option, default_text

_OPTIONS_PAGE = "configuration.md#options"


def options_table(rows: Sequence[Option] = TABLE) -> str:
    """The options as a GitHub table, with a line ending after the last row. Three columns fit a page."""
    head = ("Flag, key in the file, variable", "Default", "What it does")
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for option in rows:
        flag = ", ".join(
            _option_code(name + (f" {option.metavar}" if option.metavar else ""))
            for name in (*([option.short] if option.short else ()), *option.flags)
        )
        if option.repeatable:
            flag += " (repeatable)"
        names = (
            flag or "file only",
            _option_code(f"{option.part}.{option.key}"),
            _option_code(option.variable),
        )
        cells = (_stacked(names), _option_code(default_text(option)), option.help.replace("|", "\\|"))
        lines.append("| " + " | ".join(cells) + " |")
    config = _stacked((_option_code(f"{CONFIG_FLAG} FILE"), _option_code(CONFIG_VARIABLE)))
    lines.append(f"| {config} | | {CONFIG_HELP} |")
    return "".join(line.replace("|  |", "| |") + "\n" for line in lines)


_AT_ADMISSION = (
    ("cel", "The policy holds it"),
    ("python", "`archfit policy` refuses it: [archfit serve](serve.md) decides by it"),
    ("none", "No pod that is created differs by it"),
)


def admission_table() -> str:
    """What the options of placement are at admission, as a GitHub table."""
    rows = [
        f"| {words} | {', '.join(f'`{option.key}`' for option in SPEC if option.admission == admission)} |"
        for admission, words in _AT_ADMISSION
    ]
    return _lines(("| What it is | Options |", "| --- | --- |", *rows))


def _stacked(texts: Sequence[str]) -> str:
    return "<br>".join(text for text in texts if text)


def _option_code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


_HEAD = """\
# Commands

All commands with their flags, as `archfit COMMAND --help-all` prints them. [Configuration](configuration.md#options)
has the options, with their variables and keys, and the [exit codes](configuration.md#exit-codes).

"""


def commands_page() -> str:
    """The page of all commands, which the site alone has: the program prints the same."""
    return f"{_HEAD}{markdown_list()}\n{markdown_reference()}"


def markdown_list() -> str:
    """Every command as a GitHub table, with a line ending after the last row."""
    rows = (
        f"| [`archfit {name}`](#archfit-{name.replace(' ', '-')}) | {summary} |"
        for name, summary in command_rows()
    )
    return _lines(("| Command | What it does |", "| --- | --- |", *rows))


def exits_table() -> str:
    """What the exit codes of each command mean; commands that mean the same share a row. 2 is wrong usage for all."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for command in COMMANDS:
        codes = dict(command.exits)
        rows.setdefault((codes[0], codes[1], codes.get(3, "")), []).append(f"`archfit {command.name}`")
    cells = ((", ".join(names), *map(_cell, codes)) for codes, names in rows.items())
    return _lines(
        ("| Command | 0 | 1 | 3 |", "| --- | --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in cells))
    )


def markdown_reference() -> str:
    """Every command with its forms, flags and exit codes."""
    blocks = [block for command in COMMANDS if command.run for block in _section(command)]
    return "\n".join([*blocks, "## Flags of several commands\n", _entries_table(_shared())])


def _section(command: Command) -> Iterator[str]:
    yield f"## archfit {command.name}\n"
    yield f"{_escaped(command.summary)}\n"
    yield _fenced("text", [f"archfit {form}" for form in command.usage])
    yield from _markdown_about(command.about)
    shared = _shared()
    entries = _entries(command)
    own = [entry for entry in entries if entry not in shared]
    if own:
        yield _entries_table(own)
    also = ", ".join(f"`{head}`" for head, text in entries if (head, text) in shared)
    if also:
        yield f"Also [those of several commands](#flags-of-several-commands): {also}.\n"
    yield from _markdown_options(command)


def _entries(command: Command) -> list[tuple[str, str]]:
    return [*command.arguments, *(flag_entry(flag) for flag in command.flags)]


@cache
def _shared() -> tuple[tuple[str, str], ...]:
    """The arguments and flags that more than two commands have with the same text, in the order of the first."""
    counted = Counter(entry for command in COMMANDS if command.run for entry in _entries(command))
    return tuple(entry for entry, number in counted.items() if number > 2)


def _entries_table(entries: Iterable[tuple[str, str]]) -> str:
    rows = (f"| `{_cell(head)}` | {_escaped(_cell(text))} |" for head, text in entries)
    return _lines(("| Argument or flag | What it does |", "| --- | --- |", *rows))


def _markdown_about(text: str) -> Iterator[str]:
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


def _markdown_options(command: Command) -> Iterator[str]:
    names = [option.flags[0] for option in command.options if option.flags]
    if command.options == TABLE:
        yield f"It takes all [options]({_OPTIONS_PAGE}).\n"
    elif names:
        listed_names = ", ".join(f"`{name}`" for name in [*names, CONFIG_FLAG])
        yield f"It takes these [options]({_OPTIONS_PAGE}): {listed_names}.\n"


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


def values_schema(text: str) -> str:
    """The JSON Schema (draft 7) of the chart's values with what follows from the tables renewed.

    `configuration` is the configuration file, as keys or as its text; `serveWord` and `policyWord` are a word behind
    `archfit serve` and `archfit policy`.
    """
    values = json.loads(text)
    configuration = deepcopy({key: value for key, value in schema().items() if not key.startswith("$")})
    mirror = configuration["properties"]["operator"]["properties"]["mirror"]["anyOf"][0]
    # Helm repeats a text that a pattern refuses, and this one may hold a password.
    mirror["additionalProperties"] = {"not": {"not": mirror["additionalProperties"]}}
    values["definitions"] |= {
        "configuration": {**configuration, "type": ["object", "string"], "minLength": 1},
        "serveWord": _word(BY_NAME["serve"]),
        "policyWord": _word(BY_NAME["policy"]),
    }
    return json.dumps(values, indent=2) + "\n"


def _word(command: Command) -> Schema:
    """A flag of the command, alone or with `=` and its value; or the value, which does not begin with a dash."""
    names = [name for flag in command.flags for name in flag.names]
    names += [name for option in command.options for name in (option.short, *option.flags) if name]
    flags = "|".join(re.escape(name).replace("\\-", "-") for name in sorted(names))
    return {"type": "string", "pattern": f"^(({flags})(=[^\\n]*)?|[^-][^\\n]*)$"}
