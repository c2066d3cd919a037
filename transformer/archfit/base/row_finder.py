"""RowFinder: of many rows of the user's, those that mean an object, found without asking each of them.

    finder = RowFinder(conditions, keys, means)
    finder.meaning(rows, "web")          the numbers of the rows that mean it
    finder.idle(rows, ["web", "db"])     the rows that mean neither

conditions: of a row, in alternatives: what one means has a key of each of its conditions. keys: of an object. A row is
filed under the condition that the fewest share; one without any is asked about each object.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from typing import Any

    Conditions = Sequence[Sequence[Hashable]]
    Index = tuple[dict[Hashable, list[int]], list[int]]


class RowFinder:
    """See the module. It keeps the index of the latest rows, told by identity, as to hash them is to look at each."""

    def __init__(
        self,
        conditions: Callable[[Any], Sequence[Conditions]],
        keys: Callable[[Any], Iterable[Hashable]],
        means: Callable[[Any, Any], bool],
    ) -> None:
        self._conditions, self._keys, self._means = conditions, keys, means
        self._latest: tuple[Sequence[Any], Index] = ((), ({}, []))

    def meaning(self, rows: Sequence[Any], each: Any) -> Iterator[int]:
        """The numbers of the rows that mean the object, in their order. rows: nobody changes them."""
        latest, index = self._latest
        if latest is not rows:
            index = self._filed(rows)
            self._latest = rows, index
        return (number for number in self._near(index, each) if self._means(each, rows[number]))

    def idle(self, rows: Sequence[Any], objects: Iterable[Any]) -> list[Any]:
        """The rows that mean none of the objects, in their order."""
        idle, index = dict(enumerate(rows)), self._filed(rows)
        for each in objects:
            for number in self._near(index, each):
                if number in idle and self._means(each, rows[number]):
                    del idle[number]
        return list(idle.values())

    def _filed(self, rows: Sequence[Any]) -> Index:
        parts = [(number, part) for number, row in enumerate(rows) for part in self._conditions(row)]
        shared: dict[Hashable, int] = {}
        for key in [key for _, part in parts for keys in part for key in keys]:
            shared[key] = shared.get(key, 0) + 1
        filed: dict[Hashable, list[int]] = {}
        for number, part in parts:
            for key in min(part, key=lambda keys: sum(shared[key] for key in keys), default=()):
                filed.setdefault(key, []).append(number)
        return filed, [number for number, part in parts if not part]

    def _near(self, index: Index, each: Any) -> list[int]:
        filed, others = index
        near = [number for key in self._keys(each) for number in filed.get(key, ())]
        return sorted({*near, *others}) if near else others
