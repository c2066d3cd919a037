"""What a decision says about a pod beside its reason (`pod_patch`): conflicts and warnings.

A conflict says what the pod itself demands, what every image offers, and what to do:

    pinned to arm64 by its nodeSelector, but nginx:1.7.9 offers only amd64; redis:7 offers amd64, arm64.

`decide` loads this module with the first pod that may need a word of it.
"""

from __future__ import annotations

from archfit.base.patch import Path, dotted
from archfit.base.results import Message, Removed, Severity
from archfit.images.platforms import Found
from archfit.options.settings import REQUIRED, Toleration
from archfit.placement import tolerations as taints
from archfit.placement.affinity import ARCH_LABELS, arch_pins, existing_terms, meeting
from archfit.placement.case import PodCase
from archfit.placement.evidence import offered
from archfit.placement.pod_patch import because, joined, taint
from archfit.placement.reach import NOTHING, Reach, RequiredTerms, Stale, named, stale_terms, union
from archfit.workloads.pods import ImageUse, Namespace, Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ADVICE = (
    "Use images that share an architecture the pod can reach, change what the pod asks for, or set "
    'archfit.dev/skip: "true" on it; --on-conflict leave leaves such pods as they are'
)

_SPLIT = "To keep both, write one term for each system, with its own kubernetes.io/os"
_EARLIER = (
    "an earlier run of archfit wrote {}, remove it; --stamp records what is written in files that are kept"
)
_MOST = 4  # systems that a message names


def conflict(case: PodCase, pins: tuple[str, ...], part: Path) -> Message:
    """The message of a pod that can go nowhere: its demands, every image with its architectures, what to do.

    part: of what demands it for some of the pods, () for all.
    """
    pod, own, reaches = case.pod, case.own, case.reaches
    open_to = union(reach.allowed for reach in reaches)
    cells = frozenset(named(*cell) for reach in reaches for cell in reach.cells)
    systems = list(dict.fromkeys(system.os for reach in reaches for system in reach.systems))
    message = _demands(case, pins, cells, part=bool(part))
    if own.only is not None:
        message += f", {own.only_by} allows {joined(own.only) or 'nothing'}"
    offers = dict.fromkeys(
        _offer(use, answer, systems[:_MOST] or ["linux"], open_to) for use, answer in case.evidence.known
    )
    link = ", but " if open_to else "; "
    split = f". {_SPLIT}" if any(reach.lost for reach in reaches) else ""
    message += f"{link if offers else ''}{'; '.join(offers)}{split}. {_ADVICE}"
    if any(stale_terms(pod, reaches, unlabelled=bool(own.unlabelled))):
        message += f". If {_EARLIER.format('its required node affinity')}"
    severity: Severity = "error" if case.options.on_conflict == "fail" else "warning"
    return pod.message(severity, message, part or _demanding_path(pod, pins, reaches))


def _demanding_path(pod: Pod, pins: Sequence[str], reaches: Sequence[Reach]) -> Path:
    if pins and pod.placement_paths is not None and pod.placement_paths.architecture:
        return pod.placement_paths.architecture
    if pins:
        key = next((key for key in pod.spec.get("nodeSelector") or () if key in ARCH_LABELS), None)
        return (*pod.path, "runtimeClassName") if key is None else (*pod.at("nodeSelector"), key)
    if not reaches or reaches[0].demand.index is not None:
        return (*pod.at("affinity"), "nodeAffinity", REQUIRED)
    return pod.path


def _pinned(pod: Pod, pins: Sequence[str]) -> str:
    named = {value for key, value in (pod.spec.get("nodeSelector") or {}).items() if key in ARCH_LABELS}
    own = pod.placement_paths.architecture if pod.placement_paths else ()
    by = [f"its {dotted(own) or 'nodeSelector'}"] if named else []
    if pod.runtime_class is not None and any(
        key in ARCH_LABELS for key, _ in pod.runtime_class.node_selector
    ):
        by.append(f"the nodeSelector of RuntimeClass {pod.runtime_class.name}")
    return f"pinned to {joined(pins)} by {' and '.join(by)}"


