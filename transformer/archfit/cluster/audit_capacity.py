"""Nodes by architecture, and what could run nowhere if one architecture were lost.

    free        allocatable - requested of the nodes that are not cordoned; never below 0 for a node
    possible    architectures on which a workload's images all run, less those that its own placement excludes
    lost(a)     stranded: `possible` has a and none of the cluster's other architectures
                uncertain: the same may be so; an image of it is unknown
                moving: what runs on nodes of a and could run on another one; compare it with `free` there

Pods do not move between clusters, so each snapshot is judged by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from archfit.cluster.audit_amount import NOTHING, Amount
from archfit.cluster.audit_facts import AuditFacts, ImageFacts, NodeFacts, WorkloadFacts
from archfit.cluster.audit_readiness import WorkloadFinding
from archfit.options.taints import ARCH_KEYS
from archfit.record import Record


class NodeGroup(Record):
    """Nodes of one snapshot, system and architecture. tainted: nodes with a taint whose key names the architecture.

    cpu in 1/1000 CPU, memory in bytes; allocatable, requested by unfinished pods, free. spot: how many nodes.
    """

    snapshot: str
    os: str
    architecture: str
    nodes: int
    cpu: int
    requested_cpu: int
    free_cpu: int
    memory: int
    requested_memory: int
    free_memory: int
    pods: int
    requested_pods: int
    cordoned: int
    tainted: int
    spot: int
    taints: tuple[tuple[str, int], ...]


class InstanceGroup(Record):
    """Nodes of one instance type and capacity type."""

    snapshot: str
    os: str
    architecture: str
    instance_type: str
    capacity: str
    nodes: int
    cpu: int
    requested_cpu: int
    memory: int
    requested_memory: int


class Mislabelled(Record):
    """A node whose label kubernetes.io/arch is not what its kubelet reports."""

    snapshot: str
    name: str
    label: str
    kubelet: str


class Loss(Record):
    """What becomes of the workloads that could move if one architecture of a cluster were lost."""

    snapshot: str
    architecture: str
    others: tuple[str, ...]
    stranded: Amount
    uncertain: Amount
    moving: Amount
    free_cpu: int
    free_memory: int


class Capacity(Record):
    """All about nodes."""

    groups: tuple[NodeGroup, ...]
    instances: tuple[InstanceGroup, ...]
    mislabelled: tuple[Mislabelled, ...]
    losses: tuple[Loss, ...]


def capacity(
    facts: AuditFacts, workloads: Sequence[WorkloadFinding], images: Mapping[str, ImageFacts]
) -> Capacity:
    """What the nodes of the facts have, and what depends on them."""
    by_group: dict[tuple[str, str, str], list[NodeFacts]] = {}
    by_type: dict[tuple[str, str, str, str, str], list[NodeFacts]] = {}
    for node in facts.nodes:
        key = (node.snapshot, node.os, node.architecture)
        by_group.setdefault(key, []).append(node)
        by_type.setdefault((*key, node.instance_type, node.capacity), []).append(node)
    groups = tuple(_group(*key, by_group[key]) for key in sorted(by_group))
    return Capacity(
        groups,
        tuple(_instances(*key, by_type[key]) for key in sorted(by_type)),
        tuple(
            Mislabelled(node.snapshot, node.name, node.architecture, node.kubelet_architecture)
            for node in facts.nodes
            if node.kubelet_architecture and node.kubelet_architecture != node.architecture
        ),
        tuple(_losses(groups, workloads, images)),
    )


def share_on(workload: WorkloadFinding, architectures: frozenset[str]) -> Amount:
    """The part of a workload whose pods are on nodes of these architectures; CPU and memory in proportion."""
    facts, amount = workload.facts, workload.amount
    pods = sum(count for architecture, count in facts.runs_on if architecture in architectures)
    if not pods or not facts.pods:
        return NOTHING
    return Amount(
        1,
        pods,
        amount.cpu * pods // facts.pods,
        amount.memory * pods // facts.pods,
        amount.without_cpu * pods // facts.pods,
    )


def _group(snapshot: str, os: str, architecture: str, nodes: Sequence[NodeFacts]) -> NodeGroup:
    open_nodes = [node for node in nodes if not node.unschedulable]
    taints: dict[str, int] = {}
    for node in nodes:
        for taint in node.taints:
            taints[taint] = taints.get(taint, 0) + 1
    return NodeGroup(
        snapshot,
        os,
        architecture,
        len(nodes),
        sum(node.cpu for node in nodes),
        sum(node.requested_cpu for node in nodes),
        sum(max(0, node.cpu - node.requested_cpu) for node in open_nodes),
        sum(node.memory for node in nodes),
        sum(node.requested_memory for node in nodes),
        sum(max(0, node.memory - node.requested_memory) for node in open_nodes),
        sum(node.pods for node in nodes),
        sum(node.requested_pods for node in nodes),
        len(nodes) - len(open_nodes),
        sum(any(_of_architecture(taint) for taint in node.taints) for node in nodes),
        sum(node.capacity == "spot" for node in nodes),
        tuple(sorted(taints.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _of_architecture(taint: str) -> bool:
    return taint.partition(":")[0].partition("=")[0] in ARCH_KEYS


def _instances(
    snapshot: str, os: str, architecture: str, instance_type: str, kind: str, nodes: Sequence[NodeFacts]
) -> InstanceGroup:
    return InstanceGroup(
        snapshot,
        os,
        architecture,
        instance_type,
        kind,
        len(nodes),
        sum(node.cpu for node in nodes),
        sum(node.requested_cpu for node in nodes),
        sum(node.memory for node in nodes),
        sum(node.requested_memory for node in nodes),
    )


def _losses(
    groups: Sequence[NodeGroup], workloads: Sequence[WorkloadFinding], images: Mapping[str, ImageFacts]
) -> list[Loss]:
    linux: dict[str, dict[str, NodeGroup]] = {}
    for group in groups:
        if group.os == "linux" and group.architecture:
            linux.setdefault(group.snapshot, {})[group.architecture] = group
    sums = {
        (snapshot, lost): [NOTHING, NOTHING, NOTHING] for snapshot, found in linux.items() for lost in found
    }
    for workload in workloads:
        own = linux.get(workload.facts.snapshot)
        if not own or not workload.movable:
            continue
        possible, certain = _possible(workload.facts, images, frozenset(own))
        for lost in own:
            total = sums[workload.facts.snapshot, lost]
            if lost in possible and len(possible) == 1:
                total[0] += workload.amount
            elif lost in possible and not certain:
                total[1] += workload.amount
            elif possible - {lost}:
                total[2] += share_on(workload, frozenset({lost}))
    found = []
    for (snapshot, lost), (stranded, uncertain, moving) in sums.items():
        others = [group for name, group in linux[snapshot].items() if name != lost]
        found.append(
            Loss(
                snapshot,
                lost,
                tuple(group.architecture for group in others),
                stranded,
                uncertain,
                moving,
                sum(group.free_cpu for group in others),
                sum(group.free_memory for group in others),
            )
        )
    return found


def _possible(
    workload: WorkloadFacts, images: Mapping[str, ImageFacts], there: frozenset[str]
) -> tuple[frozenset[str], bool]:
    """Where the workload may run among `there`, and whether every image is known."""
    possible, certain = there & frozenset(workload.pinned or there), True
    for reference in {use.reference for use in workload.images}:
        image = images.get(reference)
        if image is None or image.answer != "Found":
            certain = False
        elif image.restricts:
            possible &= frozenset(image.architectures)
    return possible, certain
