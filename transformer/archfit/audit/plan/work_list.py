"""The work list: which image to give an architecture first.

It is ranked by the CPU of `alone`, then of the best pair, then of `part`, then by pods in the same order, then by name.
Only workloads that could move count; DaemonSets come before the list. An image that is unknown, gone or that fails in
pods is in the list with that state: to ask for it, to push it again or to repair its build is work too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from archfit.audit.amount import NOTHING, Amount
from archfit.audit.readiness import ImageFinding, Owner, WorkloadFinding, first_titles, total
from archfit.audit.upgrades import to_do
from archfit.images.candidates import NewerTag
from archfit.startup.record import Record

Missing: TypeAlias = Literal["no", "fails", "absent", "unknown"]
_NO_PARTNER = ("", NOTHING)


class WorkItem(Record):
    """An image that lacks an architecture, or of which that is not known.

    alone: becomes free if this image alone gains it. part: all that it takes part in keeping off.
    partner, together: the image with which it frees most, beyond what each frees alone; "" for none.
    cumulative: once this one and all above it in the list have gained it.
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
    groups: dict[frozenset[str], list[WorkloadFinding]] = defaultdict(list)
    members: dict[str, list[WorkloadFinding]] = defaultdict(list)
    for workload in workloads:
        missing = frozenset(use.reference for use in workload.not_ready[index])
        if workload.movable and missing:
            groups[missing].append(workload)
            for reference in missing:
                members[reference].append(workload)
    alone = {name: total(rows) for missing, rows in groups.items() if len(missing) == 1 for name in missing}
    part = {reference: total(rows) for reference, rows in members.items()}
    pairs = _pairs(groups)
    best: dict[str, tuple[str, Amount]] = {}
    for pair in pairs:
        best.setdefault(pair.first, (pair.second, pair.amount))
        best.setdefault(pair.second, (pair.first, pair.amount))

    def order(reference: str) -> tuple[int | str, ...]:
        of_pair = best.get(reference, _NO_PARTNER)[1]
        amounts = (alone.get(reference, NOTHING), of_pair, part[reference])
        return (*(-amount.cpu for amount in amounts), *(-amount.pods for amount in amounts), reference)

    ranked = sorted(part, key=order)
    facts = {image.facts.reference: image for image in images}
    items = []
    for rank, (reference, cumulative) in enumerate(zip(ranked, _cumulative(groups, ranked), strict=True), 1):
        image = facts[reference]
        stated = image.states[index]
        state: Missing = "no" if stated == "yes" else stated
        cpu: Counter[Owner] = Counter()
        for workload in members[reference]:
            cpu[workload.owner] += workload.amount.cpu
        items.append(
            WorkItem(
                rank,
                reference,
                state,
                image.facts.architectures,
                alone.get(reference, NOTHING),
                part[reference],
                cumulative,
                *best.get(reference, _NO_PARTNER),
                first_titles(sorted(cpu, key=lambda owner: (-cpu[owner], owner))),
                len(cpu),
                to_do(state, image.facts, architecture, own),
                image.facts.newer if image.facts.newer_for == architecture else (),
            )
        )
    return WorkList(
        architecture,
        tuple(items),
        tuple(pairs),
        total(workload for missing, rows in groups.items() if len(missing) > 2 for workload in rows),
    )


def _cumulative(
    groups: Mapping[frozenset[str], Sequence[WorkloadFinding]], ranked: Sequence[str]
) -> Iterator[Amount]:
    """For each of the images what is free once it and all before it have gained the architecture."""
    places = {reference: place for place, reference in enumerate(ranked)}
    freed: list[list[WorkloadFinding]] = [[] for _ in ranked]
    for missing, rows in groups.items():
        freed[max(places[reference] for reference in missing)] += rows
    amount, owners = NOTHING, set[Owner]()
    for rows in freed:
        owners.update(workload.owner for workload in rows)
        amount = (amount + total(rows)).replace(workloads=len(owners))
        yield amount


def _pairs(groups: Mapping[frozenset[str], Sequence[WorkloadFinding]]) -> list[WorkPair]:
    return sorted(
        (
            WorkPair(min(missing), max(missing), total(rows))
            for missing, rows in groups.items()
            if len(missing) == 2
        ),
        key=lambda pair: (-pair.amount.cpu, -pair.amount.pods, pair.first, pair.second),
    )
