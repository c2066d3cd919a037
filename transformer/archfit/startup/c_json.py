"""JSON by CPython's C scanner and encoder, without the pure modules of the package `json`.

`json` loads `re` and compiles seven regular expressions, which the C code does not use: a warm run of one Deployment
takes 1.25 times as long with `json`. What the C code does not do goes to `json`, which is loaded then: text with an
error, an indented document, an interpreter whose `_json` is missing or built otherwise.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANKS = " \t\n\r"


class Decoder:
    """What the scanner asks for; these are the defaults of `json.loads`."""

    strict = True
    object_hook: Any = None
    object_pairs_hook: Any = None
    array_hook: Any = None  # from Python 3.15 on
    parse_float: Any = float
    parse_int: Any = int
    parse_constant: Any = {
        "-Infinity": float("-inf"),
        "Infinity": float("inf"),
        "NaN": float("nan"),
    }.__getitem__


_kept: list[Any] = []


def _c_code() -> tuple[Any, Callable[[str, int], tuple[Any, int]] | None]:
    """CPython's module and a scanner, loaded when the first document needs them; (None, None) without it."""
    if not _kept:
        try:
            import _json

            _kept.append((_json, _json.make_scanner(Decoder)))  # type: ignore[arg-type]  # it reads attributes
        except Exception:  # noqa: BLE001 - whatever another interpreter does differently, `json` works
            _kept.append((None, None))
    encoders: tuple[Any, Any] = _kept[0]
    return encoders


def loads(text: str | bytes | bytearray) -> Any:
    """The value of a JSON document. Raises json.JSONDecodeError, a ValueError, and RecursionError."""
    _, scan = _c_code()
    if scan and type(text) is str:
        document = text.strip(_BLANKS)
        try:
            value, end = scan(document, 0)
            if end == len(document):
                return value
        except (StopIteration, ValueError, SystemError):
            # `json` names the place in the whole text. The scanner takes its error from `json.decoder`; where that is
            # not loaded, it ends without one, which is a SystemError (CPython, Modules/_json.c, raise_errmsg).
            pass
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
    code, _ = _c_code()
    if code and indent is None:
        item, key = separators
        try:
            text = code.encode_basestring_ascii if ensure_ascii else code.encode_basestring
            encode = code.make_encoder({}, default or _refused, text, None, key, item, sort_keys, False, True)
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
