"""What was read, folded into facts: owners resolved, pods put to their nodes, templates without pods added.

Owners and nodes are looked up here, at the end, since the items of a list come in any order. Pods of one workload with
the same images are counted together, and containers that run the same build.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from archfit.audit.running.container_images import EVIDENCE, ContainerStatus
from archfit.audit.running.object_fields import on_node, text
from archfit.audit.running.owners import Named, Owner, Owners
from archfit.audit.running.templates import Template
from archfit.audit.running.webhooks import Labels, Selectors, Webhooks, serves
from archfit.facts.facts import (
    AuditFacts,
    BuildFacts,
    ContainerImage,
    NodeFacts,
    PodState,
    Standing,
    Term,
    WorkloadFacts,
    any_of,
)  # fmt: skip
from archfit.facts.merge import build_key, workload_key
from archfit.placement.affinity import ARCH_LABELS
from archfit.startup.record import Record

Images: TypeAlias = tuple[ContainerImage, ...]
_MOST_FAILING = 10
_NO_NODE = NodeFacts("", "", "", "")
_WITHOUT_PODS: tuple[Standing, ...] = (
    "old", "finished", "windows", "idle", "daemonset", "scheduled", "pending", "manifest",
)  # fmt: skip
"""What a template counts as; of two that speak of the same pods the later one."""


class PodTemplate(Record):
    """What pods have in common that are counted together. cpu, memory: of one pod. state: why they do not run."""

    owner: Named
    bare: bool
    standing: Standing
    images: tuple[ContainerImage, ...]
    cpu: int
    memory: int
    terms: tuple[Term, ...]
    tolerations: tuple[tuple[str, str, str, str], ...]
    labels: tuple[tuple[str, str], ...] = ()
    devices: tuple[str, ...] = ()
    state: PodState | None = None


class LastRun(Record):
    """A finished pod of a Job, with what it requested. created: its creationTimestamp. windows: its system."""

    created: str
    name: str
    template: PodTemplate
    windows: bool

    def order(self) -> tuple[str, str]:
        """The newest is the largest; of two of one second the name decides."""
        return self.created, self.name


class Interned:
    """Equal values as one, with a number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of the value; the same for equal ones."""
        number = self._numbers.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


class Gathered:
    """What was read so far.

    runs: the numbers of a template of pods and of what their statuses say, their node ("" for none) -> how many.
    nodes, labels: of each node by name. held: the object that holds it, and its images -> the template.
    labelled: what controls a pod that has not finished, itself where nothing does, and its labels.
    last_runs: of each Job its newest finished pod. rendered: templates of manifests, and where they stand.
    """

    def __init__(self) -> None:
        self.templates, self.statuses = Interned(), Interned()
        self.runs: Counter[tuple[int, int, str]] = Counter()
        self.nodes: dict[str, NodeFacts] = {}
        self.labels: dict[str, Mapping[str, Any]] = {}
        self.owners = Owners()
        self.held: dict[tuple[Named, Images], Template] = {}
        self.labelled: set[tuple[Named, Labels]] = set()
        self.last_runs: dict[Named, LastRun] = {}
        self.rendered: list[tuple[Template, str]] = []
        self.webhooks = Webhooks()

    def asked_labels(self) -> list[str]:
        """The labels that pods ask for, beside the architecture."""
        templates = (
            *self.templates.values,
            *self.held.values(),
            *(template for template, _ in self.rendered),
        )
        terms = {term for template in templates for term in template.terms}
        return sorted({key for term in terms for key, _, _ in term.conditions} - ARCH_LABELS)


def folded(snapshot: str, gathered: Gathered, keys: Sequence[str]) -> AuditFacts:
    """The workloads, builds and nodes of a snapshot, unsorted. keys: of the labels of nodes to keep."""
    workloads: _Workloads = {}
    terms: _TermsOfRows = defaultdict(set)
    builds: _Builds = {}
    used: dict[str, list[int]] = {name: [0, 0, 0] for name in gathered.nodes}
    owners: dict[tuple[Named, bool], Owner] = {}
    for (template_number, status_number, node_name), pods in gathered.runs.items():
        template: PodTemplate = gathered.templates.values[template_number]
        node = gathered.nodes.get(node_name, _NO_NODE)
        standing = on_node(template.standing, node.os, virtual=node.virtual)
        key = template.owner, template.bare
        if key not in owners:
            owners[key] = gathered.owners.resolved(template.owner, is_pod=template.bare)
        owner = owners[key]
        if node_name in used and standing != "finished":
            for place, amount in enumerate((template.cpu, template.memory, 1)):
                used[node_name][place] += pods * amount
        _count_workload(workloads, terms, _of_run(snapshot, template, pods, owner, standing, node))
        for status in gathered.statuses.values[status_number]:
            if standing != "finished" or status.evidence:
                _count_build(builds, _build(snapshot, owner.named, node, status, pods, node_name))
    for without_pod in _without_pods(snapshot, gathered, tuple(workloads.values())):
        _count_workload(workloads, terms, without_pod)
    selectors = gathered.webhooks.selectors()
    for rendered, where in gathered.rendered:
        webhook = serves(selectors, rendered.namespace, rendered.pod_labels)
        _count_workload(
            workloads, terms, _of_template(snapshot, rendered).replace(where=where, webhook=webhook)
        )
    serving = _serving(gathered, selectors)
    nodes = (
        node.replace(
            snapshot=snapshot,
            requested_cpu=used[name][0],
            requested_memory=used[name][1],
            requested_pods=used[name][2],
            labels=tuple(
                (key, text(own[key])) for own in [gathered.labels[name]] for key in keys if key in own
            ),
        )
        for name, node in gathered.nodes.items()
    )
    return AuditFacts(
        nodes=tuple(nodes),
        workloads=tuple(
            workload.replace(
                webhook=workload.webhook or _place(workload) in serving,
                terms=any_of(term for each in terms.get(key, {workload.terms}) for term in each or (Term(),)),
            )
            for key, workload in workloads.items()
        ),
        builds=tuple(builds.values()),
    )


def _serving(gathered: Gathered, selectors: Selectors) -> set[tuple[str, str, str]]:
    owners = set()
    held = [(named, template.pod_labels) for (named, _), template in gathered.held.items()]
    for named, labels in (*held, *gathered.labelled) if selectors else ():
        if serves(selectors, named.namespace, labels):
            owner = gathered.owners.resolved(named, is_pod=named.kind == "Pod").named
            owners.add((owner.namespace, owner.kind, owner.name))
    return owners


def _of_run(
    snapshot: str, template: PodTemplate, pods: int, owner: Owner, standing: Standing, node: NodeFacts
) -> WorkloadFacts:
    at = node.architecture or node.kubelet_architecture
    row = _workload(snapshot, owner.named, standing, template, pods, ((at, pods),))
    not_running = ((template.state, at, pods),) if template.state else ()
    return row.replace(owner_by=owner.by, not_running=not_running)


def _workload(
    snapshot: str,
    named: Named | Template,
    standing: Standing,
    template: PodTemplate | Template,
    pods: int,
    runs_on: tuple[tuple[str, int], ...],
) -> WorkloadFacts:
    return WorkloadFacts(
        snapshot,
        named.namespace,
        named.kind,
        named.name,
        standing,
        template.images,
        "",
        pods,
        pods * template.cpu,
        pods * template.memory,
        0 if template.cpu or standing == "finished" else pods,
        runs_on,
        template.terms,
        tolerations=template.tolerations,
        labels=template.labels,
        devices=template.devices,
    )


def _without_pods(
    snapshot: str, gathered: Gathered, workloads: Sequence[WorkloadFacts]
) -> Iterator[WorkloadFacts]:
    """What the workloads of the cluster will run of which no pod was read. workloads: those that have pods.

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
    unfinished = [workload for workload in workloads if workload.standing != "finished"]
    busy = set(map(_place, unfinished))
    same = {(*_place(workload), workload.images) for workload in unfinished}
    ran = {(*_place(workload), workload.images) for workload in workloads}
    asking = ("manifest", "scheduled", "pending", *(() if gathered.runs else ("daemonset",)))
    last = _last_runs(gathered)
    chosen: dict[tuple[Named, tuple[ContainerImage, ...]], WorkloadFacts] = {}
    for (named, _), held in gathered.held.items():
        owner = gathered.owners.resolved(named, is_pod=False).named
        place = _place(owner)
        key = (*place, held.images)
        run = last.pop(owner, None) if named.kind == "CronJob" else None
        template = held
        if run and run.template.images == held.images:
            template = held.replace(cpu=run.template.cpu, memory=run.template.memory)
        if key in same or (named.kind == "Job" and key in ran):
            continue
        standing = _standing_without_pods(template, owned=named != owner, busy=place in busy)
        if not gathered.runs and standing in ("scheduled", "pending"):
            standing = "manifest"
        if standing not in asking:
            template = template.replace(pods=0)
        facts = _of_template(snapshot, template).replace(
            standing="windows" if template.windows else standing,
            kind=owner.kind,
            name=owner.name,
            owner_by="" if owner.name == template.name and owner.kind == template.kind else "controller",
            not_running=(("pending", "", template.pods),) if standing == "pending" and template.pods else (),
        )
        # A Deployment and its ReplicaSet speak of the same pods.
        other = chosen.get((owner, template.images))
        if other is None or _weight_of(other) < _weight_of(facts):
            chosen[owner, template.images] = facts
    yield from chosen.values()
    for owner, newest in last.items():
        if _place(owner) not in busy:
            whole = gathered.owners.resolved(newest.template.owner, is_pod=False)
            standing = "windows" if newest.windows else "scheduled"
            yield _of_run(snapshot, newest.template, 1, whole, standing, _NO_NODE)


