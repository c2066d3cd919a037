"""The YAML files that `setup` writes: data with comments, so that a value of the user's never becomes syntax."""

from __future__ import annotations

from importlib.resources import files
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from archfit.edit.render import flow

_NEVER_WRAP = 4096
_LONG_LINE = 80


def shipped(package: str, name: str) -> str:
    """The text of a file in the folder files/ of a package."""
    return files(package).joinpath("files", *name.split("/")).read_text(encoding="utf-8")


def parsed(text: str) -> Any:
    """One document; comments, quotes and flow style are kept."""
    return _yaml().load(text)


def written(data: CommentedMap) -> str:
    """The text of one document."""
    text = StringIO()
    _yaml().dump(data, text)
    return text.getvalue()


def mapping(**values: Any) -> CommentedMap:
    """A mapping in block style, in this order."""
    return CommentedMap(values)


def one_line(values: list[str]) -> CommentedSeq:
    """A list in flow style."""
    sequence = CommentedSeq(values)
    sequence.fa.set_flow_style()
    return sequence


def on_few_lines(value: Any) -> Any:
    """A plain value in flow style, but for lists and mappings that take more than a line."""
    text = flow(value)
    if len(text) < _LONG_LINE or not isinstance(value, (dict, list)):
        return parsed(text)
    if isinstance(value, list):
        return CommentedSeq(map(on_few_lines, value))
    return mapping(**{key: on_few_lines(member) for key, member in value.items()})


def _yaml() -> YAML:
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = _NEVER_WRAP
    yaml.preserve_quotes = True
    return yaml
