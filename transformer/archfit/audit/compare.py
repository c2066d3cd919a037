"""What changed between two audits: what became ready, and what regressed.

A workload is the same where its cluster, namespace, kind and name are; its state is the worst of its records that run
or will run, DaemonSets with them (`REQUIRED`). What is no longer known, as a registry did not answer, is no regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from archfit.audit.amount import Amount
from archfit.audit.clusters import Cluster, clusters, pairs
from archfit.audit.findings import AuditFindings, findings
from archfit.audit.readiness import (
    REQUIRED,
    ImageState,
    Readiness,
    WorkloadFinding,
    WorkloadState,
    total,
    worst_of,
)
from archfit.facts.facts import AuditFacts
from archfit.images.platforms import Platform
from archfit.startup.record import Record

_Key: TypeAlias = tuple[str, str, str, str]
_SORTS: Mapping[tuple[WorkloadState | None, WorkloadState | None], str] = {
    ("blocked", "ready"): "became_ready",
    ("unknown", "ready"): "became_ready",
    ("ready", "blocked"): "regressed",
    ("ready", "unknown"): "no_longer_known",
    (None, "blocked"): "arrived_blocked",
}
"""Of the state before and now the field of ArchitectureChange."""


class WorkloadChange(Record):
    """A workload whose state changed. before: None where it was not there.

    cluster: the name of its snapshot, "" where there is only one. images: those that block it now. amount: now.
    """

    cluster: str
    namespace: str
    kind: str
    name: str
    before: WorkloadState | None
    after: WorkloadState
    images: tuple[str, ...]
    amount: Amount


class ArchitectureChange(Record):
    """What changed for one architecture. Workloads by key, images by reference.

    compared: of how many workloads of both audits it is known whether they regressed.
    """

    architecture: str
    before: Readiness
    after: Readiness
    compared: int = 0
    became_ready: tuple[WorkloadChange, ...] = ()
    regressed: tuple[WorkloadChange, ...] = ()
    no_longer_known: tuple[WorkloadChange, ...] = ()
    arrived_blocked: tuple[WorkloadChange, ...] = ()
    images_gained: tuple[str, ...] = ()
    images_lost: tuple[str, ...] = ()


class AuditComparison(Record):
    """Two audits. Numbers of workloads that run or will run: arrived, gone, in both.

    before: the clusters of the audit before. clusters_arrived, clusters_gone: the names of those that are in one alone.
    """

    changes: tuple[ArchitectureChange, ...]
    arrived: int
    gone: int
    stayed: int
    before: tuple[Cluster, ...] = ()
    clusters_arrived: tuple[str, ...] = ()
    clusters_gone: tuple[str, ...] = ()


def compare(old: AuditFacts, new: AuditFindings) -> AuditComparison:
    """The changes since `old`, for the architectures of `new`."""
    required = [Platform("linux", architecture) for architecture in new.architectures]
    before = findings(old, required, assume_cpu=new.assume_cpu)
    same = pairs(old, new.facts)
    names = {cluster.snapshot: cluster.name for cluster in clusters(new.facts)}
    alone = len(old.snapshots) <= 1 and len(names) <= 1
    was, now = _by_key(before, same), _by_key(new, {})
    return AuditComparison(
        tuple(
            _change(before, new, index, was, now, {} if alone else names)
            for index in range(len(new.architectures))
        ),
        len(now.keys() - was.keys()),
        len(was.keys() - now.keys()),
        len(now.keys() & was.keys()),
        clusters(old),
        tuple(name for snapshot, name in names.items() if snapshot not in same.values()),
        tuple(cluster.name for cluster in clusters(old) if cluster.snapshot not in same),
    )


def _by_key(report: AuditFindings, same: Mapping[str, str]) -> dict[_Key, list[WorkloadFinding]]:
    """By cluster, namespace, kind and name. same: the snapshot by which a cluster is known in the other audit."""
    records: dict[_Key, list[WorkloadFinding]] = {}
    for workload in report.workloads:
        if workload.facts.standing in REQUIRED:
            namespace, kind, name, snapshot = workload.owner
            key = same.get(snapshot, snapshot), namespace, kind, name
            records.setdefault(key, []).append(workload)
    return records


def _change(
    before: AuditFindings,
    new: AuditFindings,
    index: int,
    was: Mapping[_Key, list[WorkloadFinding]],
    now: Mapping[_Key, list[WorkloadFinding]],
    names: Mapping[str, str],
) -> ArchitectureChange:
    compared = 0
    sorts: dict[str, list[WorkloadChange]] = {}
    for key in sorted(now):
        old, after = _state(was.get(key, ()), index), _state(now[key], index)
        sort = _SORTS.get((old, after), "")
        compared += bool(old and after) and (old == "blocked" or after == "ready" or sort == "regressed")
        if sort and after is not None:
            rows = now[key] if after != "ready" else ()
            images = dict.fromkeys(use.reference for row in rows for use in row.not_ready[index])
            change = WorkloadChange(
                names.get(key[0], ""), *key[1:], old, after, tuple(images), total(now[key])
            )
            sorts.setdefault(sort, []).append(change)
    gained, lost = _images(before, new, index)
    return ArchitectureChange(
        new.architectures[index],
        before.readiness[index],
        new.readiness[index],
        compared,
        **{sort: tuple(changes) for sort, changes in sorts.items()},
        images_gained=gained,
        images_lost=lost,
    )


def _state(records: Iterable[WorkloadFinding], index: int) -> WorkloadState | None:
    states = {record.states[index] for record in records}
    return worst_of(states) if states else None


def _images(before: AuditFindings, new: AuditFindings, index: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The references that gained the architecture, and those that lost it."""
    was, now = (
        {image.facts.reference: image.states[index] for image in audit.images} for audit in (before, new)
    )
    lacking: tuple[ImageState, ...] = ("no", "fails", "absent")
    gained = [name for name, state in now.items() if state == "yes" and was.get(name) in lacking]
    lost = [name for name, state in now.items() if state in lacking and was.get(name) == "yes"]
    return tuple(sorted(gained)), tuple(sorted(lost))
