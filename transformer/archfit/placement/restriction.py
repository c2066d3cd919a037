"""Step (b): the required node affinity that a pod, or each of its terms, gets. The first row that holds:

    nodeSelector names an architecture      nothing, as it is in S already; a warning where it is not in C
    a term with A(t) ⊆ S                    untouched: narrow enough, `{}`, or A(t) = ∅
    a term with T(t) ≠ ∅                    In [T(t)] is ANDed to it
    a term with A(t) ≠ ∅ = T(t)             In [E], so that it matches nothing, and a warning
    no required terms, S ∩ C ≠ C            one term In [S ∩ C]
    S ∩ C = C                               nothing; `affinity: always` writes In [C]
    S is every architecture                 nothing

A dead term of one OS beside a live term of another may share an architecture with E: In [E] would leave it
open, so it gets In [E - A(t)], and where that is empty `DoesNotExist`, which no node with an arch label
meets. This holds for a pod whose nodeSelector names the architecture too.
"""

from __future__ import annotations

from archfit.placement.reach import union
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from archfit.placement.reach import Reach


class Restriction(Record):
    """What to write.

    required: architectures of the one term to create, () for none.
    narrowed: (index of a term, architectures to AND to it, () for `DoesNotExist`).
    only_always: `required` is there because of `affinity: always` alone.
    dead: (index of a term, its os, its architectures) of the terms that are made to match nothing.
    """

    required: tuple[str, ...] = ()
    narrowed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    only_always: bool = False
    dead: tuple[tuple[int, str, tuple[str, ...]], ...] = ()


NOTHING = Restriction()


def restriction(found: Sequence[Reach], *, pinned: bool, always: bool) -> Restriction:
    """The affinity for a pod whose E is not empty. pinned: nodeSelector names an architecture."""
    first = found[0]
    if first.demand.index is None:
        if pinned or first.supported is None:
            return NOTHING
        common = first.supported & first.cluster
        if common != first.cluster:
            return Restriction(tuple(sorted(common)))
        return Restriction(tuple(sorted(common)), only_always=True) if always else NOTHING
    reachable = union(reach.live for reach in found)
    narrowed, dead = [], []
    for reach in found:
        index = reach.demand.index
        if index is None or reach.supported is None or reach.allowed <= reach.supported:
            continue
        if reach.live:
            narrowed.append((index, tuple(sorted(reach.live))))
        else:
            closing = reachable - reach.allowed if reachable & reach.allowed else reachable
            narrowed.append((index, tuple(sorted(closing))))
            dead.append((index, reach.demand.os, tuple(sorted(reach.allowed))))
    return Restriction((), tuple(narrowed), only_always=False, dead=tuple(dead)) if narrowed else NOTHING