def _place(workload: WorkloadFacts | Named) -> tuple[str, str, str]:
    return workload.namespace, workload.kind, workload.name


def _last_runs(gathered: Gathered) -> dict[Named, LastRun]:
    last: dict[Named, LastRun] = {}
    for job, run in gathered.last_runs.items():
        owner = gathered.owners.resolved(job, is_pod=False).named
        if owner.kind == "CronJob":
            last[owner] = max(last.get(owner, run), run, key=LastRun.order)
    return last


def _standing_without_pods(template: Template, *, owned: bool, busy: bool) -> Standing:
    if owned and template.kind in ("ReplicaSet", "Job") and (template.done or not template.pods):
        return "old"
    if template.done:
        return "finished"
    if template.per_node:
        return "daemonset"
    if not template.pods or template.suspended or busy:
        return "idle"
    return "scheduled" if template.kind == "CronJob" else "pending"


def _weight_of(workload: WorkloadFacts) -> tuple[int, int]:
    return _WITHOUT_PODS.index(workload.standing), workload.pods


def _build(
    snapshot: str, owner: Named, node: NodeFacts, status: ContainerStatus, pods: int, node_name: str
) -> BuildFacts:
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
        ready=pods * status.ready,
        failing=(node_name,) if status.evidence and node_name else (),
    )


