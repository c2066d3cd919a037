"""Pages made from the table of commands: man page, reference of the commands, schema of the chart's values.

    .venv/bin/python scripts/command_pages.py man > docs/archfit.1
    .venv/bin/python scripts/command_pages.py commands     the list of commands, in Markdown
    .venv/bin/python scripts/command_pages.py update docs/commands.md    the page with its two parts renewed
    .venv/bin/python scripts/command_pages.py values charts/archfit/values.schema.json    the same for its definitions

The markers are `<!-- commands -->` and `<!-- /commands -->` around the list, `<!-- reference -->` and
`<!-- /reference -->` around the sections, each on a line of its own. Of the schema, `definitions` has `configuration`,
`serveWord` and `policyWord`. A section of the reference:

## archfit check
Says what archfit would change ..                             `summary`
    archfit check [OPTION].. [FILE|-]..                       `usage`
archfit check writes no manifests ..                          `about`, its examples as code
| Argument or flag | What it does |                           `arguments` and `flags`
It takes all [options](configuration.md#options).
Exit: 0 nothing found, ..
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy

from option_pages import json_schema, printed, replace_between

from archfit import __version__
from archfit.cli.usage.command_row import MESSAGES, Command
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, MAIN
from archfit.cli.usage.help import EXAMPLE, exits, flag_entry, general, listed, option_entry
from archfit.options.option_types import Schema
from archfit.options.table import CONFIG_FLAG, TABLE

_OPTIONS_PAGE = "configuration.md#options"


def updated(text: str) -> str:
    """A Markdown page with what is between its markers renewed. Raises ValueError without markers."""
    for name, content in (("commands", markdown_list()), ("reference", markdown_reference())):
        text = replace_between(text, f"<!-- {name} -->", f"<!-- /{name} -->", content)
    return text


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
    yield from _markdown_about(command.about)
    own = [*command.arguments, *(flag_entry(flag) for flag in command.flags)]
    if own:
        rows = (f"| `{_cell(head)}` | {_escaped(_cell(text))} |" for head, text in own)
        yield _lines(("| Argument or flag | What it does |", "| --- | --- |", *rows))
    yield from _markdown_options(command)
    yield f"{_escaped(exits(command))}\n"


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


def values_schema(text: str) -> str:
    """The JSON Schema (draft 7) of the chart's values with what follows from the tables renewed.

    `configuration` is the configuration file, as keys or as its text; `serveWord` and `policyWord` are a word behind
    `archfit serve` and `archfit policy`.
    """
    schema = json.loads(text)
    configuration = deepcopy({key: value for key, value in json_schema().items() if not key.startswith("$")})
    mirror = configuration["properties"]["operator"]["properties"]["mirror"]["anyOf"][0]
    # Helm repeats a text that a pattern refuses, and this one may hold a password.
    mirror["additionalProperties"] = {"not": {"not": mirror["additionalProperties"]}}
    schema["definitions"] |= {
        "configuration": {**configuration, "type": ["object", "string"], "minLength": 1},
        "serveWord": _word(BY_NAME["serve"]),
        "policyWord": _word(BY_NAME["policy"]),
    }
    return json.dumps(schema, indent=2) + "\n"


def _word(command: Command) -> Schema:
    """A flag of the command, alone or with `=` and its value; or the value, which does not begin with a dash."""
    names = [name for flag in command.flags for name in flag.names]
    names += [name for option in command.options for name in (option.short, *option.flags) if name]
    flags = "|".join(re.escape(name).replace("\\-", "-") for name in sorted(names))
    return {"type": "string", "pattern": f"^(({flags})(=[^\\n]*)?|[^-][^\\n]*)$"}


def main(argv: Sequence[str]) -> str:
    """What the script prints for these arguments. Raises ValueError for others."""
    pages = {"man": man_page, "commands": markdown_list}
    return printed(argv, pages, {"update": updated, "values": values_schema})


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
