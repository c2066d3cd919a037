"""The work list: which image to give an architecture first.

    not ready images of a workload      what becomes free to move
    {a}                                 `alone` of a: once a gains the architecture, and nothing else does
    {a, b}                              `pair` of a and b: only both together help
    {a, b, c}                           nothing for one image or two; it counts in `part` of each

    rank          by CPU of alone, then of the best pair, then of part, then pods in the same order, then name
    cumulative    what is free once this image and all above it have the architecture; the last row's is everything

Only workloads that could move count; DaemonSets come before the list. An image that is unknown, gone or that fails in
pods is in the list with that state: to ask for it, to push it again or to repair its build is work too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from archfit.audit.amount import NOTHING, Amount
from archfit.audit.readiness import ImageFinding, WorkloadFinding
from archfit.audit.upgrades.upgrades import to_do
from archfit.images.candidates import NewerTag
from archfit.startup.record import Record

_MOST_OWNERS = 5
Missing: TypeAlias = Literal["no", "fails", "absent", "unknown"]


class WorkItem(Record):
    """An image that lacks an architecture, or of which that is not known.

    alone: becomes free if this image alone gains it. part: all that it takes part in keeping off.
    partner, together: the image with which it frees most, beyond what each frees alone; "" for none.
    cumulative: once this one and all above it in the list have gained it. cumulative_unknown: the part of it that was
    not known before, and so was no part of the readiness.
    owners: the workloads that use it and could move, as namespace/kind/name, the largest first, at most five.
    owner_count: all of them. to_do: in words. newer: the tag that was read to have the architecture, none or one.
    """

    rank: int
    reference: str
    state: Missing
    offers: tuple[str, ...]
    alone: Amount
    part: Amount
    cumulative: Amount
    partner: str = ""
    together: Amount = NOTHING
    cumulative_unknown: Amount = NOTHING
    owners: tuple[str, ...] = ()
    owner_count: int = 0
    to_do: str = ""
    newer: tuple[NewerTag, ...] = ()


class WorkPair(Record):
    """Two images that keep pods off together. amount: becomes free only if both gain the architecture."""

    first: str
    second: str
    amount: Amount


class WorkList(Record):
    """For one architecture. remaining: what needs three images or more at once."""

    architecture: str
    items: tuple[WorkItem, ...]
    pairs: tuple[WorkPair, ...]
    remaining: Amount = NOTHING


def work_list(
    architecture: str,
    index: int,
    workloads: Sequence[WorkloadFinding],
    images: Sequence[ImageFinding],
    own: Sequence[str] = (),
) -> WorkList:
    """The work for one architecture. index: its place in the tuples of the findings. own: patterns of --own."""
    groups: dict[frozenset[str], Amount] = {}
    owners: dict[str, dict[tuple[str, ...], int]] = {}
    unknown: dict[frozenset[str], Amount] = {}
    for workload in workloads:
        missing = frozenset(use.reference for use in workload.not_ready[index])
        if workload.movable and missing:
            groups[missing] = groups.get(missing, NOTHING) + workload.amount
            one = workload.facts
            owner = (one.namespace, one.kind, one.name, one.snapshot)
            for reference in missing:
                cpu = owners.setdefault(reference, {})
                cpu[owner] = cpu.get(owner, 0) + workload.amount.cpu
            if workload.states[index] == "unknown":
                unknown[missing] = unknown.get(missing, NOTHING) + workload.amount
    alone: dict[str, Amount] = {}
    part: dict[str, Amount] = {}
    pairs: list[WorkPair] = []
    best: dict[str, tuple[str, Amount]] = {}
    remaining = NOTHING
    for missing, amount in groups.items():
        for reference in missing:
            part[reference] = part.get(reference, NOTHING) + amount
        if len(missing) == 1:
            alone[next(iter(missing))] = amount
        elif len(missing) == 2:
            first, second = sorted(missing)
            pairs.append(WorkPair(first, second, amount))
        else:
            remaining += amount
    pairs.sort(key=lambda pair: (-pair.amount.cpu, -pair.amount.pods, pair.first, pair.second))
    for pair in pairs:
        best.setdefault(pair.first, (pair.second, pair.amount))
        best.setdefault(pair.second, (pair.first, pair.amount))

    def order(reference: str) -> tuple[int | str, ...]:
        amounts = (alone.get(reference, NOTHING), best.get(reference, ("", NOTHING))[1], part[reference])
        return (*(-amount.cpu for amount in amounts), *(-amount.pods for amount in amounts), reference)

    ranked = sorted(part, key=order)
    places = {reference: place for place, reference in enumerate(ranked)}
    freed, learned = [NOTHING] * len(ranked), [NOTHING] * len(ranked)
    for missing, amount in groups.items():
        place = max(places[reference] for reference in missing)
        freed[place] += amount
        learned[place] += unknown.get(missing, NOTHING)
    facts = {image.facts.reference: image for image in images}
    items, so_far, known_then = [], NOTHING, NOTHING
    for place, reference in enumerate(ranked):
        so_far += freed[place]
        known_then += learned[place]
        image = facts[reference]
        state = image.states[index]
        items.append(
            WorkItem(
                place + 1,
                reference,
                "no" if state == "yes" else state,
                image.facts.architectures,
                alone.get(reference, NOTHING),
                part[reference],
                so_far,
                *best.get(reference, ("", NOTHING)),
                known_then,
                _largest(owners[reference]),
                len(owners[reference]),
                to_do("no" if state == "yes" else state, image.facts, architecture, own),
                image.facts.newer if image.facts.newer_for == architecture else (),
            )
        )
    return WorkList(architecture, tuple(items), tuple(pairs), remaining)


def _largest(owners: Mapping[tuple[str, ...], int]) -> tuple[str, ...]:
    """The owners with the most CPU, by namespace, kind and name; those of two clusters may be called the same."""
    ranked = sorted(owners, key=lambda owner: (-owners[owner], owner))
    return tuple(dict.fromkeys("/".join(part for part in owner[:3] if part) for owner in ranked))[
        :_MOST_OWNERS
    ]
