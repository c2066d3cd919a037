"""Objects of a cluster, one by one, folded into facts as they come.

An object is of a cluster if it has a metadata.uid, a status or a node, else it is a manifest. An object that comes
twice (a page read again, a file named twice) counts once: by its uid, or by kind, namespace and name. Nothing of an
item is kept but what it is counted by, so memory grows with the number of workloads and of (workload, node) pairs.
Items come in any order: `fold` looks up owners and nodes at the end. Secrets are never read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from archfit.audit.running.container_images import container_images, container_statuses, reference_of
from archfit.audit.running.fold import Gathered, Images, LastRun, PodTemplate, folded
from archfit.audit.running.object_fields import (
    is_virtual_node,
    is_windows,
    kept_labels,
    placement_terms,
    pod_state,
    standing_of,
    text,
    tolerations,
)
from archfit.audit.running.owners import Named
from archfit.audit.running.pod_requests import amounts, devices, devices_of, requested
from archfit.audit.running.templates import templates
from archfit.audit.running.webhooks import labels_of
from archfit.base.errors import InvalidInput
from archfit.cluster.nodes import CLUSTER_NAME, OS_KEYS, label, mapping, sequence, taints_of
from archfit.cluster.pools.pool import Pool
from archfit.cluster.pools.read import is_beside, is_pool, of_this_cluster, pools
from archfit.cluster.quantity import milli, units
from archfit.facts.facts import AuditFacts, ImageFacts, NodeFacts, PoolFacts, Snapshot
from archfit.facts.merge import sorted_facts
from archfit.options.settings import Options
from archfit.options.taints import ARCH_KEYS
from archfit.programs.start import Start, start_of
from archfit.workloads.builtin import UserRows, by_kind, group_of, rows_of
from archfit.workloads.inventory import is_podless
from archfit.workloads.pod_specs import typed_item

KUBE_SYSTEM = "kube-system"
"""The namespace that every cluster has: its uid tells clusters apart."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch
_BITS = (1 << 128) - 1
_MOST_STARTS = 64
_TOO_MANY = Start(unread=f"its pods start it in more than {_MOST_STARTS} ways")
_UNASKED = "the field is empty, or nothing says which image it is"
Log: TypeAlias = Callable[[str, str, str], str | None]
"""The last lines of a container, by namespace, pod and name; None where they are not read."""


