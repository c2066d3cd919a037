"""Which nodes may run a pod, by the rules of Kubernetes' scheduler, in a page of its own.

    nodes(pod_spec)      the nodes of NODES that the pod may be bound to
    supports(node, ["linux/amd64", ..])

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/ and /taint-and-toleration/.
"""

from __future__ import annotations

from typing import Any, NamedTuple

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ARCH, OS = "kubernetes.io/arch", "kubernetes.io/os"


class Node(NamedTuple):
    """taints: (key, value, effect)."""

    name: str
    labels: dict[str, str]
    taints: tuple[tuple[str, str, str], ...] = ()

    @property
    def platform(self) -> str:
        return f"{self.labels[OS]}/{self.labels[ARCH]}"


def _node(
    name: str, os: str, arch: str, taints: tuple[tuple[str, str, str], ...] = (), **labels: str
) -> Node:
    both = {OS: os, ARCH: arch, f"beta.{OS}": os, f"beta.{ARCH}": arch, "kubernetes.io/hostname": name}
    return Node(name, {**both, **labels}, taints)


GKE_TAINT = (ARCH, "arm64", "NoSchedule")
NODES = (
    _node("amd64", "linux", "amd64"),
    _node("amd64-ssd", "linux", "amd64", disk="ssd", cores="16"),
    _node("arm64", "linux", "arm64", disk="ssd"),
    _node("arm64-gke", "linux", "arm64", (GKE_TAINT,), cores="4"),
    _node("s390x", "linux", "s390x", disk="ssd"),
    _node("w1", "windows", "amd64", (("node.kubernetes.io/os", "windows", "NoSchedule"),)),
)


def admits(node: Node, spec: dict[str, Any], *, arch_taints: bool = True) -> bool:
    """Whether the pod may be bound to the node. arch_taints: False leaves taints of the architecture aside."""
    selector = spec.get("nodeSelector") or {}
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
    if required is not None and not any(
        _term(node, term or {}) for term in required["nodeSelectorTerms"] or ()
    ):
        return False
    taints = [taint for taint in node.taints if arch_taints or taint[0] != ARCH]
    return all(any(_tolerates(one, taint) for one in spec.get("tolerations") or ()) for taint in taints)


def _term(node: Node, term: dict[str, Any]) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    return bool(expressions or fields) and (
        all(_expression(node.labels, one) for one in expressions)
        and all(_expression({"metadata.name": node.name}, one) for one in fields)
    )


def _expression(labels: dict[str, str], one: dict[str, Any]) -> bool:
    value, values = labels.get(one["key"]), one.get("values") or []
    match one["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and value.isdigit() and int(value) > int(values[0])
        case "Lt":
            return value is not None and value.isdigit() and int(value) < int(values[0])
    raise ValueError(one["operator"])


def _tolerates(one: dict[str, Any], taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    if one.get("effect") and one["effect"] != effect:
        return False
    operator = one.get("operator") or "Equal"
    if not one.get("key"):
        return bool(operator == "Exists")
    return one["key"] == key and (operator == "Exists" or (one.get("value") or "") == value)
