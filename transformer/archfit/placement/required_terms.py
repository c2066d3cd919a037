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

A stale term is one that archfit may have written when the images ran on less than they do now:

    nodeSelectorTerms:
    - matchExpressions:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}      alone, sorted: as archfit writes it; NotIn
                                                                      for a pod that tolerates virtual nodes

Without a `stamp` its author is unknown: it stays, and a message says that it is narrower than the images are.
"""

from __future__ import annotations

from archfit.images.platforms import ARCHITECTURES
from archfit.placement.affinity import ARCH, Demand, Requirement, existing_terms, meets
from archfit.placement.reach import Reach, union
from archfit.record import Record
from archfit.typing_names import Sequence
from archfit.workloads.pods import Pod


class RequiredTerms(Record):
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


NOTHING = RequiredTerms()


def required_terms(found: Sequence[Reach], *, pinned: bool, always: bool, unlabelled: bool) -> RequiredTerms:
    """The affinity for a pod whose E is not empty.

    pinned: nodeSelector names an architecture. unlabelled: it tolerates nodes without an arch label.
    """
    first = found[0]
    if first.demand.index is None:
        if pinned or first.systems[0].supported is None:
            return NOTHING
        if first.barred:
            return RequiredTerms(_not_in(first) if unlabelled else _in(first.live))
        return RequiredTerms(_in(first.live), only_always=True) if always and not unlabelled else NOTHING
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
    return RequiredTerms(None, tuple(narrowed), dead=tuple(dead)) if narrowed else NOTHING


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


def stale_term(
    pod: Pod, found: Sequence[Reach], *, unlabelled: bool
) -> tuple[frozenset[str], frozenset[str]] | None:
    """(what the pod's only term allows, what its images run on) where that is a stale term. Raises Malformed.

    unlabelled: the pod tolerates nodes without an arch label, and so gets NotIn.
    """
    reach, system = found[0], found[0].systems[0]
    if reach.demand.index is None or len(found) > 1 or len(reach.systems) > 1:
        return None
    here = system.cluster if system.supported is None else system.cluster & system.supported
    if not reach.allowed < here:
        return None
    written = _term(_in(reach.allowed))
    if unlabelled and not reach.demand.asks_for_label:
        written = _term(("NotIn", tuple(sorted(system.cluster - reach.allowed))))
    terms, _ = existing_terms(pod)
    return (reach.allowed, here) if terms == [written] else None


def _term(requirement: Requirement) -> dict[str, object]:
    operator, architectures = requirement
    return {"matchExpressions": [{"key": ARCH, "operator": operator, "values": list(architectures)}]}
