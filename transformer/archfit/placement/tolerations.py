"""The tolerations and preferred terms that a pod gets on top of its affinity.

    a toleration rule for R applies       where the pod can reach one of R in the end, all images run on every other
                                          one of R or its required affinity shuts it out, and every image has an answer
    a rule with `when: needed` applies    where, with the others, each architecture that the pod can reach needs one
    a preferred term is written           for each weighted architecture that the pod can reach, if it can
                                          reach another one too, and every image has an answer

R: the architectures of the rule; they and those of `prefer` mean Linux nodes. A toleration is added only where none
that exists covers it, that is, tolerates every taint that it does (core/v1, Toleration.ToleratesTaint).
"""

from __future__ import annotations

from archfit.images.platforms import WINDOWS
from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.placement.affinity import ARCH, Requirement, meets
from archfit.placement.fields import items, string
from archfit.placement.pod_patch import joined
from archfit.placement.reach import Reach, RequiredTerms, System
from archfit.workloads.pods import Namespace, Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from archfit.placement.case import PodCase

_FIELDS = ("key", "operator", "value", "effect")


def existing(pod: Pod) -> list[Toleration]:
    """The pod's own tolerations and its RuntimeClass's; missing fields are "". Raises Malformed."""
    tolerations = []
    if pod.runtime_class is not None:
        tolerations += [
            Toleration(*[text_of(item.get(field)) for field in _FIELDS])
            for item in pod.runtime_class.tolerations
        ]
    if pod.spec.get("tolerations") is None:
        return tolerations
    for index, item in enumerate(items(pod.spec, "tolerations", pod.at("tolerations")[:-1])):
        at = (*pod.at("tolerations"), index)
        tolerations.append(Toleration(*[string(item, field, at) for field in _FIELDS]))
    return tolerations


def covers(there: Toleration, new: Toleration) -> bool:
    """Whether every taint that `new` tolerates is tolerated by `there` already."""
    return _covered(new, _scopes((there,)))


def _scopes(there: Iterable[Toleration]) -> set[tuple[str, str, str | None]]:
    """(key, effect, value) of each; the value is None for any. One with an operator for numbers covers no other."""
    return {
        (each.key, each.effect, None if each.operator == "Exists" else each.value)
        for each in there
        if each.operator in ("", "Equal", "Exists")
    }


def _wider(new: Toleration) -> Iterator[tuple[str, str, str | None]]:
    """What one that tolerates every taint that `new` tolerates may be in `_scopes`."""
    values = (None, new.value) if new.operator in ("", "Equal") else (None,)
    return ((key, effect, value) for key in ("", new.key) for effect in ("", new.effect) for value in values)


def _covered(new: Toleration, scopes: set[tuple[str, str, str | None]]) -> bool:
    """Whether every taint that `new` tolerates is tolerated already."""
    return any(scope in scopes for scope in _wider(new))


def covering(there: Sequence[Toleration]) -> Callable[[Toleration], Toleration | None]:
    """Finds the first of them that tolerates every taint that another one tolerates. Most pods never ask."""
    by_scope: dict[tuple[str, str, str | None], tuple[int, Toleration]] = {}

    def first(new: Toleration) -> Toleration | None:
        if not by_scope:
            for number, toleration in enumerate(there):
                for scope in _scopes((toleration,)):
                    by_scope.setdefault(scope, (number, toleration))
        wider = [by_scope[scope] for scope in _wider(new) if scope in by_scope]
        return min(wider, key=lambda each: each[0])[1] if wider else None

    return first


def closing(options: Options) -> list[tuple[str, Toleration]]:
    """The taints of systems that no rule tolerates: with such a toleration any pod may come there."""
    rules = [rule.toleration for rule in options.tolerate]
    return [(os, taint) for os, taint in options.system_taints if uncovered(rules, (taint,))]


def uncovered(there: Sequence[Toleration], new: Iterable[Toleration]) -> list[Toleration]:
    """Those of `new` that neither `there` nor an earlier one of `new` covers, in order."""
    added, scopes = list[Toleration](), _scopes(there)
    for toleration in new:
        if not _covered(toleration, scopes):
            added.append(toleration)
            scopes |= _scopes((toleration,))
    return added


def refused(new: Toleration, namespace: Namespace) -> bool:
    """Whether PodTolerationRestriction, where it is on, refuses a pod of the Namespace with this toleration.

    The Namespace's default tolerations are merged into the pod first: one that tolerates more takes the place of `new`.
    """
    whitelist = namespace.tolerations_whitelist
    return bool(whitelist) and not any(
        _is_superset(item, new) for item in (*(whitelist or ()), *namespace.default_tolerations)
    )


def _is_superset(there: dict[str, Any], new: Toleration) -> bool:
    """As isSuperset of Kubernetes' pkg/util/tolerations. new: has no tolerationSeconds."""
    key, operator, value, effect = [text_of(there.get(field)) for field in _FIELDS]
    if key != new.key and (key or operator != "Exists"):
        return False
    if effect not in ("", new.effect):
        return False
    if effect == "NoExecute" and there.get("tolerationSeconds") is not None:
        return False
    return operator == "Exists" or (
        operator in ("", "Equal") and new.operator == "Equal" and value == new.value
    )


