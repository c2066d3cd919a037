"""Where a pod can go: for each required term t, A(t) and T(t), which is A(t) intersected with S.

os              chooses the images' architectures S(os)
cluster         C; for another OS than linux, C and S(os) together
supported       S(os), narrowed by `only`; None: every architecture
allowed         A(t): of `cluster` and of what the pod names, what nodeSelector and t let through
live            T(t): both in A(t) and in S
E               the union of T(t) over the terms: what the pod can reach in the end
"""

from __future__ import annotations

from archfit.placement.affinity import allowed
from archfit.placement.architectures import supported
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from archfit.placement.affinity import Demand
    from archfit.placement.architectures import Known


class Reach(Record):
    """One required term, judged.

    offered: S(os) of the images alone, None where no image restricts.
    supported: S(os) narrowed by the user's `only`, None where nothing restricts.
    """

    demand: Demand
    cluster: frozenset[str]
    offered: frozenset[str] | None
    supported: frozenset[str] | None
    allowed: frozenset[str]
    live: frozenset[str]


def reaches(
    demands: Iterable[Demand], images: Known, cluster: frozenset[str], only: frozenset[str] | None
) -> tuple[Reach, ...]:
    """One Reach for each demand, in order. `cluster`: the architectures of the cluster's Linux nodes."""
    by_os: dict[str, frozenset[str] | None] = {}
    found = []
    for demand in demands:
        if demand.os not in by_os:
            by_os[demand.os] = supported(images, demand.os)
        offered = by_os[demand.os]
        here = cluster if demand.os == "linux" or offered is None else cluster | offered
        narrowed = offered
        if only is not None:
            narrowed = only if offered is None else offered & only
        open_to = allowed(demand, here)
        live = open_to if narrowed is None else open_to & narrowed
        found.append(Reach(demand, here, offered, narrowed, open_to, live))
    return tuple(found)


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """All members of all sets."""
    return frozenset().union(*sets)
