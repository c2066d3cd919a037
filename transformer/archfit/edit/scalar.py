"""Scalars as text: plain where every reader of YAML 1.1 and 1.2 sees a string, else in double quotes.

plain    = letter *( letter / digit / "." / "/" / "-" ), and no boolean, null or number in any case
quoted   = JSON's string, with the line breaks and marks that only YAML knows escaped too
"""

from __future__ import annotations

from archfit import c_json
from archfit.source.values import PlainKey, Typed
from archfit.typing_names import Any

_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf", "infinity"))
# Not printable in YAML 1.1 and 1.2 alike (section 5.1 of either), or a line break to one of them.
_ESCAPED = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff" r"\ud800-\udfff]"


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
