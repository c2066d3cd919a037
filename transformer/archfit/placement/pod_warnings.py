"""What a decision says about a pod beside its reason (`pod_patch`): conflicts and warnings.

A conflict says what the pod itself demands, what every image offers, and what to do:

    pinned to arm64 by its nodeSelector, but nginx:1.7.9 offers only amd64; redis:7 offers amd64, arm64.

    the pod can go nowhere                                       a conflict, by `--on-conflict`
    nodeSelector names what the cluster has not got              a warning
    the Namespace selects other nodes than the images run on     a warning, as the plugin for it may be off
    the Namespace's whitelist refuses a toleration               a warning: it is not written
    a toleration of NoExecute covers for some seconds            a warning
    `affinity: never` keeps out what the pod needs               a warning
    a required term is closed, or loses an OS                    a warning at the term
    a DaemonSet leaves nodes out                                 by `--daemon-sets`
    a spread constraint counts nodes that are shut out           a warning at the constraint

`decide` loads this module with the first pod that may need a word of it.
"""

from __future__ import annotations

from archfit.base.patch import Path, dotted
from archfit.base.results import Removed, Result, Severity
from archfit.images.platforms import Found
from archfit.options.placement_fields import REQUIRED
from archfit.options.settings import Options, Toleration
from archfit.placement import tolerations as taints
from archfit.placement.affinity import ARCH_LABELS, existing_terms
from archfit.placement.case import PodCase
from archfit.placement.evidence import KnownImages, offered
from archfit.placement.pod_patch import because, listed, taint
from archfit.placement.reach import NOTHING, Reach, RequiredTerms, Stale, stale_terms, union
from archfit.placement.selection import PodOptions
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ADVICE = (
    "Use images that share an architecture the pod can reach, change what the pod asks for, or set "
    'archfit.dev/skip: "true" on it; --on-conflict leave leaves such pods as they are'
)

_SPLIT = "To keep both, write one term for each system, with its own kubernetes.io/os"
_MOST = 4  # systems that a message names


def conflict_text(
    pod: Pod,
    pins: Sequence[str],
    found: Sequence[Reach],
    images: KnownImages,
    own: PodOptions,
    options: Options,
    *,
    part: bool = False,
) -> str:
    """Why the pod can go nowhere: its demands, every image with its architectures, what to do.

    part: a term that holds for some of the pods leads there.
    """
    open_to = union(reach.allowed for reach in found)
    systems = dict.fromkeys(system.os for reach in found for system in reach.systems)
    demands = _demands(pod, pins, found, open_to, options, part=part)
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
    pod: Pod,
    pins: Sequence[str],
    found: Sequence[Reach],
    open_to: frozenset[str],
    options: Options,
    *,
    part: bool,
) -> str:
    if not open_to:
        end = f" and RuntimeClass {pod.runtime_class.name}" if pod.runtime_class is not None else ""
        return f"no node matches its own nodeSelector and required node affinity{end}"
    if pins:
        return _pinned(pod, pins)
    if not open_to >= set(options.cluster_architectures) and (found[0].demand.index is not None or part):
        return f"pinned to {listed(open_to)} by {'this term' if part else 'its required node affinity'}"
    systems = {system.os for reach in found for system in reach.systems}
    entries = options.cluster_architectures
    if "linux" not in systems:
        entries = tuple(entry for entry in entries if entry.partition("/")[0] in systems)
        has = f", and the cluster has {listed(entries)}" if entries else ""
        return f"the pod asks for nodes of {listed(sorted(systems))}{has}"
    return f"no architecture is left: the cluster has {listed(entries)}"


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
    systems = {os for os, _ in reach.lost}.union(system.os for system in reach.systems)
    return (
        f"this term allows {' and '.join(sorted(systems))}, and one list of architectures "
        f"holds for all of them: it keeps {listed(reach.live)} and loses {lost}, where the images run too. {_SPLIT}"
    )


def lost_nodes(found: Iterable[Reach], only: frozenset[str] | None) -> list[str]:
    """Nodes of the cluster that the pod allows and cannot reach: `arm64`, `windows/arm64`.

    only: what somebody says that it is meant for, None for all of them.
    """
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
        if only is None or architecture in only
    ]


def pin_outside_cluster(
    pod: Pod, pins: Sequence[str], reachable: Iterable[str], cluster: Iterable[str]
) -> str:
    """The warning for a nodeSelector or required terms whose architectures are not among the cluster's."""
    pinned = _pinned(pod, pins) if pins else f"pinned to {listed(reachable)} by its required node affinity"
    return f"{pinned}, but the cluster has {listed(cluster)}; correct one of them (--cluster-architectures)"


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


_EARLIER = (
    "an earlier run of archfit wrote {}, remove it; --stamp records what is written in files that are kept"
)


def stale_term(allowed: Iterable[str], runs: Iterable[str], others: int = 0) -> str:
    """The info for a term that allows less than the images run on."""
    more = f" ({others} more {'term is' if others == 1 else 'terms are'} like it)" if others else ""
    only = f"only {listed(allowed)}" if allowed else "nothing"
    return f"this allows {only}, though the images run on {listed(runs)}{more}: if {_EARLIER.format('it')}"


def unsafe(lacking: Sequence[Removed]) -> str:
    """The warning for `affinity: never` where affinity would be needed."""
    return f"unsafe: affinity: never lets the pod onto nodes that cannot run it{because(lacking)}"


def daemon_set(lost: Iterable[str], lacking: Sequence[Removed]) -> str:
    """The warning for a DaemonSet that leaves out nodes."""
    return f"this DaemonSet will not run on the {listed(set(lost))} nodes{because(lacking)}"


