"""The readiness of parts of what runs: clusters, namespaces, and what a label or an annotation of pods names (--by)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.audit.clusters import Cluster
from archfit.audit.readiness import Readiness, WorkloadFinding, readiness
from archfit.base.errors import UsageError
from archfit.base.printable import visible
from archfit.facts.facts import AuditFacts
from archfit.startup.record import Record


class GroupPart(Record):
    """What of a group is in one cluster. cluster: its name."""

    cluster: str
    readiness: tuple[Readiness, ...]


class Group(Record):
    """A part. by: "cluster" or one of --by. name: "" where pods lack the label.

    clusters: its parts, by name of the cluster; () where there is one cluster, and where `by` is "cluster".
    """

    by: str
    name: str
    readiness: tuple[Readiness, ...]
    clusters: tuple[GroupPart, ...] = ()


def group_keys(words: Iterable[str]) -> tuple[str, ...]:
    """The words of --by, each once. Raises UsageError."""
    keys = tuple(dict.fromkeys(words))
    for word in keys:
        kind, _, key = word.partition("=")
        if word != "namespace" and (kind not in ("label", "annotation") or not key or visible(key) != key):
            raise UsageError(
                f"--by: {word!r} is no way to group: write namespace, label=KEY or annotation=KEY, such as label=team"
            )
    return keys


def keys_of(by: Iterable[str]) -> tuple[str, ...]:
    """Those of labels and annotations, which the facts have only where --by named them when the cluster was read."""
    return tuple(word for word in by if word != "namespace")


def check_labels(facts: AuditFacts, by: Sequence[str], *, merged: bool) -> None:
    """Raises UsageError for a label that no pod has. merged: the facts are of reports."""
    there = {key for workload in facts.workloads for key, _ in workload.labels}
    for key in keys_of(by):
        if key not in there:
            kind, _, name = key.partition("=")
            command = "kubectl get pods -A " + ("--show-labels" if kind == "label" else "-o yaml")
            who, remedy = "pod", f"correct it; {command} shows them"
            if merged:
                who, remedy = "workload of the reports", f"make each of them with --by {key}"
            raise UsageError(f"--by {key}: no {who} has the {kind} {name!r}: {remedy}")


def groups(
    workloads: Sequence[WorkloadFinding],
    clusters: Sequence[Cluster],
    architectures: Sequence[str],
    by: Sequence[str],
) -> tuple[Group, ...]:
    """Each cluster where there are several; then each group of `by` that has a workload that could move.

    What is not ready comes first.
    """
    names = {cluster.snapshot: cluster.name for cluster in clusters}

    def members(of: Sequence[WorkloadFinding], key: str) -> dict[str, list[WorkloadFinding]]:
        by_name: dict[str, list[WorkloadFinding]] = {}
        for workload in of:
            by_name.setdefault(group_name(workload, key, names), []).append(workload)
        return by_name

    movable = [workload for workload in workloads if workload.movable]
    rows = []
    for key in (*(["cluster"] if len(names) > 1 else []), *by):
        groups = []
        for name, own in members(movable, key).items():
            parts = members(own, "cluster") if key != "cluster" and len(names) > 1 else {}
            by_cluster = tuple(
                GroupPart(part, readiness(parts[part], architectures)) for part in sorted(parts)
            )
            groups.append(Group(key, name, readiness(own, architectures), by_cluster))
        rows += sorted(groups, key=_order)
    return tuple(rows)


def group_name(workload: WorkloadFinding, key: str, clusters: Mapping[str, str]) -> str:
    """The name of the workload's group. key: "cluster" or one of --by. clusters: names by snapshot."""
    facts = workload.facts
    if key == "cluster":
        return clusters.get(facts.snapshot, facts.snapshot)
    return facts.namespace if key == "namespace" else dict(facts.labels).get(key, "")


def _order(group: Group) -> tuple[int, int, str]:
    first = group.readiness[0]
    missing = first.blocked + first.unknown
    return -missing.cpu, -missing.pods, group.name