class Collector:
    """What was read so far. source: "live", or "lists" for files of any kind.

    keys: of labels and annotations of pods to keep. name: of the snapshot. kinds: how many objects of each kind were
    read. unknown: those of kinds that may hold pods and are in no table. rendered: why there are no pods in a kind that
    its controller renders. log: as `container_statuses` takes it. programs: keep what containers start.
    """

    def __init__(
        self,
        source: Literal["live", "lists"],
        name: str,
        options: Options | None = None,
        keys: tuple[str, ...] = (),
        log: Log = lambda _namespace, _pod, _container: None,
        *,
        programs: bool = False,
    ) -> None:
        self.kinds: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.rendered: dict[str, str] = {}
        self._source = source
        self.name = name
        self._rows: UserRows = by_kind(options.workloads) if options else {}
        self._keys = keys
        self._log = log
        self._programs = programs
        self._starts: dict[str, set[Start]] = {}
        self._seen: set[bytes] = set()
        self._sum = 0
        self._read = Gathered()
        self._images: dict[Images, Images] = {}
        self._pool_objects: list[Mapping[str, Any]] = []  # a cluster has few
        self._clusters: set[str] = set()  # that nodes say to be of
        self._of_cluster = False
        self._newest = ""
        self._uid = ""

    def add(self, value: Any, where: str = "") -> None:
        """One decoded document or item (JSON's own values). where: file and line, for manifests.

        Raises InvalidInput for an object with more than 100,000 images, or one that is nested too deeply.
        """
        try:
            self._add(value, where)
        except RecursionError:
            raise InvalidInput("an object is nested too deeply to be one of Kubernetes") from None

    def facts(self) -> AuditFacts:
        """Everything, with every image and every build still to be looked up."""
        rendered = self._source == "lists" and not self._of_cluster and self._read.rendered
        digest = hashlib.sha256(self._sum.to_bytes(16, "big")).hexdigest()
        snapshot = Snapshot(
            digest[:16],
            "manifests" if rendered else self._source,
            self.name,
            bool(self._read.nodes),
            uid=self._uid,
            date=self._newest,
            date_by="input" if self._newest else "",
        )
        keys = self._read.asked_labels()
        facts = folded(snapshot.id, self._read, keys)
        references = {image.reference for workload in facts.workloads for image in workload.images}
        starts = {reference: tuple(sorted(some, key=str)) for reference, some in self._starts.items()}
        images = {
            ImageFacts(reference, "Unread", starts=starts.get(reference, ()))
            for reference in references - {""}
        }
        if "" in references:
            images.add(ImageFacts("", "Unasked", detail=_UNASKED))
        own_pools = of_this_cluster(pools(self._pool_objects), self._clusters - {""})
        return sorted_facts(
            facts.replace(
                snapshots=(snapshot,) if self.kinds else (),
                images=tuple(images),
                pools=tuple(_pool_facts(snapshot.id, pool, keys) for pool in own_pools),
            )
        )

    def _add(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            return
        api_version, kind = text(value.get("apiVersion")), text(value.get("kind"))
        items = value.get("items")
        if isinstance(items, list):
            for item in items:
                self._add(typed_item(item, value), where)
            if kind.endswith("List"):
                return
            value = {key: member for key, member in value.items() if key != "items"}
        self._object(value, group_of(api_version), kind, where)

    def _object(self, value: Mapping[str, Any], group: str, kind: str, where: str) -> None:
        metadata = mapping(value, "metadata")
        marks = metadata.get("uid"), value.get("status"), mapping(value, "spec").get("nodeName")
        of_cluster = any(marks)
        is_node, is_pod = (group, kind) == ("", "Node"), (group, kind) == ("", "Pod") and of_cluster
        if not (is_node or is_pod or (group and (is_pool(value) or is_beside(value)))):
            self._other(value, metadata, kind, where, of_cluster=of_cluster)
        elif not self._is_new(value, metadata, kind):
            return
        elif is_node:
            facts = node_facts(value)
            self._of_cluster = True
            self._read.nodes[facts.name] = facts
            self._read.labels[facts.name] = mapping(metadata, "labels")
            self._clusters.add(text(mapping(metadata, "annotations").get(CLUSTER_NAME)))
        elif is_pod:
            self._of_cluster = True
            self._pod(value, metadata)
        else:
            self._pool_objects.append(value)

    def _pod(self, pod: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        spec = mapping(pod, "spec")
        itself = Named(text(metadata.get("namespace")), "Pod", text(metadata.get("name")))
        owner = self._read.owners.of_pod(itself, metadata)
        standing = standing_of(pod)
        cpu, memory = (0, 0) if standing == "finished" else requested(pod)
        images = container_images(spec)
        template = PodTemplate(
            owner,
            owner is itself,
            standing,
            self._images.setdefault(images, images),
            cpu,
            memory,
            placement_terms(spec),
            tolerations(spec),
            kept_labels(metadata, self._keys),
            devices(spec),
            pod_state(pod),
        )
        if self._programs:
            for container in (*sequence(spec, "containers"), *sequence(spec, "initContainers")):
                self._start(reference_of(text(container.get("image"))), start_of(container))
        if standing != "finished":
            self._read.labelled.add((owner, labels_of(metadata.get("labels"))))
        key = (
            self._read.templates.number(template),
            self._read.statuses.number(
                container_statuses(pod, partial(self._log, itself.namespace, itself.name))
            ),
            text(spec.get("nodeName")),
        )
        self._read.runs[key] += 1
        if standing == "finished" and owner.kind == "Job":
            cpu, memory = requested(pod)
            template = template.replace(cpu=cpu, memory=memory)
            created = text(metadata.get("creationTimestamp"))
            run = LastRun(created, itself.name, template, is_windows(spec))
            before = self._read.last_runs.get(owner)
            self._read.last_runs[owner] = run if before is None else max(before, run, key=LastRun.order)

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
            if kind == "Namespace" and metadata.get("name") == KUBE_SYSTEM and not self._uid:
                self._uid = text(metadata.get("uid"))
                self._sum = (self._sum + _hashed([KUBE_SYSTEM, self._uid])) & _BITS
            for added in self._read.webhooks.add(group_of(text(value.get("apiVersion"))), kind, value):
                self._sum = (self._sum + _hashed(added)) & _BITS
            self.kinds[kind] += 1
            return
        if of_cluster and not self._is_new(value, metadata, kind):
            return
        if not of_cluster:
            self.kinds[kind] += 1
            self._sum = (self._sum + _hashed(value)) & _BITS
        started = self._start if self._programs else None
        pod_templates = list(templates(value, self._rows, self._keys, started))
        if not pod_templates and podless is None:
            self.unknown[kind] += 1
        rows = rows_of(text(value.get("apiVersion")), kind, self._rows) if not pod_templates else ()
        self.rendered.update((kind, row.reason) for row in rows if row.rendered)
        if not of_cluster:
            self._read.rendered += ((template, where) for template in pod_templates)
            return
        self._of_cluster = True
        named = Named(text(metadata.get("namespace")), kind, text(metadata.get("name")))
        self._read.owners.add(named, metadata)
        for template in pod_templates:
            images = self._images.setdefault(template.images, template.images)
            self._read.held[named, images] = template.replace(images=images)

    def _start(self, reference: str, start: Start) -> None:
        known = self._starts.setdefault(reference, set())
        known.add(start if len(known) < _MOST_STARTS else _TOO_MANY)

    def _is_new(self, value: Mapping[str, Any], metadata: Mapping[str, Any], kind: str) -> bool:
        """Whether the object is read for the first time; it is counted then."""
        uid, version = text(metadata.get("uid")), text(metadata.get("resourceVersion"))
        key = uid or f"{kind}/{text(metadata.get('namespace'))}/{text(metadata.get('name'))}"
        mark = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=12).digest()
        if mark in self._seen:
            return False
        self._seen.add(mark)
        self._newest = _newest(value, metadata, self._newest)
        self.kinds[kind] += 1
        self._sum = (self._sum + (_hashed([uid, version]) if uid and version else _hashed(value))) & _BITS
        return True


def _newest(value: Mapping[str, Any], metadata: Mapping[str, Any], before: str) -> str:
    """The newest time that the API server or a kubelet wrote into an object, or that of `before`."""
    status = mapping(value, "status")
    times = [metadata.get("creationTimestamp"), status.get("startTime")]
    for condition in sequence(status, "conditions"):
        times += (condition.get("lastTransitionTime"), condition.get("lastHeartbeatTime"))
    newest = max((time for time in times if isinstance(time, str) and _TIME(time)), default="")
    if newest <= before:
        return before
    try:
        datetime.fromisoformat(newest)
    except ValueError:  # no year has that day
        return before
    return newest


def _hashed(value: Any) -> int:
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return int.from_bytes(hashlib.blake2b(written.encode(), digest_size=16).digest(), "big")


_INSTANCE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_CAPACITY = {
    "karpenter.sh/capacity-type": {"spot": "spot", "on-demand": "on-demand", "reserved": "on-demand"},
    "eks.amazonaws.com/capacityType": {"SPOT": "spot", "ON_DEMAND": "on-demand"},
    "cloud.google.com/gke-spot": {"true": "spot"},
    "cloud.google.com/gke-preemptible": {"true": "spot"},
    "kubernetes.azure.com/scalesetpriority": {"spot": "spot", "regular": "on-demand"},
}


def node_facts(node: Mapping[str, Any]) -> NodeFacts:
    """The facts of a Node (core/v1), without a snapshot and without what its pods request."""
    metadata, spec = mapping(node, "metadata"), mapping(node, "spec")
    status = mapping(node, "status")
    info, labels = mapping(status, "nodeInfo"), mapping(metadata, "labels")
    allocatable = amounts(status.get("allocatable"))
    return NodeFacts(
        "",
        text(metadata.get("name")),
        label(labels, OS_KEYS) or text(info.get("operatingSystem")) or "linux",
        label(labels, ARCH_KEYS),
        text(info.get("architecture")),
        text(info.get("containerRuntimeVersion")),
        label(labels, _INSTANCE),
        next((words.get(text(labels.get(key)), "") for key, words in _CAPACITY.items() if key in labels), ""),
        label(labels, _ZONE),
        spec.get("unschedulable") is True,
        tuple(sorted(map(str, taints_of(sequence(spec, "taints"))))),
        max(0, milli(allocatable.get("cpu", 0))),
        max(0, units(allocatable.get("memory", 0))),
        max(0, units(allocatable.get("pods", 0))),
        ready=any(
            condition.get("type") == "Ready" and condition.get("status") == "True"
            for condition in sequence(status, "conditions")
        ),
        virtual=is_virtual_node(node),
        uid=text(metadata.get("uid")),
        devices=devices_of(status.get("allocatable")),
    )


def _pool_facts(snapshot: str, pool: Pool, keys: Sequence[str]) -> PoolFacts:
    return PoolFacts(
        snapshot,
        pool.kind,
        pool.name,
        pool.architectures,
        pool.basis,
        pool.problem,
        tuple(sorted(map(str, pool.taints))),
        max(0, pool.weight),
        pool.limits,
        pool.scales,
        tuple(condition for key in keys for condition in pool.conditions_on(key)),
    )
