r"""YAML's grammar as regular expressions, for the text that the fast paths before it do not decide.

    number_kind         1_000, 0x1f, 1e3, -.inf     `values.resolve` knows words, integers, 0.5, 100m and 1.2.3 itself
    with_surrogates_masked    "\ud83d\ude00"        `compose.parse` asks for JSON that holds such an escape

A usual run loads neither this module nor `re`, which cost 3 ms.
"""

from __future__ import annotations

import re

from archfit.base.typing_names import Literal

_INT = re.compile(r"[-+]?(?:0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)", re.ASCII).fullmatch
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.ASCII,
).fullmatch
_SURROGATE = re.compile(r"\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}").sub


def number_kind(text: str) -> Literal["int", "float", ""]:
    """What number a plain scalar is, "" if it is none."""
    if _INT(text):
        return "int"
    return "float" if _FLOAT(text) else ""


def with_surrogates_masked(text: str) -> str:
    """JSON without halves of surrogate pairs: it writes what is beyond U+FFFF with them, and libyaml refuses them."""
    return _SURROGATE(_mask, text)


def _mask(match: re.Match[str]) -> str:
    return match[0] if match[0] == "\\\\" else "\\uFFFD"
