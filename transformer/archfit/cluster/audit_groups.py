"""The readiness of parts of an audit: clusters, namespaces, and what a label or an annotation of pods names.

    --by namespace | label=KEY | annotation=KEY        and each cluster, where there are several

A workload whose pods lack the label is of the group without a name. A label is kept in the facts only where --by named
it when the cluster was read. Groups come with what is not ready first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.cluster.audit_clusters import Cluster
from archfit.cluster.audit_facts import AuditFacts
from archfit.cluster.audit_readiness import Readiness, WorkloadFinding, readiness
from archfit.errors import UsageError
from archfit.printable import visible
from archfit.record import Record

_FORMS = "write namespace, label=KEY or annotation=KEY, such as label=team"


class Group(Record):
    """A part. by: "cluster" or one of --by. name: "" where pods lack the label."""

    by: str
    name: str
    readiness: tuple[Readiness, ...]


def group_keys(words: Iterable[str]) -> tuple[str, ...]:
    """The words of --by, each once. Raises UsageError."""
    keys = tuple(dict.fromkeys(words))
    for word in keys:
        kind, _, key = word.partition("=")
        if word != "namespace" and (kind not in ("label", "annotation") or not key or visible(key) != key):
            raise UsageError(f"--by: {word!r} is no way to group: {_FORMS}")
    return keys


def keys_of(by: Iterable[str]) -> tuple[str, ...]:
    """Those of labels and annotations."""
    return tuple(word for word in by if word != "namespace")


def check_labels(facts: AuditFacts, by: Sequence[str], *, merged: bool) -> None:
    """Raises UsageError for a label that no pod has. merged: the facts are of reports."""
    there = {key for workload in facts.workloads for key, _ in workload.labels}
    for key in keys_of(by):
        if key not in there:
            kind, _, name = key.partition("=")
            if merged:
                raise UsageError(
                    f"--by {key}: no workload of the reports has the {kind} {name!r}: make each of them with --by {key}"
                )
            shown = "kubectl get pods -A --show-labels" if kind == "label" else "kubectl get pods -A -o yaml"
            raise UsageError(f"--by {key}: no pod has the {kind} {name!r}: correct it; {shown} shows them")


def groups(
    workloads: Sequence[WorkloadFinding],
    clusters: Sequence[Cluster],
    architectures: Sequence[str],
    by: Sequence[str],
) -> tuple[Group, ...]:
    """Each cluster where there are several; then each group of `by` that has a workload that could move."""
    found = []
    names = {cluster.snapshot: cluster.name for cluster in clusters}
    for key in (*(["cluster"] if len(names) > 1 else []), *by):
        members: dict[str, list[WorkloadFinding]] = {}
        for workload in workloads:
            if workload.movable:
                members.setdefault(_name(workload, key, names), []).append(workload)
        parts = [Group(key, name, readiness(own, architectures)) for name, own in members.items()]
        found += sorted(parts, key=_order)
    return tuple(found)


def _name(workload: WorkloadFinding, key: str, clusters: dict[str, str]) -> str:
    facts = workload.facts
    if key == "cluster":
        return clusters.get(facts.snapshot, facts.snapshot)
    return facts.namespace if key == "namespace" else dict(facts.labels).get(key, "")


def _order(group: Group) -> tuple[int, int, str]:
    first = group.readiness[0]
    missing = first.blocked + first.unknown
    return -missing.cpu, -missing.pods, group.name
