"""Where a pod can go, for each of its required terms, and the required node affinity that it gets.

A term opens cells (system, architecture) of the cluster, a named architecture only where some cluster has it; images
are asked then. An OS without entries in clusterArchitectures has what the images offer, so that nothing is taken from
it; where they offer nothing for it, it has those of Linux. One whose nodes have a taint that the pod does not tolerate
(`systemTaints`) is closed anyway. A term is meant for the systems that it or `spec.os` names, else for Linux if it
opens a cell of it, and beside these for others that its images run on; the rest is `shut`. The first row that holds
says what is written:

    a system is shut                        kubernetes.io/os In [the others], beside what the rows below write
    nodeSelector names an architecture      nothing, as it is supported already; a warning where the cluster lacks it
    a term with allowed ⊆ supported         untouched: narrow enough, `{}`, or nothing allowed
    a term with something live              In [live] is ANDed to it
    a term that allows, with nothing live   In [reachable], so that it matches nothing, and a warning
    no required terms, part of the cluster  one term In [supported ∩ cluster]
    the whole cluster is supported          nothing; `affinity: always` writes In [cluster]
    every architecture is supported         nothing

A dead term is closed by contradicting what it asks, never by `DoesNotExist`, which nodes without an arch label meet. A
pod that tolerates such nodes gets NotIn [cluster - supported] instead, also to close a term: they stay reachable. Terms
that ask for the label never lead there, and are narrowed as above.

A stale term is one that archfit may have narrowed when the images ran on less than they do now: its last expression
about the architecture is sorted, as archfit writes it. Without a `stamp` its author is unknown: it stays, with a
message.
"""

from __future__ import annotations

from archfit.images.platforms import ARCHITECTURES
from archfit.placement.affinity import (
    ARCH,
    ARCH_LABELS,
    OS,
    Demand,
    Expression,
    allowed,
    existing_terms,
    meeting,
    meets,
)
from archfit.placement.evidence import KnownImages, supported
from archfit.startup.record import Record
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

_NOTHING: frozenset[str] = frozenset()


class System(Record):
    """One required term, judged for one operating system.

    offered: by the images alone, None where no image restricts.
    supported: `offered`, narrowed by the user's `only`, None where nothing restricts.
    """

    os: str
    cluster: frozenset[str]
    offered: frozenset[str] | None
    supported: frozenset[str] | None
    allowed: frozenset[str]

    @property
    def runs(self) -> frozenset[str]:
        """What is allowed and supported."""
        return self.allowed if self.supported is None else self.allowed & self.supported

    @property
    def lacking(self) -> frozenset[str]:
        """What the cluster has and the images, or `only`, do not."""
        return _NOTHING if self.supported is None else self.cluster - self.supported


class Reach(Record):
    """One required term, judged; at least one system that it is meant for. lost, shut: (os, architecture), sorted.

    lost: where the images run, and one list cannot lead. shut: of other systems. split: a term for each system.
    """

    demand: Demand
    systems: tuple[System, ...]
    allowed: frozenset[str]
    barred: frozenset[str]
    live: frozenset[str]
    lost: tuple[tuple[str, str], ...] = ()
    shut: tuple[tuple[str, str], ...] = ()
    split: bool = False

    @property
    def cells(self) -> list[tuple[str, str]]:
        """All that the term opens, (os, architecture)."""
        return [*[(system.os, name) for system in self.systems for name in system.allowed], *self.shut]

    @property
    def live_cells(self) -> list[tuple[str, str]]:
        """What the pod can reach through it in the end, (os, architecture)."""
        return [(system.os, name) for system in self.systems for name in self.live & system.runs]

    @property
    def on_linux(self) -> frozenset[str]:
        """The architectures of its live cells of Linux, which a bare architecture of the user's means."""
        return frozenset([name for os, name in self.live_cells if os == "linux"])


