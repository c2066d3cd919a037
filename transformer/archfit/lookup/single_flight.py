"""Of all processes that need an image and share a cache, one asks for it and the others wait for its answer.

    claim ─┬─ won       read again (the other may just have finished), ask, keep, release
           └─ not won   pause, read; claim again, as the other may have failed or died

A process first asks for the images that it claimed, then waits for the others. It waits for at most half of its time
and then asks for the rest itself: claims save requests, but no answer depends on them. The cache does not keep `Absent`
and `Unknown`, so each process gets them from the registry itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from archfit.images.reference import Reference

T = TypeVar("T")
LEASE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.4


class Flights(Protocol):
    """What single flights need of a cache (`cache.LookupCache`)."""

    def claim(self, references: Sequence[Reference], seconds: float) -> set[str]: ...

    def release(self, references: Iterable[Reference]) -> None: ...


def single_flight(
    references: Sequence[Reference],
    cache: Flights,
    read: Callable[[Sequence[Reference], float], Mapping[str, T]],
    ask: Callable[[Sequence[Reference]], Mapping[str, T]],
    *,
    clock: Callable[[], float],
    wait: Callable[[float], object],
    left: Callable[[], float],
) -> dict[str, T]:
    """An answer for each, by normalised reference.

    read: what the cache has now, and from after a time in Unix seconds. ask: asks registries and writes the answers to
    the cache. clock: Unix seconds. wait: sleeps for some seconds. left: seconds to the deadline.
    """
    answers: dict[str, T] = {}
    since, half = int(clock()), left() / 2
    lease = min(LEASE_SECONDS, left() / 3)
    patience, pause = half, _FIRST_PAUSE_SECONDS
    waiting = list(references)
    while waiting:
        won = cache.claim(waiting, lease)
        claimed = [reference for reference in waiting if reference.normalised in won]
        try:
            answers |= read(waiting, since)
            mine = [
                reference
                for reference in (claimed if patience > 0 else waiting)
                if reference.normalised not in answers
            ]
            if mine:
                answers |= ask(mine)
        finally:
            cache.release(claimed)
        waiting = [reference for reference in waiting if reference.normalised not in answers]
        if waiting and not mine:
            pause = min(pause, patience)
            wait(pause)
            patience = patience - pause if left() > half else 0
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    return answers
