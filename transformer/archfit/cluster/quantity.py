"""Quantities of resources as Kubernetes parses them, exact in 1/1,000,000,000.

    quantity  = [ "+" | "-" ] digits [ "." digits ] [ suffix ]        either digits may be missing
    suffix    = "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E"   powers of 1000
              | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"               powers of 1024
              | ( "e" | "E" ) [ "+" | "-" ] digits                    a power of 10

    0.1n      1     what is smaller is rounded up, away from zero
    9Ei       2^63 - 1, the largest with a binary suffix

Source: k8s.io/apimachinery/pkg/api/resource, ParseQuantity, Value and MilliValue.
"""

from __future__ import annotations

import re
from functools import lru_cache

NANO = 1_000_000_000
"""Of one unit."""
_LARGEST = 2**63 - 1
_QUANTITY = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?:(?P<exponent>[eE][+-]?[0-9]+)|(?P<suffix>[numkMGTPE]|[KMGTPE]i)?)",
    re.ASCII,
).fullmatch
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
# A larger exponent is more than any quantity can be.
_EXPONENT = 100
_DIGITS = 100


def nano(value: object) -> int:
    """A quantity, as text or number of JSON, in 1/1,000,000,000. Raises ValueError for what is none."""
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a quantity is a text or a number")  # noqa: TRY004 - one error for all input
    return _parsed(repr(value))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> int:
    match = _QUANTITY(text) if 0 < len(text) <= _DIGITS else None
    if match is None:
        raise ValueError("this is not a quantity")
    whole, part = match["whole"], match["part"] or ""
    suffix = match["suffix"] or ""
    digits, power = int((whole + part) or "0") * NANO, -len(part)
    if suffix in _BINARY:
        digits <<= _BINARY[suffix]
    elif match["exponent"]:
        power += max(-_EXPONENT, min(_EXPONENT, int(match["exponent"][1:])))
    else:
        power += _DECIMAL[suffix]
    amount: int = digits * 10**power if power >= 0 else -(-digits // 10**-power)
    if suffix in _BINARY:
        amount = min(amount, _LARGEST * NANO)
    return -amount if match["sign"] == "-" else amount


def milli(amount: int) -> int:
    """1/1000 of a unit, of `nano`'s result, rounded away from zero."""
    return _rounded(amount, NANO // 1000)


def units(amount: int) -> int:
    """Whole units, of `nano`'s result, rounded away from zero."""
    return _rounded(amount, NANO)


def _rounded(amount: int, by: int) -> int:
    size = min(-(-abs(amount) // by), _LARGEST)
    return size if amount >= 0 else -size
