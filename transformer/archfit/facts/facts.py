"""What an audit knows: the facts from which every report is made, and by which shards and clusters are merged.

Nothing that follows from facts (readiness, the work list) is a fact. `merge` has the key of each record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from archfit.images.candidates import NewerTag
from archfit.images.tag_list import Read
from archfit.programs.start import Start
from archfit.startup.record import Record
from archfit.yaml.json_output import shape

SCHEMA = shape("audit")
"""Of these facts as JSON; another one where their meaning changes."""

Standing: TypeAlias = Literal[
    "running", "pending", "scheduled", "manifest",
    "daemonset", "gated", "idle", "old", "finished", "mirror", "virtual", "windows",
]  # fmt: skip
"""What a pod counts as. Those of the first line could move to another architecture; the others are counted apart.

scheduled: a CronJob between two runs. idle: a template that asks for no pods now, as of a Deployment with 0 replicas.
old: an earlier revision, as a ReplicaSet with 0 replicas that a Deployment keeps."""

Condition: TypeAlias = tuple[str, str, tuple[str, ...]]
"""(key, operator, values): what a pod asks of a label of its node, or what a pool says of it."""
Role: TypeAlias = Literal["container", "init", "volume"]
PodState: TypeAlias = Literal["unschedulable", "pending", "crashing", "unready"]
"""Of a pod that does not run. crashing: a container waits to be started again. unready: it is Running, not Ready."""
BuildState: TypeAlias = Literal["proven", "mismatch", "ambiguous", "unknown", "unread"]
"""Which build runs. proven: the node runs its platform, its own, or 386 and 32-bit arm, which `reason` then names.

