"""A Node of a cluster as NodeFacts.

os                    label kubernetes.io/os, else status.nodeInfo.operatingSystem, else linux
architecture          label kubernetes.io/arch or its beta name, "" without
kubelet_architecture  status.nodeInfo.architecture: what the kubelet was built for
cpu, memory, pods     status.allocatable
capacity              "spot" or "on-demand", by the label of the provider:
                        karpenter.sh/capacity-type, eks.amazonaws.com/capacityType,
                        cloud.google.com/gke-spot, cloud.google.com/gke-preemptible,
                        kubernetes.azure.com/scalesetpriority
ready                 the condition Ready has the status True; a node without this condition is not ready
virtual               see `pod_standing`
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archfit.cluster.audit_facts import NodeFacts
from archfit.cluster.running.object_fields import mapping, mappings, text
from archfit.cluster.running.pod_requests import amounts
from archfit.cluster.running.pod_standing import is_virtual_node
from archfit.cluster.running.quantity import milli, units
from archfit.options.taints import ARCH_KEYS

_OS = ("kubernetes.io/os", "beta.kubernetes.io/os")
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
    metadata, spec = mapping(node.get("metadata")), mapping(node.get("spec"))
    status = mapping(node.get("status"))
    info, labels = mapping(status.get("nodeInfo")), mapping(metadata.get("labels"))
    allocatable = amounts(status.get("allocatable"))
    return NodeFacts(
        "",
        text(metadata.get("name")),
        _first(labels, _OS) or text(info.get("operatingSystem")) or "linux",
        _first(labels, ARCH_KEYS),
        text(info.get("architecture")),
        text(info.get("containerRuntimeVersion")),
        _first(labels, _INSTANCE),
        next((words.get(text(labels.get(key)), "") for key, words in _CAPACITY.items() if key in labels), ""),
        _first(labels, _ZONE),
        spec.get("unschedulable") is True,
        tuple(sorted(_taint(taint) for taint in mappings(spec.get("taints")))),
        max(0, milli(allocatable.get("cpu", 0))),
        max(0, units(allocatable.get("memory", 0))),
        max(0, units(allocatable.get("pods", 0))),
        ready=any(
            one.get("type") == "Ready" and one.get("status") == "True"
            for one in mappings(status.get("conditions"))
        ),
        virtual=is_virtual_node(node),
        uid=text(metadata.get("uid")),
    )


def _taint(taint: Mapping[str, Any]) -> str:
    value = text(taint.get("value"))
    return f"{text(taint.get('key'))}{f'={value}' if value else ''}:{text(taint.get('effect'))}"


def _first(labels: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((text(labels[key]) for key in keys if labels.get(key)), "")
