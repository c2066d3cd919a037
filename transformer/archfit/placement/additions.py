"""Step (c): tolerations and preferred terms on top of the affinity; what step (d) leaves of the tolerations.

    a toleration rule for R applies       where all images run on every architecture of R, R is part of C,
                                          the pod can reach one of R, and every image has an answer
    an architecture needs a toleration    where a rule names it whose toleration the pod has not got
    a preferred term is written           for each weighted architecture that the pod can reach, if it can
                                          reach another one too, and every image has an answer

R: the architectures of the rule.
"""

from __future__ import annotations

from archfit.placement.tolerations import uncovered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from archfit.options.values import Toleration, TolerationRule
    from archfit.placement.evidence import Evidence
    from archfit.placement.reach import Reach


def applicable(
    rules: Iterable[TolerationRule], found: Sequence[Reach], evidence: Evidence
) -> list[Toleration]:
    """The tolerations of the rules that apply, in order."""
    if evidence.unasked or not evidence.known:
        return []
    return [rule.toleration for rule in rules if any(_applies(rule, reach) for reach in found)]


def _applies(rule: TolerationRule, reach: Reach) -> bool:
    names = rule.architectures
    return (
        not reach.live.isdisjoint(names)
        and reach.cluster.issuperset(names)
        and (reach.offered is None or reach.offered.issuperset(names))
    )


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
