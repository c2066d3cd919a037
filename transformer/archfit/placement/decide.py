"""The decision for one pod spec, as a patch.

1. opted out -> OptedOut; nothing reachable -> Conflict. Where an image is Unknown or Absent, the pod is judged with
   what an earlier run recorded: that stays, or is narrowed further
2. required node affinity, for the pod or for each of its terms       `reach`
3. tolerations, then preferred terms, on top of it                    `tolerations`
4. `immutable: needed`, for what cannot be changed once applied (`case`): only what it
   cannot run without. Affinity stays, except what `affinity: always` writes; a toleration stays where
   every architecture that the pod can reach needs one; preferred terms go.
   `customResources: read`, for a custom resource whose row was not seen: the same, without any toleration
"""

from __future__ import annotations

from archfit.base.patch import Operation, Path
from archfit.base.results import Decision, Effect, Outcome, Reason, Removed, has_error
from archfit.images.platforms import Answer
from archfit.options.settings import Options, Toleration
from archfit.placement import tolerations as taints
from archfit.placement.affinity import arch_pins, demands, runtime_pins, states_preference
from archfit.placement.case import PodCase, is_immutable
from archfit.placement.evidence import ImageEvidence, removed
from archfit.placement.fields import MalformedField
from archfit.placement.pod_patch import Additions, because, pod_patch
from archfit.placement.reach import (
    NOTHING,
    Reach,
    RequiredTerms,
    by_system,
    reaches,
    required_terms,
    stale_terms,
    union,
)
from archfit.placement.reasons import of_affinity, of_change, of_no_change, of_tolerations, settle
from archfit.placement.selection import PodOptions, answers_for
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def decide(pod: Pod, own: PodOptions, answers: Mapping[str, Answer], options: Options) -> Decision:
    """The one decision for this pod spec.

    own: `pod_options(pod, options)`. answers: the answer for each of `questions(pod, own)`.
    Raises UsageError for overrides that disagree.
    """
    if own.left_alone:
        return Decision(
            "OptedOut",
            own.left_alone,
            immutable=pod.immutable and is_immutable(pod, options),
            messages=own.messages,
            controller=own.controller,
        )
    case = pod_case(pod, own, answers_for(pod, answers, options, own), options)
    if case.messages and has_error(case.messages):
        return Decision(
            "Unresolved", "it has errors", immutable=case.immutable, messages=tuple(case.messages)
        )
    if case.reachable_architectures:
        return _placed(case)
    from archfit.placement.pod_warnings import conflict, unsafe

    if options.affinity == "never":
        case.messages.append(case.pod.message("warning", unsafe(_lacking(case)), case.pod.path))
        return _decision(case, "OptedOut", "affinity: never", _lacking(case))
    case.messages.append(conflict(case, _pins(case.pod), case.closed_part))
    return _decision(case, "Conflict", "no node that the pod allows can run all its images", _lacking(case))


def pod_case(pod: Pod, own: PodOptions, given: Sequence[Answer], options: Options) -> PodCase:
    """What the images and the pod itself say of it: the facts that `decide` goes by.

    given: the answer for each of its images. With an error among the messages it leads nowhere.
    """
    immutable = pod.immutable and is_immutable(pod, options)
    evidence = ImageEvidence.from_answers(pod, given, options)
    if evidence.unanswered and pod.stamped is not None:
        pod = pod.as_recorded
    messages = [*own.messages, *evidence.messages]
    by_term: tuple[Reach, ...] = ()
    tolerations: list[Toleration] = []
    stated = False
    part: Path = ()
    malformed_tolerations: MalformedField | None = None
    try:
        tolerations = taints.existing(pod)
    except MalformedField as malformed:
        malformed_tolerations = malformed
    closed_by = taints.closing(options)
    tainted = [os for os, taint in closed_by if taints.uncovered(tolerations, (taint,))]
    try:
        cluster = by_system(options.cluster_architectures)
        wanted = demands(pod)
        if (
            own.offered is not None
            and not evidence.unasked
            and _may_narrow(pod, options, immutable=immutable)
        ):
            narrowed = reaches(wanted, evidence.known, cluster, own.offered, tainted)
            own = own.where_offered if _offers(narrowed) else own
        by_term = reaches(wanted, evidence.known, cluster, own.only, tainted)
        if pod.placement_paths is not None and pod.placement_paths.parts:
            from archfit.placement.custom import parts_of

            parts = parts_of(pod, wanted, evidence.known, cluster, own.only, tainted)
            part, by_term = next(((path, reach) for path, reach in parts if not _live(reach)), ((), by_term))
        stated = bool(own.prefer) and states_preference(pod)
    except MalformedField as malformed:
        messages.append(pod.message("error", str(malformed), malformed.path))
    if malformed_tolerations is not None:
        messages.append(pod.message("error", str(malformed_tolerations), malformed_tolerations.path))
    reachable = _live(by_term)
    on_linux = union([reach.on_linux for reach in by_term])
    return PodCase(
        pod,
        options,
        own,
        evidence,
        by_term,
        reachable,
        on_linux,
        tolerations,
        stated,
        immutable,
        messages,
        [],
        part,
    )