def obstacles(case: PodCase, written: RequiredTerms) -> list[str]:
    """For each of the pod's rules why it does not apply, "" where it does, `when: needed` apart.

    written: the affinity that the pod gets.
    """
    why = unaccounted(case)
    if why:
        return [why] * len(case.own.tolerate)
    open_to = exposed(case, written)
    return [_inapplicable(case, rule, open_to) for rule in case.own.tolerate]


def applicable(case: PodCase, whys: Iterable[str]) -> list[Toleration]:
    """The tolerations of the pod's rules that apply, in order. whys: the `obstacles`."""
    applying = [rule for rule, why in zip(case.own.tolerate, whys, strict=True) if not why]
    possible = [rule.toleration for rule in applying if not rule.needed]
    if len(possible) == len(applying) or all_tainted(case, applying, possible):
        return [rule.toleration for rule in applying]
    return possible


def unaccounted(case: PodCase) -> str:
    """Why not every image is known to run wherever a toleration or a preference may send the pod, "" if it is."""
    if case.evidence.unasked:
        return "the platforms of an image cannot be looked up"
    if not case.evidence.known:
        return "no image has platforms to go by"
    if case.evidence.mounted_only and len(case.reachable_architectures) > 1:
        return "its images are mounted, and say nothing about where it runs"
    return ""


def _inapplicable(case: PodCase, rule: TolerationRule, open_to: frozenset[str]) -> str:
    """Why a rule does not apply to a pod whose images are accounted for, "" if it does, `when: needed` apart.

    open_to: `exposed(..)`.
    """
    if case.on_linux.isdisjoint(rule.architectures):
        return f"the pod cannot run on {joined(rule.architectures)}"
    unsafe = open_to.intersection(rule.architectures)
    if unsafe:
        return f"not all images run on {joined(unsafe)}, and nothing else keeps the pod off such nodes"
    return ""


def exposed(case: PodCase, written: RequiredTerms) -> frozenset[str]:
    """Of the architectures of the pod's rules, those that it may come to, taints apart, where an image does not run."""
    reachable = case.on_linux
    meant = [rule for rule in case.own.tolerate if not reachable.isdisjoint(rule.architectures)]
    others = {name for rule in meant for name in rule.architectures if name not in reachable}
    return frozenset(name for name in others if _exposed(name, case.reaches, written))


def _exposed(architecture: str, by_term: Sequence[Reach], written: RequiredTerms) -> bool:
    """Whether the pod may come to nodes of the architecture, taints apart, where an image does not run."""
    return any(
        not _runs(architecture, system) and meets(required, architecture)
        for reach in by_term
        if architecture not in reach.live
        and not reach.demand.closed
        and meets(reach.demand.requirements, architecture)
        for system, required in _written(reach, written)
    )


def _written(reach: Reach, terms: RequiredTerms) -> Iterator[tuple[System, list[Requirement]]]:
    """The systems of a term, each with what is written of its architecture: a term of its own, or one for all."""
    index = reach.demand.index
    own = terms.required if index is None else (dict(terms.narrowed).get(index, ()),)
    own = own if reach.split and own else (own or ((),)) * len(reach.systems)
    for system, expressions in zip(reach.systems, own, strict=True):
        yield system, [(operator, values) for key, operator, values in expressions if key == ARCH]


def _runs(architecture: str, system: System) -> bool:
    """Whether the images run on such nodes of the OS, or it has none."""
    if system.os == "windows" and architecture not in WINDOWS:
        return True
    return system.offered is None or architecture in system.offered


def all_tainted(case: PodCase, rules: Iterable[TolerationRule], more: Sequence[Toleration] = ()) -> bool:
    """Whether every node that the pod can reach needs a toleration of the rules. more: tolerations that it gets."""
    if any(os != "linux" for reach in case.reaches for os, _ in reach.live_cells):
        return False
    own = [*case.tolerations, *more]
    needy: set[str] = set()
    scopes = _scopes(own)
    for rule in rules:
        if not _covered(rule.toleration, scopes):
            needy.update(rule.architectures)
    # What the pod names and the cluster does not have is no place to run without a toleration.
    return needy.issuperset(case.on_linux & case.cluster or case.on_linux)


def unpreferred(case: PodCase, architecture: str) -> str:
    """Why the pod gets no preferred term for an architecture that its options prefer, "" if it gets one."""
    if case.prefers_architecture:
        return "the pod states a preference of its own"
    if case.pod.ref.kind == "DaemonSet":
        return "a DaemonSet runs on every node"
    if architecture not in case.on_linux:
        return f"the pod cannot run on {architecture}"
    if len(case.on_linux) < 2:
        return f"the pod runs on {architecture} alone"
    return unaccounted(case)
