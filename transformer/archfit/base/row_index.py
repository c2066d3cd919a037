"""RowIndex: of many rows of the user's, those that may mean an object, found without asking each of them.

    index = RowIndex([(0, [["web"], ["shop"]]), (1, [])])      row 0 means only what is named web in shop, row 1 any
    index.candidates(["db", "shop"])                           [1]

A row is filed under the one of its conditions that the fewest rows share.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import Any


class RowIndex:
    """rows: (number, conditions); what a row means has one of the keys of each condition. A number may stand twice."""

    def __init__(self, rows: Iterable[tuple[int, Sequence[Sequence[Hashable]]]]) -> None:
        self._filed: dict[Hashable, list[int]] = {}
        self._others: list[int] = []
        listed = list(rows)
        shared: dict[Hashable, int] = {}
        for _, conditions in listed:
            for key in [key for keys in conditions for key in keys]:
                shared[key] = shared.get(key, 0) + 1
        for number, conditions in listed:
            if not conditions:
                self._others.append(number)
                continue
            for key in min(conditions, key=lambda keys: sum(shared[key] for key in keys)):
                self._filed.setdefault(key, []).append(number)

    def candidates(self, keys: Iterable[Hashable]) -> list[int]:
        """The numbers of the rows that may mean what has these keys, in their order."""
        filed = [number for key in keys for number in self._filed.get(key, ())]
        return sorted({*filed, *self._others}) if filed else self._others


class LatestIndex:
    """The index of the latest rows, told by identity: to hash them takes as long as to ask each of them."""

    def __init__(self, make: Callable[[Sequence[Any]], RowIndex]) -> None:
        self._make = make
        self._latest: tuple[Sequence[Any], RowIndex] = ((), RowIndex(()))

    def of(self, rows: Sequence[Any]) -> RowIndex:
        """The same as `make` gives for these rows, which nobody changes."""
        latest, index = self._latest
        if latest is not rows:
            index = self._make(rows)
            self._latest = rows, index
        return index