def _may_narrow(pod: Pod, options: Options, *, immutable: bool) -> bool:
    """Whether rules with `when: offered` are for the pod: it gets all that archfit writes, and nothing else is lost."""
    custom = pod.placement_paths
    if pod.ref.kind == "DaemonSet" or (immutable and options.immutable == "needed"):
        return False
    if _is_unseen(pod, options):
        return False
    return custom is None or not (
        pod.lacks("affinity")
        or custom.replaced
        or custom.needed_only
        or custom.hidden
        or custom.chosen
        or custom.unplaced
        or custom.pins
        or custom.parts
    )


def _is_unseen(pod: Pod, options: Options) -> bool:
    """Whether no recording shows what the operator makes of the pod, which therefore gets only what it needs."""
    return pod.row is not None and not pod.row.seen and options.custom_resources == "read"


def _offers(narrowed: Sequence[Reach]) -> bool:
    """Whether some term still leads to Linux nodes, and the images say themselves that they run there."""
    return any(reach.on_linux and reach.systems[0].offered is not None for reach in narrowed)


def _live(by_term: Sequence[Reach]) -> frozenset[str]:
    return union([reach.live for reach in by_term])


def _placed(case: PodCase) -> Decision:
    pod, options, own = case.pod, case.options, case.own
    custom = pod.placement_paths
    needed_only = _only_needed(case)
    pins = _pins(pod)
    needed = required_terms(
        case.reaches,
        pinned=bool(pins),
        always=options.affinity == "always" and not needed_only,
        unlabelled=bool(own.unlabelled),
    )
    unseen = _is_unseen(pod, options)
    always = unseen and needed.only_always
    if always:
        needed = NOTHING
    lacking = _lacking(case)
    if custom is not None and custom.chosen and not pins and _narrows(case):
        case.messages.append(pod.message("warning", f"{custom.chosen}{because(lacking)}", pod.path))
        return _decision(case, "OptedOut", "its operator chooses the architecture", lacking)
    terms = NOTHING if options.affinity == "never" else needed
    whys = taints.obstacles(case, terms)
    applying = taints.applicable(case, whys)
    _warn(case, pins, needed, lacking, applying)
    tainted = (unseen or custom is not None) and taints.all_tainted(case, own.tolerate)
    wanted = additions = _additions(
        case, terms, applying, whys, needed_only=needed_only, unseen=unseen and not tainted
    )
    if unseen:
        from archfit.placement.custom import withheld  # only streams with custom resources need it

        written = Additions(additions.terms, tolerations=additions.tolerations if tainted else ())
        left_out = additions.replace(tolerations=() if tainted else additions.tolerations)
        case = case.replace(withheld=withheld(pod, left_out, always=always))
        additions = written
    case.reasons.extend(of_affinity(case, needed, pins, needed_only))
    if custom is not None:
        from archfit.placement.custom import writable  # only streams with custom resources need it

        tainted = tainted and bool(additions.tolerations)
        left = writable(pod, options, case.reachable_architectures, lacking, additions, tainted=tainted)
        case.messages.extend(left.messages)
        if left.problem:
            settle(case, Additions())
            return _decision(case, "OptedOut" if custom.unplaced else "Conflict", left.problem, lacking)
        additions = left.additions

    patch = pod_patch(pod, additions)
    if additions is not wanted or not patch:
        settle(case, additions if patch else Additions())
    if patch:
        return _changed(case, additions, lacking, patch)
    if needed is not terms:
        return _decision(case, "OptedOut", "affinity: never", lacking)
    return _unchanged(case, lacking, applying, needed_only)


def _unchanged(
    case: PodCase, lacking: tuple[Removed, ...], applying: Sequence[Toleration], needed_only: str
) -> Decision:
    evidence = case.evidence
    if evidence.unanswered:
        return _decision(case, "Unresolved", evidence.unanswered, lacking)
    covered = bool(applying) and not taints.uncovered(case.tolerations, applying)
    if lacking or covered or case.prefers_architecture:
        return _decision(case, "AlreadySet", "it already has what archfit would write", lacking)
    return _decision(case, "NotNeeded", of_no_change(case, needed_only), lacking)


def _narrows(case: PodCase) -> bool:
    """Whether an image takes something of the cluster from the pod."""
    return any(reach.shut or any(system.lacking for system in reach.systems) for reach in case.reaches)


def _only_needed(case: PodCase) -> str:
    """Why the pod gets only what it cannot run without, "" if it gets all."""
    custom = case.pod.placement_paths
    if case.immutable and case.options.immutable == "needed":
        return "--immutable needed: the pod runs without it, and cannot be changed once applied"
    if custom is not None and (custom.needed_only or custom.hidden):
        return "the pod runs without it, and its API refuses placement by default"
    return ""


