"""Which question a thread takes next: server after server, at most 32 of one server at once.

    questions by server     docker.io: 0 3 4 7      ghcr.io: 1 5      quay.io: 2 6
    taken                   0 1 2   3 5 6   4   7

A thread that finds nothing to take ends: what is left belongs to servers that 32 other threads are asking.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence

from archfit.registry.limits import MAX_IN_FLIGHT, MAX_PER_SERVER


class FairQueue:
    """Indices of `servers`, each taken once; safe to use from several threads."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = servers
        self._waiting: dict[str, deque[int]] = {}
        for index, server in enumerate(servers):
            self._waiting.setdefault(server, deque()).append(index)
        self._order = deque(self._waiting)
        self._asking: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.threads = min(
            MAX_IN_FLIGHT, sum(min(MAX_PER_SERVER, len(indices)) for indices in self._waiting.values())
        )

    def take(self) -> int | None:
        """The next index, None where there is none to take now."""
        with self._lock:
            for _ in range(len(self._order)):
                server = self._order[0]
                self._order.rotate(-1)
                if self._asking[server] < MAX_PER_SERVER:
                    index = self._waiting[server].popleft()
                    if not self._waiting[server]:
                        self._order.pop()
                    self._asking[server] += 1
                    return index
        return None

    def give_back(self, index: int) -> None:
        """The thread that took the index is done with it."""
        with self._lock:
            self._asking[self._servers[index]] -= 1
