"""Step (c): tolerations and preferred terms on top of the affinity; what step (d) leaves of the tolerations.

    a toleration rule for R applies       where the pod can reach one of R in the end, all images run on every other
                                          one of R or its required affinity shuts it out, and every image has an answer
    an architecture needs a toleration    where a rule names it whose toleration the pod has not got
    a preferred term is written           for each weighted architecture that the pod can reach, if it can
                                          reach another one too, and every image has an answer

R: the architectures of the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.options.settings import Toleration, TolerationRule
from archfit.options.text_form import WINDOWS
from archfit.placement.affinity import meets
from archfit.placement.evidence import Evidence
from archfit.placement.reach import Reach, System
from archfit.placement.required_terms import Restriction
from archfit.placement.tolerations import uncovered


def applicable(
    rules: Iterable[TolerationRule],
    found: Sequence[Reach],
    reachable: frozenset[str],
    written: Restriction,
    evidence: Evidence,
) -> list[Toleration]:
    """The tolerations of the rules that apply, in order. reachable: E. written: the affinity that the pod gets."""
    if evidence.unasked or not evidence.known:
        return []
    return [
        rule.toleration
        for rule in rules
        if not reachable.isdisjoint(rule.architectures)
        and not any(_exposed(name, found, written) for name in rule.architectures if name not in reachable)
    ]


def _exposed(architecture: str, found: Sequence[Reach], written: Restriction) -> bool:
    """Whether the pod may come to nodes of the architecture, taints apart, where an image does not run."""
    narrowed = dict(written.narrowed)
    required = () if written.required is None else (written.required,)
    for reach in found:
        demand = reach.demand
        if architecture in reach.live or demand.closed:
            continue
        if all(_runs(architecture, system) for system in reach.systems):
            continue
        own = required if demand.index is None else narrowed.get(demand.index, ())
        if meets(demand.requirements, architecture) and meets(own, architecture):
            return True
    return False


def _runs(architecture: str, system: System) -> bool:
    """Whether the images run on such nodes of the OS, or it has none."""
    if system.os == "windows" and architecture not in WINDOWS:
        return True
    return system.offered is None or architecture in system.offered


def all_tainted(rules: Sequence[TolerationRule], own: Sequence[Toleration], reachable: Iterable[str]) -> bool:
    """Whether every architecture that the pod can reach needs a toleration."""
    needy: set[str] = set()
    for rule in rules:
        if uncovered(own, (rule.toleration,)):
            needy.update(rule.architectures)
    return needy.issuperset(reachable)


def preferred(
    wished: Iterable[tuple[str, int]], reachable: frozenset[str], evidence: Evidence
) -> list[tuple[str, int]]:
    """(architecture, weight) of each preferred term, sorted; none unless every image has an answer."""
    if len(reachable) < 2 or evidence.unasked or not evidence.known:
        return []
    return sorted((architecture, weight) for architecture, weight in wished if architecture in reachable)
