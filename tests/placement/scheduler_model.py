"""A small model of the scheduler, independent of archfit: nodes with labels and taints, and where a pod can run.

It evaluates real label sets, never "satisfiable" terms. NODES has every combination of the labels that
`placement/test_laws` draws; `a_node` makes others. It is the only model: the oracle in Go is the scheduler's own code.
Source: k8s.io/component-helpers/scheduling/corev1 (nodeaffinity, FindMatchingUntoleratedTaint).
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

ARCH, BETA = "kubernetes.io/arch", "beta.kubernetes.io/arch"
OS, BETA_OS = "kubernetes.io/os", "beta.kubernetes.io/os"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
GKE_TAINT = (ARCH, "arm64", "NoSchedule")
POOL_TAINT = ("arch", "", "NoSchedule")
VIRTUAL_TAINT = ("virtual-kubelet.io/provider", "azure", "NoSchedule")
ARCH_TAINTS = (ARCH, "arch")


class Node(NamedTuple):
    os: str
    arch: str
    taints: tuple[tuple[str, str, str], ...]
    labels: dict[str, str]
    name: str

    @property
    def platform(self) -> str:
        return f"{self.os}/{self.arch}"

    def __str__(self) -> str:
        return f"{self.os}/{self.arch}{' tainted' if self.taints else ''} {self.name} {self.labels}"


_KINDS = (
    ("linux", "amd64", ()),
    ("linux", "arm64", ()),
    ("linux", "arm64", (GKE_TAINT,)),
    ("linux", "arm64", (POOL_TAINT,)),
    ("linux", "s390x", ()),
    ("linux", "s390x", (POOL_TAINT,)),
    ("linux", "", (VIRTUAL_TAINT,)),
    ("windows", "amd64", ()),
    ("windows", "arm64", ()),
)

_BASELINE = {"amd64": ("v1",), "arm64": ("v8", "v8.0", "8"), "arm": ("v5", "v6", "v7", "v8")}


def a_node(name: str, os: str, arch: str, taints: tuple[tuple[str, str, str], ...] = (), **more: str) -> Node:
    """A node with the labels that the kubelet writes, and more. taints: (key, value, effect)."""
    labels = {OS: os, BETA_OS: os, "kubernetes.io/hostname": name}
    labels |= {ARCH: arch, BETA: arch} if arch else {}
    return Node(os, arch, taints, labels | more, name)


def _nodes() -> list[Node]:
    made = []
    for kind, foo, zone, name in product(_KINDS, (None, "bar", "7"), (None, "z"), ("n1", "n2")):
        more = {key: value for key, value in (("foo", foo), ("zone", zone)) if value is not None}
        node = a_node(name, *kind)
        made.append(node._replace(labels=node.labels | more))
    return made


NODES = _nodes()


def can_run(spec: dict[str, Any], node: Node, *, but_for_arch_taints: bool = False) -> bool:
    """Whether the scheduler would place the pod there."""
    taints = [taint for taint in node.taints if not (but_for_arch_taints and taint[0] in ARCH_TAINTS)]
    tolerated = all(
        any(_tolerates(one or {}, taint) for one in spec.get("tolerations") or []) for taint in taints
    )
    name = (spec.get("os") or {}).get("name")
    return tolerated and name in (None, "", node.os) and bool(matching_terms(spec, node))


def matching_terms(spec: dict[str, Any], node: Node) -> list[dict[str, Any]]:
    """The required terms through which the pod may come to the node; [{}] where it has no required set."""
    if any(node.labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return []
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(REQUIRED)
    if required is None:
        return [{}]
    return [term for term in required.get("nodeSelectorTerms") or [] if _term_matches(term or {}, node)]


def _term_matches(term: dict[str, Any], node: Node) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    return all(_expression(one, node.labels) for one in expressions) and all(
        _expression(one, {"metadata.name": node.name}) for one in fields
    )


def _expression(expression: dict[str, Any], labels: dict[str, str]) -> bool:
    values = expression.get("values") or []
    label = labels.get(expression["key"])
    match expression["operator"]:
        case "In":
            return label in values
        case "NotIn":
            return label not in values
        case "Exists":
            return label is not None
        case "DoesNotExist":
            return label is None
        case "Gt":
            return label is not None and label.isdigit() and int(label) > int(values[0])
        case "Lt":
            return label is not None and label.isdigit() and int(label) < int(values[0])
    raise AssertionError(expression)


def _tolerates(toleration: dict[str, Any], taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    if (toleration.get("effect") or effect) != effect or (toleration.get("key") or key) != key:
        return False
    operator = toleration.get("operator") or "Equal"
    return operator == "Exists" or (operator == "Equal" and (toleration.get("value") or "") == value)


def supports(platforms: list[str], node: Node, *, runtime_class: bool = False) -> bool:
    """Whether a node without special features pulls an index with these platforms. runtime_class: the pod names one."""
    native = [one.split("/") for one in platforms if not _wasm(one)]
    if len(native) < len(platforms) and (runtime_class or not native):
        return True
    for os, arch, *variant in native:
        if os != node.os or (variant and variant[0] not in _BASELINE.get(arch, ("",))):
            continue
        if arch == node.arch or (os == "linux" and (arch, node.arch) == ("386", "amd64")):
            return True
    return False


def _wasm(platform: str) -> bool:
    os, arch = platform.split("/")[:2]
    return os == "wasi" or arch.startswith("wasm")


def asks_for_os(spec: dict[str, Any], node: Node) -> bool:
    """Whether the pod comes to the node in words that ask for its OS, alone or among others; linux needs none."""
    if node.os == "linux" or (spec.get("os") or {}).get("name"):
        return True
    if any(key in (spec.get("nodeSelector") or {}) for key in (OS, BETA_OS)):
        return True
    return any(
        one["key"] in (OS, BETA_OS) and one["operator"] != "DoesNotExist"
        for term in matching_terms(spec, node)
        for one in term.get("matchExpressions") or []
    )


def other_systems(spec: dict[str, Any], node: Node) -> list[str]:
    """Systems that every term which leads to the node allows beside the node's; none where the pod names one."""
    if (spec.get("os") or {}).get("name") or any(
        key in (spec.get("nodeSelector") or {}) for key in (OS, BETA_OS)
    ):
        return []
    terms = matching_terms(spec, node)
    return [os for os in ("linux", "windows") if os != node.os and all(_allows(term, os) for term in terms)]


def _allows(term: dict[str, Any], os: str) -> bool:
    conditions = [one for one in term.get("matchExpressions") or [] if one["key"] in (OS, BETA_OS)]
    return all(_expression(one, {OS: os, BETA_OS: os}) for one in conditions)
