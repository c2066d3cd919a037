"""Where a pod can go: for each required term t, over its operating systems, A(t) and T(t).

    one system of a term
    cluster         C: the entries of clusterArchitectures for this OS. An OS without entries has S(os), so that nothing
                    is taken from it; where the images offer nothing for it, it has those of Linux
    supported       S(os), narrowed by `only`; None: every architecture
    allowed         A(t): of `cluster` and of what the pod names, what nodeSelector and t let through. With several
                    systems, a named architecture that only another one's cluster has is meant for that one

    the term, over its systems: linux, and those for which the images have builds; else the first
    allowed         the union of A(t)
    barred          the union of A(t) - S(os): on some system an image does not run there
    live            T(t): the union of A(t) ∩ S(os), less `barred`
    lost            what `barred` takes from the union of A(t) ∩ S(os): a term has one list of architectures
                    for all of its systems

E               the union of T(t) over the terms: what the pod can reach in the end
"""

from __future__ import annotations

from archfit.placement.affinity import Demand, allowed
from archfit.placement.architectures import Known, supported
from archfit.record import Record
from archfit.typing_names import Iterable, Mapping

_NOTHING: frozenset[str] = frozenset()
_MOST_CLUSTERS = 8
_clusters: dict[tuple[str, ...], dict[str, frozenset[str]]] = {}


class System(Record):
    """One required term, judged for one operating system.

    offered: S(os) of the images alone, None where no image restricts.
    supported: S(os) narrowed by the user's `only`, None where nothing restricts.
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
    """One required term, judged; at least one system. lost: (os, architecture), sorted."""

    demand: Demand
    systems: tuple[System, ...]
    allowed: frozenset[str]
    barred: frozenset[str]
    live: frozenset[str]
    lost: tuple[tuple[str, str], ...] = ()


def by_system(entries: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """The architectures of `clusterArchitectures` by OS; there are always some for linux."""
    known = _clusters.get(entries)
    if known is None:
        if len(_clusters) >= _MOST_CLUSTERS:
            _clusters.clear()
        known = _clusters[entries] = _by_system(entries)
    return known


def _by_system(entries: tuple[str, ...]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {"linux": set()}
    for entry in entries:
        os, _, architecture = entry.rpartition("/")
        found.setdefault(os or "linux", set()).add(architecture)
    return {os: frozenset(names) for os, names in found.items()}


def reaches(
    demands: Iterable[Demand],
    images: Known,
    cluster: Mapping[str, frozenset[str]],
    only: frozenset[str] | None,
) -> tuple[Reach, ...]:
    """One Reach for each demand, in order. cluster: architectures by OS, as `by_system` gives them."""
    offers = Offers(images)
    return tuple(_reach(demand, offers, cluster, only) for demand in demands)


class Offers:
    """S(os) of a pod's images, each OS worked out once."""

    def __init__(self, images: Known) -> None:
        self._images = images
        self._by_os: dict[str, frozenset[str] | None] = {}
        self._known: set[str] | None = None

    def of(self, os: str) -> frozenset[str] | None:
        """S(os), None where no image restricts."""
        if os not in ("linux", "windows") and self._in_no_image(os):
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

    def _in_no_image(self, os: str) -> bool:
        if self._known is None:
            self._known = {platform.os for _, found in self._images for platform in found.platforms}
        return os not in self._known


def _reach(
    demand: Demand,
    offers: Offers,
    cluster: Mapping[str, frozenset[str]],
    only: frozenset[str] | None,
) -> Reach:
    systems: list[System] = []
    for os in offers.systems(demand):
        offered = offers.of(os)
        here = cluster.get(os) or offered or cluster["linux"]
        narrowed = offered
        if only is not None:
            narrowed = only if offered is None else offered & only
        systems.append(System(os, here, offered, narrowed, allowed(demand, here)))
    if len(systems) > 1:
        elsewhere = union(system.cluster for system in systems)
        systems = [
            system.replace(allowed=system.allowed - (elsewhere - system.cluster)) for system in systems
        ]
    open_to = union(system.allowed for system in systems)
    runs = union(system.runs for system in systems)
    barred = union(system.allowed - system.runs for system in systems)
    lost = [(system.os, name) for system in systems for name in system.runs & barred]
    return Reach(demand, tuple(systems), open_to, barred, runs - barred, tuple(sorted(lost)))


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """All members of all sets."""
    return _NOTHING.union(*sets)
