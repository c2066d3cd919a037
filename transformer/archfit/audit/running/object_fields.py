"""Fields of decoded objects (JSON's own values) whose types nobody has checked: a wrong type counts as absent.

Of what a pod's own nodeSelector and required node affinity demand, only the node's architecture counts; everything else
is taken as satisfiable (`placement.affinity`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from archfit.audit.facts import Standing
from archfit.base.results import Location, ObjectRef
from archfit.images.platforms import ARCHITECTURES
from archfit.options.placement_fields import REQUIRED
from archfit.placement.affinity import ARCH, OS_LABELS, allowed, demands
from archfit.placement.fields import MalformedField
from archfit.placement.selection import VIRTUAL_KUBELET
from archfit.workloads.pods import Pod
from archfit.yaml.values import typed

_NOTHING: dict[str, Any] = {}


def kept_labels(metadata: Mapping[str, Any], keys: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The labels and annotations of a pod that are named. keys: `label=KEY` or `annotation=KEY`."""
    labels = []
    for key in keys:
        kind, _, name = key.partition("=")
        values = mapping(metadata.get(f"{kind}s"))
        if name in values:
            labels.append((key, text(values[name])))
    return tuple(sorted(labels))


def mapping(value: Any) -> Mapping[str, Any]:
    """The value, or an empty mapping in the place of anything else."""
    return value if isinstance(value, dict) else _NOTHING


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; nothing for anything else."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield item


def text(value: Any) -> str:
    """The value, or "" in the place of anything but a string."""
    return value if isinstance(value, str) else ""


def tolerations(spec: Mapping[str, Any]) -> tuple[tuple[str, str, str, str], ...]:
    """(key, operator, value, effect) of a pod spec's, sorted, each once; see `facts.WorkloadFacts`."""
    tolerated = {
        (
            text(entry.get("key")),
            text(entry.get("operator")),
            text(entry.get("value")),
            text(entry.get("effect")),
        )
        for entry in mappings(spec.get("tolerations"))
        if entry.get("tolerationSeconds") is None
    }
    return tuple(sorted(tolerated))


def controller(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """(kind, name) of the owner that controls the object (metav1.GetControllerOf), ("", "") where none does."""
    for owner in mappings(metadata.get("ownerReferences")):
        if owner.get("controller") is True:
            return text(owner.get("kind")), text(owner.get("name"))
    return "", ""


_ALL = frozenset(ARCHITECTURES)


def demanded_architectures(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Sorted; () where the pod spec demands none, and where nothing meets what it demands."""
    selector, affinity = mapping(spec.get("nodeSelector")), _node_affinity(spec)
    if not selector and not affinity:
        return ()
    written = json.dumps({"nodeSelector": selector, "affinity": {"nodeAffinity": affinity}}, sort_keys=True)
    return _demanded(written) if ARCH in written else ()


def _node_affinity(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(spec.get("affinity")).get("nodeAffinity"))


def stated_architectures(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """As `demanded_architectures`, without what archfit may have written: `In` at the end of a required term."""
    return _demanded_by(spec, [_without_end(term) for term in _required_terms(spec)])


def appended_architectures(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """As `demanded_architectures`, by the required terms alone that have such an end."""
    terms = [term for term in _required_terms(spec) if _without_end(term) is not term]
    return _demanded_by(spec, terms) if terms else ()


def _demanded_by(spec: Mapping[str, Any], terms: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    required = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}} if terms else {}
    return demanded_architectures({**spec, "affinity": required})


def _required_terms(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(mappings(mapping(_node_affinity(spec).get(REQUIRED)).get("nodeSelectorTerms")))


def _without_end(term: Mapping[str, Any]) -> Mapping[str, Any]:
    conditions = list(mappings(term.get("matchExpressions")))
    if not conditions or (conditions[-1].get("key"), conditions[-1].get("operator")) != (ARCH, "In"):
        return term
    return {**term, "matchExpressions": [*conditions[:-1], {"key": ARCH, "operator": "Exists"}]}


@lru_cache(maxsize=1024)
def _demanded(written: str) -> tuple[str, ...]:
    spec = typed(json.loads(written))
    pod = Pod(ObjectRef("v1", "Pod", "", ""), "", Location(1, 1), ("spec",), spec, {}, {}, ())
    try:
        reachable = frozenset[str]().union(*(allowed(demand, _ALL) for demand in demands(pod)))
    except MalformedField:
        return ()
    return () if reachable == _ALL else tuple(sorted(reachable))


_MIRROR = "kubernetes.io/config.mirror"
_FARGATE = "eks.amazonaws.com/compute-type"


def standing_of(pod: Mapping[str, Any]) -> Standing:
    """What the pod says itself; `on_node` adds what its node says. mirror: a static pod of its node."""
    metadata, spec = mapping(pod.get("metadata")), mapping(pod.get("spec"))
    phase = text(mapping(pod.get("status")).get("phase"))
    if phase in ("Succeeded", "Failed"):
        return "finished"
    kind, _ = controller(metadata)
    if _MIRROR in mapping(metadata.get("annotations")) or kind == "Node":
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
    # A pod for Linux that came there by mistake does not run.
    if os == "windows" and standing != "pending":
        return "windows"
    return "virtual" if virtual else standing


def is_windows(spec: Mapping[str, Any]) -> bool:
    """Whether a pod spec is for Windows."""
    selector = mapping(spec.get("nodeSelector"))
    if mapping(spec.get("os")).get("name") == "windows" or any(
        selector.get(label) == "windows" for label in OS_LABELS
    ):
        return True
    terms = _required_terms(spec)
    return bool(terms) and all(
        any(
            need.get("key") in OS_LABELS
            and need.get("operator") == "In"
            and need.get("values") == ["windows"]
            for need in mappings(term.get("matchExpressions"))
        )
        for term in terms
    )


def is_virtual_node(node: Mapping[str, Any]) -> bool:
    """Whether a Node stands for something else than a machine of the cluster: virtual kubelets, EKS Fargate."""
    labels = mapping(mapping(node.get("metadata")).get("labels"))
    taints = mappings(mapping(node.get("spec")).get("taints"))
    return (
        labels.get("type") == "virtual-kubelet"
        or labels.get(_FARGATE) == "fargate"
        or any(taint.get("key") == VIRTUAL_KUBELET for taint in taints)
    )
