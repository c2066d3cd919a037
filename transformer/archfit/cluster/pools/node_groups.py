"""Pools whose objects describe one kind of node: machines of Cluster API and OpenShift, classes of GKE.

    annotations of MachineDeployments, MachinePools and MachineSets
    capacity.cluster-autoscaler.kubernetes.io/labels: kubernetes.io/arch=arm64,KEY=VALUE    what its nodes will have
    capacity.cluster-autoscaler.kubernetes.io/taints: KEY=VALUE:EFFECT,..                   those that they will have
    PREFIX/cluster-api-autoscaler-node-group-max-size: "5"                                  how many at most

Where they say no architecture, status.nodeInfo of the machine template does. Without any of it nothing is known:
cluster-autoscaler itself then takes amd64, or $CAPI_SCALE_ZERO_DEFAULT_ARCH.

A ComputeClass is a pool for each architecture, as their taints differ: GKE taints arm64 nodes with
kubernetes.io/arch=arm64:NoSchedule, unless taintConfig.architectureTaintBehavior is NONE.

Sources: kubernetes/autoscaler, cluster-autoscaler/cloudprovider/clusterapi, README.md and clusterapi_unstructured.go;
cluster-api, docs/proposals/20210310-opt-in-autoscaling-from-zero.md; cloud.google.com/kubernetes-engine/docs/reference/
crds/computeclass and /docs/concepts/arm-on-gke; cloud.google.com/compute/docs/machine-resource (families).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from archfit.cluster.nodes import OS_KEYS, Taint, ascii_text, label, mapping, sequence, taints_of
from archfit.cluster.pools.pool import LINUX, Pool, entries, group_of, kind_of, name_of
from archfit.images.platforms import normalised
from archfit.options.taints import ARCH_KEYS

CLUSTER_API = "cluster.x-k8s.io"
OPENSHIFT = "machine.openshift.io"
GKE = "cloud.google.com"
KINDS = {
    (CLUSTER_API, "MachineDeployment"),
    (CLUSTER_API, "MachinePool"),
    (CLUSTER_API, "MachineSet"),
    (OPENSHIFT, "MachineSet"),
}
INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"

_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"
_SIZE = "/cluster-api-autoscaler-node-group-"
_ARM_FAMILIES = ("t2a", "c4a", "n4a", "a4x")
_X86_FAMILIES = (
    "a2", "a3", "c2", "c2d", "c3", "c3d", "c4", "c4d", "e2", "g2", "h3", "m1", "m2", "m3", "m4", "n1", "n2", "n2d",
    "n4", "n4d", "t2d", "z3",
)  # fmt: skip
FAMILIES = dict.fromkeys(_ARM_FAMILIES, "arm64") | dict.fromkeys(_X86_FAMILIES, "amd64")
"""Of Compute Engine: what stands before the first dash of a machine type."""
_COMPUTE_CLASS = "cloud.google.com/compute-class"
_ARM_TAINT = Taint("kubernetes.io/arch", "arm64", "NoSchedule")


def is_machines(value: Mapping[str, Any]) -> bool:
    """Whether an object makes machines by itself; a MachineSet of a MachineDeployment does not."""
    owners = sequence(value, "metadata", "ownerReferences")
    return (group_of(value), kind_of(value)) in KINDS and not any(owner.get("controller") for owner in owners)


def machines(value: Mapping[str, Any], templates: Iterable[Mapping[str, Any]] = ()) -> Pool:
    """What machines will be nodes. templates: machine templates of providers, among which its own may be."""
    spec = mapping(value, "spec")
    annotations = mapping(value, "metadata", "annotations")
    sizes = {
        str(key).rpartition(_SIZE)[2]: str(text) for key, text in annotations.items() if _SIZE in str(key)
    }
    pairs = (
        part.strip().partition("=") for part in str(annotations.get(f"{_CAPACITY}/labels") or "").split(",")
    )
    labels = {key: text for key, equals, text in pairs if equals}
    basis = f"by {_CAPACITY}/labels"
    if group_of(value) == OPENSHIFT and not any(key in labels for key in ARCH_KEYS):
        labels |= {
            str(key): str(text)
            for key, text in mapping(spec, "template", "spec", "metadata", "labels").items()
        }
        basis = "by the labels of its nodes"
    architecture, system = label(labels, ARCH_KEYS), label(labels, OS_KEYS)
    if not architecture:
        info = mapping(
            _template(mapping(spec, "template", "spec", "infrastructureRef"), templates), "status", "nodeInfo"
        )
        architecture, system = str(info.get("architecture") or ""), str(info.get("operatingSystem") or system)
        basis = "by its machine template"
    scales = "max-size" in sizes
    largest = sizes.get("max-size", str(spec.get("replicas", "")))
    known = normalised(system or LINUX, architecture) if architecture else None
    pool = Pool(
        str(value["kind"]),
        name_of(value),
        entries([known.os], [known.architecture]) if known else (),
        basis,
        taints=_taints(value, annotations),
        limits=(("nodes", largest),) if scales else (),
        group=f"{value['kind']}/{name_of(value)}" if scales else "",
        cluster=str(spec.get("clusterName") or ""),
        scales=scales,
        labels=tuple((key, "In", (text,)) for key, text in labels.items()),
    )
    if largest == "0":
        return pool.replace(architectures=(), problem="it has 0 nodes at most, so it brings none")
    if not architecture:
        remedy = f"give it the annotation {_CAPACITY}/labels: kubernetes.io/arch=arm64, or what it is"
        return pool.replace(problem=f"nothing says its architecture: {remedy}")
    if not pool.architectures:
        return pool.replace(
            problem=f"it brings no node that archfit knows: {ascii_text(f'{system} {architecture}')}"
        )
    return pool


def _taints(value: Mapping[str, Any], annotations: Mapping[str, Any]) -> tuple[Taint, ...]:
    """Those of the annotation win over those of the template with their key and effect."""
    of_template = taints_of(sequence(value, "spec", "template", "spec", "taints"))
    taints = {(taint.key, taint.effect): taint for taint in of_template}
    for part in str(annotations.get(f"{_CAPACITY}/taints") or "").split(","):
        head, colon, effect = part.strip().rpartition(":")
        key, _equals, text = head.partition("=")
        if colon and key:
            taints[key, effect] = Taint(key, text, effect)
    return tuple(taints.values())


def _template(reference: Mapping[str, Any], templates: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    wanted = reference.get("kind"), reference.get("name")
    for template in templates:
        if (template.get("kind"), mapping(template, "metadata").get("name")) == wanted:
            return template
    return {}


def is_compute_class(value: Mapping[str, Any]) -> bool:
    """Whether an object is a ComputeClass of GKE."""
    return value.get("kind") == "ComputeClass" and group_of(value) == GKE


def compute_class(value: Mapping[str, Any]) -> list[Pool]:
    """A pool for each architecture of the families that a ComputeClass names, and one for what is not known of it."""
    spec = mapping(value, "spec")
    pool = Pool("ComputeClass", name_of(value), labels=((_COMPUTE_CLASS, "In", (name_of(value),)),))
    rules = sequence(spec, "priorities")
    families = list(dict.fromkeys(_family(rule, mapping(spec, "priorityDefaults")) for rule in rules))
    config = mapping(spec, "nodePoolConfig")
    taints = taints_of(sequence(config, "taints"))
    untainted = str(mapping(config, "taintConfig").get("architectureTaintBehavior") or "").upper() == "NONE"
    pools = []
    for architecture in sorted({FAMILIES[family] for family in families if family in FAMILIES}):
        those = [family for family in families if FAMILIES.get(family) == architecture]
        added = () if untainted or architecture != "arm64" else (_ARM_TAINT,)
        pools.append(
            pool.replace(
                architectures=(architecture,),
                basis=f"machine family {', '.join(those)}",
                taints=tuple(dict.fromkeys((*taints, *added))),
            )
        )
    return [*pools, *_unknown(pool, families)]


def _unknown(pool: Pool, families: list[str]) -> Iterator[Pool]:
    unknown = [family for family in families if family and family not in FAMILIES]
    if unknown:
        names = ascii_text(", ".join(unknown))
        yield pool.replace(problem=f"archfit does not know the architecture of machine family {names}")
    elif not any(families):
        yield pool.replace(problem="it names no machine family, so nothing says its architecture")


def _family(rule: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """The family of a rule: `c4a` of machineFamily c4a and of machineType c4a-standard-4. "" where it names none.

    A rule that names node pools, GPUs or TPUs takes no default.
    """
    if any(rule.get(key) for key in ("nodepools", "gpu", "tpu")) and not rule.get("machineType"):
        return str(rule.get("machineFamily") or "").lower()
    for source in (rule, defaults):
        named = str(source.get("machineFamily") or source.get("machineType") or "")
        if named:
            return named.partition("-")[0].lower()
    return ""
