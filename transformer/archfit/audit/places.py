"""Where pods may go: the Linux nodes of a cluster, and what its pools may bring, each with labels and taints.

    node    has the labels that it has, whether it takes pods now or not; a virtual one is no place
    pool    has what it states; of a label that it does not state nothing is known, and the condition counts as met

Of an architecture without a node and without a pool nothing is known but the architecture itself. Sets of places are
bits of a whole number: thousands of nodes and of conditions cost one step for each condition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from operator import and_, or_
from typing import TypeAlias

from archfit.base.printable import count
from archfit.cluster.pools.karpenter import Requirement, contradiction
from archfit.facts.facts import AuditFacts, Condition, NodeFacts, PoolFacts, Term
from archfit.options.settings import Toleration
from archfit.placement.affinity import ARCH, ARCH_LABELS, meeting, meets
from archfit.placement.tolerations import covers
from archfit.startup.record import Record

_CLOSING = ("NoSchedule", "NoExecute")
Terms: TypeAlias = tuple[Term, ...]
_Tolerations: TypeAlias = tuple[tuple[str, str, str, str], ...]
_Taints: TypeAlias = tuple[Toleration, ...]


class Lack(Record):
    """Why no place of an architecture meets a pod's own placement.

    labels: the conditions that none there meets, as selectors of kubectl. having: who meets them, as `2 amd64 nodes`,
    "" for nobody.
    """

    labels: str
    having: str


class Places:
    """The places of one cluster. nodes: the Linux nodes; the bit of each is that of its number."""

    def __init__(self, nodes: Iterable[NodeFacts] = (), pools: Iterable[PoolFacts] = ()) -> None:
        self.nodes = tuple(
            node for node in nodes if node.os == "linux" and node.architecture and not node.virtual
        )
        self._of: dict[str, int] = defaultdict(int)
        self._devices: dict[str, set[str]] = defaultdict(set)
        self._entries: dict[_Taints, int] = defaultdict(int)
        self._labels: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._pools: list[tuple[int, PoolFacts]] = []
        for number, node in enumerate(self.nodes):
            self._of[node.architecture] |= 1 << number
            self._devices[node.architecture].update(node.devices)
            for key, value in node.labels:
                self._labels[key][value] |= 1 << number
            if is_open(node):
                self._entries[taints_of(node)] |= 1 << number
        self._of_nodes = (1 << len(self.nodes)) - 1
        brought = [(pool, name) for pool in pools for name in pool.architectures if "/" not in name]
        for number, (pool, architecture) in enumerate(brought, len(self.nodes)):
            self._of[architecture] |= 1 << number
            self._entries[taints_of(pool)] |= 1 << number
            self._pools.append((1 << number, pool))
        self._all = (1 << (len(self.nodes) + len(brought))) - 1
        self._met: dict[tuple[Condition, bool], int] = {}
        self._fitting: dict[tuple[Terms, bool], int] = {}

    @property
    def architectures(self) -> frozenset[str]:
        """Those of the nodes and pools."""
        return frozenset(self._of)

    def fitting(self, terms: Terms, *, sure: bool = False) -> int:
        """The places that meet one of the terms. sure: without those of which nothing is known."""
        known = self._fitting.get((terms, sure))
        if known is None:
            known = self._fitting[terms, sure] = (
                reduce(or_, (self._meeting(_conditions(term), sure=sure) for term in terms))
                if terms
                else self._all
            )
        return known

    def allow(self, terms: Terms, architecture: str) -> bool:
        """Whether a place of the architecture meets one of the terms."""
        there = self._of.get(architecture)
        if there:
            return bool(self.fitting(terms) & there)
        return not terms or any(_names(term, architecture) for term in terms)

    def take(self, terms: Terms, tolerations: _Tolerations, architecture: str) -> bool:
        """Whether an open node or a pool of the architecture does, all of whose taints are tolerated."""
        there = self.fitting(terms) & self._of.get(architecture, 0)
        return any(
            there & places and tolerate(tolerations, taints) for taints, places in self._entries.items()
        )

    def devices(self, architecture: str) -> frozenset[str]:
        """What nodes of the architecture have for pods, one or another of them."""
        return frozenset(self._devices.get(architecture, ()))

    def lack(self, terms: Terms, architecture: str) -> Lack | None:
        """Why labels keep pods off; None where they do not, or the architecture that the pods name does."""
        there = self._of.get(architecture, 0)
        term = next((term for term in terms if _names(term, architecture)), None)
        if term is None or not there or self.fitting(terms) & there:
            return None
        missing = self._missing(term, there)
        return Lack(_selector(missing), self._having(self._meeting(missing)))

    def unsaid(self, terms: Terms, architecture: str) -> str:
        """The labels that pods ask for of which the input does not say whether a place there has them; "" for none."""
        there = self._of.get(architecture, 0)
        if not self.allow(terms, architecture) or self.fitting(terms, sure=True) & there:
            return ""
        term = next(term for term in terms if _names(term, architecture)) if terms else Term()
        return _selector(self._missing(term, there, sure=True))

    def _missing(self, term: Term, there: int, *, sure: bool = False) -> list[Condition]:
        """The term's conditions on labels that no place of these meets, else all of them."""
        labels = [condition for condition in term.conditions if condition[0] not in ARCH_LABELS]
        return [label for label in labels if not self._meeting((label,), sure=sure) & there] or labels

    def _meeting(self, conditions: Iterable[Condition], *, sure: bool = False) -> int:
        return reduce(and_, (self._with(condition, sure=sure) for condition in conditions), self._all)

    def _with(self, condition: Condition, *, sure: bool) -> int:
        known = self._met.get((condition, sure))
        if known is None:
            known = self._met[condition, sure] = self._found(condition, sure=sure)
        return known

    def _found(self, condition: Condition, *, sure: bool) -> int:
        key, operator, values = condition
        if key in ARCH_LABELS:
            return sum(places for name, places in self._of.items() if meets([(operator, values)], name))
        own = self._labels.get(key, {})
        chosen = values if operator == "In" else meeting([(operator, values)], own)
        places = reduce(or_, (own.get(value, 0) for value in chosen), 0)
        if (operator == "NotIn" and values) or (operator == "DoesNotExist" and not values):
            places |= self._of_nodes & ~reduce(or_, own.values(), 0)
        return places | sum(place for place, pool in self._pools if _may_have(pool, condition, sure=sure))

    def _having(self, places: int) -> str:
        nodes = Counter(node.architecture for number, node in enumerate(self.nodes) if places >> number & 1)
        pools = dict.fromkeys(f"{pool.kind} {pool.name}" for place, pool in self._pools if places & place)
        return " and ".join((*(count(nodes[name], f"{name} node") for name in sorted(nodes)), *pools))


