"""The sentences of decisions: conflicts, warnings and reasons.

A conflict says what the pod itself demands, what every image offers, and what to do:

    pinned to arm64 by its nodeSelector, but nginx:1.7.9 offers only amd64; redis:7 offers amd64, arm64.
"""

from __future__ import annotations

from archfit.patch import dotted
from archfit.placement.affinity import ARCH_LABELS, REQUIRED
from archfit.placement.architectures import offered
from archfit.placement.reach import union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from archfit.images.platforms import Found
    from archfit.options.values import Options, Toleration
    from archfit.outcome import Removed
    from archfit.patch import Path
    from archfit.placement.architectures import Known
    from archfit.placement.reach import Reach
    from archfit.placement.selection import Wishes
    from archfit.workloads.pods import ImageUse, Pod

_ADVICE = (
    "Use images that share an architecture the pod can reach, change what the pod asks for, or set "
    'archfit.dev/skip: "true" on it; --on-conflict leave leaves such pods as they are'
)


def listed(names: Iterable[str]) -> str:
    """`amd64, arm64`, sorted."""
    return ", ".join(sorted(names))


def conflict(
    pod: Pod, pins: Sequence[str], found: Sequence[Reach], images: Known, asked: Wishes, options: Options
) -> str:
    """Why the pod can go nowhere: its demands, every image with its architectures, what to do."""
    open_to = union(reach.allowed for reach in found)
    systems = tuple(dict.fromkeys(reach.demand.os for reach in found)) or ("linux",)
    pin = "nodeSelector"
    if pod.places is not None and pod.places.architecture:
        pin = dotted(pod.places.architecture)
    demands = _demands(pins, pin, found, open_to, options)
    if asked.only is not None:
        demands += f", {asked.only_by} allows {listed(asked.only) or 'nothing'}"
    offers = dict.fromkeys(_offer(use, answer, systems, open_to) for use, answer in images)
    link = ", but " if open_to else "; "
    return f"{demands}{link if offers else ''}{'; '.join(offers)}. {_ADVICE}"


def demanding_path(pod: Pod, pins: Sequence[str], found: Sequence[Reach]) -> Path:
    """The path of the pod's own demand, or of the pod spec."""
    path = pod.path
    if pins and pod.places is not None and pod.places.architecture:
        return pod.places.architecture
    if pins:
        key = next(key for key in pod.spec["nodeSelector"] if key in ARCH_LABELS)
        path = (*pod.at("nodeSelector"), key)
    elif not found or found[0].demand.index is not None:
        path = (*pod.at("affinity"), "nodeAffinity", REQUIRED)
    return path


def _demands(
    pins: Sequence[str], pin: str, found: Sequence[Reach], open_to: frozenset[str], options: Options
) -> str:
    if not open_to:
        return "no node matches its own nodeSelector and required node affinity"
    if pins:
        return f"pinned to {listed(pins)} by its {pin}"
    if found[0].demand.index is not None and not open_to >= set(options.cluster_architectures):
        return f"pinned to {listed(open_to)} by its required node affinity"
    return f"no architecture is left: the cluster has {listed(options.cluster_architectures)}"


def _offer(use: ImageUse, found: Found, systems: Sequence[str], wanted: frozenset[str]) -> str:
    sets = {system: offered(use, found, system) for system in systems}
    per_system = {system: names for system, names in sets.items() if names}
    if any(names is None for names in sets.values()):
        return f"{use.text} runs anywhere"
    if not per_system:
        platforms = listed(map(str, found.platforms))
        return f"{use.text} offers nothing for {listed(systems)}{', only ' + platforms if platforms else ''}"
    if tuple(per_system) == ("linux",):
        text = listed(per_system["linux"])
    else:
        text = listed(f"{system}/{name}" for system, names in per_system.items() for name in names)
    only = "" if all(names >= wanted for names in per_system.values()) else "only "
    return f"{use.text} offers {only}{text}"


def dead_term(os: str, architectures: Iterable[str], reachable: Iterable[str]) -> str:
    """The warning for a required term that no node may match any more."""
    return (
        f"the images do not run on what this term allows ({os}: {listed(architectures)}), so it is closed; "
        f"the pod runs on {listed(reachable)}"
    )


def foreign_pin(pins: Iterable[str], cluster: Iterable[str]) -> str:
    """The warning for a nodeSelector whose architecture the cluster is not said to have."""
    return (
        f"pinned to {listed(pins)} by its nodeSelector, but the cluster has {listed(cluster)}; "
        "correct one of them (--cluster-architectures)"
    )


def unsafe(lacking: Sequence[Removed]) -> str:
    """The warning for `affinity: never` where affinity would be needed."""
    return f"unsafe: affinity: never lets the pod onto nodes that cannot run it{because(lacking)}"


def daemon_set(lost: Iterable[str], lacking: Sequence[Removed]) -> str:
    """The warning for a DaemonSet that leaves out nodes."""
    return f"this DaemonSet will not run on the {listed(set(lost))} nodes{because(lacking)}"


def because(lacking: Sequence[Removed]) -> str:
    """` (arm64: a, b do not offer it)`, or nothing."""
    parts = [f"{one.architecture} is not offered by {', '.join(one.images)}" for one in lacking]
    return f" ({'; '.join(parts)})" if parts else ""


def changed(
    restricted: Iterable[str],
    lacking: Sequence[Removed],
    tolerated: Sequence[Toleration],
    preferred: Iterable[str],
) -> str:
    """The reason of a Change; each part may be empty."""
    parts = []
    architectures = listed(restricted)
    if architectures:
        parts.append(f"restricted to {architectures}{because(lacking)}")
    parts += [f"tolerates {taint(toleration)}" for toleration in tolerated]
    preferences = listed(preferred)
    if preferences:
        parts.append(f"prefers {preferences}")
    return "; ".join(parts)


def taint(toleration: Toleration) -> str:
    """`key=value:effect`, as kubectl writes taints."""
    value = f"={toleration.value}" if toleration.value else ""
    effect = f":{toleration.effect}" if toleration.effect else ""
    return f"{toleration.key}{value}{effect}"


def not_needed(*, needed_only: bool, unseen: bool) -> str:
    """The reason of a NotNeeded. unseen: nobody can say what any of its images runs on."""
    if unseen:
        return "nobody can say what its images run on"
    if needed_only:
        return "it runs as it is, and cannot be changed once applied"
    return "its images run wherever it can go"
