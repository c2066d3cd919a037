"""The reasons of a decision: one for each thing that the pod gets or might have got, made where that is decided.

A reason says `added` until `settle` has seen what the object has fields for, and whether there is a patch. Those make
the sentence that check, explain, report and the log of the webhook print:

    restricted to amd64 (arm64 is not offered by nginx:1.7.9); tolerates kubernetes.io/arch=arm64:NoSchedule
"""

from __future__ import annotations

from sys import intern

from archfit.base.results import Reason
from archfit.options.settings import Toleration, TolerationRule
from archfit.placement import tolerations as taints
from archfit.placement.affinity import ARCH, OS, Expression
from archfit.placement.annotations import PREFIX, annotated
from archfit.placement.pod_patch import Additions, because, joined, taint
from archfit.placement.reach import NOTHING, Reach, RequiredTerms, union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from archfit.base.results import Effect, Removed
    from archfit.placement.case import PodCase


def of_affinity(
    case: PodCase, needed: RequiredTerms, pins: Sequence[str], needed_only: str
) -> Iterator[Reason]:
    """One for each term. needed: the required terms, also with `affinity: never`. pins, needed_only: of the pod."""
    never = case.options.affinity == "never"
    effect: Effect = "left out" if never else "added"
    why = "--affinity never" if never else ""
    key = case.own.unlabelled
    beside = f"nodes without an architecture label stay open, as the pod tolerates {key}" if key else ""
    for expressions in needed.required:
        always = "--affinity always" if needed.only_always else beside
        yield Reason("affinity", _text(expressions), effect, why or always)
    narrowed, own = dict(needed.narrowed), False
    for reach in case.reaches:
        index = reach.demand.index
        if index is None:
            continue
        own = True
        if index in narrowed:
            dead = (
                "" if reach.live else "its images run on nothing that the term allows, so it matches no node"
            )
            yield Reason("affinity", _text(narrowed[index]), effect, why or dead or beside, index + 1)
        else:
            yield Reason("affinity", "", "none", _untouched(case, reach), index + 1)
    if needed is NOTHING and not own:
        yield Reason("affinity", "", "none", _no_affinity(case, pins, needed_only))


def _text(expressions: Sequence[Expression]) -> str:
    return " and ".join([f"{key} {operator} [{', '.join(values)}]" for key, operator, values in expressions])


def _untouched(case: PodCase, reach: Reach) -> str:
    if not reach.allowed:
        return "untouched: it matches no node"
    return f"untouched: {_all(case)} run on what it allows ({joined(reach.allowed)})"


def _all(case: PodCase) -> str:
    return "all images that are known" if case.evidence.unasked else "all images"


def _no_affinity(case: PodCase, pins: Sequence[str], needed_only: str) -> str:
    if pins:
        return f"none needed: the pod is pinned to {joined(pins)}"
    if case.reaches[0].systems[0].supported is None:
        return "none needed: no image restricts the pod"
    allowed = union([reach.allowed for reach in case.reaches])
    reason = f"none needed: {_all(case)} run on {joined(allowed)}"
    if case.options.affinity != "always":
        return reason
    always = "would shut out nodes without an architecture label"
    if needed_only:
        always = "counts for pods that can be changed"
    elif case.withheld and case.pod.row is not None:
        always = "counts for rows that were seen"
    return f"{reason} (--affinity always {always})"


def of_tolerations(
    case: PodCase,
    whys: Sequence[str],
    new: Sequence[Toleration],
    refused: Collection[Toleration],
    needed_only: str,
) -> Iterator[Reason]:
    """One for each rule of the pod.

    whys: the `obstacles`. new: what it gets. refused: what its Namespace does not allow.
    """
    if not case.own.tolerate:
        yield Reason("tolerations", "", "none", _no_rules(case))
    left = set(new)
    own, wider = taints.covering(case.tolerations), taints.covering(new)
    for rule, why in zip(case.own.tolerate, whys, strict=True):
        if why:
            yield Reason("tolerations", taint(rule.toleration), "left out", why)
        elif rule.toleration in left:
            left.discard(rule.toleration)
            yield Reason("tolerations", taint(rule.toleration), "added", "")
        else:
            name = taint(rule.toleration)
            if there := own(rule.toleration):
                yield Reason("tolerations", name, "present", f"the pod tolerates {_own(there)}")
                continue
            if wider(rule.toleration):
                yield Reason("tolerations", name, "present", "another rule's toleration covers it")
                continue
            yield Reason("tolerations", name, "left out", _left_out(case, rule, refused, needed_only))


