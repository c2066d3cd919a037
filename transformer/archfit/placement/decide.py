"""The decision for one pod spec, as a patch. Four steps:

    (a) opted out -> OptedOut; an image without an answer -> Unresolved; E is empty -> Conflict
    (b) required node affinity, for the pod or for each of its terms       `restriction`
    (c) tolerations, then preferred terms, on top of it
    (d) `immutable: needed`, for what cannot be changed once applied (`immutability`): only what it
        cannot run without. Affinity stays, except what `affinity: always` writes; a toleration stays where
        every architecture that the pod can reach needs one; preferred terms go

Outcomes without a patch: AlreadySet where the pod has what it would be given; Conflict where a custom resource has no
field for what it cannot run without; OptedOut where `affinity: never` kept it from what it needs, or its operator
decides alone; else NotNeeded. A pod with an error is Unresolved; its results say what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit.images.platforms import Answer
from archfit.options.settings import Options, Toleration
from archfit.patch import Operation, Path, dotted
from archfit.placement import additions, affinity_patch, messages, tolerations
from archfit.placement.affinity import (
    ARCH_LABELS,
    arch_pins,
    demands,
    required_terms,
    runtime_pins,
    states_preference,
)
from archfit.placement.architectures import removed
from archfit.placement.evidence import Evidence, weigh
from archfit.placement.fields import Malformed
from archfit.placement.images import answers_for
from archfit.placement.immutability import is_immutable
from archfit.placement.leftover import leftover
from archfit.placement.materialise import fitted
from archfit.placement.reach import Reach, by_system, reaches, union
from archfit.placement.required_terms import NOTHING, Restriction, restriction
from archfit.placement.selection import Wishes, wishes
from archfit.record import Record
from archfit.results import Decision, Outcome, Removed, Result, Severity
from archfit.workloads.pods import Pod


class _Case(Record):
    """What steps (a) to (d) look at.

    reachable: E.
    own: the pod's own tolerations.
    stated: the pod's own preferred terms speak of the architecture; False where nobody asked.
    once: the object cannot be changed once it is applied.
    results: gathers what there is to tell.
    """

    pod: Pod
    options: Options
    asked: Wishes
    evidence: Evidence
    found: tuple[Reach, ...]
    reachable: frozenset[str]
    own: list[Toleration]
    stated: bool
    once: bool
    results: list[Result]


def decide(pod: Pod, answers: Mapping[str, Answer], options: Options) -> Decision:
    """The one decision for this pod spec.

    answers: the answer for each of `images.questions(pod, options)`.
    Raises UsageError for overrides that disagree.
    """
    once = is_immutable(pod, options)
    asked = wishes(pod, options)
    if asked.left_alone:
        return Decision(
            "OptedOut",
            asked.left_alone,
            immutable=once,
            results=asked.results,
            controller=asked.controller,
        )
    evidence = weigh(pod, answers_for(pod, answers, options, asked), options)
    results = [*asked.results, *evidence.results]
    found: tuple[Reach, ...] = ()
    own: list[Toleration] = []
    stated = False
    try:
        cluster = by_system(options.cluster_architectures)
        found = reaches(demands(pod), evidence.known, cluster, asked.only)
        stated = bool(asked.prefer) and states_preference(pod)
    except Malformed as malformed:
        results.append(_result(pod, "error", str(malformed), malformed.path))
    try:
        own = tolerations.existing(pod)
    except Malformed as malformed:
        results.append(_result(pod, "error", str(malformed), malformed.path))
    if results and any(result.severity == "error" for result in results):
        return Decision("Unresolved", "it has errors", immutable=once, results=tuple(results))
    if evidence.leave:
        return Decision("Unresolved", evidence.leave, immutable=once, results=tuple(results))
    reachable = union([reach.live for reach in found])
    case = _Case(pod, options, asked, evidence, found, reachable, own, stated, once, results)
    return _placed(case) if reachable else _conflict(case)


def _conflict(case: _Case) -> Decision:
    pod, pins = case.pod, _pins(case.pod)
    severity: Severity = "error" if case.options.on_conflict == "fail" else "warning"
    message = messages.conflict(pod, pins, case.found, case.evidence.known, case.asked, case.options)
    case.results.append(_result(pod, severity, message, messages.demanding_path(pod, pins, case.found)))
    return _decision(case, "Conflict", "no node that the pod allows can run all its images", _lacking(case))


def _placed(case: _Case) -> Decision:
    pod, options, asked = case.pod, case.options, case.asked
    custom = pod.places
    needed_only = (case.once and options.immutable == "needed") or bool(custom and custom.needed_only)
    pins = _pins(pod)
    wanted = restriction(
        case.found,
        pinned=bool(pins),
        always=options.affinity == "always" and not needed_only,
        unlabelled=bool(asked.unlabelled),
    )
    lacking = _lacking(case)
    narrows = any(system.lacking for reach in case.found for system in reach.systems)
    if custom is not None and custom.chosen and narrows and not pins:
        case.results.append(_result(pod, "warning", f"{custom.chosen}{messages.because(lacking)}", pod.path))
        return _decision(case, "OptedOut", "its operator chooses the architecture", lacking)
    _warn(case, pins, wanted, lacking)
    narrow = "" if options.stamp else leftover(pod, case.found, unlabelled=bool(asked.unlabelled))
    if narrow:
        case.results.append(_result(pod, "info", narrow, required_terms(pod)[1]))
    written = NOTHING if options.affinity == "never" else wanted

    applying = additions.applicable(asked.tolerate, case.found, case.reachable, written, case.evidence)
    new = tolerations.uncovered(case.own, applying)
    covered = bool(applying) and not new
    preferred: list[tuple[str, int]] = []
    if needed_only:
        if new and not additions.all_tainted(asked.tolerate, case.own, case.reachable):
            new = []
    elif asked.prefer and not case.stated and pod.ref.kind != "DaemonSet":
        preferred = additions.preferred(asked.prefer, case.reachable, case.evidence)

    if custom is not None:
        from archfit.placement.custom import within_fields

        tainted = bool(new) and additions.all_tainted(asked.tolerate, case.own, case.reachable)
        fields = within_fields(
            pod, options, case.reachable, lacking, written, preferred, new, tainted=tainted
        )
        case.results.extend(fields.results)
        if fields.problem:
            return _decision(case, "OptedOut" if custom.unplaced else "Conflict", fields.problem, lacking)
        written, preferred, new = fields.written, list(fields.preferred), list(fields.tolerations)

    patch = fitted(
        pod,
        [
            *affinity_patch.operations(pod, written.required, written.narrowed, preferred),
            *tolerations.operations(pod, new),
        ],
    )
    if patch:
        if custom is not None:
            from archfit.placement.custom import effect

            case.results.extend(effect(pod, custom, patch))
        restricted = case.reachable if written is not NOTHING else ()
        _tell_of_written(case, written)
        preferences = [architecture for architecture, _ in preferred]
        reason = messages.changed(restricted, lacking, new, preferences, unlabelled=asked.unlabelled)
        return _decision(case, "Change", reason, lacking, tuple(patch))
    if wanted is not written:
        return _decision(case, "OptedOut", "affinity: never", lacking)
    if lacking or covered or case.stated:
        return _decision(case, "AlreadySet", "it already says what archfit would write", lacking)
    unseen = case.evidence.unasked and not case.evidence.known
    return _decision(case, "NotNeeded", messages.not_needed(needed_only=needed_only, unseen=unseen), lacking)


def _warn(case: _Case, pins: tuple[str, ...], wanted: Restriction, lacking: tuple[Removed, ...]) -> None:
    """Adds the warnings of step (b), and the DaemonSet row's."""
    pod, options = case.pod, case.options
    here = union(system.cluster for reach in case.found for system in reach.systems)
    if pins and not here & case.reachable:
        message = messages.foreign_pin(pod, pins, here)
        case.results.append(_result(pod, "warning", message, messages.demanding_path(pod, pins, case.found)))
    chosen = {value for key, value in pod.namespace_selector if key in ARCH_LABELS}
    if chosen and (len(chosen) > 1 or not chosen <= case.reachable):
        message = messages.foreign_namespace(pod.ref.namespace, chosen, case.reachable)
        case.results.append(_result(pod, "warning", message, pod.path))
    if wanted is NOTHING:
        return
    if options.affinity == "never":
        if not wanted.only_always:
            case.results.append(_result(pod, "warning", messages.unsafe(lacking), pod.path))
        return
    if wanted.dead or any(reach.lost for reach in case.found):
        _warn_of_terms(case, wanted)
    if pod.ref.kind == "DaemonSet":
        lost = messages.lost_nodes(case.found)
        if lost:
            severity: Severity = "error" if options.daemon_sets == "fail" else "warning"
            case.results.append(_result(pod, severity, messages.daemon_set(lost, lacking), pod.path))


