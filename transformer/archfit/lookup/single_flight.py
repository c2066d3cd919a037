"""One flight per image: of all processes that share a cache, one asks and the others wait for its answer.

    claim ─┬─ won       read again (the other may just have finished), ask, keep, release
           └─ not won   pause, read; claim again, as the other may have failed or died

A process asks for what it won before it waits for anybody. It waits for at most half of its time, then asks whatever
others do: claims save requests, and nothing is wrong without them. `Absent` and `Unknown` are not kept, so that
each process hears them from the registry itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from archfit.images.platforms import Answer
from archfit.images.reference import Reference
from archfit.lookup.cache import Kept

LEASE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.4


def fly(
    references: Sequence[Reference],
    kept: Kept,
    ask: Callable[[Sequence[Reference]], Mapping[str, Answer]],
    *,
    clock: Callable[[], float],
    wait: Callable[[float], object],
    left: Callable[[], float],
) -> dict[str, Answer]:
    """An answer for each, by normalised reference.

    ask: asks registries and keeps the answers. clock: Unix seconds. wait: sleeps for some seconds. left: seconds to
    the deadline.
    """
    answers: dict[str, Answer] = {}
    since, half = int(clock()), left() / 2
    lease = min(LEASE_SECONDS, left() / 3)
    patience, pause = half, _FIRST_PAUSE_SECONDS
    waiting = list(references)
    while waiting:
        won = kept.claim(waiting, lease)
        claimed = [reference for reference in waiting if reference.normalised in won]
        try:
            answers |= kept.read(waiting, clock(), since=since)[0]
            mine = [
                reference
                for reference in (claimed if patience > 0 else waiting)
                if reference.normalised not in answers
            ]
            if mine:
                answers |= ask(mine)
        finally:
            kept.release(claimed)
        waiting = [reference for reference in waiting if reference.normalised not in answers]
        if waiting and not mine:
            pause = min(pause, patience)
            wait(pause)
            patience = patience - pause if left() > half else 0
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    return answers
