"""Reviews that wait for lookups hold a connection each, so that their number is bounded.

    namespace   waiting        one more, where there is room for six
    evil        1 2 3 4        1 stops waiting: the oldest of the namespace that has the most
    shop        5 6

What stops waiting is answered at once with what is known by then, as at its deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator


class Turn:
    """One review that waits. crowded_out: it stopped for another one."""

    __slots__ = ("crowded_out", "deadline")

    def __init__(self, deadline: asyncio.Timeout) -> None:
        self.deadline = deadline
        self.crowded_out = False


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
