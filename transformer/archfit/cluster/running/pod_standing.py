"""What a pod of a cluster counts as. The first row that holds:

    finished    status.phase is Succeeded or Failed
    mirror      annotation kubernetes.io/config.mirror, or an owner of kind Node: a static pod of its node
    windows     spec.os.name or nodeSelector kubernetes.io/os says windows
    daemonset   a DaemonSet controls it: it is made for each node
    windows     its node says windows
    virtual     it selects `type: virtual-kubelet`, or its node is virtual
    gated       it has schedulingGates and no node
    pending     status.phase is not Running
    running     anything else

A virtual node has the label `type: virtual-kubelet` or a taint virtual-kubelet.io/provider (Azure, kip), or is one of
EKS Fargate (label eks.amazonaws.com/compute-type: fargate): its pods run on machines that no node of the cluster is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archfit.cluster.audit_facts import Standing
from archfit.cluster.running.object_fields import controller, mapping, mappings, text
from archfit.placement.affinity import OS_LABELS
from archfit.placement.selection import VIRTUAL_KUBELET

MIRROR = "kubernetes.io/config.mirror"
_FARGATE = "eks.amazonaws.com/compute-type"


def standing_of(pod: Mapping[str, Any]) -> Standing:
    """What the pod says itself; `on_node` adds what its node says."""
    metadata, spec = mapping(pod.get("metadata")), mapping(pod.get("spec"))
    phase = text(mapping(pod.get("status")).get("phase"))
    if phase in ("Succeeded", "Failed"):
        return "finished"
    kind, _ = controller(metadata)
    if MIRROR in mapping(metadata.get("annotations")) or kind == "Node":
        return "mirror"
    if is_windows(spec):
        return "windows"
    if kind == "DaemonSet":
        return "daemonset"
    if mapping(spec.get("nodeSelector")).get("type") == "virtual-kubelet":
        return "virtual"
    if spec.get("schedulingGates") and not spec.get("nodeName"):
        return "gated"
    return "running" if phase == "Running" else "pending"


def on_node(standing: Standing, os: str, *, virtual: bool) -> Standing:
    """What the pod counts as on a node of this operating system ("" where it is not known)."""
    if standing in ("finished", "mirror", "daemonset", "windows"):
        return standing
    if os == "windows":
        return "windows"
    return "virtual" if virtual else standing


def is_windows(spec: Mapping[str, Any]) -> bool:
    """Whether a pod spec is for Windows."""
    selector = mapping(spec.get("nodeSelector"))
    return mapping(spec.get("os")).get("name") == "windows" or any(
        selector.get(label) == "windows" for label in OS_LABELS
    )


def is_virtual_node(node: Mapping[str, Any]) -> bool:
    """Whether a Node stands for something else than a machine of the cluster."""
    labels = mapping(mapping(node.get("metadata")).get("labels"))
    taints = mappings(mapping(node.get("spec")).get("taints"))
    return (
        labels.get("type") == "virtual-kubelet"
        or labels.get(_FARGATE) == "fargate"
        or any(taint.get("key") == VIRTUAL_KUBELET for taint in taints)
    )