def by_system(entries: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """The architectures of `clusterArchitectures` by OS; there are always some for linux."""
    by_os: dict[str, set[str]] = {"linux": set()}
    for entry in entries:
        os, _, architecture = entry.rpartition("/")
        by_os.setdefault(os or "linux", set()).add(architecture)
    return {os: frozenset(names) for os, names in by_os.items()}


def reaches(
    demands: Iterable[Demand],
    images: KnownImages,
    cluster: Mapping[str, frozenset[str]],
    only: frozenset[str] | None,
    tainted: Collection[str] = (),
) -> tuple[Reach, ...]:
    """One Reach for each demand, in order. cluster: architectures by OS, as `by_system` gives them.

    tainted: the systems all of whose nodes have a taint that the pod does not tolerate.
    """
    offers = Offers(images)
    return tuple(_reach(demand, offers, cluster, only, tainted) for demand in demands)


class Offers:
    """What a pod's images support, each OS worked out once."""

    def __init__(self, images: KnownImages) -> None:
        self._images = images
        self._by_os: dict[str, frozenset[str] | None] = {}
        self._known: set[str] | None = None

    def of(self, os: str) -> frozenset[str] | None:
        """The architectures that every image supports, None where no image restricts."""
        if self._known is None:
            self._known = {platform.os for _, answer in self._images for platform in answer.platforms}
        if os not in ("linux", "windows") and os not in self._known:
            os = ""  # one answer for all systems that no image names, however many terms do
        if os not in self._by_os:
            self._by_os[os] = supported(self._images, os)
        return self._by_os[os]

    def systems(self, demand: Demand) -> tuple[str, ...]:
        """The systems of a term for which the images have builds, and linux; else its first one."""
        if len(demand.systems) == 1:
            return demand.systems
        built = tuple(os for os in demand.systems if os == "linux" or self.of(os) != _NOTHING)
        return built or demand.systems[:1]


def _reach(
    demand: Demand,
    offers: Offers,
    cluster: Mapping[str, frozenset[str]],
    only: frozenset[str] | None,
    tainted: Collection[str],
) -> Reach:
    names: Sequence[str] = offers.systems(demand)
    if len(cluster) > 1:
        near = [os for os in demand.open_to if os not in tainted] or demand.open_to
        names = [os for os in near if os in cluster or os in names] or names
    systems = [_system(os, demand, offers, cluster, only) for os in names]
    opened = _with_cells(systems) if len(systems) > 1 else systems
    if (len(opened) == 1 or len(cluster) == 1) and demand.stated in ("", opened[0].os):
        return _over(demand, opened)
    possible = [system for system in opened if demand.stated in ("", system.os)]
    if only is not None:
        possible = possible[:1]  # a bare architecture means Linux, where the pod may go there
    meant = [system for system in possible if system.os in demand.systems] or possible
    alive = [system for system in possible if system.runs] if any(system.runs for system in meant) else []
    kept = alive or meant or opened
    reach = _over(demand, kept)
    if not alive:
        reach = reach.replace(live=_NOTHING, barred=reach.allowed, lost=())
    elif reach.lost and demand.index is None:
        reach = reach.replace(live=union(system.runs for system in alive), lost=(), split=True)
    elif not reach.live & alive[0].runs:
        lost = tuple((system.os, name) for system in alive[1:] for name in sorted(system.runs))
        reach, kept = _over(demand, alive[:1]).replace(lost=lost), alive[:1]
    shut = [
        (system.os, name)
        for system in opened
        if system not in kept
        for name in sorted(system.allowed & system.cluster)
    ]
    return reach.replace(shut=tuple(shut)) if shut else reach


def _with_cells(systems: list[System]) -> list[System]:
    """Those of several systems of which the term opens a cell, else the first."""
    there = union(system.cluster for system in systems)
    apart = [system.replace(allowed=system.allowed - (there - system.cluster)) for system in systems]
    return [system for system in apart if system.allowed] or apart[:1]


def _system(
    os: str,
    demand: Demand,
    offers: Offers,
    cluster: Mapping[str, frozenset[str]],
    only: frozenset[str] | None,
) -> System:
    offered = offers.of(os)
    here = cluster.get(os) or offered or cluster["linux"]
    narrowed = offered
    if only is not None:
        narrowed = only if offered is None else offered & only
    return System(os, here, offered, narrowed, allowed(demand, here))


def _over(demand: Demand, systems: list[System]) -> Reach:
    open_to = union(system.allowed for system in systems)
    runs = union(system.runs for system in systems)
    barred = union(system.allowed - system.runs for system in systems)
    lost = [(system.os, name) for system in systems for name in system.runs & barred]
    return Reach(demand, tuple(systems), open_to, barred, runs - barred, tuple(sorted(lost)))


def named(os: str, architecture: str) -> str:
    """A cell as clusterArchitectures has it: `amd64`, `windows/amd64`."""
    return architecture if os == "linux" else f"{os}/{architecture}"


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """All members of all sets."""
    return _NOTHING.union(*sets)


class RequiredTerms(Record):
    """What to write, as expressions about the node's architecture and operating system.

    required: the terms to create, mostly one of one expression. narrowed: (index of a term, what to AND to it).
    only_always: `required` is there because of `affinity: always` alone.
    dead: those of the terms that are made to match nothing.
    """

    required: tuple[tuple[Expression, ...], ...] = ()
    narrowed: tuple[tuple[int, tuple[Expression, ...]], ...] = ()
    only_always: bool = False
    dead: tuple[Reach, ...] = ()


NOTHING = RequiredTerms()


def required_terms(
    by_term: Sequence[Reach], *, pinned: bool, always: bool, unlabelled: bool
) -> RequiredTerms:
    """The affinity for a pod that can reach some architecture.

    pinned: nodeSelector names an architecture. unlabelled: it tolerates nodes without an arch label.
    """
    first = by_term[0]
    if first.demand.index is None:
        return _created(first, pinned=pinned, always=always, unlabelled=unlabelled)
    reachable = union(reach.live for reach in by_term)
    narrowed: list[tuple[int, tuple[Expression, ...]]] = []
    dead = []
    for reach in by_term:
        index = reach.demand.index
        if index is None or not (reach.barred or reach.shut):
            continue
        unlabelled_too = unlabelled and not reach.demand.asks_for_label
        if reach.live or unlabelled_too:
            narrowed.append((index, _narrowing(reach, unlabelled=unlabelled_too)))
        else:
            narrowed.append((index, _closing(reach.demand, reachable)))
        if not reach.live:
            dead.append(reach)
    return RequiredTerms((), tuple(narrowed), dead=tuple(dead)) if narrowed else NOTHING


def _created(reach: Reach, *, pinned: bool, always: bool, unlabelled: bool) -> RequiredTerms:
    unlabelled = unlabelled and not reach.demand.asks_for_label
    if reach.split:
        parts = [(_over(reach.demand, [system]), system.os) for system in reach.systems]
        apart = [
            part.replace(shut=tuple(cell for cell in reach.cells if cell[0] != os)) for part, os in parts
        ]
        return RequiredTerms(tuple([_narrowing(part, unlabelled=unlabelled) for part in apart]))
    if pinned or reach.systems[0].supported is None:
        reach = reach.replace(barred=_NOTHING)
        always = False
    if reach.barred or reach.shut:
        return RequiredTerms((_narrowing(reach, unlabelled=unlabelled),))
    return RequiredTerms(((_is_in(reach.live),),), only_always=True) if always and not unlabelled else NOTHING


def _narrowing(reach: Reach, *, unlabelled: bool) -> tuple[Expression, ...]:
    """What keeps a term to where the images run. unlabelled: nodes without the labels stay reachable."""
    shut = tuple(sorted({os for os, _ in reach.shut}))
    on = tuple(sorted(system.os for system in reach.systems))
    expressions: tuple[Expression, ...] = ()
    if shut:
        expressions = ((OS, "NotIn", shut) if unlabelled else (OS, "In", on),)
    if not reach.barred:
        return expressions
    lacking = tuple(sorted(union(system.lacking for system in reach.systems)))
    return (*expressions, (ARCH, "NotIn", lacking) if unlabelled else _is_in(reach.live))


def _is_in(architectures: frozenset[str]) -> Expression:
    return ARCH, "In", tuple(sorted(architectures))


def _closing(demand: Demand, reachable: frozenset[str]) -> tuple[Expression, ...]:
    """What no node can meet together with the term."""
    apart = frozenset(name for name in reachable if not meets(demand.requirements, name))
    if apart:
        return (_is_in(apart),)
    another = next((name for name in ARCHITECTURES if name not in reachable), "none")
    closing = _is_in(frozenset((another,)))
    met = another != "none" and meets(demand.requirements, another)
    return (_is_in(reachable), closing) if met else (closing,)


class Stale(Record):
    """A stale term. index: its place in nodeSelectorTerms. runs: what it would allow too, and all images run on."""

    index: int
    allowed: frozenset[str]
    runs: frozenset[str]


def stale_terms(pod: Pod, by_term: Iterable[Reach], *, unlabelled: bool) -> Iterator[Stale]:
    """The terms of the pod that are stale. Raises Malformed.

    unlabelled: the pod tolerates nodes without an arch label, and so gets NotIn.
    """
    terms: list[dict[str, Any]] | None = None
    for reach in by_term:
        index, system = reach.demand.index, reach.systems[0]
        if index is None or len(reach.systems) > 1 or not reach.demand.requirements:
            continue
        here = system.cluster if system.supported is None else system.cluster & system.supported
        if here <= reach.allowed:
            continue
        *others, (operator, values) = reach.demand.requirements
        runs = here & meeting(others, here)
        terms = existing_terms(pod)[0] if terms is None else terms
        written = {"key": ARCH, "operator": operator, "values": sorted(set(values))}
        ours = operator == "In" or (operator == "NotIn" and unlabelled)
        if ours and not runs <= reach.allowed and _last_of_label((terms or [])[index]) == written:
            yield Stale(index, reach.allowed & system.cluster, runs)


def _last_of_label(term: dict[str, Any]) -> Any:
    """The last expression about the architecture: archfit appends."""
    expressions = (
        expression
        for expression in reversed(term.get("matchExpressions") or ())
        if expression and expression.get("key") in ARCH_LABELS
    )
    return next(expressions, None)
