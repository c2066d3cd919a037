"""The options as a Markdown table and as a JSON Schema, both from the rows of `archfit.options.table`.

    .venv/bin/python scripts/option_pages.py table      the options, for docs/configuration.md
    .venv/bin/python scripts/option_pages.py schema     transformer/archfit/cli/schemas/archfit.schema.json
    .venv/bin/python scripts/option_pages.py update F   the page F with the table between its markers renewed

The markers are `<!-- options -->` and `<!-- /options -->`, each on a line of its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence

from archfit.base.documentation import schema_id
from archfit.options.config_file import API_VERSION, KIND
from archfit.options.layers import ANNOTATIONS
from archfit.options.option_types import Schema
from archfit.options.table import (
    BY_KEY,
    CONFIG_FLAG,
    CONFIG_HELP,
    CONFIG_VARIABLE,
    OPERATOR,
    SPEC,
    TABLE,
    Option,
    default_text,
)

BEGIN, END = "<!-- options -->", "<!-- /options -->"


def markdown_table(rows: Sequence[Option] = TABLE) -> str:
    """The options as a GitHub table, with a line ending after the last row. Three columns fit a page."""
    head = ("Flag, key in the file, variable", "Default", "What it does")
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for option in rows:
        flag = ", ".join(
            _code(name + (f" {option.metavar}" if option.metavar else ""))
            for name in (*([option.short] if option.short else ()), *option.flags)
        )
        if option.repeatable:
            flag += " (repeatable)"
        names = (flag or "file only", _code(f"{option.part}.{option.key}"), _code(option.variable))
        cells = (_stacked(names), _code(default_text(option)), option.help.replace("|", "\\|"))
        lines.append("| " + " | ".join(cells) + " |")
    config = _stacked((_code(f"{CONFIG_FLAG} FILE"), _code(CONFIG_VARIABLE)))
    lines.append(f"| {config} | | {CONFIG_HELP} |")
    return "".join(line.replace("|  |", "| |") + "\n" for line in lines)


def _stacked(texts: Sequence[str]) -> str:
    return "<br>".join(text for text in texts if text)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def updated(text: str) -> str:
    """A Markdown page with the table between its markers renewed. Raises ValueError without markers."""
    return replace_between(text, BEGIN, END, markdown_table())


def replace_between(text: str, begin: str, end: str, content: str) -> str:
    """The page with other content between two lines. Raises ValueError where one of them is missing."""
    before, _begin, rest = text.partition(f"{begin}\n")
    _old, found, after = rest.partition(f"{end}\n")
    if not found:
        raise ValueError(f"the page has no lines {begin} and {end}")
    return f"{before}{begin}\n{content}{end}\n{after}"


def json_schema() -> Schema:
    """The configuration file as JSON Schema, draft 2020-12."""
    operator = _properties(OPERATOR)
    operator["enforced"] = {
        "type": "array",
        "items": {
            "enum": [*(option.key for option in TABLE), *(key for key in ANNOTATIONS if key not in BY_KEY)]
        },
        "description": "Options that no flag, variable or application may change. imagePlatforms covers the annotation "
        "archfit.dev/image-platforms, too; skip covers archfit.dev/skip.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("archfit"),
        "title": "archfit configuration",
        "type": "object",
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "metadata": {"type": "object", "description": "Not read."},
            "spec": _part("Placement: anyone may supply it.", _properties(SPEC)),
            "operator": _part("Trust: counts only in a file that a flag or variable names.", operator),
        },
        "required": ["apiVersion", "kind"],
        "additionalProperties": False,
    }


def _properties(rows: Sequence[Option]) -> dict[str, Schema]:
    return {
        option.key: {
            **option.type.schema,
            "description": option.help,
            **({} if option.default is None else {"default": option.default}),
        }
        for option in rows
    }


def _part(description: str, properties: dict[str, Schema]) -> Schema:
    return {
        "type": ["object", "null"],
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }


def printed(
    argv: Sequence[str],
    pages: Mapping[str, Callable[[], str]],
    renewed: Mapping[str, Callable[[str], str]],
) -> str:
    """What a script of pages prints: a page by its word, or the file behind a word renewed. Raises ValueError."""
    match argv:
        case [word] if word in pages:
            return pages[word]()
        case [word, path] if word in renewed:
            with open(path, encoding="utf-8") as file:
                return renewed[word](file.read())
    words = [*pages, *(f"{word} PATH" for word in renewed)]
    listed = ", ".join(words[:-1])
    raise ValueError(f"write {listed} or {words[-1]}" if listed else f"write {words[-1]}")


def main(argv: Sequence[str]) -> str:
    """What the script prints for these arguments. Raises ValueError for others."""
    pages = {"table": markdown_table, "schema": lambda: json.dumps(json_schema(), indent=2) + "\n"}
    return printed(argv, pages, {"update": updated})


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
