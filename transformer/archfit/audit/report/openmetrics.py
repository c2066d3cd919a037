"""An audit as gauges in OpenMetrics 1.0 text, which node_exporter's textfile collector and a Pushgateway take, too.

    archfit_audit_ready_cpu_cores{cluster,architecture,namespace,state}    what pods that could move request, by `state`
    archfit_audit_ready_memory_bytes{..}                                   the same in bytes,
    archfit_audit_ready_pods{..}                                           in pods,
    archfit_audit_ready_workloads{..}                                      in workloads
    archfit_audit_pinned_cpu_cores{cluster,architecture,namespace}         of `ready`: kept off by its own placement
    archfit_audit_wave_pods{cluster,architecture,wave,state}               pods of each wave, `there` or `elsewhere`
    archfit_audit_daemon_sets{cluster,architecture,state}                  DaemonSets; `elsewhere`: leave such nodes out
    archfit_audit_images{cluster,architecture,state}                       images of what could move
    archfit_audit_nodes{cluster,architecture}                              Linux nodes
    archfit_audit_node_allocatable_cpu_cores{cluster,architecture}         their CPU, and what of it is
    archfit_audit_node_requested_cpu_cores{..}                             requested,
    archfit_audit_node_free_cpu_cores{..}                                  free for pods that may use the node
    archfit_audit_snapshot_timestamp_seconds{cluster}                      when the cluster was read
    archfit_audit_namespaces_summed{cluster}                               namespaces that are in namespace="(other)"

    state       ready, blocked, unknown      they add up; what is not known is never part of `ready`

Labels are bounded: MOST_NAMESPACES namespaces of all clusters together, the largest ones, have series of their own. No
label holds the name of a workload or of an image. No sample has a timestamp: the textfile collector refuses them.
Sources: OpenMetrics 1.0, "Text format"; prometheus.io, "Metric and label naming"; node_exporter, "Textfile Collector".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeAlias, get_args

from archfit.audit.amount import NOTHING, Amount
from archfit.audit.clusters import Cluster
from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import NOT_KNOWN, there_on
from archfit.audit.readiness import (
    ImageState,
    Readiness,
    WorkloadFinding,
    daemon_sets,
    distinct_uses,
    readiness,
)
from archfit.audit.report.words import snapshot_names
from archfit.base.printable import count, visible
from archfit.images.platforms import ARCHITECTURES
from archfit.startup.record import Record

MOST_NAMESPACES = 500
OTHER = "(other)"
_LONGEST_LABEL = 128
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_STATES = ("ready", "blocked", "unknown")
_Labels: TypeAlias = tuple[tuple[str, str], ...]


class _Family(Record):
    """A gauge. unit: how its name ends, "" where it counts things. samples: labels -> value."""

    name: str
    unit: str
    help: str
    samples: dict[_Labels, float]


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:  # noqa: ARG001
    """The text in UTF-8. It is of one moment: `since` changes nothing."""
    lines: list[str] = []
    for family in _families(findings):
        if family.samples:
            name = f"archfit_audit_{family.name}"
            lines.append(f"# TYPE {name} gauge")
            lines += [f"# UNIT {name} {family.unit}"] if family.unit else []
            lines.append(f"# HELP {name} {family.help}")
            lines += (
                f"{name}{{{_labels(labels)}}} {_number(value)}"
                for labels, value in sorted(family.samples.items())
            )
    return "".join(f"{line}\n" for line in (*lines, "# EOF")).encode()


def left_out(findings: AuditFindings) -> Iterator[str]:
    """What the bounds cut, a sentence for each."""
    summed = sum(_summed(findings).values())
    if summed:
        yield (
            f"--format openmetrics: the {MOST_NAMESPACES} largest namespaces have series of their own; "
            f'{count(summed, "namespace")} more {"is" if summed == 1 else "are"} summed as namespace="{OTHER}"'
        )


def _families(findings: AuditFindings) -> Iterator[_Family]:
    parts = _namespaces(findings)
    for name, unit, words, field, divisor in (
        ("ready_cpu_cores", "cores", "CPU that pods request that could move", "cpu", 1000),
        ("ready_memory_bytes", "bytes", "Memory that pods request that could move", "memory", 1),
        ("ready_pods", "", "Pods that could move", "pods", 1),
        ("ready_workloads", "", "Workloads that could move", "workloads", 1),
    ):
        yield _Family(
            name,
            unit,
            f"{words}, by state for the architecture: ready, blocked or unknown.",
            {
                (*labels, ("state", state)): getattr(getattr(one, state), field) / divisor
                for labels, one in parts.items()
                for state in _STATES
            },
        )
    yield _Family(
        "pinned_cpu_cores",
        "cores",
        "CPU of state ready that its own nodeSelector or affinity keeps off the architecture.",
        {labels: one.pinned.cpu / 1000 for labels, one in parts.items()},
    )
    yield _Family(
        "wave_pods",
        "",
        "Pods of each wave of the plan, by state: there, on nodes of the architecture, or elsewhere.",
        _of_waves(findings),
    )
    yield from _of_clusters(findings)
    yield from _of_nodes(findings)


def _of_waves(findings: AuditFindings) -> dict[_Labels, float]:
    """The pods of each wave that has any; those of a row that is not ready are elsewhere."""
    names = snapshot_names(findings)
    samples: dict[_Labels, float] = {}
    for workload in findings.workloads:
        for index, (architecture, wave) in enumerate(
            zip(findings.architectures, workload.waves, strict=True)
        ):
            if wave is None:
                continue
            number = "unknown" if wave == NOT_KNOWN else str(wave)
            there = there_on(workload, architecture, index)
            labels = (*_of(names[workload.facts.snapshot], architecture), ("wave", number))
            for state, pods in (("there", there), ("elsewhere", workload.amount.pods - there)):
                key = (*labels, ("state", state))
                samples[key] = samples.get(key, 0) + pods
    return samples


def _namespaces(findings: AuditFindings) -> dict[_Labels, Readiness]:
    """The readiness of each namespace that has series of its own, and of the others of its cluster together."""
    kept, names = _kept(findings), snapshot_names(findings)
    members: dict[tuple[str, str], list[WorkloadFinding]] = {}
    for workload in findings.workloads:
        if workload.movable:
            key = _key(workload)
            members.setdefault((key[0], key[1] if key in kept else OTHER), []).append(workload)
    found = {}
    for (snapshot, namespace), own in members.items():
        for one in readiness(own, findings.architectures):
            labels = (*_of(names[snapshot], one.architecture), ("namespace", namespace))
            found[labels] = one
    return found


def _key(workload: WorkloadFinding) -> tuple[str, str]:
    """Its snapshot, and its namespace as a label."""
    return workload.facts.snapshot, visible(workload.facts.namespace)[:_LONGEST_LABEL]


def _kept(findings: AuditFindings) -> frozenset[tuple[str, str]]:
    """The largest namespaces, by CPU and pods."""
    return frozenset(_ranked(findings)[:MOST_NAMESPACES])


def _summed(findings: AuditFindings) -> dict[str, int]:
    """How many namespaces of each snapshot have no series of their own."""
    numbers = {cluster.snapshot: 0 for cluster in findings.clusters}
    for snapshot, _ in _ranked(findings)[MOST_NAMESPACES:]:
        numbers[snapshot] += 1
    return numbers


def _ranked(findings: AuditFindings) -> list[tuple[str, str]]:
    weights: dict[tuple[str, str], Amount] = {}
    for workload in findings.workloads:
        if workload.movable:
            key = _key(workload)
            weights[key] = weights.get(key, NOTHING) + workload.amount
    return sorted(weights, key=lambda key: (-weights[key].cpu, -weights[key].pods, key))


def _of_clusters(findings: AuditFindings) -> Iterator[_Family]:
    own: dict[str, list[WorkloadFinding]] = {cluster.snapshot: [] for cluster in findings.clusters}
    for workload in findings.workloads:
        own[workload.facts.snapshot].append(workload)
    yield _Family(
        "daemon_sets",
        "",
        "DaemonSets, by state for the architecture: ready, blocked, unknown, or elsewhere: not on such nodes.",
        {
            (*_of(cluster.name, daemon_set.architecture), ("state", state)): getattr(daemon_set, state)
            for cluster in findings.clusters
            for daemon_set in daemon_sets(own[cluster.snapshot], findings.architectures)
            for state in (*_STATES, "elsewhere")
        },
    )
    states = {image.facts.reference: image.states for image in findings.images}
    yield _Family(
        "images",
        "",
        "Images of workloads that could move, by state for the architecture: yes, no, fails, absent or unknown.",
        {
            labels: number
            for cluster in findings.clusters
            for labels, number in _images(cluster, own[cluster.snapshot], states, findings.architectures)
        },
    )
    yield _Family(
        "snapshot_timestamp_seconds",
        "seconds",
        "When the cluster was read.",
        {
            (("cluster", cluster.name),): datetime.fromisoformat(cluster.date).timestamp()
            for cluster in findings.clusters
            if cluster.date
        },
    )
    summed = _summed(findings)
    yield _Family(
        "namespaces_summed",
        "",
        f'Namespaces without series of their own, which are summed as namespace="{OTHER}".',
        {(("cluster", cluster.name),): summed[cluster.snapshot] for cluster in findings.clusters},
    )


def _images(
    cluster: Cluster,
    workloads: Iterable[WorkloadFinding],
    states: Mapping[str, tuple[ImageState, ...]],
    architectures: tuple[str, ...],
) -> Iterator[tuple[_Labels, int]]:
    used = {
        use.reference for workload in workloads if workload.movable for use in distinct_uses(workload.facts)
    }
    for index, architecture in enumerate(architectures):
        own = [states[reference][index] for reference in used]
        for state in get_args(ImageState):
            yield (*_of(cluster.name, architecture), ("state", state)), own.count(state)


def _of_nodes(findings: AuditFindings) -> Iterator[_Family]:
    names = snapshot_names(findings)
    for name, unit, words, field, divisor in (
        ("nodes", "", "Linux nodes.", "nodes", 1),
        ("node_allocatable_cpu_cores", "cores", "CPU that Linux nodes have for pods.", "cpu", 1000),
        ("node_requested_cpu_cores", "cores", "CPU that pods on Linux nodes request.", "requested_cpu", 1000),
        ("node_free_cpu_cores", "cores", "CPU that is free on Linux nodes that take pods.", "free_cpu", 1000),
    ):
        samples: dict[_Labels, float] = {}
        for group in findings.capacity.groups:
            if group.os == "linux":
                architecture = group.architecture if group.architecture in ARCHITECTURES else OTHER
                labels = _of(names[group.snapshot], architecture)
                samples[labels] = samples.get(labels, 0) + getattr(group, field)
        yield _Family(name, unit, words, {labels: value / divisor for labels, value in samples.items()})


def _of(cluster: str, architecture: str) -> _Labels:
    return ("cluster", cluster), ("architecture", architecture)


def _labels(labels: _Labels) -> str:
    return ",".join(f'{name}="{visible(value).translate(_ESCAPES)}"' for name, value in labels)


def _number(value: float) -> str:
    """Without a point where it is whole."""
    return f"{int(value)}" if value == int(value) else f"{value!r}"
