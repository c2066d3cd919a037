"""Step (b): the required node affinity that a pod, or each of its terms, gets. The first row that holds:

    nodeSelector names an architecture      nothing, as it is in S already; a warning where it is not in C
    a term with A(t) ⊆ S                    untouched: narrow enough, `{}`, or A(t) = ∅
    a term with T(t) ≠ ∅                    In [T(t)] is ANDed to it
    a term with A(t) ≠ ∅ = T(t)             In [E], so that it matches nothing, and a warning
    no required terms, S ∩ C ≠ C            one term In [S ∩ C]
    S ∩ C = C                               nothing; `affinity: always` writes In [C]
    S is every architecture                 nothing

In [E] closes a dead term by contradicting what it asks; those of E that its own requirements let through are
left out. Where they let all of E through, as a term of another OS may, it gets In [another one], with In [E]
where they let that through too: never `DoesNotExist`, which nodes without an arch label meet.

A pod that tolerates nodes without an arch label gets NotIn [C - S] instead, also to close a term: such nodes
stay reachable. Terms that ask for the label never lead there, and are narrowed as above.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.images.platforms import ARCHITECTURES
from archfit.placement.affinity import Demand, Requirement, meets
from archfit.placement.reach import Reach, union
from archfit.record import Record


class Restriction(Record):
    """What to write; each requirement is on the node's architecture.

    required: of the one term to create, None for none.
    narrowed: (index of a term, what to AND to it); mostly one requirement.
    only_always: `required` is there because of `affinity: always` alone.
    dead: those of the terms that are made to match nothing.
    """

    required: Requirement | None = None
    narrowed: tuple[tuple[int, tuple[Requirement, ...]], ...] = ()
    only_always: bool = False
    dead: tuple[Reach, ...] = ()


NOTHING = Restriction()


def restriction(found: Sequence[Reach], *, pinned: bool, always: bool, unlabelled: bool) -> Restriction:
    """The affinity for a pod whose E is not empty.

    pinned: nodeSelector names an architecture. unlabelled: it tolerates nodes without an arch label.
    """
    first = found[0]
    if first.demand.index is None:
        if pinned or first.systems[0].supported is None:
            return NOTHING
        if first.barred:
            return Restriction(_not_in(first) if unlabelled else _in(first.live))
        return Restriction(_in(first.live), only_always=True) if always and not unlabelled else NOTHING
    reachable = union(reach.live for reach in found)
    narrowed: list[tuple[int, tuple[Requirement, ...]]] = []
    dead = []
    for reach in found:
        index = reach.demand.index
        if index is None or not reach.barred:
            continue
        if unlabelled and not reach.demand.asks_for_label:
            narrowed.append((index, (_not_in(reach),)))
        elif reach.live:
            narrowed.append((index, (_in(reach.live),)))
        else:
            narrowed.append((index, _closing(reach.demand, reachable)))
        if not reach.live:
            dead.append(reach)
    return Restriction(None, tuple(narrowed), dead=tuple(dead)) if narrowed else NOTHING


def _in(architectures: frozenset[str]) -> Requirement:
    return "In", tuple(sorted(architectures))


def _not_in(reach: Reach) -> Requirement:
    return "NotIn", tuple(sorted(union(system.lacking for system in reach.systems)))


def _closing(demand: Demand, reachable: frozenset[str]) -> tuple[Requirement, ...]:
    """What no node can meet together with the term."""
    apart = frozenset(name for name in reachable if not meets(demand.requirements, name))
    if apart:
        return (_in(apart),)
    another = next((name for name in ARCHITECTURES if name not in reachable), "none")
    closing = ("In", (another,))
    return (_in(reachable), closing) if meets(demand.requirements, another) else (closing,)
