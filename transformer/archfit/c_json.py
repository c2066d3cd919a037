"""JSON by CPython's C scanner and encoder, without the pure modules of the package `json`.

    loads(text)      as `json.loads`
    dumps(value)     as `json.dumps`

`json` loads `re` and compiles seven regular expressions, which the C code does not use: 1.2 ms of a warm run. What the
C code does not do goes to `json`, which is loaded then: text with an error, an indented document, an interpreter whose
`_json` is missing or built otherwise. So every result and every error is that of `json`.
"""

from __future__ import annotations

from archfit.typing_names import Any, Callable

_BLANKS = " \t\n\r"


class _Decoder:
    """What the scanner asks for; these are the defaults of `json.loads`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}.__getitem__


_c: Any
_scan: Callable[[str, int], tuple[Any, int]] | None
try:
    import _json as _c

    _scan = _c.make_scanner(_Decoder)
except Exception:  # noqa: BLE001 - whatever another interpreter does differently, `json` works
    _c = _scan = None


def loads(text: str | bytes | bytearray) -> Any:
    """The value of a JSON document. Raises json.JSONDecodeError, a ValueError, and RecursionError."""
    if _scan and type(text) is str:
        document = text.strip(_BLANKS)
        try:
            value, end = _scan(document, 0)
            if end == len(document):
                return value
        except (StopIteration, ValueError):
            pass  # `json` names the place in the whole text
    import json

    return json.loads(text)


def dumps(
    value: Any,
    *,
    ensure_ascii: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] = (", ", ": "),
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
) -> str:
    """The value as a JSON document; the options are those of `json.dumps`. Raises TypeError and ValueError as it does.

    separators: between items and after keys, of a document on one line.
    """
    if _c and indent is None:
        item, key = separators
        try:
            text = _c.encode_basestring_ascii if ensure_ascii else _c.encode_basestring
            encode = _c.make_encoder({}, default or _refused, text, None, key, item, sort_keys, False, True)
            return "".join(encode(value, 0))
        except Exception:  # noqa: BLE001, S110 - `json` raises it again, or its own `_json` is not this one
            pass
    import json

    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators if indent is None else None,
        default=default,
        sort_keys=sort_keys,
    )


def _refused(value: Any) -> Any:
    raise TypeError(type(value).__name__)