def _no_rules(case: PodCase) -> str:
    if not case.options.tolerate:
        return "none: --tolerate none"
    if annotated(case.pod).tolerate is False:
        return f'none: {PREFIX}tolerate is "false"'
    return "none: a rule of the configuration says tolerate: false"


def _left_out(case: PodCase, rule: TolerationRule, refused: Collection[Toleration], needed_only: str) -> str:
    """Why a rule that applies adds nothing, where nothing covers it."""
    if rule.toleration in refused:
        return f"the tolerations whitelist of Namespace {case.pod.ref.namespace} does not allow it"
    return "when: needed, and the pod runs without it" if rule.needed else needed_only


def _own(toleration: Toleration) -> str:
    if toleration.key:
        return taint(toleration)
    return f"every {toleration.effect} taint" if toleration.effect else "every taint"


def settle(case: PodCase, written: Additions) -> None:
    """Correct the reasons of the case, where the object gets only part of what is wanted, or no patch."""
    kept = {
        "affinity": written.terms is not NOTHING,
        "tolerations": bool(written.tolerations),
        "preferences": bool(written.preferred),
    }
    for number, reason in enumerate(case.reasons):
        if reason.effect == "added" and not kept[reason.about]:
            case.reasons[number] = reason.replace(effect="left out", reason=_unwritten(case, reason.about))
        elif reason.effect == "added" and written.pins and reason.about == "affinity" and not reason.term:
            pinned = "as nodeSelector, so that the affinity that its operator writes stays"
            case.reasons[number] = reason.replace(reason=pinned)


def _unwritten(case: PodCase, about: str) -> str:
    pod, field = case.pod, "tolerations" if about == "tolerations" else "affinity"
    if pod.lacks(field):
        return f"{pod.ref.kind} has no field for {field}"
    if pod.placement_paths is not None and field in dict(pod.placement_paths.replaced):
        return "another field replaces it"
    if case.withheld and pod.row is not None:
        from archfit.workloads.known_rows import not_seen  # only streams with custom resources need it

        return f"{not_seen(pod.row)}; --custom-resources all adds it"
    return "the pod is left as it is"


def of_change(case: PodCase, terms: RequiredTerms, lacking: Sequence[Removed]) -> str:
    """The sentence of a Change, by its settled reasons. terms: the required terms that are written."""
    parts = []
    if terms is not NOTHING:
        key = case.own.unlabelled
        beside = f", and to nodes without an architecture label (toleration of {key})" if key else ""
        parts.append(f"restricted to {joined(_restricted_to(case, terms))}{because(lacking)}{beside}")
    added = [reason for reason in case.reasons if reason.effect == "added"]
    parts += [f"tolerates {reason.what}" for reason in added if reason.about == "tolerations"]
    preferred = [reason.what.partition("=")[0] for reason in added if reason.about == "preferences"]
    if preferred:
        parts.append(f"prefers {joined(preferred)}")
    return intern("; ".join(parts))  # pods of one stream often share it


def _restricted_to(case: PodCase, terms: RequiredTerms) -> Sequence[str]:
    """What the terms let through: architectures, systems, or pairs where they speak of both."""
    keys = {
        key
        for term in (*terms.required, *[expressions for _, expressions in terms.narrowed])
        for key, _, _ in term
    }
    if OS not in keys:
        return sorted(case.reachable_architectures)
    runs = {cell for reach in case.reaches for cell in reach.live_cells}
    if ARCH not in keys:
        return sorted({os for os, _ in runs})
    return [f"{os}/{name}" for os, name in sorted(runs)]


def of_no_change(case: PodCase, needed_only: str) -> str:
    """The sentence of a NotNeeded. needed_only: of the pod."""
    evidence = case.evidence
    if evidence.unasked and not evidence.known:
        return "the platforms of its images cannot be looked up"
    if evidence.unasked:
        return "what is known of its images needs nothing; the platforms of others cannot be looked up"
    if evidence.mounted_only:
        return "its images are mounted, and say nothing about where it runs"
    if needed_only and case.immutable:
        return "it runs as it is, and cannot be changed once applied"
    if case.withheld:
        return f"it runs as it is; --custom-resources all adds {' and '.join(case.withheld)}"
    return "its images run wherever it can go"