def places_of(facts: AuditFacts) -> Mapping[str, Places]:
    """The places of each snapshot."""
    nodes: dict[str, list[NodeFacts]] = defaultdict(list)
    pools: dict[str, list[PoolFacts]] = defaultdict(list)
    for node in facts.nodes:
        nodes[node.snapshot].append(node)
    for pool in facts.pools:
        pools[pool.snapshot].append(pool)
    places: dict[str, Places] = defaultdict(Places)
    for snapshot in nodes.keys() | pools.keys():
        places[snapshot] = Places(nodes[snapshot], pools[snapshot])
    return places


def is_open(node: NodeFacts) -> bool:
    """Whether it is Ready, not cordoned and not virtual."""
    return node.ready and not node.unschedulable and not node.virtual


def taints_of(place: NodeFacts | PoolFacts) -> _Taints:
    """The taints that keep pods off which do not tolerate them, each as the toleration of exactly this taint."""
    return tuple(taint for taint in map(toleration_of, place.taints) if taint.effect in _CLOSING)


def toleration_of(taint: str) -> Toleration:
    """Of exactly a taint, which is written `key=value:effect`."""
    assignment, _, effect = taint.rpartition(":")
    key, _, value = assignment.partition("=")
    return Toleration(key, "Equal", value, effect)


@lru_cache(maxsize=8192)
def tolerate(tolerations: _Tolerations, taints: _Taints) -> bool:
    """Whether each taint is tolerated."""
    own = [Toleration(*toleration) for toleration in tolerations]
    return all(any(covers(toleration, taint) for toleration in own) for taint in taints)


def _conditions(term: Term) -> tuple[Condition, ...]:
    return (*term.conditions, (ARCH, "In", term.end)) if term.end else term.conditions


def _names(term: Term, architecture: str) -> bool:
    """Whether the term's conditions on the architecture hold."""
    return all(
        meets([(operator, values)], architecture)
        for key, operator, values in _conditions(term)
        if key in ARCH_LABELS
    )


def named(terms: Terms, architectures: Iterable[str]) -> frozenset[str]:
    """Those that the conditions on the architecture of one of the terms allow, whatever else it asks for."""
    return frozenset(name for name in architectures if not terms or any(_names(term, name) for term in terms))


def _may_have(pool: PoolFacts, condition: Condition, *, sure: bool) -> bool:
    own = [stated for stated in pool.labels if stated[0] == condition[0]]
    if not own:
        return not sure
    if any(operator == "DoesNotExist" for _, operator, _ in own):
        return condition[1] in ("NotIn", "DoesNotExist")
    return not contradiction([Requirement(*each) for each in (*own, condition)])


_SIGNS = {"In": " in ", "NotIn": " notin ", "Gt": ">", "Lt": "<"}


def _selector(conditions: Sequence[Condition]) -> str:
    texts = []
    for key, operator, values in conditions:
        if operator in ("In", "NotIn") and len(values) == 1:
            texts.append(f"{key}{'=' if operator == 'In' else '!='}{values[0]}")
        elif operator in _SIGNS:
            listed = ",".join(values)
            texts.append(f"{key}{_SIGNS[operator]}{listed if operator in ('Gt', 'Lt') else f'({listed})'}")
        else:
            texts.append(f"{'!' if operator == 'DoesNotExist' else ''}{key}")
    return ",".join(texts)