def _additions(
    case: PodCase,
    terms: RequiredTerms,
    applying: Sequence[Toleration],
    whys: Sequence[str],
    *,
    needed_only: str,
    unseen: bool,
) -> Additions:
    """Tolerations and preferred terms, on top of `terms`; their reasons go to the case.

    applying: the tolerations of the rules that apply. whys: the `obstacles` of all. unseen: none is written in the end.
    """
    own = case.own
    new = taints.uncovered(case.tolerations, applying)
    preferred: list[tuple[str, int]] = []
    if needed_only and new and not taints.all_tainted(case, own.tolerate):
        new = []
    for architecture, weight in sorted(own.prefer):
        why = needed_only or taints.unpreferred(case, architecture)
        if not why:
            preferred.append((architecture, weight))
        effect: Effect = "left out" if why else "added"
        case.reasons.append(Reason("preferences", f"{architecture}={weight}", effect, why))
    namespace, refused = case.pod.namespace, set[Toleration]()
    if new and namespace is not None and not unseen:
        from archfit.placement.pod_warnings import allowed_tolerations

        allowed = allowed_tolerations(case, namespace, new)
        kept = set(allowed)
        new, refused = allowed, {toleration for toleration in new if toleration not in kept}
    case.reasons.extend(of_tolerations(case, whys, new, refused, needed_only))
    return Additions(terms, tuple(preferred), tuple(new))


def _changed(
    case: PodCase, additions: Additions, lacking: tuple[Removed, ...], patch: tuple[Operation, ...]
) -> Decision:
    pod = case.pod
    if pod.placement_paths is not None:
        from archfit.placement.custom import effect

        case.messages.extend(effect(pod, pod.placement_paths, patch))
    terms = additions.terms
    if terms is not NOTHING and (pod.appended or pod.spec.get("topologySpreadConstraints")):
        from archfit.placement.pod_warnings import of_written_terms

        case.messages.extend(of_written_terms(case, terms))
    return _decision(case, "Change", of_change(case, terms, lacking), lacking, patch)


def _warn(
    case: PodCase,
    pins: tuple[str, ...],
    needed: RequiredTerms,
    lacking: tuple[Removed, ...],
    applying: Sequence[Toleration],
) -> None:
    """Adds what `pod_warnings` says, where it may say something. applying: the tolerations of rules that apply."""
    pod, reaches = case.pod, case.reaches
    kept = [] if case.evidence.unasked else [reach for reach in reaches if not reach.barred]
    stale = list(stale_terms(pod, kept, unlabelled=bool(case.own.unlabelled)))
    of_terms = needed is not NOTHING and (
        case.options.affinity == "never"
        or pod.ref.kind == "DaemonSet"
        or bool(needed.dead)
        or any(reach.lost for reach in reaches)
    )
    if (
        stale
        or pins
        or of_terms
        or pod.namespace is not None
        or any(toleration.effect == "NoExecute" for toleration in applying)
        or (reaches[0].demand.index is not None and case.cluster.isdisjoint(case.reachable_architectures))
    ):
        from archfit.placement.pod_warnings import of_placed

        case.messages.extend(of_placed(case, pins, needed, lacking, stale, applying))


def _lacking(case: PodCase) -> tuple[Removed, ...]:
    """The architectures of the cluster that an image took away, for the first term that some node matches."""
    reach = _reported_term(case)
    if reach is None:
        return ()
    system = reach.systems[0]
    shut: tuple[Removed, ...] = ()
    for os in sorted({os for os, _ in reach.shut}):
        gone = removed(case.evidence.known, os, [name for of, name in reach.shut if of == os])
        shut += tuple(missing.replace(architecture=f"{os}/{missing.architecture}") for missing in gone)
    if system.offered is None or system.offered >= system.cluster:
        return shut
    return (*removed(case.evidence.known, system.os, system.cluster - system.offered), *shut)


def _reported_term(case: PodCase) -> Reach | None:
    """The term that the report is about: the first that some node matches, else the first."""
    return next((reach for reach in case.reaches if reach.live), next(iter(case.reaches), None))


def _decision(
    case: PodCase,
    outcome: Outcome,
    reason: str,
    lacking: tuple[Removed, ...],
    patch: tuple[Operation, ...] = (),
) -> Decision:
    reach = _reported_term(case)
    offered = reach.systems[0].offered if reach else None
    return Decision(
        outcome,
        reason,
        patch,
        None if offered is None else tuple(sorted(offered)),
        tuple(sorted(case.reachable_architectures)),
        lacking,
        case.immutable,
        tuple(case.messages),
        withheld=case.withheld,
        beside_record=bool(case.evidence.unanswered) and case.pod.stamped is not None,
        reasons=tuple(case.reasons),
    )


def _pins(pod: Pod) -> tuple[str, ...]:
    """The architectures that the pod's nodeSelector will name once it is admitted."""
    return tuple(dict.fromkeys((*arch_pins(pod), *runtime_pins(pod))))
