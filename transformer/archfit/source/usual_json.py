r"""Usual JSON by CPython's scanner: text that libyaml and Kubernetes' readers take for the same value.

    usual         strict JSON in any layout: no comment, no trailing comma, no NaN
    not usual     a key twice in one object; one of more than 160 characters: libyaml takes 1,024 with their escapes
                  a blank between a key and its colon, which YAML wants in one line and not far apart
                  CR, NEL, LS, PS and a byte order mark: line breaks to some parsers, nothing to others
                  DEL, the control characters behind it, U+FFFE and U+FFFF, which YAML does not allow
                  collections nested more than 200 deep: `compose.parse` takes 250, and an object stands in a list

Usual text has one reading, the one that `compose.parse` gives, in a twentieth of its time. Of anything else nothing is
said here, neither a value nor an error: `compose.parse` reads it. JSON writes what is beyond U+FFFF as a pair of
surrogates; both are masked here as they are there.
"""

from __future__ import annotations

from archfit import c_json
from archfit.memo import Memo
from archfit.source.skip import is_key
from archfit.source.values import resolve
from archfit.typing_names import Any

LONGEST_KEY = 160
"""Characters of the longest usual key."""
_DEEPEST = 200
_ALLOWED = bytes((9, 10, *range(32, 127)))
_ODD = frozenset("\x7f\r\u2028\u2029\ufeff\ufffe\uffff").union(map(chr, range(0x80, 0xA0)))
_TRUE, _FALSE = resolve("true"), resolve("false")


class Unusual(Exception):
    """The text is no usual JSON, or ends too early."""


def _checked_object(pairs: list[tuple[str, Any]]) -> None:
    _check_keys(pairs, dict(pairs))


def _check_keys(pairs: list[tuple[str, Any]], made: dict[str, Any]) -> None:
    # All keys of most objects are shorter together.
    if len(made) != len(pairs) or (len("".join(made)) > LONGEST_KEY and max(map(len, made)) > LONGEST_KEY):
        raise _Refused


def _typed_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = {}
    for key, value in pairs:
        if value is True:
            value = _TRUE  # noqa: PLW2901 - a second name costs a tenth of the loop
        elif value is False:
            value = _FALSE  # noqa: PLW2901
        elif value.__class__ is list:
            _type_items(value)
        made[key] = value
    _check_keys(pairs, made)
    return made


def _type_items(values: list[Any]) -> None:
    for number, value in enumerate(values):
        if value is True or value is False:
            values[number] = _TRUE if value else _FALSE
        elif value.__class__ is list:
            _type_items(value)


class _Refused(Exception):
    """More text would not make it usual."""


def _refuse(_: str) -> Any:
    raise _Refused


class _Any(c_json.Decoder):
    """Values that are looked at and dropped: numbers are any number, booleans Python's own."""

    parse_int = parse_float = len
    parse_constant = staticmethod(_refuse)


class _Checked(_Any):
    """No values at all: keys are looked at."""

    object_pairs_hook = staticmethod(_checked_object)


class _Typed(c_json.Decoder):
    """Values as `compose.parse` gives them."""

    object_pairs_hook = staticmethod(_typed_object)
    parse_int = parse_float = Memo(resolve, 10_000).__getitem__
    parse_constant = staticmethod(_refuse)


_scan, _check, _read = map(c_json.scanner, (_Any, _Checked, _Typed))


def passed(text: str, at: int) -> tuple[Any, int] | None:
    """A value that begins in `text[at:]` and its end, None where it may end behind the text. Raises Unusual.

    Its numbers are not those of the text, and its keys have not been looked at: `read` does that, or `check_keys`.
    Whether characters and blanks are usual, `is_usual` says of the whole text.
    """
    if _scan is None:
        raise Unusual
    try:
        value, end = _scan(text, at)
    except (_Refused, RecursionError):
        raise Unusual from None
    # The scanner takes its errors from `json.decoder`, and ends without one where that is not loaded: SystemError.
    except (StopIteration, ValueError, SystemError):
        return None
    if text.count("{", at, end) + text.count("[", at, end) > _DEEPEST and _is_deep(value):
        raise Unusual
    return value, end


def scanned(text: str, at: int) -> tuple[Any, int]:
    """A value that begins in usual text at this place, as `passed` gives it, and its end. Raises Unusual."""
    try:
        return _scan(text, at) if _scan else (None, -1)
    except (_Refused, StopIteration, ValueError, SystemError, RecursionError):
        raise Unusual from None


def check_keys(text: str, at: int) -> None:
    """Raises Unusual for a value that `passed` has gone over, unless all of its keys are usual."""
    try:
        if _check:
            _check(text, at)
    except _Refused:
        raise Unusual from None


def read(text: str) -> Any:
    """What text says that `is_usual`, as `compose.parse` gives it. Raises Unusual where it is no usual JSON otherwise.

    Its depth is not looked at: `passed` has done that.
    """
    try:
        value, end = _read(masked(text), 0) if _read else (None, -1)
    except (_Refused, StopIteration, ValueError, SystemError, RecursionError):
        raise Unusual from None
    if end != len(text):
        raise Unusual
    return value


def masked(text: str) -> str:
    """The text with its surrogate escapes masked; as long as the text."""
    if "\\u" not in text or ("\\ud" not in text and "\\uD" not in text):
        return text
    from archfit.source.yaml_grammar import with_surrogates_masked

    return with_surrogates_masked(text)


def is_usual(data: bytes) -> bool:
    """Whether all characters of JSON are usual, and no blank stands between a key and its colon.

    data: of whole characters; begins outside of quotes.
    """
    odd = data.translate(None, _ALLOWED)
    if odd and not _ODD.isdisjoint(odd.decode()):
        return False
    if not _may_hold_keys_apart(data):
        return True
    from archfit.source.unusual_text import has_key_apart

    return not has_key_apart(data)


def _may_hold_keys_apart(data: bytes) -> bool:
    for blank in (b'" ', b'"\t'):
        at = data.find(blank)
        for _ in range(8 + (len(data) >> 9)):
            if at < 0:
                break
            if is_key(data, at + 1, len(data)) and not _is_escaped(data, at):
                return True
            at = data.find(blank, at + 1)
        if at >= 0:
            return True  # as a rule they are rare
    return data.translate(None, b" \t").find(b"\n:") >= 0


def _is_escaped(data: bytes, at: int) -> bool:
    """Whether a quote is text inside of others."""
    before = data[max(0, at - 80) : at]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if outer.__class__ is dict else outer)
            if inner.__class__ is dict or inner.__class__ is list
        ]
        if not level:
            return False
    return True
