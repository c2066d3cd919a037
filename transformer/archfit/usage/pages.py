"""Pages made from the table: the man page, the reference of the commands, and the schema of the chart's values.

    python -m archfit.usage.pages man > docs/archfit.1
    python -m archfit.usage.pages commands                   the list of commands, in Markdown
    python -m archfit.usage.pages update docs/commands.md    the page with what is between its markers renewed
    python -m archfit.usage.pages values charts/archfit/values.schema.json    the schema with its definitions renewed

The markers are `<!-- commands -->` and `<!-- /commands -->` around the list, `<!-- reference -->` and
`<!-- /reference -->` around the sections, each on a line of its own. Of the schema, `definitions` has `configuration`,
`serveWord` and `policyWord`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from archfit import __version__
from archfit.options.describe import json_schema, replace_between
from archfit.options.option_types import Schema
from archfit.options.table import TABLE
from archfit.usage.command_reference import markdown_list, markdown_reference
from archfit.usage.command_row import MESSAGES, Command
from archfit.usage.command_table import BY_NAME, COMMANDS, MAIN
from archfit.usage.help import EXAMPLE, exits, flag_entry, general, option_entry


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
        *_about(MAIN.about),
        ".SH COMMANDS",
    ]
    for command in COMMANDS:
        if command.run and command is not MAIN:
            lines += [f".SS {_text(command.name)}", _text(command.summary), *_about(command.about)]
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


def _about(text: str) -> Iterator[str]:
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


def values_schema(text: str) -> str:
    """The JSON Schema (draft 7) of the chart's values with what follows from the tables renewed.

    `configuration` is the configuration file, as keys or as its text; `serveWord` and `policyWord` are a word behind
    `archfit serve` and `archfit policy`.
    """
    schema = json.loads(text)
    configuration = {key: value for key, value in json_schema().items() if not key.startswith("$")}
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
    """What the module prints for these arguments. Raises ValueError for others."""
    match argv:
        case ["man"]:
            return man_page()
        case ["commands"]:
            return markdown_list()
        case ["update", path]:
            with open(path, encoding="utf-8") as page:
                return updated(page.read())
        case ["values", path]:
            with open(path, encoding="utf-8") as schema:
                return values_schema(schema.read())
    raise ValueError("write man, commands, or update or values and a path")


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
