"""The waves of a migration: which workloads go to an architecture in which order, from what is known of them.

    0  every node    DaemonSets, of which a blocked one fails on the first node of the architecture, and what serves
                     admission webhooks, for which every new pod waits
    1  ready         all images have the architecture, and no wave below holds
    2  newer tag     images lack it, and each of them has a newer tag with it
    3  build         images lack it; those without a newer tag are your own, or a sibling or `latest` has it
    4  stateful      StatefulSets, and pods that their own placement keeps off the architecture
    5  stays         a device that a pod needs is on no node of the architecture, or an image of others lacks it in all
                     of its tags: no change of an image alone moves it
    -  not known     an image has no answer, or it is of others and not all of its newer tags were asked for and read

The first that holds counts, in this order: 0, not known as an image has no answer, 5, not known, 4, 3, 2, 1. What
counts as one is an owner with all of its rows that run or will run (`REQUIRED`): workloads without pods are planned,
too, and weigh nothing. DaemonSets whose own placement leaves the architecture out are in no wave.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from archfit.audit.amount import NOTHING, Amount
from archfit.audit.places import Places
from archfit.audit.readiness import Images, Owner, WorkloadFinding, first_titles, total
from archfit.audit.upgrades import is_own, offers, replacement
from archfit.facts.facts import ContainerImage, PodState
from archfit.startup.record import Record

WAVES = (0, 1, 2, 3, 4, 5)
NOT_KNOWN = -1
STAYS = WAVES[-1]
MOST_RULED = 4
"""The last wave that rules of a configuration move."""
_Work: TypeAlias = Literal["find out", "replace", "build", "stays", "look", "open"]


class Wave(Record):
    """One wave, or what is not known. number: None for that.

    amount: of all its rows. owner_count: how many workloads; waiting: those of them that are not ready.
    owners: five as namespace/kind/name: those that are not ready come first, of each the largest; those of two
        clusters may be called the same, and are one of the five then.
    images: what lacks the architecture or is not known, the image in the most CPU first.
    allowed: pods of rows that are ready, on nodes of the architecture, or that the scheduler may put there as they are.
    done: those of them that run, or will. there: those that run on nodes of the architecture.
    not_running: (state, pods) of all that do not run.
    """

    number: int | None
    amount: Amount
    owner_count: int
    waiting: int
    owners: tuple[str, ...]
    images: tuple[str, ...]
    there: int
    allowed: int
    done: int = 0
    not_running: tuple[tuple[PodState, int], ...] = ()


class Waves(Record):
    """For one architecture. waves: all six, in their order. unknown: what stands beside them.

    Of images of others that are not ready, in what is not known:
    unasked: how many lack the architecture, and nobody asked for their newer tags.
    undecided: how many others have no newer tag that is known, and none is ruled out: their tags were not all read, or
        pods fail with the image, or it is absent.
    """

    architecture: str
    waves: tuple[Wave, ...]
    unknown: Wave
    unasked: int
    undecided: int

    @property
    def following(self) -> Wave | None:
        """The first of waves 0 to 4 that has pods which may not go there yet; None where there is none."""
        return next((wave for wave in self.waves[: MOST_RULED + 1] if wave.allowed < wave.amount.pods), None)


class Planner:
    """What the waves of all architectures are made from. places: of each snapshot. own: patterns of --own."""

    def __init__(
        self,
        workloads: Sequence[WorkloadFinding],
        images: Images,
        places: Mapping[str, Places],
        own: Sequence[str] = (),
    ) -> None:
        self._images, self._places, self._own = images, places, own
        self._owners: dict[Owner, list[WorkloadFinding]] = defaultdict(list)
        for workload in workloads:
            self._owners[workload.owner].append(workload)

    def waves(self, architecture: str, index: int) -> tuple[Waves, dict[Owner, int]]:
        """The waves, and the wave of each owner that is in one or not known. index: in the tuples of the findings."""
        numbers: dict[Owner, int] = {}
        members: dict[int, dict[Owner, list[WorkloadFinding]]] = defaultdict(dict)
        for owner, rows in self._owners.items():
            if planned := [row for row in rows if row.is_required(architecture)]:
                numbers[owner] = self._number(planned, architecture, index)
                members[numbers[owner]][owner] = planned
        *waves, unknown = (
            self._wave(number, members[number], architecture, index) for number in (*WAVES, NOT_KNOWN)
        )
        uses = {use for rows in members[NOT_KNOWN].values() for row in rows for use in row.not_ready[index]}
        unasked = {use.reference for use in uses if self._work(use, architecture) == "look"}
        undecided = {use.reference for use in uses if self._work(use, architecture) == "open"} - unasked
        return Waves(architecture, tuple(waves), unknown, len(unasked), len(undecided)), numbers

    def _number(self, rows: Sequence[WorkloadFinding], architecture: str, index: int) -> int:
        states = {row.states[index] for row in rows}
        if any(row.facts.standing == "daemonset" or row.facts.webhook for row in rows):
            return NOT_KNOWN if "unknown" in states and "blocked" not in states else 0
        work = {self._work(use, architecture) for row in rows for use in row.not_ready[index]}
        if "find out" in work:
            return NOT_KNOWN
        if "stays" in work or any(self._held(row, architecture) for row in rows):
            return STAYS
        if not work.isdisjoint(("look", "open")):
            return NOT_KNOWN
        if rows[0].facts.kind == "StatefulSet" or not all(row.goes_to(architecture) for row in rows):
            return 4
        return 3 if "build" in work else 2 if work else 1

    def _work(self, use: ContainerImage, architecture: str) -> _Work:
        """What an image that is not ready needs. look: ask for newer tags. open: those that were read lack it."""
        image, state = self._images.facts.get(use.reference), self._images.state(use, architecture)
        if image is None or state == "unknown":
            return "find out"
        if state == "no" and replacement(image, architecture):
            return "replace"
        if is_own(use.reference, self._own) or (
            state == "no" and any(offers(tag, architecture) for tag in image.newer)
        ):
            return "build"
        if state == "no" and image.newer_for != architecture:
            return "look"
        return "stays" if state == "no" and image.newer_read == "complete" else "open"

    def _held(self, row: WorkloadFinding, architecture: str) -> bool:
        """Whether a pod needs a device that no node of the architecture has."""
        needs = row.facts.devices
        return bool(needs) and not self._places[row.facts.snapshot].devices(architecture).issuperset(needs)

    def _may_go(self, row: WorkloadFinding, architecture: str, index: int) -> bool:
        """Whether the pods of a row that is ready may go to the architecture as they are.

        Taints are those of an open node there or of a pool that may bring one, that of the architecture with them.
        """
        facts = row.facts
        return (
            row.states[index] == "ready"
            and not self._held(row, architecture)
            and self._places[facts.snapshot].take(facts.terms, facts.tolerations, architecture)
        )

    def _wave(
        self, number: int, members: Mapping[Owner, Sequence[WorkloadFinding]], architecture: str, index: int
    ) -> Wave:
        amounts = {owner: total(rows) for owner, rows in members.items()}
        waiting = {
            owner for owner, rows in members.items() if any(row.states[index] != "ready" for row in rows)
        }

        def order(owner: Owner) -> tuple[bool, int, int, Owner]:
            return owner not in waiting, -amounts[owner].cpu, -amounts[owner].pods, owner

        rows = [row for own in members.values() for row in own]
        waits: Counter[PodState] = Counter()
        there = allowed = done = 0
        for row in rows:
            running = there_on(row, architecture, index)
            going = self._may_go(row, architecture, index)
            there += running
            allowed += row.amount.pods if going else _on(row, architecture, index)
            done += row.amount.pods - sum(pods for _, _, pods in row.facts.not_running) if going else running
            for state, _, pods in row.facts.not_running:
                waits[state] += pods
        needs: dict[str, Amount] = defaultdict(Amount)
        for row in rows:
            for use in row.not_ready[index]:
                needs[use.reference] += row.amount
        return Wave(
            None if number == NOT_KNOWN else number,
            sum(amounts.values(), NOTHING),
            len(members),
            len(waiting),
            first_titles(sorted(members, key=order)),
            tuple(sorted(needs, key=lambda name: (-needs[name].cpu, -needs[name].pods, name))),
            there,
            allowed,
            done,
            tuple(sorted(waits.items())),
        )


def _on(row: WorkloadFinding, architecture: str, index: int) -> int:
    """How many pods of a row that is ready are on nodes of the architecture, whether they run or not."""
    if row.states[index] != "ready":
        return 0
    return sum(pods for name, pods in row.facts.runs_on if name == architecture)


def there_on(row: WorkloadFinding, architecture: str, index: int) -> int:
    """How many pods of a row that is ready run on nodes of the architecture."""
    if row.states[index] != "ready":
        return 0
    waiting = sum(pods for _, name, pods in row.facts.not_running if name == architecture)
    return _on(row, architecture, index) - waiting
