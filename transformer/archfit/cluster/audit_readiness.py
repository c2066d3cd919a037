"""Which images and workloads are ready for which architecture, and how much of a cluster that is.

    image       yes       it is Found and offers the architecture, or restricts nothing
                no        it is Found without it
                absent    its registry has no such image any more
                unknown   no answer: it could not be asked, is no reference, or another shard asks
    workload    ready     every image: yes
                blocked   at least one image: no or absent
                unknown   none of those, at least one image: unknown
                apart     a pod for Windows; no Linux architecture counts for it

    readiness = amount of `ready` / amount of all workloads that could move (standing running, pending, manifest)

Workloads of other standings are in the tables with their state, are counted apart, and are no part of the readiness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from archfit.cluster.audit_amount import NOTHING, Amount, amount_of
from archfit.cluster.audit_facts import ContainerImage, ImageFacts, Standing, WorkloadFacts
from archfit.record import Record

ImageState: TypeAlias = Literal["yes", "no", "absent", "unknown"]
WorkloadState: TypeAlias = Literal["ready", "blocked", "unknown", "apart"]

MOVABLE: frozenset[Standing] = frozenset({"running", "pending", "manifest"})
STANDINGS: tuple[Standing, ...] = (
    "running", "pending", "manifest", "daemonset", "gated", "idle", "finished", "mirror", "virtual", "windows",
)  # fmt: skip


class ImageFinding(Record):
    """An image. states: for each architecture of the findings. used: by workloads that could move; apart: by others."""

    facts: ImageFacts
    states: tuple[ImageState, ...]
    used: Amount
    apart: Amount


class WorkloadFinding(Record):
    """A workload. Each tuple has an entry for each architecture of the findings.

    not_ready: the images that are not `yes`, each once, in the order of the containers.
    amount: with what is assumed for pods without a CPU request.
    """

    facts: WorkloadFacts
    states: tuple[WorkloadState, ...]
    not_ready: tuple[tuple[ContainerImage, ...], ...]
    amount: Amount

    @property
    def movable(self) -> bool:
        """It is part of the readiness."""
        return self.facts.standing in MOVABLE


class Readiness(Record):
    """One architecture. pinned: what is `ready` by its images, but its own nodeSelector or affinity keeps it off."""

    architecture: str
    ready: Amount = NOTHING
    blocked: Amount = NOTHING
    unknown: Amount = NOTHING
    pinned: Amount = NOTHING

    @property
    def total(self) -> Amount:
        """Everything that could move."""
        return self.ready + self.blocked + self.unknown

    @property
    def share(self) -> tuple[int, int]:
        """(part, whole) by requested CPU; by pods where nothing requests CPU."""
        total = self.total
        return (self.ready.cpu, total.cpu) if total.cpu else (self.ready.pods, total.pods)

    @property
    def by_cpu(self) -> bool:
        """Whether `share` counts CPU."""
        return bool(self.total.cpu)


class Apart(Record):
    """What is counted apart, by standing."""

    standing: Standing
    amount: Amount


def image_state(image: ImageFacts | None, architecture: str) -> ImageState:
    """Whether an image runs on Linux nodes of an architecture. None: nothing is known of it."""
    if image is None or image.answer not in {"Found", "Absent"}:
        return "unknown"
    if image.answer == "Absent":
        return "absent"
    return "yes" if not image.restricts or architecture in image.architectures else "no"


def image_findings(
    images: Sequence[ImageFacts], workloads: Sequence[WorkloadFinding], architectures: Sequence[str]
) -> tuple[ImageFinding, ...]:
    """Every image, in the order of the facts; those that no record speaks of come last, as Unread."""
    used: dict[str, list[Amount]] = {image.reference: [NOTHING, NOTHING] for image in images}
    for workload in workloads:
        for reference in dict.fromkeys(use.reference for use in workload.facts.images):
            pair = used.setdefault(reference, [NOTHING, NOTHING])
            pair[not workload.movable] += workload.amount
    known = {image.reference: image for image in images}
    return tuple(
        ImageFinding(image, tuple(image_state(image, one) for one in architectures), *used[image.reference])
        for image in (known.get(reference) or ImageFacts(reference, "Unread") for reference in used)
    )


def workload_finding(
    workload: WorkloadFacts, images: Mapping[str, ImageFacts], architectures: Sequence[str], assume_cpu: int
) -> WorkloadFinding:
    """One workload. images: by reference."""
    uses = tuple({use.reference: use for use in reversed(workload.images)}.values())[::-1]
    states: list[WorkloadState] = []
    not_ready: list[tuple[ContainerImage, ...]] = []
    for architecture in architectures:
        if workload.standing == "windows":
            states.append("apart")
            not_ready.append(())
            continue
        found = [(use, image_state(images.get(use.reference), architecture)) for use in uses]
        missing = {state for _, state in found}
        states.append(
            "blocked" if missing & {"no", "absent"} else "unknown" if "unknown" in missing else "ready"
        )
        not_ready.append(tuple(use for use, state in found if state != "yes"))
    return WorkloadFinding(workload, tuple(states), tuple(not_ready), amount_of(workload, assume_cpu))


def readiness(workloads: Sequence[WorkloadFinding], architectures: Sequence[str]) -> tuple[Readiness, ...]:
    """For each architecture."""
    found = []
    for index, architecture in enumerate(architectures):
        sums = {"ready": NOTHING, "blocked": NOTHING, "unknown": NOTHING, "pinned": NOTHING}
        for workload in workloads:
            if workload.movable:
                state = workload.states[index]
                sums[state] += workload.amount
                if state == "ready" and workload.facts.pinned and architecture not in workload.facts.pinned:
                    sums["pinned"] += workload.amount
        found.append(Readiness(architecture, **sums))
    return tuple(found)


def apart(workloads: Sequence[WorkloadFinding]) -> tuple[Apart, ...]:
    """What could not move, by standing."""
    sums: dict[Standing, Amount] = {}
    for workload in workloads:
        if not workload.movable:
            standing = workload.facts.standing
            sums[standing] = sums.get(standing, NOTHING) + workload.amount
    return tuple(Apart(standing, sums[standing]) for standing in STANDINGS if standing in sums)
