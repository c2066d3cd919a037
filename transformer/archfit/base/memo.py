"""Memo: what a function gave for plain values, so that equal results are one object.

What is there already is found by dict, without a call of a function in Python. A full one forgets everything, so that a
process which lives long takes no more memory.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    K = TypeVar("K")
    V = TypeVar("V")
else:
    K = V = object


class Memo(dict[K, V]):
    """make: of one value, which is the key. most: how many results are kept. Raises what make raises."""

    __slots__ = ("_make", "_most")

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        self._make, self._most = make, most

    def __missing__(self, key: K) -> V:
        if len(self) >= self._most:
            self.clear()
        value = self[key] = self._make(key)
        return value