def _demands(case: PodCase, pins: Sequence[str], cells: frozenset[str], *, part: bool) -> str:
    pod, reaches, entries = case.pod, case.reaches, case.options.cluster_architectures
    stated = next((reach.demand.stated for reach in reaches), "")
    if stated and all(stated not in reach.demand.open_to for reach in reaches):
        return f"spec.os is {stated}, and its nodeSelector and required node affinity ask for other nodes"
    if not cells:
        end = f" and RuntimeClass {pod.runtime_class.name}" if pod.runtime_class is not None else ""
        return f"no node matches its own nodeSelector and required node affinity{end}"
    if pins:
        return _pinned(pod, pins)
    if not cells >= set(entries) and (reaches[0].demand.index is not None or part):
        return f"pinned to {joined(cells)} by {'this term' if part else 'its required node affinity'}"
    systems = {system.os for reach in reaches for system in reach.systems}
    if "linux" not in systems:
        entries = tuple(entry for entry in entries if entry.partition("/")[0] in systems)
        has = f", and the cluster has {joined(entries)}" if entries else ""
        return f"the pod asks for nodes of {joined(systems)}{has}"
    return f"no architecture is left: the cluster has {joined(entries)}"


def _offer(use: ImageUse, answer: Found, systems: Sequence[str], wanted: frozenset[str]) -> str:
    sets = {system: offered(use, answer, system) for system in systems}
    per_system = {system: names for system, names in sets.items() if names}
    if any(names is None for names in sets.values()):
        return f"{use.text} runs anywhere"
    if not per_system:
        platforms = joined(map(str, answer.platforms))
        return f"{use.text} offers nothing for {joined(systems)}{', only ' + platforms if platforms else ''}"
    if tuple(per_system) == ("linux",):
        text = joined(per_system["linux"])
    else:
        text = joined(f"{system}/{name}" for system, names in per_system.items() for name in names)
    only = "" if all(names >= wanted for names in per_system.values()) else "only "
    return f"{use.text} offers {only}{text}"


def _lost_nodes(case: PodCase) -> set[str]:
    """Nodes of the cluster that the pod allows and cannot reach: `arm64`, `windows/arm64`."""
    only = case.own.only
    allowed = {
        (system.os, name)
        for reach in case.reaches
        for system in reach.systems
        for name in system.allowed & system.cluster
    }
    live = {cell for reach in case.reaches for cell in reach.live_cells}
    return {named(os, name) for os, name in allowed - live if only is None or name in only}


def unsafe(lacking: Sequence[Removed]) -> str:
    """The warning for `affinity: never` where affinity would be needed."""
    return f"unsafe: affinity: never lets the pod onto nodes that cannot run it{because(lacking)}"


def of_written_terms(case: PodCase, written: RequiredTerms) -> Iterator[Message]:
    """The warnings about terms that stand beside older ones, and that the pod's spread constraints do not see."""
    terms, path = existing_terms(case.pod) if case.pod.appended else (None, ())
    if terms:
        yield case.pod.message(
            "warning",
            "its policy adds to lists: where the object exists, the terms that it has stay beside these, so that its "
            "pods may still go everywhere; delete the object once, or write complianceType: mustonlyhave",
            path,
        )
    if not written.only_always:
        yield from _spread_warnings(case)


def of_placed(
    case: PodCase,
    pins: tuple[str, ...],
    needed: RequiredTerms,
    lacking: tuple[Removed, ...],
    stale: Sequence[Stale],
    applying: Sequence[Toleration],
) -> Iterator[Message]:
    """What is said of a pod that can run somewhere. applying: the tolerations of the rules that apply."""
    yield from _warnings(case, pins, needed, lacking)
    if stale:
        yield _of_stale_terms(case, stale)
    yield from _limited_tolerations(case, applying)


