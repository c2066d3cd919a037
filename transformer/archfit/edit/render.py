"""Plain values as YAML text, in block style for people or in flow style for places that allow nothing else.

block                                     flow
nodeAffinity:                             {nodeAffinity: {matchExpressions: [{key: a, values: [b]}]}}
  matchExpressions:
  - key: a
    values:
    - b
"""

from __future__ import annotations

from archfit.edit.scalar import scalar
from archfit.record import Record
from archfit.typing_names import Any


class Style(Record):
    """Columns that a mapping (`indent`) and a sequence (`dash`) stand to the right of the key that holds them."""

    indent: int = 2
    dash: int = 0


def flow(value: Any, *, as_json: bool = False) -> str:
    """Value on one line; `as_json` quotes keys and strings as JSON does."""
    if isinstance(value, dict):
        inside = (
            f"{scalar(key, as_json=as_json)}: {flow(member, as_json=as_json)}"
            for key, member in value.items()
        )
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item, as_json=as_json) for item in value) + "]"
    return scalar(value, as_json=as_json)


def block(value: Any, column: int, style: Style) -> list[str]:
    """The lines of a non-empty dict or list whose keys or dashes stand at `column`, without line endings."""
    if isinstance(value, dict):
        return [line for key, member in value.items() for line in block_member(key, member, column, style)]
    return [line for item in value for line in block_item(item, column, style)]


def block_member(key: str, value: Any, column: int, style: Style) -> list[str]:
    """The lines of `key: value`."""
    head = " " * column + scalar(key) + ":"
    if isinstance(value, dict) and value:
        return [head, *block(value, column + style.indent, style)]
    if isinstance(value, list) and value:
        return [head, *block(value, column + style.dash, style)]
    return [f"{head} {flow(value)}"]


def block_item(value: Any, column: int, style: Style) -> list[str]:
    """The lines of `- value`."""
    if isinstance(value, (dict, list)) and value:
        first, *rest = block(value, column + 2, style)
        return [" " * column + "- " + first[column + 2 :], *rest]
    return [" " * column + "- " + flow(value)]
