"""The sentences of conflicts and warnings; `reasons` has those of what is decided.

A conflict says what the pod itself demands, what every image offers, and what to do:

    pinned to arm64 by its nodeSelector, but nginx:1.7.9 offers only amd64; redis:7 offers amd64, arm64.
"""

from __future__ import annotations

from archfit.images.platforms import Found
from archfit.options.settings import Options
from archfit.patch import Path, dotted
from archfit.placement.affinity import ARCH_LABELS
from archfit.placement.architectures import Known, offered
from archfit.placement.reach import Reach, union
from archfit.placement.reasons import because, listed
from archfit.placement.selection import PodOptions
from archfit.results import Removed
from archfit.typing_names import Iterable, Sequence
from archfit.workloads.pods import REQUIRED, ImageUse, Pod

_ADVICE = (
    "Use images that share an architecture the pod can reach, change what the pod asks for, or set "
    'archfit.dev/skip: "true" on it; --on-conflict leave leaves such pods as they are'
)

_SPLIT = "To keep both, write one term for each system, with its own kubernetes.io/os"
_MOST = 4  # systems that a message names


def conflict(
    pod: Pod, pins: Sequence[str], found: Sequence[Reach], images: Known, own: PodOptions, options: Options
) -> str:
    """Why the pod can go nowhere: its demands, every image with its architectures, what to do."""
    open_to = union(reach.allowed for reach in found)
    systems = dict.fromkeys(system.os for reach in found for system in reach.systems)
    demands = _demands(pod, pins, found, open_to, options)
    if own.only is not None:
        demands += f", {own.only_by} allows {listed(own.only) or 'nothing'}"
    offers = dict.fromkeys(
        _offer(use, answer, tuple(systems)[:_MOST] or ("linux",), open_to) for use, answer in images
    )
    link = ", but " if open_to else "; "
    split = f". {_SPLIT}" if any(reach.lost for reach in found) else ""
    return f"{demands}{link if offers else ''}{'; '.join(offers)}{split}. {_ADVICE}"


def demanding_path(pod: Pod, pins: Sequence[str], found: Sequence[Reach]) -> Path:
    """The path of the pod's own demand, or of the pod spec."""
    path = pod.path
    if pins and pod.placement_paths is not None and pod.placement_paths.architecture:
        return pod.placement_paths.architecture
    if pins:
        key = next((key for key in pod.spec.get("nodeSelector") or () if key in ARCH_LABELS), None)
        path = (*pod.path, "runtimeClassName") if key is None else (*pod.at("nodeSelector"), key)
    elif not found or found[0].demand.index is not None:
        path = (*pod.at("affinity"), "nodeAffinity", REQUIRED)
    return path


def _pinned(pod: Pod, pins: Sequence[str]) -> str:
    named = {value for key, value in (pod.spec.get("nodeSelector") or {}).items() if key in ARCH_LABELS}
    own = (
        dotted(pod.placement_paths.architecture)
        if pod.placement_paths and pod.placement_paths.architecture
        else "nodeSelector"
    )
    by = [f"its {own}"] if named else []
    if pod.runtime_class is not None and any(
        key in ARCH_LABELS for key, _ in pod.runtime_class.node_selector
    ):
        by.append(f"the nodeSelector of RuntimeClass {pod.runtime_class.name}")
    return f"pinned to {listed(pins)} by {' and '.join(by)}"


def _demands(
    pod: Pod, pins: Sequence[str], found: Sequence[Reach], open_to: frozenset[str], options: Options
) -> str:
    if not open_to:
        end = f" and RuntimeClass {pod.runtime_class.name}" if pod.runtime_class is not None else ""
        return f"no node matches its own nodeSelector and required node affinity{end}"
    if pins:
        return _pinned(pod, pins)
    if found[0].demand.index is not None and not open_to >= set(options.cluster_architectures):
        return f"pinned to {listed(open_to)} by its required node affinity"
    return f"no architecture is left: the cluster has {listed(options.cluster_architectures)}"


def _offer(use: ImageUse, found: Found, systems: Sequence[str], wanted: frozenset[str]) -> str:
    sets = {system: offered(use, found, system) for system in systems}
    per_system = {system: names for system, names in sets.items() if names}
    if any(names is None for names in sets.values()):
        return f"{use.text} runs anywhere"
    if not per_system:
        platforms = listed(map(str, found.platforms))
        return f"{use.text} offers nothing for {listed(systems)}{', only ' + platforms if platforms else ''}"
    if tuple(per_system) == ("linux",):
        text = listed(per_system["linux"])
    else:
        text = listed(f"{system}/{name}" for system, names in per_system.items() for name in names)
    only = "" if all(names >= wanted for names in per_system.values()) else "only "
    return f"{use.text} offers {only}{text}"