def appended_terms(pod: Pod) -> Iterator[Result]:
    """The warning for required terms that are written beside those that the object has already."""
    terms, path = existing_terms(pod)
    if terms:
        yield pod.result(
            "warning",
            "its policy adds to lists: where the object exists, the terms that it has stay beside these, so that its "
            "pods may still go everywhere; delete the object once, or write complianceType: mustonlyhave",
            path,
        )


def conflict(case: PodCase, pins: tuple[str, ...], part: Path = ()) -> Result:
    """The message of a pod that can go nowhere. part: of what demands it for some of the pods, () for all."""
    pod = case.pod
    severity: Severity = "error" if case.options.on_conflict == "fail" else "warning"
    message = conflict_text(
        pod, pins, case.reaches, case.evidence.known, case.own, case.options, part=bool(part)
    )
    if not case.taken_back and any(stale_terms(pod, case.reaches, unlabelled=bool(case.own.unlabelled))):
        message = f"{message}. If {_EARLIER.format('its required node affinity')}"
    return pod.result(severity, message, part or demanding_path(pod, pins, case.reaches))


def warnings(
    case: PodCase, pins: tuple[str, ...], needed: RequiredTerms, lacking: tuple[Removed, ...]
) -> Iterator[Result]:
    """The warnings about the required affinity, and about a DaemonSet that leaves nodes out."""
    pod, options = case.pod, case.options
    if case.cluster.isdisjoint(case.reachable_architectures):
        message = pin_outside_cluster(pod, pins, case.reachable_architectures, case.cluster)
        yield pod.result("warning", message, demanding_path(pod, pins, case.reaches))
    namespace = pod.namespace
    if namespace is not None:
        chosen = {value for key, value in namespace.node_selector if key in ARCH_LABELS}
        if chosen and (len(chosen) > 1 or not chosen <= case.reachable_architectures):
            message = namespace_conflict(
                pod.ref.namespace, namespace.selects, chosen, case.reachable_architectures
            )
            yield pod.result("warning", message, pod.path)
    if needed is NOTHING:
        return
    if options.affinity == "never":
        if not needed.only_always:
            yield pod.result("warning", unsafe(lacking), pod.path)
        return
    if needed.dead or any(reach.lost for reach in case.reaches):
        yield from _of_terms(case, needed)
    if pod.ref.kind == "DaemonSet":
        lost = lost_nodes(case.reaches, case.own.only)
        if lost:
            severity: Severity = "error" if options.daemon_sets == "fail" else "warning"
            yield pod.result(severity, daemon_set(lost, lacking), pod.path)


def of_stale_terms(case: PodCase, stale: Sequence[Stale]) -> Result:
    """The info about terms that allow less than the images run on; the first one is named."""
    first, path = stale[0], existing_terms(case.pod)[1]
    message = stale_term(first.allowed, first.runs, len(stale) - 1)
    return case.pod.result("info", message, path if len(case.reaches) == 1 else (*path, first.index))


def _of_terms(case: PodCase, needed: RequiredTerms) -> Iterator[Result]:
    pod = case.pod
    path = existing_terms(pod)[1]
    for reach in needed.dead:
        message = dead_term(reach, case.reachable_architectures)
        yield pod.result("warning", message, (*path, reach.demand.index or 0))
    for reach in case.reaches:
        if reach.lost and reach.live:
            index = reach.demand.index
            at = pod.path if index is None else (*path, index)
            yield pod.result("warning", lost_systems(reach), at)


def allowed_tolerations(case: PodCase, new: Sequence[Toleration]) -> list[Toleration]:
    """Those that the whitelist of the pod's Namespace allows; a warning for each of the others."""
    pod = case.pod
    allowed: list[Toleration] = []
    for toleration in new:
        refused = pod.namespace is not None and taints.refused(toleration, pod.namespace)
        readable = pod.namespace is None or pod.namespace.tolerations_whitelist is not None
        if refused or not readable:
            message = refused_toleration(pod.ref.namespace, taint(toleration), readable=readable)
            case.results.append(pod.result("warning", message, pod.path))
        if not refused:
            allowed.append(toleration)
    return allowed


def limited_tolerations(case: PodCase, applying: Sequence[Toleration]) -> Iterator[Result]:
    """The warnings of tolerations of the pod that cover one of a rule for some seconds alone."""
    pod = case.pod
    own = pod.spec.get("tolerations")
    of_class = pod.runtime_class.tolerations if pod.runtime_class is not None else ()
    # In the order of `tolerations.existing`.
    values = [*of_class, *(own if isinstance(own, list) else ())]
    for toleration in applying:
        covering = [
            (number - len(of_class), values[number].get("tolerationSeconds"))
            for number, there in enumerate(case.tolerations)
            if taints.covers(there, toleration)
        ]
        if toleration.effect == "NoExecute" and covering and all(limit is not None for _, limit in covering):
            number, limit = covering[0]
            path = pod.at("tolerations") if number < 0 else (*pod.at("tolerations"), number)
            yield pod.result("warning", limited_toleration(taint(toleration), text_of(limit)), path)


def spread_warnings(case: PodCase) -> Iterator[Result]:
    """The warnings of spread constraints that count nodes which the written affinity shuts out."""
    constraints = case.pod.spec.get("topologySpreadConstraints")
    for index, constraint in enumerate(constraints if isinstance(constraints, list) else ()):
        if (
            isinstance(constraint, dict)
            and constraint.get("nodeAffinityPolicy") == "Ignore"
            and constraint.get("whenUnsatisfiable") != "ScheduleAnyway"
        ):
            path = (*case.pod.path, "topologySpreadConstraints", index)
            message = spread(str(constraint.get("topologyKey")), case.reachable_architectures)
            yield case.pod.result("warning", message, path)