mismatch: another platform: it is emulated, or the container fails. ambiguous: several builds of the index could be the
one. unknown: `reason` says why. unread: another shard reads it."""

AnswerKind: TypeAlias = Literal["Found", "Absent", "Unknown", "Unasked", "Malformed", "Unread"]
"""As in `images.platforms`; Unread: another shard asks for it."""


class Snapshot(Record):
    """One cluster, or one set of manifests, at one moment.

    id: 16 hexadecimal digits of a hash of all that was read, whatever its order.
    source: "live", "lists" (files of a cluster's lists) or "manifests".
    name: for people; of the cluster, or of the files.
    nodes: whether nodes were read; without them no build can be proven and no capacity is known.
    name_by: where the name is from: "flag" (--cluster), "context" (of kubectl), "uid" (of the namespace kube-system),
        "input" (names of files) or "" (there is none).
    unread_pools: the lists of pools that the user may not read, as `nodepools.karpenter.sh`.
    uid: of the namespace kube-system, "" where it was not read.
    date: in UTC, as `2026-11-23T00:30:00Z`, "" where it is not known. date_by: "read" (from a live cluster then),
        "stated" (SOURCE_DATE_EPOCH), "input" (the newest time in the lists: they are of then or later) or "".
    """

    id: str
    source: Literal["live", "lists", "manifests"]
    name: str
    nodes: bool
    name_by: Literal["flag", "context", "uid", "input", ""] = "input"
    uid: str = ""
    date: str = ""
    date_by: Literal["read", "stated", "input", ""] = ""
    unread_pools: tuple[str, ...] = ()


class NodeFacts(Record):
    """A node. architecture: its label kubernetes.io/arch. kubelet_architecture: status.nodeInfo.architecture.

    runtime: status.nodeInfo.containerRuntimeVersion, as `containerd://2.1.4`. capacity: "spot", "on-demand" or "".
    cpu, requested_cpu: in 1/1000 CPU. memory, requested_memory: in bytes. requested_*: of the unfinished pods on it.
    taints: as `key=value:effect`, sorted. ready: its condition Ready is True. virtual: no machine of the cluster.
    uid: of the object, by which two reads of one cluster are known.
    devices: what it has for pods beside CPU, memory and storage, as `nvidia.com/gpu`, sorted: `pod_requests`.
    labels: (key, value) of those that pods of the input ask for, sorted.
    """

    snapshot: str
    name: str
    os: str
    architecture: str
    kubelet_architecture: str = ""
    runtime: str = ""
    instance_type: str = ""
    capacity: str = ""
    zone: str = ""
    unschedulable: bool = False
    taints: tuple[str, ...] = ()
    cpu: int = 0
    memory: int = 0
    pods: int = 0
    requested_cpu: int = 0
    requested_memory: int = 0
    requested_pods: int = 0
    ready: bool = False
    virtual: bool = False
    uid: str = ""
    devices: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


class PoolFacts(Record):
    """What makes nodes: a NodePool of Karpenter, machines of Cluster API or OpenShift, a ComputeClass of GKE.

    architectures: what it may bring, as entries of clusterArchitectures (arm64, windows/amd64); () with a problem: why
        it brings nothing, or why nothing is known. basis: why these, as `its requirements`.
    taints: of its nodes, as `key=value:effect`, sorted. weight: of Karpenter, 0 where none is set.
    limits: (what, how much), as (`CPU`, `500`). scales: whether an autoscaler decides on the number of its nodes.
    labels: what it says of labels that pods of the input ask for; a key that is missing here may have any value.
    """

    snapshot: str
    kind: str
    name: str
    architectures: tuple[str, ...] = ()
    basis: str = ""
    problem: str = ""
    taints: tuple[str, ...] = ()
    weight: int = 0
    limits: tuple[tuple[str, str], ...] = ()
    scales: bool = True
    labels: tuple[Condition, ...] = ()


class Term(Record):
    """What one required term, with the nodeSelector, asks of the labels of a node: all conditions have to hold.

    conditions: sorted; those on the operating system are left out. end: the values of a condition `kubernetes.io/arch
    In` at the end of the term, which archfit may have written.
    """

    conditions: tuple[Condition, ...] = ()
    end: tuple[str, ...] = ()


def any_of(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms of which one has to hold, sorted; () where one of them asks for nothing."""
    distinct = set(terms)
    if Term() in distinct:
        return ()
    return tuple(sorted(distinct, key=lambda term: (term.conditions, term.end)))


class ContainerImage(Record):
    """One use of an image. image: as written; "" where the field is empty. reference: the key of its ImageFacts."""

    container: str
    role: Role
    image: str
    reference: str


class WorkloadFacts(Record):
    """The pods of one workload that share their images, folded to the owner that a person would change.

    owner_by: "controller" (ownerReferences, followed through ReplicaSets and Jobs), "name" (guessed from the name, as
        the lists hold no ReplicaSets or Jobs), "" for a pod that nothing owns and for manifests.
    pods: how many. cpu, memory: what they request together (1/1000 CPU, bytes). without_cpu: pods that request no CPU.
    runs_on: (architecture of the node, pods), sorted; "" for pods without a node.
    terms: one of them has to hold on a node, by the pods' own nodeSelector and required affinity; () asks for nothing.
    where: file and line for manifests, "" else.
    tolerations: (key, operator, value, effect) of those that each of the pods has, sorted; none with
        tolerationSeconds, which lets a pod stay for a while only.
    labels: (`label=KEY` or `annotation=KEY`, value) of the keys that --by named when the cluster was read, sorted.
    devices: what one of the pods requests beside CPU, memory and storage, as `nvidia.com/gpu`, sorted: `pod_requests`.
    webhook: whether its pods serve an admission webhook, as far as the input says so (`running.webhooks`).
    not_running: (state, architecture of the node, pods) of those that do not run, sorted.
    """

    snapshot: str
    namespace: str
    kind: str
    name: str
    standing: Standing
    images: tuple[ContainerImage, ...]
    owner_by: Literal["controller", "name", ""] = ""
    pods: int = 0
    cpu: int = 0
    memory: int = 0
    without_cpu: int = 0
    runs_on: tuple[tuple[str, int], ...] = ()
    terms: tuple[Term, ...] = ()
    where: str = ""
    tolerations: tuple[tuple[str, str, str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    devices: tuple[str, ...] = ()
    webhook: bool = False
    not_running: tuple[tuple[PodState, str, int], ...] = ()


class BuildFacts(Record):
    """Which build of an image runs in the containers of one workload on one kind of node.

    image_id: status.containerStatuses[].imageID as the runtime reports it. pods: how many containers are so.
    platform: of the build that runs, as `linux/arm64`; "" where it is not proven. manifest, index: digests, "" where
        not known. reason: why the verdict is not `proven`. evidence: what the pod's own state says, as
        `exec format error`; never the whole message. moved: what the tag names now, where it names another index:
        a sentence. ready: how many of the containers are Ready. failing: the first nodes with evidence, by name.
    """

    snapshot: str
    namespace: str
    kind: str
    name: str
    container: str
    image: str
    image_id: str
    node_os: str
    node_architecture: str
    runtime: str
    pods: int
    verdict: BuildState = "unread"
    platform: str = ""
    manifest: str = ""
    index: str = ""
    reason: str = ""
    evidence: str = ""
    moved: str = ""
    ready: int = 0
    failing: tuple[str, ...] = ()


class ImageFacts(Record):
    """One image. reference: normalised, or the string as written where it is no reference.

    platforms: texts, sorted, of an index what it lists. kind: "index", "manifest", "artifact", "" where there is no
    answer. architectures: what counts for pods on Linux (labels of nodes), () with restricts False: it runs everywhere.
    origin: override, lock, stale or registry (the cache has a registry's answers). detail: why there is no answer; of
    one, what the index lists and the registry does not have.
    newer: the nearest tag of the repository that has `newer_for`, none or one, which was read. newer_for: the
    architecture that its tags were asked for, "" where nobody asked. newer_read: how much of the list of tags was read.
    newer_why: why nobody asked, or what ended the reading, a sentence, or "".
    starts: what containers say of the program that they start, where --programs asked for it when they were read.
    programs: (architecture, right, wrong or unread, words), as of `programs.program.Verdict`.
    """

    reference: str
    answer: AnswerKind
    platforms: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    restricts: bool = True
    digest: str = ""
    kind: Literal["index", "manifest", "artifact", ""] = ""
    origin: str = ""
    detail: str = ""
    newer: tuple[NewerTag, ...] = ()
    newer_read: Read = "no"
    newer_for: str = ""
    newer_why: str = ""
    starts: tuple[Start, ...] = ()
    programs: tuple[tuple[str, str, str], ...] = ()


class Shard(Record):
    """A part of a snapshot's images that was asked for. index: from 0, of so many."""

    snapshot: str
    index: int
    number: int


class AuditFacts(Record):
    """Everything, each tuple sorted by its key. shards: which parts were asked, () where it is the whole."""

    snapshots: tuple[Snapshot, ...] = ()
    nodes: tuple[NodeFacts, ...] = ()
    workloads: tuple[WorkloadFacts, ...] = ()
    builds: tuple[BuildFacts, ...] = ()
    images: tuple[ImageFacts, ...] = ()
    shards: tuple[Shard, ...] = ()
    pools: tuple[PoolFacts, ...] = ()
