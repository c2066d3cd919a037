"""An audit as gauges in OpenMetrics 1.0 text, which node_exporter's textfile collector and a Pushgateway take, too.

Labels are bounded: MOST_NAMESPACES namespaces of all clusters together, the largest ones, have series of their own. No
label holds the name of a workload or of an image. No sample has a timestamp: the textfile collector refuses them.
Sources: OpenMetrics 1.0, "Text format"; prometheus.io, "Metric and label naming"; node_exporter, "Textfile Collector".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, get_args

from archfit.audit.amount import Amount
from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import NOT_KNOWN, there_on
from archfit.audit.readiness import ImageState, Readiness, WorkloadFinding, daemon_sets, readiness
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


_UNITS = ("cores", "bytes", "seconds")


class _Family(Record):
    """A gauge, whose name ends in one of _UNITS or which counts things. samples: labels -> value."""

    name: str
    help: str
    samples: dict[_Labels, float]


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:  # noqa: ARG001
    """The text in UTF-8. It is of one moment: `since` changes nothing."""
    lines: list[str] = []
    for family in _families(findings):
        if family.samples:
            name = f"archfit_audit_{family.name}"
            unit = name.rpartition("_")[2]
            lines.append(f"# TYPE {name} gauge")
            lines += [f"# UNIT {name} {unit}"] if unit in _UNITS else []
            lines.append(f"# HELP {name} {family.help}")
            lines += (
                f"{name}{{{_labels(labels)}}} {_number(value)}"
                for labels, value in sorted(family.samples.items())
            )
    return "".join(f"{line}\n" for line in (*lines, "# EOF")).encode()


def left_out(findings: AuditFindings) -> Iterator[str]:
    """What the bounds cut, a sentence for each."""
    if summed := _summed(findings).total():
        yield (
            f"--format openmetrics: the {MOST_NAMESPACES} largest namespaces have series of their own; "
            f'{count(summed, "namespace")} more {"is" if summed == 1 else "are"} summed as namespace="{OTHER}"'
        )


def _families(findings: AuditFindings) -> Iterator[_Family]:
    parts = _namespaces(findings)
    for name, words, field, divisor in (
        ("ready_cpu_cores", "CPU that pods request that could move", "cpu", 1000),
        ("ready_memory_bytes", "Memory that pods request that could move", "memory", 1),
        ("ready_pods", "Pods that could move", "pods", 1),
        ("ready_workloads", "Workloads that could move", "workloads", 1),
    ):
        yield _Family(
            name,
            f"{words}, by state for the architecture: ready, blocked or unknown.",
            {
                (*labels, ("state", state)): getattr(getattr(row, state), field) / divisor
                for labels, row in parts.items()
                for state in _STATES
            },
        )
    yield _Family(
        "pinned_cpu_cores",
        "CPU of state ready that its own nodeSelector or affinity keeps off the architecture.",
        {labels: row.pinned.cpu / 1000 for labels, row in parts.items()},
    )
    yield _Family(
        "wave_pods",
        "Pods of each wave of the plan, by state: there, on nodes of the architecture; elsewhere; waiting: do not run.",
        _of_waves(findings),
    )
    yield from _of_clusters(findings)
    yield from _of_nodes(findings)


def _of_waves(findings: AuditFindings) -> dict[_Labels, float]:
    """The pods of each wave that has any; those of a row that is not ready are elsewhere."""
    names = snapshot_names(findings)
    samples: dict[_Labels, float] = defaultdict(float)
    for workload in findings.workloads:
        for index, architecture in enumerate(findings.architectures):
            wave = workload.waves[index]
            if wave is not None:
                number = "unknown" if wave == NOT_KNOWN else str(wave)
                there = there_on(workload, architecture, index)
                labels = (*_of(names[workload.facts.snapshot], architecture), ("wave", number))
                samples[*labels, ("state", "there")] += there
                waiting = sum(pods for _, _, pods in workload.facts.not_running)
                samples[*labels, ("state", "waiting")] += waiting
                samples[*labels, ("state", "elsewhere")] += workload.amount.pods - there - waiting
    return samples


def _namespaces(findings: AuditFindings) -> dict[_Labels, Readiness]:
    """The readiness of each namespace that has series of its own, and of the others of its cluster together."""
    kept, names = {*_ranked(findings)[:MOST_NAMESPACES]}, snapshot_names(findings)
    members: dict[tuple[str, str], list[WorkloadFinding]] = defaultdict(list)
    for workload in findings.workloads:
        if workload.movable:
            snapshot, namespace = key = _key(workload)
            members[snapshot, namespace if key in kept else OTHER].append(workload)
    return {
        (*_of(names[snapshot], row.architecture), ("namespace", namespace)): row
        for (snapshot, namespace), own in members.items()
        for row in readiness(own, findings.architectures)
    }


def _key(workload: WorkloadFinding) -> tuple[str, str]:
    """Its snapshot, and its namespace as a label."""
    return workload.facts.snapshot, visible(workload.facts.namespace)[:_LONGEST_LABEL]


def _summed(findings: AuditFindings) -> Counter[str]:
    """How many namespaces of each snapshot have no series of their own."""
    return Counter(snapshot for snapshot, _ in _ranked(findings)[MOST_NAMESPACES:])


def _ranked(findings: AuditFindings) -> list[tuple[str, str]]:
    """The namespaces, the largest first."""
    weights: dict[tuple[str, str], Amount] = defaultdict(Amount)
    for workload in findings.workloads:
        if workload.movable:
            weights[_key(workload)] += workload.amount
    return sorted(weights, key=lambda key: (-weights[key].cpu, -weights[key].pods, key))


def _of_clusters(findings: AuditFindings) -> Iterator[_Family]:
    own: dict[str, list[WorkloadFinding]] = {cluster.snapshot: [] for cluster in findings.clusters}
    for workload in findings.workloads:
        own[workload.facts.snapshot].append(workload)
    yield _Family(
        "daemon_sets",
        "DaemonSets, by state for the architecture: ready, blocked, unknown, or elsewhere: not on such nodes.",
        {
            (*_of(cluster.name, daemon_set.architecture), ("state", state)): getattr(daemon_set, state)
            for cluster in findings.clusters
            for daemon_set in daemon_sets(own[cluster.snapshot], findings.architectures)
            for state in (*_STATES, "elsewhere")
        },
    )
    yield _Family(
        "images",
        "Images of workloads that could move, by state for the architecture: yes, no, fails, absent or unknown.",
        _of_images(findings, own),
    )
    yield _Family(
        "snapshot_timestamp_seconds",
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
        f'Namespaces without series of their own, which are summed as namespace="{OTHER}".',
        {(("cluster", cluster.name),): summed[cluster.snapshot] for cluster in findings.clusters},
    )


def _of_images(findings: AuditFindings, own: Mapping[str, Sequence[WorkloadFinding]]) -> dict[_Labels, float]:
    states = {image.facts.reference: image.states for image in findings.images}
    samples: dict[_Labels, float] = {}
    for cluster in findings.clusters:
        movable = [workload.facts for workload in own[cluster.snapshot] if workload.movable]
        used = {use.reference for facts in movable for use in facts.images}
        for index, architecture in enumerate(findings.architectures):
            numbers = Counter(states[reference][index] for reference in used)
            for state in get_args(ImageState):
                samples[*_of(cluster.name, architecture), ("state", state)] = numbers[state]
    return samples


def _of_nodes(findings: AuditFindings) -> Iterator[_Family]:
    names = snapshot_names(findings)
    for name, words, field, divisor in (
        ("nodes", "Linux nodes.", "nodes", 1),
        ("node_allocatable_cpu_cores", "CPU that Linux nodes have for pods.", "cpu", 1000),
        ("node_requested_cpu_cores", "CPU that pods on Linux nodes request.", "requested_cpu", 1000),
        ("node_free_cpu_cores", "CPU that is free on Linux nodes that take pods.", "free_cpu", 1000),
    ):
        sums: dict[_Labels, int] = defaultdict(int)
        for group in findings.capacity.groups:
            if group.os == "linux":
                architecture = group.architecture if group.architecture in ARCHITECTURES else OTHER
                sums[_of(names[group.snapshot], architecture)] += getattr(group, field)
        yield _Family(name, words, {labels: value / divisor for labels, value in sums.items()})


def _of(cluster: str, architecture: str) -> _Labels:
    return ("cluster", cluster), ("architecture", architecture)


def _labels(labels: _Labels) -> str:
    return ",".join(f'{name}="{visible(value).translate(_ESCAPES)}"' for name, value in labels)


def _number(value: float) -> str:
    """Without a point where it is whole."""
    return f"{int(value)}" if value == int(value) else f"{value!r}"
