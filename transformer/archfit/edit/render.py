"""Plain values as YAML text, in block style for people or in flow style for places that allow nothing else.

A scalar is plain where every reader of YAML 1.1 and 1.2 sees a string, else it stands in double quotes:

plain    = letter *( letter / digit / "." / "/" / "-" ), and no boolean, null or number in any case
quoted   = JSON's string, with the line breaks and marks that only YAML knows escaped too
"""

from __future__ import annotations

from archfit.startup import c_json
from archfit.startup.record import Record
from archfit.yaml.values import PlainKey, Typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity"))
# Not printable in YAML 1.1 and 1.2 alike (section 5.1 of either), or a line break to one of them.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff" r"\ud800-\udfff]"


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


def quoted(text: str) -> str:
    """Text as a double-quoted scalar that JSON reads too."""
    written = c_json.dumps(text, ensure_ascii=False)
    if written.isascii() and "\x7f" not in written:
        return written
    import re  # archfit adds nothing but ASCII; the user's own values may be written out again

    return re.sub(_ESCAPED, lambda match: f"\\u{ord(match[0]):04x}", written)


def scalar(value: Any, *, as_json: bool = False) -> str:
    """A str, int, None or Typed as text; strings are quoted when `as_json`, or when plain text could be misread."""
    if value is None:
        return "null"
    if isinstance(value, PlainKey):
        return value
    if isinstance(value, str):
        if not as_json and _is_plain(value) and value.lower() not in _WORDS:
            return value
        return quoted(value)
    if isinstance(value, Typed):
        return value.text
    return str(value)


def _is_plain(text: str) -> bool:
    letters = text.replace(".", "").replace("/", "").replace("-", "")
    return text.isascii() and text[:1].isalpha() and letters.isalnum()
