"""What was read, folded into facts: owners resolved, pods put to their nodes, templates without pods added.

    runs       template, statuses, node ── owner, standing on the node ── WorkloadFacts, BuildFacts
    nodes      what the unfinished pods on them request ───────────────── NodeFacts
    idle       templates of the cluster of which no pod was read ──────── WorkloadFacts, `idle`
    rendered   templates of manifests ─────────────────────────────────── WorkloadFacts, `manifest`

Owners and nodes are looked up here, at the end, since the items of a list come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from archfit.cluster.audit_facts import BuildFacts, ContainerImage, NodeFacts, Standing, WorkloadFacts
from archfit.cluster.running.container_images import ContainerStatus
from archfit.cluster.running.fact_counts import Builds, Workloads, count_build, count_workload
from archfit.cluster.running.owners import Named, Owner, Owners
from archfit.cluster.running.pod_standing import on_node
from archfit.cluster.running.templates import Template
from archfit.record import Record

_NO_NODE = NodeFacts("", "", "", "")


class PodTemplate(Record):
    """What pods have in common that are counted together. cpu, memory: of one pod."""

    owner: Named
    bare: bool
    standing: Standing
    images: tuple[ContainerImage, ...]
    cpu: int
    memory: int
    pinned: tuple[str, ...]


class Rendered(Record):
    """A template of a manifest, and where it stands."""

    template: Template
    where: str


class Run(Record):
    """Pods that have a template, what their statuses say, and a node in common. node: "" for none."""

    template: PodTemplate
    statuses: tuple[ContainerStatus, ...]
    node: str
    pods: int


class Gathered(Record):
    """What was read.

    runs: each once. pods: whether there was any. nodes: each with whether it is virtual. idle: by the object that
    holds the template.
    """

    runs: Iterable[Run]
    pods: bool
    nodes: Mapping[str, tuple[NodeFacts, bool]]
    owners: Owners
    idle: Sequence[tuple[Named, Template]]
    rendered: Sequence[Rendered]


class Folded(Record):
    """The facts, unsorted."""

    workloads: tuple[WorkloadFacts, ...]
    builds: tuple[BuildFacts, ...]
    nodes: tuple[NodeFacts, ...]


def folded(snapshot: str, gathered: Gathered) -> Folded:
    """The facts of a snapshot."""
    workloads: Workloads = {}
    builds: Builds = {}
    used: dict[str, list[int]] = {name: [0, 0, 0] for name in gathered.nodes}
    owners: dict[tuple[Named, bool], Owner] = {}
    for run in gathered.runs:
        template, pods = run.template, run.pods
        node, virtual = gathered.nodes.get(run.node, (_NO_NODE, False))
        standing = on_node(template.standing, node.os, virtual=virtual)
        key = template.owner, template.bare
        if key not in owners:
            owners[key] = gathered.owners.resolved(template.owner, is_pod=template.bare)
        owner = owners[key]
        if run.node in used and standing != "finished":
            for place, amount in enumerate((template.cpu, template.memory, 1)):
                used[run.node][place] += pods * amount
        count_workload(workloads, _of_run(snapshot, run, owner, standing, node))
        for status in run.statuses:
            if standing != "finished" or status.evidence:
                count_build(builds, _build(snapshot, owner.named, node, status, pods))
    for one in _idle(snapshot, gathered, tuple(workloads.values())):
        count_workload(workloads, one)
    for rendered in gathered.rendered:
        count_workload(workloads, _of_template(snapshot, rendered.template, rendered.where))
    nodes = (
        node.replace(
            snapshot=snapshot,
            requested_cpu=used[name][0],
            requested_memory=used[name][1],
            requested_pods=used[name][2],
        )
        for name, (node, _) in gathered.nodes.items()
    )
    return Folded(tuple(workloads.values()), tuple(builds.values()), tuple(nodes))


def _of_run(snapshot: str, run: Run, owner: Owner, standing: Standing, node: NodeFacts) -> WorkloadFacts:
    template, pods = run.template, run.pods
    architecture = node.architecture or node.kubelet_architecture
    return WorkloadFacts(
        snapshot,
        owner.named.namespace,
        owner.named.kind,
        owner.named.name,
        standing,
        template.images,
        owner.by,
        pods,
        pods * template.cpu,
        pods * template.memory,
        0 if template.cpu or standing == "finished" else pods,
        ((architecture, pods),),
        template.pinned,
    )


def _idle(snapshot: str, gathered: Gathered, found: Iterable[WorkloadFacts]) -> Iterator[WorkloadFacts]:
    """Templates of the cluster of which no pod was read. found: the workloads that have pods."""
    running = {(one.namespace, one.kind, one.name, one.images) for one in found}
    largest: dict[tuple[Named, tuple[ContainerImage, ...]], Template] = {}
    for named, template in gathered.idle:
        owner = gathered.owners.resolved(named, is_pod=False).named
        if (owner.namespace, owner.kind, owner.name, template.images) in running:
            continue
        # A Deployment and its ReplicaSet speak of the same pods.
        other = largest.get((owner, template.images))
        if other is None or other.pods < template.pods:
            largest[owner, template.images] = template
    for (owner, _), template in largest.items():
        asked = _of_template(snapshot, template).replace(
            kind=owner.kind,
            name=owner.name,
            owner_by="" if owner.name == template.name and owner.kind == template.kind else "controller",
        )
        if gathered.pods or not template.pods:
            asked = asked.replace(standing="idle", pods=0, cpu=0, memory=0, without_cpu=0, runs_on=())
        yield asked


def _build(snapshot: str, owner: Named, node: NodeFacts, status: ContainerStatus, pods: int) -> BuildFacts:
    return BuildFacts(
        snapshot,
        owner.namespace,
        owner.kind,
        owner.name,
        status.container,
        status.image,
        status.image_id,
        node.os,
        node.kubelet_architecture or node.architecture,
        node.runtime,
        pods,
        reason=status.reason,
        evidence=status.evidence,
    )


def _of_template(snapshot: str, one: Template, where: str = "") -> WorkloadFacts:
    standing: Standing = "windows" if one.windows else "daemonset" if one.per_node else "manifest"
    return WorkloadFacts(
        snapshot,
        one.namespace,
        one.kind,
        one.name,
        standing,
        one.images,
        "",
        one.pods,
        one.pods * one.cpu,
        one.pods * one.memory,
        0 if one.cpu else one.pods,
        (("", one.pods),) if one.pods else (),
        one.pinned,
        where,
    )
