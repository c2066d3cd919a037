"""Plain values as Kubernetes reads them: dict, list, str, None, and Typed for booleans and numbers.

A plain (unquoted) scalar is resolved as kubectl does it (sigs.k8s.io/yaml, YAML 1.1 words and numbers):

    "", ~, null, Null, NULL                    None
    true, yes, on, y and their spellings       Typed("bool", "true")
    false, no, off, n and their spellings      Typed("bool", "false")
    12, 0x1f, 0o17, 017, 1_000                 Typed("int", as written)
    1.5, 1e3                                   Typed("float", as written)
    .inf, .nan                                 NoJsonNumber: kubectl refuses them
    anything else, and everything quoted       str; 22:22, =, 2001-01-01 too
"""

from __future__ import annotations

from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Longer ones are no uint64, whatever their base.
_LONGEST_INTEGER = 70
_INFINITY = float("inf")


class Typed(Record):
    """A plain scalar that is a boolean or a number. kind: "bool", "int" or "float"; text: as written."""

    kind: str
    text: str


class NoJsonNumber(ValueError):
    """A plain scalar is a number that JSON does not have."""


class PlainKey(str):
    """A key that is no string in YAML, as written: `y` is "true" to kubectl and "y" to kustomize."""

    __slots__ = ()


_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **{
        spelling: Typed("bool", value)
        for value, words in (("true", ("true", "yes", "on", "y")), ("false", ("false", "no", "off", "n")))
        for word in words
        for spelling in (word, word.capitalize(), word.upper())
    },
}
# Interpreted code stops at about 480, where each level takes two of Python's 1,000 frames.
DEEPEST_JSON = 400
_BEGIN_NUMBERS = "+-.0123456789"
_SPELL_NUMBERS = "+-._0123456789abcdefABCDEFoOxXinIN"
_SPELL_DECIMALS = "+-._0123456789eE"


def resolve(text: str) -> str | Typed | None:
    """What Kubernetes makes of a plain scalar without a tag; see the module's table. Raises NoJsonNumber."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _BEGIN_NUMBERS or text.strip(_SPELL_NUMBERS):
        return text
    if text.isdecimal():
        return Typed("int", text)
    return _resolved_number(text)


def _resolved_number(text: str) -> str | Typed:
    """Of a text of the characters of numbers alone that begins as one of them. What is usual needs no grammar."""
    whole, point, fraction = text.partition(".")
    if point and "." in fraction:
        return text
    if point and whole.isdecimal() and fraction.isdecimal():
        return Typed("float", text)
    if whole[:1] in ("+", "-") and not (whole[1:2].isdecimal() or (point and len(whole) == 1)):
        return text
    if text[0] in "123456789" and not ("_" in text or "e" in text or "E" in text or point):
        return text
    other_base = text[0] == "0" and text[1:2] in "bBoOxX"
    if text[0].isdecimal() and not other_base and text.strip(_SPELL_DECIMALS):
        return text  # a checksum
    from archfit.yaml.unusual_text import number_kind

    kind = number_kind(text)
    if kind == "float" and text[-1] in "fFnN":
        raise NoJsonNumber
    return Typed(kind, text) if kind else text


def text_of(value: object) -> str:
    """A scalar's text, as a label value or annotation would hold it; "" for None and collections."""
    if isinstance(value, str):
        return value
    return value.text if isinstance(value, Typed) else ""


def mapping_of(value: Any) -> dict[str, Any]:
    """The value, or an empty mapping in the place of anything else."""
    return value if isinstance(value, dict) else {}


def typed(value: Any, deepest: int = DEEPEST_JSON) -> Any:
    """JSON's own values as the parser would give them: numbers and booleans become Typed.

    Raises RecursionError for collections that are nested more than `deepest` deep, on every Python alike.
    """
    if isinstance(value, (dict, list)) and not deepest:
        raise RecursionError("JSON is nested too deeply")
    if isinstance(value, dict):
        return {key: typed(member, deepest - 1) for key, member in value.items()}
    if isinstance(value, list):
        return [typed(item, deepest - 1) for item in value]
    if isinstance(value, bool):
        return Typed("bool", "true" if value else "false")
    return Typed("int", str(value)) if isinstance(value, int) else value


def plain(value: Any) -> Any:
    """The parser's values as JSON has them: Typed becomes the number or boolean that Kubernetes reads."""
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return _number(value) if isinstance(value, Typed) else value


def _number(value: Typed) -> bool | int | float | str:
    """The number as Go reads it: one that is no int64 or uint64 is a float64, one that is no float64 either a text."""
    text = value.text.replace("_", "").lower()
    if value.kind == "bool":
        return text == "true"
    number = _integer(text) if value.kind == "int" and len(text) <= _LONGEST_INTEGER else None
    if number is not None and -(2**63) <= number < 2**64:
        return number
    try:
        real = float(text)
    except ValueError:
        whole = _integer(text) if len(text) <= _LONGEST_INTEGER else None
        return value.text if whole is None else float(whole)
    return value.text if real in (_INFINITY, -_INFINITY) else real


def _integer(text: str) -> int | None:
    digits = text.lstrip("+-")
    try:
        number = int(digits, 8 if digits.isdecimal() and digits[0] == "0" else 0)
    except ValueError:
        return None
    return -number if text[0] == "-" else number