def _warnings(
    case: PodCase, pins: tuple[str, ...], needed: RequiredTerms, lacking: tuple[Removed, ...]
) -> Iterator[Message]:
    """The warnings about the required affinity, and about a DaemonSet that leaves nodes out."""
    pod, options = case.pod, case.options
    if case.cluster.isdisjoint(case.reachable_architectures):
        reachable = joined(case.reachable_architectures)
        pinned = _pinned(pod, pins) if pins else f"pinned to {reachable} by its required node affinity"
        message = f"{pinned}, but the cluster has {joined(case.cluster)}; correct one of them (--cluster-architectures)"
        yield pod.message("warning", message, _demanding_path(pod, pins, case.reaches))
    elif pins:
        yield from _stale_pin(case, pins)
    namespace = pod.namespace
    if namespace is not None:
        chosen = {value for key, value in namespace.node_selector if key in ARCH_LABELS}
        if chosen and (len(chosen) > 1 or not chosen <= case.reachable_architectures):
            openshift = namespace.selects.startswith("openshift.io/")
            where = "in OpenShift" if openshift else "where the admission plugin PodNodeSelector is on"
            message = (
                f"Namespace {pod.ref.namespace} selects nodes of {joined(chosen)} (annotation {namespace.selects}), "
                f"but the pod can run on {joined(case.reachable_architectures)} alone: {where}, it stays Pending; "
                "correct the annotation or the images"
            )
            yield pod.message("warning", message, pod.path)
    if needed is NOTHING:
        return
    if options.affinity == "never":
        if not needed.only_always:
            yield pod.message("warning", unsafe(lacking), pod.path)
        return
    if needed.dead or any(reach.lost for reach in case.reaches):
        yield from _of_terms(case, needed)
    if pod.ref.kind == "DaemonSet":
        lost = _lost_nodes(case)
        if lost:
            severity: Severity = "error" if options.daemon_sets == "fail" else "warning"
            message = f"this DaemonSet will not run on the {joined(lost)} nodes{because(lacking)}"
            yield pod.message(severity, message, pod.path)


def _stale_pin(case: PodCase, pins: Sequence[str]) -> Iterator[Message]:
    """The info about a nodeSelector that names an architecture, where the images run on others of the cluster, too."""
    pod = case.pod
    number = len(arch_pins(pod))
    held = pod.placement_paths is not None and pod.placement_paths.architecture
    if not number or held or case.evidence.unasked or not case.evidence.known:
        return
    runs: set[str] = set()
    for reach in case.reaches:
        system = reach.systems[0]
        here = system.cluster if system.supported is None else system.cluster & system.supported
        runs |= here & meeting(reach.demand.requirements[number:], here)
    if others := runs - case.reachable_architectures:
        message = (
            f"this pins the pod to {joined(case.reachable_architectures)}, though the images run on {joined(others)} "
            "too: remove it if nothing else needs it"
        )
        yield pod.message("info", message, _demanding_path(pod, pins, case.reaches))


def _of_stale_terms(case: PodCase, stale: Sequence[Stale]) -> Message:
    """The info about terms that allow less than the images run on; the first one is named."""
    first, path, others = stale[0], existing_terms(case.pod)[1], len(stale) - 1
    more = f" ({others} more {'term is' if others == 1 else 'terms are'} like it)" if others else ""
    only = f"only {joined(first.allowed)}" if first.allowed else "nothing"
    message = (
        f"this allows {only}, though the images run on {joined(first.runs)}{more}: if {_EARLIER.format('it')}"
    )
    return case.pod.message("info", message, path if len(case.reaches) == 1 else (*path, first.index))


