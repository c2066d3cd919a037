"""Reviews that wait for lookups hold a connection each, so that their number is bounded: for one more, the oldest of
the namespace that has the most stops waiting. It is answered at once with what is known by then, as at its deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Turn:
    """One review that waits. crowded_out: it stopped for another one."""

    deadline: asyncio.Timeout
    crowded_out: bool = False


class WaitingReviews:
    """most: how many. crowded_out: called for each that stops waiting for another."""

    def __init__(self, most: int, crowded_out: Callable[[], None] = lambda: None) -> None:
        self._most = most
        self._crowded_out = crowded_out
        self._count = 0
        self._waiting: dict[str, dict[Turn, None]] = {}

    @contextlib.contextmanager
    def waits(self, namespace: str, deadline: asyncio.Timeout) -> Iterator[Turn]:
        """While a review of the namespace waits. deadline: comes now for the one that has to stop."""
        if self._count >= self._most:
            self._end_oldest(max(self._waiting, key=lambda name: len(self._waiting[name])))
        place = Turn(deadline)
        self._waiting.setdefault(namespace, {})[place] = None
        self._count += 1
        try:
            yield place
        finally:
            self._leave(namespace, place)

    def _end_oldest(self, namespace: str) -> None:
        oldest = next(iter(self._waiting[namespace]))
        self._leave(namespace, oldest)
        if not oldest.deadline.expired():
            oldest.crowded_out = True
            oldest.deadline.reschedule(asyncio.get_running_loop().time())
            self._crowded_out()

    def _leave(self, namespace: str, place: Turn) -> None:
        own = self._waiting.get(namespace, {})
        if place in own:
            del own[place]
            self._count -= 1
            if not own:
                del self._waiting[namespace]
