"""What was read, folded into facts: owners resolved, pods put to their nodes, templates without pods added.

    runs       template, statuses, node ── owner, standing on the node ── WorkloadFacts, BuildFacts
    nodes      what the unfinished pods on them request ───────────────── NodeFacts
    held       templates of the cluster of which no pod was read ──────── WorkloadFacts
    rendered   templates of manifests ─────────────────────────────────── WorkloadFacts, `manifest`

Owners and nodes are looked up here, at the end, since the items of a list come in any order.

Pods of one workload with the same images are counted together, and containers that run the same build:

one more of the same key     pods, CPU and memory are added; where the pods run, too
owner_by                     the one that is known best
pinned                       what all of them are pinned to together; () where one is not pinned
tolerations                  those that all of them have
devices                      those that one of them requests
evidence                     the strongest, by `container_images.EVIDENCE`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from archfit.audit.facts import BuildFacts, ContainerImage, NodeFacts, Standing, WorkloadFacts
from archfit.audit.merge import build_key, workload_key
from archfit.audit.running.container_images import EVIDENCE, ContainerStatus
from archfit.audit.running.object_fields import on_node
from archfit.audit.running.owners import Named, Owner, Owners
from archfit.audit.running.templates import Template
from archfit.audit.running.webhooks import Labels, Selectors, serves
from archfit.startup.record import Record

_NO_NODE = NodeFacts("", "", "", "")
_WITHOUT_PODS: tuple[Standing, ...] = (
    "old", "finished", "windows", "idle", "daemonset", "scheduled", "pending", "manifest",
)  # fmt: skip
"""What a template counts as; of two that speak of the same pods the later one."""


class PodTemplate(Record):
    """What pods have in common that are counted together. cpu, memory: of one pod."""

    owner: Named
    bare: bool
    standing: Standing
    images: tuple[ContainerImage, ...]
    cpu: int
    memory: int
    pinned: tuple[str, ...]
    tolerations: tuple[tuple[str, str, str, str], ...]
    labels: tuple[tuple[str, str], ...] = ()
    devices: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    appended: tuple[str, ...] = ()


class Rendered(Record):
    """A template of a manifest, and where it stands."""

    template: Template
    where: str


class PodGroup(Record):
    """Pods that have a template, what their statuses say, and a node in common. node: "" for none."""

    template: PodTemplate
    statuses: tuple[ContainerStatus, ...]
    node: str
    pods: int


class LastRun(Record):
    """A finished pod of a Job. cpu, memory: what it requested. created: its creationTimestamp. windows: its system."""

    created: str
    name: str
    template: PodTemplate
    cpu: int
    memory: int
    windows: bool

    def order(self) -> tuple[str, str]:
        """The newest is the largest; of two of one second the name decides."""
        return self.created, self.name


class Gathered(Record):
    """What was read.

    runs: each once. pods: whether there was any. nodes: by name. held: the object that holds it, and the template.
    labelled: what controls a pod that has not finished, itself where nothing does, and its labels.
    last_runs: of each Job its newest finished pod. webhooks: the pods that serve them.
    """

    runs: Iterable[PodGroup]
    pods: bool
    nodes: Mapping[str, NodeFacts]
    owners: Owners
    held: Sequence[tuple[Named, Template]]
    labelled: Collection[tuple[Named, Labels]]
    last_runs: Mapping[Named, LastRun]
    rendered: Sequence[Rendered]
    webhooks: Selectors = MappingProxyType({})


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
        node = gathered.nodes.get(run.node, _NO_NODE)
        standing = on_node(template.standing, node.os, virtual=node.virtual)
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
    for without_pod in _without_pods(snapshot, gathered, tuple(workloads.values())):
        count_workload(workloads, without_pod)
    for rendered in gathered.rendered:
        facts = _of_template(snapshot, rendered.template, rendered.where)
        labels = rendered.template.pod_labels
        webhook = bool(gathered.webhooks) and serves(gathered.webhooks, facts.namespace, labels)
        count_workload(workloads, facts.replace(webhook=webhook) if webhook else facts)
    serving = _serving(gathered)
    nodes = (
        node.replace(
            snapshot=snapshot,
            requested_cpu=used[name][0],
            requested_memory=used[name][1],
            requested_pods=used[name][2],
        )
        for name, node in gathered.nodes.items()
    )
    return Folded(
        tuple(
            workload.replace(webhook=True) if _place(workload) in serving else workload
            for workload in workloads.values()
        ),
        tuple(builds.values()),
        tuple(nodes),
    )


def _serving(gathered: Gathered) -> set[tuple[str, str, str]]:
    """The owners of the cluster whose pods serve webhooks."""
    found = set()
    held = [(named, template.pod_labels) for named, template in gathered.held]
    for named, labels in (*held, *gathered.labelled) if gathered.webhooks else ():
        if serves(gathered.webhooks, named.namespace, labels):
            owner = gathered.owners.resolved(named, is_pod=named.kind == "Pod").named
            found.add((owner.namespace, owner.kind, owner.name))
    return found


def _of_run(snapshot: str, run: PodGroup, owner: Owner, standing: Standing, node: NodeFacts) -> WorkloadFacts:
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
        tolerations=template.tolerations,
        labels=template.labels,
        devices=template.devices,
        stated=template.stated,
        appended=template.appended,
    )


def _without_pods(
    snapshot: str, gathered: Gathered, workloads: Sequence[WorkloadFacts]
) -> Iterator[WorkloadFacts]:
    """What the workloads of the cluster will run of which no pod was read. found: the workloads that have pods.

    the template                                          counts as       pods
    unfinished pods with its images were read             nothing         they stand for it
    a Job's, of which pods were read                      nothing         they stand for it
    a ReplicaSet's or Job's that another object made,     old             none
      that asks for no pods or is done
    a Job's that is done                                  finished        none
    a DaemonSet's                                         daemonset       none; 1 where the lists hold no pods at all
    a CronJob's that is not suspended and has no          scheduled       its parallelism, each like its last pod if
      unfinished pods                                                     that has the same images
    asks for no pods, is suspended, or other              idle            none
      unfinished pods of its owner were read
    any other                                             pending         what it asks for
    where the lists hold no pods at all: manifest in the place of scheduled and pending

    A CronJob that is not in the lists, but whose Jobs are, counts as its last pod.
    """
    busy = {(one.namespace, one.kind, one.name) for one in workloads if one.standing != "finished"}
    same = {(*_place(one), one.images) for one in workloads if one.standing != "finished"}
    ran = {(*_place(one), one.images) for one in workloads}
    last = _last_runs(gathered)
    chosen: dict[tuple[Named, tuple[ContainerImage, ...]], WorkloadFacts] = {}
    for named, held in gathered.held:
        owner = gathered.owners.resolved(named, is_pod=False).named
        place = owner.namespace, owner.kind, owner.name
        key = (*place, held.images)
        run = last.pop(owner, None) if named.kind == "CronJob" else None
        alike = run is not None and run.template.images == held.images
        template = held.replace(cpu=run.cpu, memory=run.memory) if run and alike else held
        if key in same or (named.kind == "Job" and key in ran):
            continue
        standing = _standing_without_pods(template, made=named != owner, busy=place in busy)
        if not gathered.pods and standing in ("scheduled", "pending"):
            standing = "manifest"
        asked = standing in ("manifest", "scheduled", "pending") or (
            standing == "daemonset" and not gathered.pods
        )
        facts = _of_template(snapshot, template if asked else template.replace(pods=0)).replace(
            standing="windows" if template.windows else standing,
            kind=owner.kind,
            name=owner.name,
            owner_by="" if owner.name == template.name and owner.kind == template.kind else "controller",
        )
        # A Deployment and its ReplicaSet speak of the same pods.
        other = chosen.get((owner, template.images))
        if other is None or _weight_of(other) < _weight_of(facts):
            chosen[owner, template.images] = facts
    yield from chosen.values()
    for owner, newest in last.items():
        if (owner.namespace, owner.kind, owner.name) not in busy:
            once = PodGroup(newest.template.replace(cpu=newest.cpu, memory=newest.memory), (), "", 1)
            whole = gathered.owners.resolved(newest.template.owner, is_pod=False)
            yield _of_run(snapshot, once, whole, "windows" if newest.windows else "scheduled", _NO_NODE)


def _place(one: WorkloadFacts) -> tuple[str, str, str]:
    return one.namespace, one.kind, one.name


def _last_runs(gathered: Gathered) -> dict[Named, LastRun]:
    """Of each CronJob its newest finished pod."""
    last: dict[Named, LastRun] = {}
    for job, run in gathered.last_runs.items():
        owner = gathered.owners.resolved(job, is_pod=False).named
        if owner.kind == "CronJob":
            last[owner] = max(last.get(owner, run), run, key=LastRun.order)
    return last


def _standing_without_pods(template: Template, *, made: bool, busy: bool) -> Standing:
    if made and template.kind in ("ReplicaSet", "Job") and (template.done or not template.pods):
        return "old"
    if template.done:
        return "finished"
    if template.per_node:
        return "daemonset"
    if not template.pods or template.suspended or busy:
        return "idle"
    return "scheduled" if template.kind == "CronJob" else "pending"


def _weight_of(one: WorkloadFacts) -> tuple[int, int]:
    return _WITHOUT_PODS.index(one.standing), one.pods


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
        one.tolerations,
        one.labels,
        one.devices,
        stated=one.stated,
        appended=one.appended,
    )


def _either(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*first, *second})) if first and second else ()


Workloads: TypeAlias = dict[tuple[Any, ...], WorkloadFacts]
Builds: TypeAlias = dict[tuple[Any, ...], BuildFacts]


def count_workload(workloads: Workloads, one: WorkloadFacts) -> None:
    """Adds the pods of `one` to the workload that it is of."""
    key = workload_key(one)
    before = workloads.get(key)
    if before is None:
        workloads[key] = one
        return
    runs_on = Counter(dict(before.runs_on))
    runs_on.update(dict(one.runs_on))
    workloads[key] = before.replace(
        owner_by=max(before.owner_by, one.owner_by),
        pods=before.pods + one.pods,
        cpu=before.cpu + one.cpu,
        memory=before.memory + one.memory,
        without_cpu=before.without_cpu + one.without_cpu,
        runs_on=tuple(sorted(runs_on.items())),
        pinned=_either(before.pinned, one.pinned),
        where=min(before.where, one.where),
        labels=_least(before.labels, one.labels),
        tolerations=tuple(sorted({*before.tolerations} & {*one.tolerations})),
        devices=tuple(sorted({*before.devices} | {*one.devices})),
        webhook=before.webhook or one.webhook,
        stated=_either(before.stated, one.stated),
        appended=tuple(sorted({*before.appended, *one.appended})),
    )


def count_build(builds: Builds, one: BuildFacts) -> None:
    """Adds the containers of `one` to those that run the same build."""
    key = build_key(one)
    before = builds.get(key)
    if before is None:
        builds[key] = one
        return
    builds[key] = before.replace(
        pods=before.pods + one.pods,
        reason=max(before.reason, one.reason),
        evidence=_stronger(before.evidence, one.evidence),
    )


def _least(
    one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Of each label the smallest value that a pod of the workload has."""
    found: dict[str, str] = {}
    for key, value in (*one, *other):
        found[key] = min(found.get(key, value), value)
    return tuple(sorted(found.items()))


def _stronger(one: str, other: str) -> str:
    """Of two texts of evidence the one that `EVIDENCE` has first."""
    words = [word for word in EVIDENCE if word in (one, other)]
    return words[0] if words else max(one, other)
