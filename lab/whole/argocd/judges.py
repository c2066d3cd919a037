"""What has to hold of an application's hooks, sync waves and pods, from what the API server stored.

order_faults(name, steps, since)    a step that began before the one before it was ready
placement_faults(pods, nodes, ..)   pods on a node for which an image of theirs has no build
ORDER                               the steps of the applications of fixtures/whole/argocd
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cluster_site import BUILT_FOR, built_for
from rollouts import pods_rolled_out
from whole.argocd.watch import Event

_ARCH = "kubernetes.io/arch"
# What has to be ready before the next one begins: hooks and sync waves. (plural, name)
ORDER: Mapping[str, Sequence[tuple[str, str]]] = {
    "plain": (
        ("jobs", "migrate"),
        ("configmaps", "settings"),
        ("statefulsets", "store"),
        ("deployments", "web"),
        ("deployments", "front"),
        ("jobs", "smoke"),
    ),
    "chart": (("jobs", "chart-before"), ("deployments", "chart"), ("jobs", "chart-after")),
    "parameters": (("jobs", "basket-before"), ("deployments", "basket"), ("jobs", "basket-after")),
}


def order_faults(name: str, steps: Sequence[tuple[str, Sequence[Event]]], since: int) -> list[str]:
    """What of an application was out of order in one sync. steps: (object, its events). since: revision of the store.

    An object begins where it is made or where its specification changes; one that the sync left alone has no part.
    """
    wrong = []
    before = ""
    ready: int | None = -1
    for step, events in steps:
        began = _began(events, since)
        if began is None:
            continue
        if ready is None or began.revision < ready:
            wrong.append(f"{name}: {step} began before {before} was ready")
        before, ready = step, _ready(events, began)
    if ready is None:
        wrong.append(f"{name}: {before} was never ready")
    return wrong


def _began(events: Iterable[Event], since: int) -> Event | None:
    """Where the object was made anew or changed after `since`."""
    known: tuple[str, int] | None = None
    for one in events:
        if one.kind == "DELETED":
            continue
        metadata = one.object["metadata"]
        now = (metadata["uid"], metadata.get("generation", 0))
        if one.revision > since and now != known:
            return one
        known = now
    return None


def _ready(events: Iterable[Event], began: Event) -> int | None:
    """The revision at which Argo CD may call it healthy, so that the next wave begins."""
    uid = began.object["metadata"]["uid"]
    own = (one for one in events if one.revision >= began.revision and one.object["metadata"]["uid"] == uid)
    return next((one.revision for one in own if _is_ready(one.object)), None)


def _is_ready(value: Mapping[str, Any]) -> bool:
    status, spec = value.get("status", {}), value.get("spec", {})
    if "completions" in spec or ("template" in spec and "replicas" not in spec):
        return bool(status.get("succeeded"))
    if "replicas" not in spec:
        return True
    return pods_rolled_out(value) is not None


def placement_faults(
    pods: Sequence[Mapping[str, Any]],
    nodes: Mapping[str, str],
    table: Mapping[str, frozenset[str]] = BUILT_FOR,
) -> list[str]:
    """Pods whose node lacks a build of one of their images, or that have none. nodes: name -> architecture."""
    wrong = []
    for pod in pods:
        name = "{namespace}/{name}".format_map(pod["metadata"])
        at = nodes.get(pod["spec"].get("nodeName", ""))
        if at is None:
            wrong.append(f"{name} has no node")
        elif at not in built_for(pod["spec"], table):
            wrong.append(f"{name} is on {at}, for which an image of it has no build")
    return wrong


def architectures(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Of each node, by name."""
    return {one["metadata"]["name"]: one["metadata"]["labels"][_ARCH] for one in nodes}


def required(workload: Mapping[str, Any]) -> list[str]:
    """The architectures that the first term of a workload's required affinity names."""
    affinity = workload["spec"]["template"]["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
    found = [one for term in terms[:1] for one in term.get("matchExpressions", ())]
    return [value for one in found if one["key"] == _ARCH for value in one["values"]]
