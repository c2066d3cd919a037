"""Objects of a cluster, one by one, folded into facts as they come.

    item ── kind ──┬── List, PodList, ..    each of its items; those of a typed list take its kind
                   ├── Pod of a cluster     one count for its owner, template, statuses and node
                   ├── Node                 NodeFacts
                   ├── anything with pods   of a cluster: its owner, and `idle` where nothing of it runs; where the
                   │                        lists hold no pods at all, as a manifest
                   │                        a manifest: `manifest`, with the number of pods that it asks for
                   ├── a kind without pods  passed over; Secrets are never read
                   └── any other kind       counted in `unknown`

An object is of a cluster if it has a metadata.uid, a status or a node, else it is a manifest. An object that comes
twice (a page read again, a file named twice) counts once: by its uid, or by kind, namespace and name. Nothing of an
item is kept but what it is counted by, so memory grows with the number of workloads and of (workload, node) pairs.
Items come in any order: owners and nodes are looked up at the end.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from archfit.cluster.audit_facts import (
    AuditFacts,
    BuildFacts,
    ContainerImage,
    ImageFacts,
    NodeFacts,
    Snapshot,
    Standing,
    WorkloadFacts,
)
from archfit.cluster.audit_merge import sorted_facts
from archfit.cluster.running.arch_demand import demanded_architectures
from archfit.cluster.running.container_images import ContainerStatus, container_images, container_statuses
from archfit.cluster.running.node_object import node_facts
from archfit.cluster.running.object_fields import mapping, text
from archfit.cluster.running.owners import Named, Owner, Owners
from archfit.cluster.running.pod_requests import requested
from archfit.cluster.running.pod_standing import is_virtual_node, on_node, standing_of
from archfit.cluster.running.templates import Template, templates
from archfit.cluster.runtime_evidence import EVIDENCE
from archfit.errors import InvalidInput
from archfit.options.settings import Options
from archfit.record import Record
from archfit.workloads.builtin import LISTS, UserRows, by_kind, group_of
from archfit.workloads.inventory import is_podless

_LIST_DEPTH = 16
_BITS = (1 << 128) - 1
_NO_NODE = NodeFacts("", "", "", "")
_UNASKED = "the field is empty, or nothing says which image it is"


class _PodTemplate(Record):
    """What pods have in common that are counted together. cpu, memory: of one pod."""

    owner: Named
    bare: bool
    standing: Standing
    images: tuple[ContainerImage, ...]
    cpu: int
    memory: int
    pinned: tuple[str, ...]


class _Rendered(Record):
    """A template of a manifest, and where it stands."""

    template: Template
    where: str


class _Interned:
    """Equal values as one, with a number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of the value; the same for equal ones."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found


