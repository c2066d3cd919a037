"""What follows from the facts of an audit: everything that the reports show. Pure; nothing is asked here.

The first architecture is the one that the reports begin with: the first of --require; else arm64, then amd64, then what
else the nodes are and pools may bring.
"""

from __future__ import annotations

from collections.abc import Sequence

from archfit.audit.builds import BuildFindings, build_findings, reported_failures, wrong_programs
from archfit.audit.capacity import Capacity, capacity
from archfit.audit.clusters import Cluster, brought, clusters
from archfit.audit.groups import Group, groups
from archfit.audit.places import places_of
from archfit.audit.plan.waves import Planner, Waves
from archfit.audit.plan.work_list import WorkList, work_list
from archfit.audit.prices import Costs, Prices, costs
from archfit.audit.readiness import (
    Apart,
    DaemonSets,
    ImageFinding,
    Images,
    Readiness,
    WorkloadFinding,
    apart,
    daemon_sets,
    image_findings,
    readiness,
    workload_finding,
)
from archfit.audit.upgrades import Upgrades, upgrades
from archfit.base.errors import UsageError
from archfit.facts.facts import AuditFacts
from archfit.images.platforms import ARCHITECTURES, Platform
from archfit.startup.record import Record

_USUAL = ("arm64", "amd64")


class AuditFindings(Record):
    """All of it. Tuples of states in images and workloads have an entry for each of `architectures`.

    required: whether the user named the architectures. assume_cpu: 1/1000 CPU for each pod that requests none.
    upgrades: of the first architecture, None where no newer tags were asked for.
    """

    facts: AuditFacts
    clusters: tuple[Cluster, ...]
    architectures: tuple[str, ...]
    required: bool
    assume_cpu: int
    readiness: tuple[Readiness, ...]
    groups: tuple[Group, ...]
    daemon_sets: tuple[DaemonSets, ...]
    apart: tuple[Apart, ...]
    images: tuple[ImageFinding, ...]
    workloads: tuple[WorkloadFinding, ...]
    work_lists: tuple[WorkList, ...]
    waves: tuple[Waves, ...]
    capacity: Capacity
    builds: BuildFindings
    costs: Costs
    upgrades: Upgrades | None = None
    own: tuple[str, ...] = ()


def in_question(facts: AuditFacts, required: Sequence[Platform]) -> tuple[str, ...]:
    """The architectures of the findings, as the module says. Raises UsageError for another system than Linux."""
    for platform in required:
        if platform.os != "linux":
            raise UsageError(
                f"--require {platform}: an audit counts Linux nodes; write linux/{platform.architecture}"
            )
    there = {node.architecture for node in facts.nodes if node.os == "linux"}
    may_come = there.union(*brought(facts.pools).values()) & set(ARCHITECTURES) - set(_USUAL)
    return tuple(dict.fromkeys(platform.architecture for platform in required)) or (
        *_USUAL,
        *sorted(may_come),
    )


def findings(
    facts: AuditFacts,
    required: Sequence[Platform] = (),
    prices: Prices = Prices(),  # noqa: B008 - it is frozen
    assume_cpu: int = 0,
    by: Sequence[str] = (),
    own: Sequence[str] = (),
) -> AuditFindings:
    """The findings. required: of --require, () for the usual ones. by: of --by. own: of --own.

    Raises UsageError for another system than Linux.
    """
    there = {node.architecture for node in facts.nodes if node.os == "linux"}
    places = places_of(facts)
    architectures = in_question(facts, required)
    failures, damaged = reported_failures(facts.builds)
    images = Images(facts.images, {**failures, **wrong_programs(facts.images)})
    workloads = tuple(
        workload_finding(workload, images, architectures, assume_cpu, there, places[workload.snapshot])
        for workload in facts.workloads
    )
    planner = Planner(workloads, images, places, own)
    plans = [planner.waves(architecture, index) for index, architecture in enumerate(architectures)]
    workloads = tuple(
        workload.replace(
            waves=tuple(
                numbers[workload.owner] if workload.is_required(waves.architecture) else None
                for waves, numbers in plans
            )
        )
        for workload in workloads
    )
    judged_images = image_findings(images, workloads, architectures)
    nodes = capacity(facts, workloads, images, places)
    known = clusters(facts)
    return AuditFindings(
        facts,
        known,
        architectures,
        bool(required),
        assume_cpu,
        readiness(workloads, architectures),
        groups(workloads, known, architectures, by),
        daemon_sets(workloads, architectures),
        apart(workloads),
        judged_images,
        workloads,
        tuple(
            work_list(architecture, index, workloads, judged_images, own)
            for index, architecture in enumerate(architectures)
        ),
        tuple(waves for waves, _ in plans),
        nodes,
        build_findings(facts.builds, damaged),
        costs(prices, architectures if required else architectures[:1], workloads, nodes),
        upgrades(architectures[0], workloads, judged_images),
        own=tuple(own),
    )