def _warn_of_terms(case: _Case, wanted: Restriction) -> None:
    pod = case.pod
    path = required_terms(pod)[1]
    for reach in wanted.dead:
        message = messages.dead_term(reach, case.reachable)
        case.results.append(_result(pod, "warning", message, (*path, reach.demand.index or 0)))
    for reach in case.found:
        if reach.lost and reach.live:
            index = reach.demand.index
            at = pod.path if index is None else (*path, index)
            case.results.append(_result(pod, "warning", messages.lost_systems(reach), at))


def _tell_of_written(case: _Case, written: Restriction) -> None:
    """Adds what is to be said of an affinity once it is written."""
    if written is NOTHING or written.only_always:
        return
    constraints = case.pod.spec.get("topologySpreadConstraints")
    for index, constraint in enumerate(constraints if isinstance(constraints, list) else ()):
        if (
            isinstance(constraint, dict)
            and constraint.get("nodeAffinityPolicy") == "Ignore"
            and constraint.get("whenUnsatisfiable") != "ScheduleAnyway"
        ):
            path = (*case.pod.path, "topologySpreadConstraints", index)
            message = messages.spread(str(constraint.get("topologyKey")), case.reachable)
            case.results.append(_result(case.pod, "warning", message, path))


def _lacking(case: _Case) -> tuple[Removed, ...]:
    """The architectures of the cluster that an image took away, for the first term that lives."""
    reach = _telling(case)
    if reach is None:
        return ()
    system = reach.systems[0]
    if system.offered is None or system.offered >= system.cluster:
        return ()
    return removed(case.evidence.known, system.os, system.cluster - system.offered)


def _telling(case: _Case) -> Reach | None:
    """The term that the report speaks of: the first that lives, else the first."""
    for reach in case.found:
        if reach.live:
            return reach
    return case.found[0] if case.found else None


def _decision(
    case: _Case,
    outcome: Outcome,
    reason: str,
    lacking: tuple[Removed, ...],
    patch: tuple[Operation, ...] = (),
) -> Decision:
    reach = _telling(case)
    offered = reach.systems[0].offered if reach else None
    return Decision(
        outcome,
        reason,
        patch,
        None if offered is None else tuple(sorted(offered)),
        tuple(sorted(case.reachable)),
        lacking,
        case.once,
        tuple(case.results),
    )


def _pins(pod: Pod) -> tuple[str, ...]:
    """The architectures that the pod's nodeSelector will name once it is admitted."""
    return tuple(dict.fromkeys((*arch_pins(pod), *runtime_pins(pod))))


def _result(pod: Pod, severity: Severity, message: str, path: Path) -> Result:
    return Result(severity, message, pod.ref, dotted(path), pod.location)
