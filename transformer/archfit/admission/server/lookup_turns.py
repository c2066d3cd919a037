"""Which image is looked up next: lanes are few, and no tenant and no registry may take them all.

waiting     one queue for each (namespace, registry), taken in turn
a lane      may be taken while the registry has fewer than its share of lanes, and the namespace too
full        an image is refused where too many wait, in all or in one namespace

lanes 4, share 2    a: x x x x x      b: x      taken: a b a, then a waits for a lane of a to come back
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Generic, TypeVar

T = TypeVar("T")
_Queue = tuple[str, str]


class LookupTurns(Generic[T]):
    """lanes: lookups at once. share: of one namespace or one registry.

    most: that may wait. most_of_one: of a namespace.
    """

    def __init__(self, lanes: int, share: int, most: int, most_of_one: int) -> None:
        self._lanes, self._share, self._most, self._most_of_one = lanes, share, most, most_of_one
        self._queues: dict[_Queue, deque[T]] = {}
        self._waiting: Counter[str] = Counter()
        self._busy: Counter[tuple[str, str]] = Counter()
        self.waiting = 0
        self.running = 0

    def add(self, namespace: str, registry: str, item: T) -> bool:
        """Whether the item may wait; False where too many do."""
        if self.waiting >= self._most or self._waiting[namespace] >= self._most_of_one:
            return False
        self._queues.setdefault((namespace, registry), deque()).append(item)
        self._waiting[namespace] += 1
        self.waiting += 1
        return True

    def take(self) -> T | None:
        """The next item, None where there is none that may be looked up now. It has a lane until `give_back`."""
        if self.running >= self._lanes:
            return None
        for queue in list(self._queues):
            namespace, registry = queue
            if (
                self._busy["namespace", namespace] >= self._share
                or self._busy["registry", registry] >= self._share
            ):
                continue
            items = self._queues.pop(queue)
            item = items.popleft()
            if items:
                self._queues[queue] = items  # at the end: the others come first
            self._count(namespace, registry, 1)
            self._waiting[namespace] -= 1
            if not self._waiting[namespace]:
                del self._waiting[namespace]
            self.waiting -= 1
            return item
        return None

    def give_back(self, namespace: str, registry: str) -> None:
        """An item that was taken is done."""
        self._count(namespace, registry, -1)

    def _count(self, namespace: str, registry: str, change: int) -> None:
        self.running += change
        for key in (("namespace", namespace), ("registry", registry)):
            self._busy[key] += change
            if not self._busy[key]:
                del self._busy[key]