class Collector:
    """What was read so far. source: "live", or "lists" for files of any kind ("manifests" where only such are meant).

    kinds: how many objects of each kind were read. unknown: those of kinds that may hold pods and are in no table.
    """

    def __init__(
        self,
        source: Literal["live", "lists", "manifests"],
        name: str,
        options: Options | None = None,
    ) -> None:
        self.kinds: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self._source = source
        self._name = name
        self._rows: UserRows = by_kind(options.workloads) if options else {}
        self._seen: set[bytes] = set()
        self._sum = 0
        self._owners = Owners()
        self._templates = _Interned()
        self._images = _Interned()
        self._statuses = _Interned()
        self._node_names = _Interned()
        self._runs: dict[tuple[int, int, int], int] = {}
        self._nodes: dict[str, tuple[NodeFacts, bool]] = {}
        self._idle: dict[tuple[Named, int], Template] = {}
        self._rendered: list[_Rendered] = []
        self._of_cluster = False

    def add(self, value: Any, where: str = "") -> None:
        """One decoded document or item (JSON's own values). where: file and line, for manifests.

        Raises InvalidInput for an object with more than 100,000 images, or one that is nested too deeply.
        """
        try:
            self._add(value, where, 0)
        except RecursionError:
            raise InvalidInput("an object is nested too deeply to be one of Kubernetes") from None

    @property
    def nodes_read(self) -> bool:
        """Whether there was a Node: without one no build can be proven and no capacity is known."""
        return bool(self._nodes)

    @property
    def pods_read(self) -> bool:
        """Whether there was a Pod of a cluster."""
        return bool(self._runs)

    def facts(self) -> AuditFacts:
        """Everything, with every image and every build still to be looked up."""
        source = self._source
        if source == "lists" and not self._of_cluster and self._rendered:
            source = "manifests"
        snapshot = Snapshot(f"{self._snapshot_id():016x}", source, self._name, bool(self._nodes))
        workloads, builds, nodes = self._folded(snapshot.id)
        references = {image.reference for one in workloads.values() for image in one.images}
        return sorted_facts(
            AuditFacts(
                (snapshot,) if self.kinds else (),
                tuple(nodes),
                tuple(workloads.values()),
                tuple(builds.values()),
                tuple(
                    ImageFacts(reference, "Unread")
                    if reference
                    else ImageFacts("", "Unasked", detail=_UNASKED)
                    for reference in references
                ),
            )
        )

    def _snapshot_id(self) -> int:
        digest = hashlib.sha256(self._sum.to_bytes(16, "big")).digest()
        return int.from_bytes(digest[:8], "big")

    def _add(self, value: Any, where: str, depth: int) -> None:
        if not isinstance(value, dict):
            return
        api_version, kind = text(value.get("apiVersion")), text(value.get("kind"))
        items = value.get("items")
        if isinstance(items, list) and _is_list(api_version, kind) and depth < _LIST_DEPTH:
            own = {"kind": kind[:-4], "apiVersion": api_version} if kind != "List" else {}
            for item in items:
                self._add(
                    {**own, **item} if own and isinstance(item, dict) and not item.get("kind") else item,
                    where,
                    depth + 1,
                )
            return
        self._object(value, group_of(api_version), kind, where)

    def _object(self, value: Mapping[str, Any], group: str, kind: str, where: str) -> None:
        metadata = mapping(value.get("metadata"))
        of_cluster = self._source != "manifests" and _is_of_cluster(value, metadata)
        if (group, kind) == ("", "Node"):
            if self._is_new(value, metadata, kind):
                facts = node_facts(value)
                self._of_cluster = True
                self._nodes[facts.name] = facts, is_virtual_node(value)
        elif (group, kind) == ("", "Pod") and of_cluster:
            if self._is_new(value, metadata, kind):
                self._of_cluster = True
                self._pod(value, metadata)
        else:
            self._other(value, metadata, kind, where, of_cluster=of_cluster)

    def _pod(self, pod: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        spec = mapping(pod.get("spec"))
        itself = Named(text(metadata.get("namespace")), "Pod", text(metadata.get("name")))
        owner = self._owners.of_pod(itself, metadata)
        standing = standing_of(pod)
        cpu, memory = (0, 0) if standing == "finished" else requested(pod)
        images = self._images.values[self._images.number(container_images(spec))]
        template = _PodTemplate(
            owner, owner is itself, standing, images, cpu, memory, demanded_architectures(spec)
        )
        key = (
            self._templates.number(template),
            self._statuses.number(container_statuses(pod)),
            self._node_names.number(text(spec.get("nodeName"))),
        )
        self._runs[key] = self._runs.get(key, 0) + 1

    def _other(
        self,
        value: Mapping[str, Any],
        metadata: Mapping[str, Any],
        kind: str,
        where: str,
        *,
        of_cluster: bool,
    ) -> None:
        podless = is_podless(text(value.get("apiVersion")), kind, self._rows)
        if podless:
            self.kinds[kind] += 1
            return
        if of_cluster and not self._is_new(value, metadata, kind):
            return
        if not of_cluster:
            self.kinds[kind] += 1
            self._sum = (self._sum + _hashed(value)) & _BITS
        found = list(templates(value, self._rows))
        if not found and podless is None:
            self.unknown[kind] += 1
        if not of_cluster:
            self._rendered += (_Rendered(template, where) for template in found)
            return
        self._of_cluster = True
        named = Named(text(metadata.get("namespace")), kind, text(metadata.get("name")))
        self._owners.add(named, metadata)
        for template in found:
            images = self._images.number(template.images)
            self._idle[named, images] = template.replace(images=self._images.values[images])

    def _is_new(self, value: Mapping[str, Any], metadata: Mapping[str, Any], kind: str) -> bool:
        """Whether the object is read for the first time; it is counted then."""
        uid, version = text(metadata.get("uid")), text(metadata.get("resourceVersion"))
        key = uid or f"{kind}/{text(metadata.get('namespace'))}/{text(metadata.get('name'))}"
        mark = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=12).digest()
        if mark in self._seen:
            return False
        self._seen.add(mark)
        self.kinds[kind] += 1
        self._sum = (self._sum + (_hashed([uid, version]) if uid and version else _hashed(value))) & _BITS
        return True

    def _folded(
        self, snapshot: str
    ) -> tuple[dict[tuple[Any, ...], WorkloadFacts], dict[tuple[Any, ...], BuildFacts], list[NodeFacts]]:
        workloads: dict[tuple[Any, ...], WorkloadFacts] = {}
        builds: dict[tuple[Any, ...], BuildFacts] = {}
        used: dict[str, list[int]] = {name: [0, 0, 0] for name in self._nodes}
        owners: dict[tuple[Named, bool], Owner] = {}
        for (template_number, status_number, node_number), pods in self._runs.items():
            template: _PodTemplate = self._templates.values[template_number]
            node_name: str = self._node_names.values[node_number]
            node, virtual = self._nodes.get(node_name, (_NO_NODE, False))
            standing = on_node(template.standing, node.os, virtual=virtual)
            if (template.owner, template.bare) not in owners:
                owners[template.owner, template.bare] = self._owners.resolved(
                    template.owner, is_pod=template.bare
                )
            owner = owners[template.owner, template.bare]
            if node_name in used and standing != "finished":
                for place, amount in enumerate((template.cpu, template.memory, 1)):
                    used[node_name][place] += pods * amount
            architecture = node.architecture or node.kubelet_architecture
            _count(
                workloads,
                WorkloadFacts(
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
                ),
            )
            for status in self._statuses.values[status_number]:
                if standing != "finished" or status.evidence:
                    _count_build(builds, _build(snapshot, owner.named, node, status, pods))
        self._add_idle(snapshot, workloads)
        for rendered in self._rendered:
            _count(workloads, _of_template(snapshot, rendered.template, rendered.where))
        nodes = [
            node.replace(
                snapshot=snapshot,
                requested_cpu=used[name][0],
                requested_memory=used[name][1],
                requested_pods=used[name][2],
            )
            for name, (node, _) in self._nodes.items()
        ]
        return workloads, builds, nodes

    def _add_idle(self, snapshot: str, workloads: dict[tuple[Any, ...], WorkloadFacts]) -> None:
        """Templates of the cluster of which no pod was read."""
        running = {(one.namespace, one.kind, one.name, one.images) for one in workloads.values()}
        largest: dict[tuple[Named, tuple[ContainerImage, ...]], Template] = {}
        for (named, _), template in self._idle.items():
            owner = self._owners.resolved(named, is_pod=False).named
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
            if self._runs or not template.pods:
                asked = asked.replace(standing="idle", pods=0, cpu=0, memory=0, without_cpu=0, runs_on=())
            _count(workloads, asked)


