"""Places that tenants share. No namespace and no registry takes them all, whatever it does with its own.

In `lab/campaign/webhook`, `stalls` (600 pods of a registry that never answers) takes every connection without
`FairPlaces`, and every lookup thread of a worker without `Semaphores`.
Source: Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions
on Networking 6 (1998): shares of what is free let one tenant use what nobody else needs, and leave room for the next.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from weakref import WeakValueDictionary


class FairPlaces:
    """most: of all namespaces together. One may hold twice as many as are free: two thirds, where it is alone."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self._of = Counter[str]()

    def take(self, namespace: str) -> bool:
        """Hold a place, if the namespace may have one more."""
        if self._of[namespace] >= 2 * (self.most - self.held):
            return False
        self._of[namespace] += 1
        self.held += 1
        return True

    def give(self, namespace: str) -> None:
        """Hold one place less."""
        self.held -= 1
        self._of[namespace] -= 1
        if not self._of[namespace]:
            del self._of[namespace]

    @contextlib.contextmanager
    def place(self, namespace: str) -> Iterator[bool]:
        """Whether the namespace has a place, until the `with` ends."""
        taken = self.take(namespace)
        try:
            yield taken
        finally:
            if taken:
                self.give(namespace)


class Semaphores:
    """A semaphore for each name, while somebody uses it. size: of each."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, name: str) -> asyncio.Semaphore:
        semaphore = self._kept.get(name)
        if semaphore is None:
            semaphore = self._kept[name] = asyncio.Semaphore(self._size)
        return semaphore