def _of_template(snapshot: str, template: Template) -> WorkloadFacts:
    standing: Standing = "windows" if template.windows else "daemonset" if template.per_node else "manifest"
    runs_on = (("", template.pods),) if template.pods else ()
    return _workload(snapshot, template, standing, template, template.pods, runs_on)


def _added(before: Iterable[tuple[PodState, str, int]], more: Iterable[tuple[PodState, str, int]]) -> Any:
    pods: Counter[tuple[PodState, str]] = Counter()
    for state, architecture, number in (*before, *more):
        pods[state, architecture] += number
    return tuple(sorted((*key, number) for key, number in pods.items()))


_Workloads: TypeAlias = dict[tuple[Any, ...], WorkloadFacts]
_TermsOfRows: TypeAlias = dict[tuple[Any, ...], set[tuple[Term, ...]]]
_Builds: TypeAlias = dict[tuple[Any, ...], BuildFacts]


def _count_workload(workloads: _Workloads, terms: _TermsOfRows, more: WorkloadFacts) -> None:
    key = workload_key(more)
    before = workloads.get(key)
    if before is None:
        workloads[key] = more
        return
    if before.terms != more.terms:
        terms[key] |= {before.terms, more.terms}
    runs_on = Counter(dict(before.runs_on))
    runs_on.update(dict(more.runs_on))
    labels = dict(before.labels)
    for name, value in more.labels:
        labels[name] = min(labels.get(name, value), value)
    workloads[key] = before.replace(
        owner_by=max(before.owner_by, more.owner_by),
        pods=before.pods + more.pods,
        cpu=before.cpu + more.cpu,
        memory=before.memory + more.memory,
        without_cpu=before.without_cpu + more.without_cpu,
        runs_on=tuple(sorted(runs_on.items())),
        not_running=_added(before.not_running, more.not_running),
        where=min(before.where, more.where),
        labels=tuple(sorted(labels.items())),
        tolerations=tuple(sorted({*before.tolerations} & {*more.tolerations})),
        devices=tuple(sorted({*before.devices} | {*more.devices})),
        webhook=before.webhook or more.webhook,
    )


def _count_build(builds: _Builds, more: BuildFacts) -> None:
    key = build_key(more)
    before = builds.get(key)
    if before is None:
        builds[key] = more
        return
    words = [word for word in EVIDENCE if word in (before.evidence, more.evidence)]
    builds[key] = before.replace(
        pods=before.pods + more.pods,
        reason=max(before.reason, more.reason),
        evidence=words[0] if words else "",
        ready=before.ready + more.ready,
        failing=tuple(sorted({*before.failing, *more.failing})[:_MOST_FAILING]),
    )