def _count(workloads: dict[tuple[Any, ...], WorkloadFacts], one: WorkloadFacts) -> None:
    key = (one.namespace, one.kind, one.name, one.standing, one.images)
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
        pinned=tuple(sorted({*before.pinned, *one.pinned})) if before.pinned and one.pinned else (),
        where=min(before.where, one.where),
    )


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


def _count_build(builds: dict[tuple[Any, ...], BuildFacts], one: BuildFacts) -> None:
    key = (
        one.namespace,
        one.kind,
        one.name,
        one.container,
        one.image,
        one.image_id,
        one.node_os,
        one.node_architecture,
        one.runtime,
    )
    before = builds.get(key)
    if before is None:
        builds[key] = one
        return
    builds[key] = before.replace(
        pods=before.pods + one.pods,
        reason=max(before.reason, one.reason),
        evidence=_stronger(before.evidence, one.evidence),
    )


def _stronger(one: str, other: str) -> str:
    """Of two texts of evidence the one that `EVIDENCE` has first."""
    found = [word for word in EVIDENCE if word in (one, other)]
    return found[0] if found else max(one, other)


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


def _is_list(api_version: str, kind: str) -> bool:
    return (group_of(api_version), kind) in LISTS or (kind.endswith("List") and len(kind) > 4)


def _is_of_cluster(value: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    return bool(metadata.get("uid") or value.get("status") or mapping(value.get("spec")).get("nodeName"))


def _hashed(value: Any) -> int:
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return int.from_bytes(hashlib.blake2b(written.encode(), digest_size=16).digest(), "big")
