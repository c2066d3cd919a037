"""Nodes by architecture, what pools may bring, and what could run nowhere if one architecture were lost.

A node is open if it is Ready, not cordoned and not virtual; it is closed to pods that do not tolerate one of its taints
with the effect NoSchedule or NoExecute, but for kubernetes.io/arch=<its own architecture>: archfit writes that
toleration. What is free is allocatable - requested of the open nodes that are closed to no pod; never below 0 for a
node. Pods do not move between clusters, so each snapshot is judged by itself; limits of pools do not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from archfit.audit.amount import NOTHING, Amount
from archfit.audit.clusters import brought
from archfit.audit.places import Places, is_open, taints_of, tolerate, toleration_of
from archfit.audit.readiness import Images, Owner, WorkloadFinding, distinct_uses, total
from archfit.facts.facts import AuditFacts, NodeFacts, PoolFacts
from archfit.options.settings import Toleration
from archfit.options.taints import ARCH_KEYS
from archfit.startup.record import Record

_AMOUNTS = ("cpu", "requested_cpu", "memory", "requested_memory")


class NodeGroup(Record):
    """Nodes of one snapshot, system and architecture. tainted: nodes with a taint whose key names the architecture.

    cpu in 1/1000 CPU, memory in bytes; allocatable, requested by unfinished pods, free. How many nodes: cordoned, spot,
    not_ready, virtual; reserved: open, but closed to pods without a toleration.
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
    free_pods: int
    cordoned: int
    not_ready: int
    virtual: int
    reserved: int
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
    """What becomes of the workloads that could move if one architecture of a cluster were lost.

    stranded: those that no other architecture of the cluster's nodes and pools runs; uncertain: of which the same may
    be so, as an image is unknown or gone; moving: what runs on nodes of it and could run on another one.
    others: architectures of the other Linux nodes. bring: the other architectures that a pool may bring.
    free_*: on nodes of the other architectures that every pod of `moving` could use; 0 where nothing moves.
    """

    snapshot: str
    architecture: str
    others: tuple[str, ...]
    bring: tuple[str, ...]
    stranded: Amount
    uncertain: Amount
    moving: Amount
    free_cpu: int
    free_memory: int
    free_pods: int

    @property
    def fits(self) -> bool:
        """Whether the sums of what moves are within the sums of what is free."""
        return all(
            getattr(self.moving, what) <= getattr(self, f"free_{what}") for what in ("cpu", "memory", "pods")
        )


class PoolTaint(Record):
    """A taint of a pool that keeps pods off which do not tolerate it. The first fields are the key of its PoolFacts.

    tolerating: how many of `workloads`, those that could move, tolerate it.
    """

    snapshot: str
    kind: str
    name: str
    architectures: tuple[str, ...]
    taint: str
    tolerating: int
    workloads: int


class Capacity(Record):
    """All about nodes, and about the taints of pools."""

    groups: tuple[NodeGroup, ...]
    instances: tuple[InstanceGroup, ...]
    mislabelled: tuple[Mislabelled, ...]
    losses: tuple[Loss, ...]
    pool_taints: tuple[PoolTaint, ...]


def capacity(
    facts: AuditFacts, workloads: Sequence[WorkloadFinding], images: Images, places: Mapping[str, Places]
) -> Capacity:
    """What the nodes of the facts have, and what depends on them. places: of each snapshot."""
    by_group: dict[tuple[str, str, str], list[NodeFacts]] = defaultdict(list)
    by_type: dict[tuple[str, str, str, str, str], list[NodeFacts]] = defaultdict(list)
    for node in facts.nodes:
        key = (node.snapshot, node.os, node.architecture)
        by_group[key].append(node)
        by_type[*key, node.instance_type, node.capacity].append(node)
    return Capacity(
        tuple(_group(*key, by_group[key]) for key in sorted(by_group)),
        tuple(
            InstanceGroup(*key, len(by_type[key]), **_sums(by_type[key], *_AMOUNTS))
            for key in sorted(by_type)
        ),
        tuple(
            Mislabelled(node.snapshot, node.name, node.architecture, node.kubelet_architecture)
            for node in facts.nodes
            if node.kubelet_architecture and node.kubelet_architecture != node.architecture
        ),
        tuple(_losses(facts, workloads, images, places)),
        tuple(_pool_taints(facts.pools, workloads)),
    )


def _pool_taints(pools: Iterable[PoolFacts], workloads: Iterable[WorkloadFinding]) -> Iterable[PoolTaint]:
    tolerations: dict[Owner, set[tuple[tuple[str, str, str, str], ...]]] = defaultdict(set)
    for workload in workloads:
        if workload.movable:
            tolerations[workload.owner].add(workload.facts.tolerations)
    having: dict[str, Counter[frozenset[tuple[tuple[str, str, str, str], ...]]]] = defaultdict(Counter)
    for (*_, snapshot), those in tolerations.items():
        having[snapshot][frozenset(those)] += 1
    for pool in pools:
        own = having[pool.snapshot]
        for taint in () if pool.problem else taints_of(pool):
            tolerating = sum(
                number for those, number in own.items() if all(tolerate(rows, (taint,)) for rows in those)
            )
            text = f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"
            yield PoolTaint(
                pool.snapshot, pool.kind, pool.name, pool.architectures, text, tolerating, own.total()
            )