def _of_terms(case: PodCase, needed: RequiredTerms) -> Iterator[Message]:
    pod, reachable = case.pod, joined(case.reachable_architectures)
    path = existing_terms(pod)[1]
    for reach in needed.dead:
        message = (
            f"the pod cannot run on what this term allows ({joined('/'.join(cell) for cell in reach.cells)}), so "
            f"archfit makes it match no node; it runs on {reachable}"
        )
        yield pod.message("warning", message, (*path, reach.demand.index or 0))
    for reach in case.reaches:
        if reach.lost and reach.live:
            lost = joined(f"{os}/{architecture}" for os, architecture in reach.lost)
            several = {os for os, _ in reach.lost}.union(system.os for system in reach.systems)
            message = (
                f"this term allows {' and '.join(sorted(several))}, and one list of architectures holds for all of "
                f"them: it keeps {joined(reach.live)} and loses {lost}, where the images run too. {_SPLIT}"
            )
            index = reach.demand.index
            yield pod.message("warning", message, pod.path if index is None else (*path, index))


def allowed_tolerations(case: PodCase, namespace: Namespace, new: Sequence[Toleration]) -> list[Toleration]:
    """Those that the whitelist of the pod's Namespace allows; a warning for each of the others."""
    annotation = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
    allowed: list[Toleration] = []
    for toleration in new:
        message = ""
        if taints.refused(toleration, namespace):
            message = (
                f"the toleration of {taint(toleration)} is not written: {annotation} of Namespace "
                f"{case.pod.ref.namespace} does not allow it, and where the admission plugin PodTolerationRestriction "
                "is on, it would refuse the pod; add the toleration to the annotation"
            )
        else:
            allowed.append(toleration)
        if namespace.tolerations_whitelist is None:
            message = (
                f"the annotation {annotation} of Namespace {case.pod.ref.namespace} is not a JSON list of "
                "tolerations: where the admission plugin PodTolerationRestriction is on, it refuses every pod; correct "
                "the annotation"
            )
        if message:
            case.messages.append(case.pod.message("warning", message, case.pod.path))
    return allowed


def _limited_tolerations(case: PodCase, applying: Sequence[Toleration]) -> Iterator[Message]:
    """The warnings of tolerations of the pod that cover one of a rule for some seconds alone."""
    pod = case.pod
    own = pod.spec.get("tolerations")
    of_class = pod.runtime_class.tolerations if pod.runtime_class is not None else ()
    # In the order of `tolerations.existing`.
    values = [item or {} for item in (*of_class, *(own if isinstance(own, list) else ()))]
    by_key: dict[str, list[int]] = {}
    for number, there in enumerate(case.tolerations):
        by_key.setdefault(there.key, []).append(number)
    for toleration in applying:
        covering = [
            (number - len(of_class), values[number].get("tolerationSeconds"))
            for number in sorted(by_key.get("", []) + by_key.get(toleration.key, []))
            if taints.covers(case.tolerations[number], toleration)
        ]
        if toleration.effect == "NoExecute" and covering and all(limit is not None for _, limit in covering):
            number, limit = covering[0]
            path = pod.at("tolerations") if number < 0 else (*pod.at("tolerations"), number)
            message = (
                f"this toleration covers {taint(toleration)} for {text_of(limit)} s only (tolerationSeconds): the pod "
                "is evicted from such nodes each time; remove tolerationSeconds"
            )
            yield pod.message("warning", message, path)


def _spread_warnings(case: PodCase) -> Iterator[Message]:
    """The warnings of spread constraints that count nodes which the written affinity shuts out."""
    constraints = case.pod.spec.get("topologySpreadConstraints")
    for index, constraint in enumerate(constraints if isinstance(constraints, list) else ()):
        if (
            isinstance(constraint, dict)
            and constraint.get("nodeAffinityPolicy") == "Ignore"
            and constraint.get("whenUnsatisfiable") != "ScheduleAnyway"
        ):
            path = (*case.pod.path, "topologySpreadConstraints", index)
            message = (
                f"the pod is restricted to {joined(case.reachable_architectures)}, but nodeAffinityPolicy: Ignore "
                f"counts every {constraint.get('topologyKey')} as a domain, also those without such nodes: replicas "
                "may stay Pending. Remove nodeAffinityPolicy (the default is Honor)"
            )
            yield case.pod.message("warning", message, path)
