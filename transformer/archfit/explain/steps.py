"""What a pod is given, one step for each thing that it gets or might have got.

The reasons are those of `tolerations`, whose functions decide by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from archfit.base.patch import Add
from archfit.base.results import Decision
from archfit.options.settings import Toleration, TolerationRule
from archfit.placement import tolerations as taints
from archfit.placement.affinity import Expression, arch_pins, runtime_pins
from archfit.placement.annotations import PREFIX, annotated
from archfit.placement.case import PodCase, Trace
from archfit.placement.pod_patch import Additions, listed, taint
from archfit.placement.reach import NOTHING, Reach, union
from archfit.startup.record import Record
from archfit.workloads.known_rows import not_seen

Effect = Literal["added", "present", "left out", "none"]


class Step(Record):
    """One thing, as people write it."""

    what: str
    effect: Effect
    reason: str
    term: int = 0


def affinity_steps(trace: Trace, decision: Decision) -> Iterator[Step]:
    """The required node affinity. Nothing for a decision that ended before it."""
    case = trace.case
    if case is None or trace.wanted is None:
        return
    needed, narrowed = trace.needed, dict(trace.needed.narrowed)
    effect, why = _affinity_effect(trace, case, decision)
    reason = "--affinity always" if needed.only_always else _beside(case)
    if trace.written.pins:
        reason = "as nodeSelector, so that the affinity that its operator writes stays"
    for expressions in needed.required:
        yield Step(_expressions(expressions), effect, why or reason)
    for reach in case.reaches:
        index = reach.demand.index
        if index is None:
            continue
        if index in narrowed:
            dead = (
                "" if reach.live else "its images run on nothing that the term allows, so it matches no node"
            )
            yield Step(_expressions(narrowed[index]), effect, why or dead or _beside(case), index + 1)
        else:
            yield Step("", "none", _untouched(case, reach), index + 1)
    if needed is NOTHING and not any(reach.demand.index is not None for reach in case.reaches):
        yield Step("", "none", _no_affinity(trace, case, decision))


def _affinity_effect(trace: Trace, case: PodCase, decision: Decision) -> tuple[Effect, str]:
    if trace.needed is NOTHING:
        return "none", ""
    if trace.wanted is not None and trace.wanted.terms is NOTHING:
        return "left out", "--affinity never"
    return _effect(trace, case, decision, "affinity", kept=trace.written.terms is not NOTHING)


def _effect(trace: Trace, case: PodCase, decision: Decision, field: str, *, kept: bool) -> tuple[Effect, str]:
    """What becomes of what the pod is to get. kept: its API takes it. Nothing is written beside a conflict."""
    if not kept or decision.outcome in ("Conflict", "Unresolved", "OptedOut") or trace.written == Additions():
        return "left out", _unwritten(case, decision, field)
    at = case.pod.at(field)
    paths = [step.path for step in decision.patch if isinstance(step, Add)]
    if case.pod.stamped is None or any(path[: len(at)] == at or at[: len(path)] == path for path in paths):
        return "added", ""
    return "present", "an earlier run added it (--stamp)"


def _unwritten(case: PodCase, decision: Decision, field: str) -> str:
    if case.pod.lacks(field):
        return f"{case.pod.ref.kind} has no field for {field}"
    if case.pod.placement_paths is not None and field in dict(case.pod.placement_paths.replaced):
        return "another field replaces it"
    if decision.withheld and case.pod.row is not None:
        return f"{not_seen(case.pod.row)}; --custom-resources all adds it"
    return "the pod is left as it is"


def _beside(case: PodCase) -> str:
    key = case.own.unlabelled
    return f"nodes without an architecture label stay open, as the pod tolerates {key}" if key else ""


def _untouched(case: PodCase, reach: Reach) -> str:
    if not reach.allowed:
        return "untouched: it matches no node"
    return f"untouched: {_all(case)} run on what it allows ({listed(reach.allowed)})"


def _all(case: PodCase) -> str:
    return "all images that are known" if case.evidence.unasked else "all images"


def _no_affinity(trace: Trace, case: PodCase, decision: Decision) -> str:
    first = case.reaches[0].systems[0]
    pins = {*arch_pins(case.pod), *runtime_pins(case.pod)}
    if pins:
        return f"none needed: the pod is pinned to {listed(pins)}"
    if first.supported is None:
        return "none needed: no image restricts the pod"
    reason = f"none needed: {_all(case)} run on {listed(union(reach.allowed for reach in case.reaches))}"
    if case.options.affinity != "always":
        return reason
    always = "would shut out nodes without an architecture label"
    if trace.needed_only:
        always = "counts for pods that can be changed"
    elif decision.withheld and case.pod.row is not None:
        always = "counts for rows that were seen"
    return f"{reason} (--affinity always {always})"


def _expressions(expressions: Iterable[Expression]) -> str:
    return " and ".join(f"{key} {operator} [{', '.join(values)}]" for key, operator, values in expressions)


def toleration_steps(trace: Trace, decision: Decision) -> Iterator[Step]:
    """One step for each toleration rule of the pod. Nothing for a decision that ended before it."""
    case, wanted = trace.case, trace.wanted
    if case is None or wanted is None:
        return
    if not case.own.tolerate:
        yield Step("", "none", _no_rules(case))
    added, open_to = list(wanted.tolerations), taints.exposed(case, wanted.terms)
    for rule in case.own.tolerate:
        if rule.toleration in added:
            added.remove(rule.toleration)
            kept = rule.toleration in trace.written.tolerations
            effect, reason = _effect(trace, case, decision, "tolerations", kept=kept)
        else:
            effect, reason = _not_tolerated(trace, case, wanted, rule, open_to)
        yield Step(taint(rule.toleration), effect, reason)


def _no_rules(case: PodCase) -> str:
    if not case.options.tolerate:
        return "none: --tolerate none"
    if annotated(case.pod).tolerate is False:
        return f'none: {PREFIX}tolerate is "false"'
    return "none: a rule of the configuration says tolerate: false"


def _not_tolerated(
    trace: Trace, case: PodCase, wanted: Additions, rule: TolerationRule, open_to: frozenset[str]
) -> tuple[Effect, str]:
    """Why a rule adds nothing: it does not apply, or its toleration is not needed."""
    reason = taints.unaccounted(case) or taints.inapplicable(case, rule, open_to)
    if reason:
        return "left out", reason
    for toleration in case.tolerations:
        if taints.covers(toleration, rule.toleration):
            return "present", f"the pod tolerates {_own(toleration)}"
    if any(taints.covers(toleration, rule.toleration) for toleration in wanted.tolerations):
        return "present", "another rule's toleration covers it"
    namespace = case.pod.namespace
    if namespace is not None and taints.refused(rule.toleration, namespace):
        return (
            "left out",
            f"the tolerations whitelist of Namespace {case.pod.ref.namespace} does not allow it",
        )
    if rule.needed:
        return "left out", "when: needed, and the pod runs without it"
    return "left out", trace.needed_only


def _own(toleration: Toleration) -> str:
    if toleration.key:
        return taint(toleration)
    return f"every {toleration.effect} taint" if toleration.effect else "every taint"


def preference_steps(trace: Trace, decision: Decision) -> Iterator[Step]:
    """One step for each preference of the pod's options. Nothing for a decision that ended before it."""
    case = trace.case
    if case is None or trace.wanted is None:
        return
    for architecture, weight in sorted(case.own.prefer):
        if (architecture, weight) in trace.wanted.preferred:
            kept = (architecture, weight) in trace.written.preferred
            step = _effect(trace, case, decision, "affinity", kept=kept)
        else:
            step = "left out", trace.needed_only or taints.unpreferred(case, architecture)
        yield Step(f"{architecture}={weight}", *step)
