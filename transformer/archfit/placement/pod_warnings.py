"""What a decision says about a pod beside its reason: the conflict of step (a), the warnings of step (b).

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

from archfit.options.settings import Toleration
from archfit.placement import messages
from archfit.placement import tolerations as taints
from archfit.placement.affinity import ARCH_LABELS, existing_terms
from archfit.placement.case import Case
from archfit.placement.reach import union
from archfit.placement.reasons import taint
from archfit.placement.required_terms import NOTHING, RequiredTerms
from archfit.results import Removed, Result, Severity
from archfit.source.values import text_of
from archfit.typing_names import Iterator, Sequence


def conflict(case: Case, pins: tuple[str, ...]) -> Result:
    """The message of a pod that can go nowhere."""
    pod = case.pod
    severity: Severity = "error" if case.options.on_conflict == "fail" else "warning"
    message = messages.conflict(pod, pins, case.found, case.evidence.known, case.own, case.options)
    return pod.result(severity, message, messages.demanding_path(pod, pins, case.found))


def warnings(
    case: Case, pins: tuple[str, ...], needed: RequiredTerms, lacking: tuple[Removed, ...]
) -> Iterator[Result]:
    """The warnings of step (b), and the DaemonSet row's."""
    pod, options = case.pod, case.options
    here = union(system.cluster for reach in case.found for system in reach.systems)
    if pins and not here & case.reachable:
        message = messages.pin_outside_cluster(pod, pins, here)
        yield pod.result("warning", message, messages.demanding_path(pod, pins, case.found))
    namespace = pod.namespace
    if namespace is not None:
        chosen = {value for key, value in namespace.node_selector if key in ARCH_LABELS}
        if chosen and (len(chosen) > 1 or not chosen <= case.reachable):
            message = messages.namespace_conflict(
                pod.ref.namespace, namespace.selects, chosen, case.reachable
            )
            yield pod.result("warning", message, pod.path)
    if needed is NOTHING:
        return
    if options.affinity == "never":
        if not needed.only_always:
            yield pod.result("warning", messages.unsafe(lacking), pod.path)
        return
    if needed.dead or any(reach.lost for reach in case.found):
        yield from _of_terms(case, needed)
    if pod.ref.kind == "DaemonSet":
        lost = messages.lost_nodes(case.found)
        if lost:
            severity: Severity = "error" if options.daemon_sets == "fail" else "warning"
            yield pod.result(severity, messages.daemon_set(lost, lacking), pod.path)


def of_stale_term(case: Case, allowed: frozenset[str], runs: frozenset[str]) -> Result:
    """The info about a term that allows less than the images run on."""
    return case.pod.result("info", messages.stale_term(allowed, runs), existing_terms(case.pod)[1])


def _of_terms(case: Case, needed: RequiredTerms) -> Iterator[Result]:
    pod = case.pod
    path = existing_terms(pod)[1]
    for reach in needed.dead:
        message = messages.dead_term(reach, case.reachable)
        yield pod.result("warning", message, (*path, reach.demand.index or 0))
    for reach in case.found:
        if reach.lost and reach.live:
            index = reach.demand.index
            at = pod.path if index is None else (*path, index)
            yield pod.result("warning", messages.lost_systems(reach), at)


def allowed_tolerations(case: Case, new: Sequence[Toleration]) -> list[Toleration]:
    """Those that the whitelist of the pod's Namespace allows; a warning for each of the others."""
    pod = case.pod
    allowed: list[Toleration] = []
    for toleration in new:
        refused = pod.namespace is not None and taints.refused(toleration, pod.namespace)
        readable = pod.namespace is None or pod.namespace.tolerations_whitelist is not None
        if refused or not readable:
            message = messages.refused_toleration(pod.ref.namespace, taint(toleration), readable=readable)
            case.results.append(pod.result("warning", message, pod.path))
        if not refused:
            allowed.append(toleration)
    return allowed


def limited_tolerations(case: Case, applying: Sequence[Toleration]) -> Iterator[Result]:
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
            yield pod.result("warning", messages.limited_toleration(taint(toleration), text_of(limit)), path)


def spread_warnings(case: Case) -> Iterator[Result]:
    """The warnings of spread constraints that count nodes which the written affinity shuts out."""
    constraints = case.pod.spec.get("topologySpreadConstraints")
    for index, constraint in enumerate(constraints if isinstance(constraints, list) else ()):
        if (
            isinstance(constraint, dict)
            and constraint.get("nodeAffinityPolicy") == "Ignore"
            and constraint.get("whenUnsatisfiable") != "ScheduleAnyway"
        ):
            path = (*case.pod.path, "topologySpreadConstraints", index)
            message = messages.spread(str(constraint.get("topologyKey")), case.reachable)
            yield case.pod.result("warning", message, path)