def share_on(workload: WorkloadFinding, architecture: str) -> Amount:
    """The part of a workload whose pods are on nodes of an architecture; CPU and memory in proportion."""
    whole, amount = workload.facts.pods, workload.amount
    pods = sum(number for name, number in workload.facts.runs_on if name == architecture)
    if not pods or not whole:
        return NOTHING
    parts = (value * pods // whole for value in (amount.cpu, amount.memory, amount.without_cpu))
    return Amount(1, pods, *parts)


def _group(snapshot: str, os: str, architecture: str, nodes: Sequence[NodeFacts]) -> NodeGroup:
    open_nodes = [node for node in nodes if is_open(node)]
    unreserved = [node for node in open_nodes if not _closing_taints(node)]
    taints = Counter(taint for node in nodes for taint in node.taints)
    return NodeGroup(
        snapshot,
        os,
        architecture,
        len(nodes),
        **_sums(nodes, *_AMOUNTS, "pods", "requested_pods", "virtual"),
        **_free(unreserved),
        cordoned=sum(node.unschedulable for node in nodes),
        not_ready=sum(not node.ready for node in nodes),
        reserved=len(open_nodes) - len(unreserved),
        tainted=sum(any(toleration_of(taint).key in ARCH_KEYS for taint in node.taints) for node in nodes),
        spot=sum(node.capacity == "spot" for node in nodes),
        taints=tuple(sorted(taints.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _closing_taints(node: NodeFacts) -> tuple[Toleration, ...]:
    """`taints_of`, less that of the node's own architecture."""
    return tuple(
        taint for taint in taints_of(node) if taint.key not in ARCH_KEYS or taint.value != node.architecture
    )


def _sums(nodes: Sequence[NodeFacts], *names: str) -> dict[str, Any]:
    return {name: sum(getattr(node, name) for node in nodes) for name in names}


def _free(nodes: Sequence[NodeFacts]) -> dict[str, int]:
    """What the nodes have left, as fields of NodeGroup and Loss."""
    return {
        f"free_{what}": sum(
            max(0, getattr(node, what) - getattr(node, f"requested_{what}")) for node in nodes
        )
        for what in ("cpu", "memory", "pods")
    }


_Mover: TypeAlias = tuple[frozenset[str], tuple[tuple[str, str, str, str], ...]]
"""Where pods that would move could run, and which taints they tolerate."""


class _Moving:
    """What would become of workloads. moving: with the amounts that would move.

    nodes: the bits of those that the own placement of all that moves allows (`Places`).
    """

    def __init__(self) -> None:
        self.stranded: list[WorkloadFinding] = []
        self.uncertain: list[WorkloadFinding] = []
        self.moving: list[WorkloadFinding] = []
        self.movers: set[_Mover] = set()
        self.nodes = -1

    def may_use(self, node: NodeFacts, number: int) -> bool:
        taints = _closing_taints(node)
        return bool(self.nodes >> number & 1) and all(
            node.architecture in possible and tolerate(tolerations, taints)
            for possible, tolerations in self.movers
        )


def _losses(
    facts: AuditFacts, workloads: Sequence[WorkloadFinding], images: Images, places: Mapping[str, Places]
) -> list[Loss]:
    linux = {
        snapshot: sorted({node.architecture for node in places[snapshot].nodes})
        for snapshot in sorted({node.snapshot for node in facts.nodes})
    }
    allowed = brought(facts.pools)
    keys = [(snapshot, lost) for snapshot, architectures in linux.items() for lost in architectures]
    moved = {key: _Moving() for key in keys}
    for workload in workloads:
        snapshot = workload.facts.snapshot
        own = linux.get(snapshot)
        if not own or not workload.movable:
            continue
        possible, certain = _possible(workload, images, {*own, *allowed.get(snapshot, ())})
        for lost in own:
            going = moved[snapshot, lost]
            if lost in possible and len(possible) == 1:
                going.stranded.append(workload)
            elif lost in possible and not certain:
                going.uncertain.append(workload)
            elif possible - {lost} and (moving := share_on(workload, lost)).pods:
                going.moving.append(workload.replace(amount=moving))
                going.movers.add((possible, workload.facts.tolerations))
                going.nodes &= places[snapshot].fitting(workload.facts.terms)
    losses = []
    for snapshot, lost in keys:
        others = tuple(name for name in linux[snapshot] if name != lost)
        going = moved[snapshot, lost]
        room = _free(
            [
                node
                for number, node in enumerate(places[snapshot].nodes if going.movers else ())
                if node.architecture != lost and is_open(node) and going.may_use(node, number)
            ]
        )
        bring = tuple(sorted(allowed.get(snapshot, set()) - {lost}))
        stranded, uncertain, moving = map(total, (going.stranded, going.uncertain, going.moving))
        losses.append(Loss(snapshot, lost, others, bring, stranded, uncertain, moving, **room))
    return losses


def _possible(workload: WorkloadFinding, images: Images, there: Iterable[str]) -> tuple[frozenset[str], bool]:
    """Where the workload may run among `there`, and whether the platforms of every image are known."""
    uses = distinct_uses(workload.facts)
    known = [images.facts.get(use.reference) for use in uses]
    possible = frozenset(
        architecture
        for architecture in there
        if workload.goes_to(architecture)
        and not any(images.state(use, architecture) in ("no", "fails") for use in uses)
    )
    return possible, all(image and image.answer == "Found" for image in known)