def dead_term(reach: Reach, reachable: Iterable[str]) -> str:
    """The warning for a required term that no node may match any more."""
    systems = ", ".join(system.os for system in reach.systems)
    split = f". {_SPLIT}" if reach.lost else ""
    return (
        f"the images do not run on what this term allows ({systems}: {listed(reach.allowed)}), so archfit "
        f"makes it match no node; the pod runs on {listed(reachable)}{split}"
    )


def lost_systems(reach: Reach) -> str:
    """The warning for a term of several systems, whose images run on different architectures on each."""
    lost = listed(f"{os}/{architecture}" for os, architecture in reach.lost)
    return (
        f"this term allows {' and '.join(system.os for system in reach.systems)}, and one list of architectures "
        f"holds for all of them: it keeps {listed(reach.live)} and loses {lost}, where the images run too. {_SPLIT}"
    )


def lost_nodes(found: Iterable[Reach]) -> list[str]:
    """Nodes of the cluster that the pod allows and cannot reach: `arm64`, `windows/arm64`."""
    allowed: dict[str, set[str]] = {}
    kept: dict[str, set[str]] = {}
    for reach in found:
        for system in reach.systems:
            allowed.setdefault(system.os, set()).update(system.allowed & system.cluster)
            kept.setdefault(system.os, set()).update(reach.live & system.runs)
    return [
        architecture if os == "linux" else f"{os}/{architecture}"
        for os, names in allowed.items()
        for architecture in names - kept[os]
    ]


def pin_outside_cluster(pod: Pod, pins: Sequence[str], cluster: Iterable[str]) -> str:
    """The warning for a nodeSelector whose architecture is not among the cluster's."""
    return (
        f"{_pinned(pod, pins)}, but the cluster has {listed(cluster)}; "
        "correct one of them (--cluster-architectures)"
    )


def namespace_conflict(
    namespace: str, annotation: str, chosen: Iterable[str], reachable: Iterable[str]
) -> str:
    """The warning for a Namespace whose node selector leads away from what the pod can run on."""
    openshift = annotation.startswith("openshift.io/")
    where = "in OpenShift" if openshift else "where the admission plugin PodNodeSelector is on"
    return (
        f"Namespace {namespace} selects nodes of {listed(chosen)} (annotation {annotation}), but the pod can run on "
        f"{listed(reachable)} alone: {where}, it stays Pending; correct the annotation or the images"
    )


def refused_toleration(namespace: str, toleration: str, *, readable: bool) -> str:
    """The warning for a toleration that a Namespace's whitelist does not allow. readable: it is a list."""
    annotation = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
    if not readable:
        return (
            f"the annotation {annotation} of Namespace {namespace} is not a JSON list of tolerations: where the "
            "admission plugin PodTolerationRestriction is on, it refuses every pod; correct the annotation"
        )
    return (
        f"the toleration of {toleration} is not written: {annotation} of Namespace {namespace} does not allow it, and "
        "where the admission plugin PodTolerationRestriction is on, it would refuse the pod; add the toleration to "
        "the annotation"
    )


def limited_toleration(toleration: str, seconds: str) -> str:
    """The warning for a toleration of the pod that covers a rule's for some seconds alone."""
    return (
        f"this toleration covers {toleration} for {seconds} s only (tolerationSeconds): the pod is evicted from such "
        "nodes each time; remove tolerationSeconds"
    )


def spread(key: str, reachable: Iterable[str]) -> str:
    """The warning for a spread constraint that counts nodes which the pod cannot reach."""
    return (
        f"the pod is restricted to {listed(reachable)}, but nodeAffinityPolicy: Ignore counts every {key} as a domain, "
        "also those without such nodes: replicas may stay Pending. Remove nodeAffinityPolicy (the default is Honor)"
    )


def stale_term(allowed: Iterable[str], runs: Iterable[str]) -> str:
    """The info for a term that allows less than the images run on."""
    return (
        f"this allows only {listed(allowed)}, though the images run on {listed(runs)}: if an earlier run of archfit "
        "wrote it, remove it; for files that are edited in place, use --stamp"
    )


def unsafe(lacking: Sequence[Removed]) -> str:
    """The warning for `affinity: never` where affinity would be needed."""
    return f"unsafe: affinity: never lets the pod onto nodes that cannot run it{because(lacking)}"


def daemon_set(lost: Iterable[str], lacking: Sequence[Removed]) -> str:
    """The warning for a DaemonSet that leaves out nodes."""
    return f"this DaemonSet will not run on the {listed(set(lost))} nodes{because(lacking)}"
