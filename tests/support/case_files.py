"""Tables of cases that are files of `fixtures`, as parameters of a test.

    @pytest.mark.parametrize("text", diffs("custom_resources/rows.diff"))
    @pytest.mark.parametrize(("text", "said"), rows("custom_resources/untouched.yaml", "stream", "says"))

A line `=== ID` of a file of diffs begins a case. A file of rows is a list of mappings, each with an `id`.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from _pytest.mark import ParameterSet

FOLDER = Path(__file__).parents[2] / "fixtures"


def diffs(name: str) -> list[ParameterSet]:
    """The text of each case of a file of diffs, see `added_blocks`."""
    _, *parts = re.split(r"^=== (.*)\n", _text(name), flags=re.MULTILINE)
    return [pytest.param(text, id=case) for case, text in zip(parts[::2], parts[1::2], strict=True)]


def rows(name: str, *fields: str) -> list[ParameterSet]:
    """These fields of each row of a YAML file."""
    table = yaml.safe_load(_text(name))
    return [pytest.param(*(row[field] for field in fields), id=row["id"]) for row in table]


def document(name: str) -> Any:
    """A JSON file of the fixtures, decoded."""
    return json.loads(_text(name))


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
