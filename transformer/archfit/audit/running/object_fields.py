"""Fields of decoded objects (JSON's own values) whose types nobody has checked: a wrong type counts as absent.

Of what a pod's own nodeSelector and required node affinity ask for, labels count, but for those of the operating
system; fields (`matchFields`) are taken as met.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from archfit.cluster.nodes import mapping, sequence
from archfit.facts.facts import Condition, PodState, Standing, Term, any_of
from archfit.options.settings import REQUIRED
from archfit.placement.affinity import ARCH, OS_LABELS, meets
from archfit.placement.selection import VIRTUAL_KUBELET


def kept_labels(metadata: Mapping[str, Any], keys: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The labels and annotations of a pod that are named. keys: `label=KEY` or `annotation=KEY`."""
    labels = []
    for key in keys:
        kind, _, name = key.partition("=")
        values = mapping(metadata, f"{kind}s")
        if name in values:
            labels.append((key, text(values[name])))
    return tuple(sorted(labels))


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
        for entry in sequence(spec, "tolerations")
        if entry.get("tolerationSeconds") is None
    }
    return tuple(sorted(tolerated))


def controller(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """(kind, name) of the owner that controls the object (metav1.GetControllerOf), ("", "") where none does."""
    for owner in sequence(metadata, "ownerReferences"):
        if owner.get("controller") is True:
            return text(owner.get("kind")), text(owner.get("name"))
    return "", ""


_NOWHERE = Term(((ARCH, "In", ()),))
_TERMS = ("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")


def placement_terms(spec: Mapping[str, Any]) -> tuple[Term, ...]:
    """What a pod spec asks of the labels of its node, sorted; see `facts.WorkloadFacts`."""
    selector = mapping(spec, "nodeSelector")
    selected: list[Condition] = [
        (key, "In", (value,)) for key, value in selector.items() if isinstance(value, str)
    ]
    if not isinstance(mapping(spec, *_TERMS[:-1]).get(_TERMS[-1]), list):
        return any_of([_term(selected, [])])
    stated = [
        list(map(_condition, sequence(term, "matchExpressions")))
        for term in sequence(spec, *_TERMS)
        if term.get("matchExpressions") or term.get("matchFields")
    ]
    return any_of(
        [_term(selected, conditions) for conditions in stated if _is_for_linux(conditions)] or [_NOWHERE]
    )


def _condition(expression: Mapping[str, Any]) -> Condition:
    values = expression.get("values")
    texts = tuple(map(text, values)) if isinstance(values, list) else ()
    return text(expression.get("key")), text(expression.get("operator")), texts


def _is_for_linux(conditions: Iterable[Condition]) -> bool:
    return meets([(operator, values) for key, operator, values in conditions if key in OS_LABELS], "linux")


def _term(selected: list[Condition], conditions: list[Condition]) -> Term:
    end: tuple[str, ...] = ()
    if conditions and conditions[-1][:2] == (ARCH, "In"):
        end = tuple(sorted(conditions[-1][2]))
        conditions = conditions[:-1] if end else conditions
    both = {condition for condition in (*selected, *conditions) if condition[0] not in OS_LABELS}
    return Term(tuple(sorted(both)), end)


def pod_state(pod: Mapping[str, Any]) -> PodState | None:
    """Why a pod does not run, None where it does, has finished, or nothing says so."""
    status = mapping(pod, "status")
    phase = status.get("phase")
    if phase in ("Succeeded", "Failed"):
        return None
    conditions = {text(condition.get("type")): condition for condition in sequence(status, "conditions")}
    if phase == "Running" and mapping(conditions, "Ready").get("status", "True") == "True":
        return None
    for name in ("containerStatuses", "initContainerStatuses"):
        for entry in sequence(status, name):
            if mapping(entry, "state", "waiting").get("reason") == "CrashLoopBackOff":
                return "crashing"
    if phase == "Running":
        return "unready"
    return (
        "unschedulable" if mapping(conditions, "PodScheduled").get("reason") == "Unschedulable" else "pending"
    )


_MIRROR = "kubernetes.io/config.mirror"
_FARGATE = "eks.amazonaws.com/compute-type"


def standing_of(pod: Mapping[str, Any]) -> Standing:
    """What the pod says itself; `on_node` adds what its node says. mirror: a static pod of its node."""
    metadata, spec = mapping(pod, "metadata"), mapping(pod, "spec")
    phase = text(mapping(pod, "status").get("phase"))
    if phase in ("Succeeded", "Failed"):
        return "finished"
    kind, _ = controller(metadata)
    if _MIRROR in mapping(metadata, "annotations") or kind == "Node":
        return "mirror"
    if is_windows(spec):
        return "windows"
    if kind == "DaemonSet":
        return "daemonset"
    if mapping(spec, "nodeSelector").get("type") == "virtual-kubelet":
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
    selector = mapping(spec, "nodeSelector")
    if mapping(spec, "os").get("name") == "windows" or any(
        selector.get(label) == "windows" for label in OS_LABELS
    ):
        return True
    terms = sequence(spec, *_TERMS)
    return bool(terms) and all(
        any(
            text(need.get("key")) in OS_LABELS
            and need.get("operator") == "In"
            and need.get("values") == ["windows"]
            for need in sequence(term, "matchExpressions")
        )
        for term in terms
    )


def is_virtual_node(node: Mapping[str, Any]) -> bool:
    """Whether a Node stands for something else than a machine of the cluster: virtual kubelets, EKS Fargate."""
    labels = mapping(node, "metadata", "labels")
    taints = sequence(node, "spec", "taints")
    return (
        labels.get("type") == "virtual-kubelet"
        or labels.get(_FARGATE) == "fargate"
        or any(taint.get("key") == VIRTUAL_KUBELET for taint in taints)
    )
