"""The reasons of decisions, for the report: what a pod gets, or why it gets nothing.

restricted to amd64 (arm64 is not offered by nginx:1.7.9); tolerates kubernetes.io/arch=arm64:NoSchedule
"""

from __future__ import annotations

from sys import intern

from archfit.options.settings import Toleration
from archfit.results import Removed
from archfit.typing_names import Iterable, Sequence


def listed(names: Iterable[str]) -> str:
    """`amd64, arm64`, sorted."""
    return ", ".join(sorted(names))


def because(lacking: Sequence[Removed]) -> str:
    """` (arm64: a, b do not offer it)`, or nothing."""
    parts = [f"{one.architecture} is not offered by {', '.join(one.images)}" for one in lacking]
    return f" ({'; '.join(parts)})" if parts else ""


def changed(
    restricted: Iterable[str],
    lacking: Sequence[Removed],
    tolerated: Sequence[Toleration],
    preferred: Iterable[str],
    *,
    unlabelled: str = "",
) -> str:
    """The reason of a Change; each part may be empty. unlabelled: the key by which it tolerates virtual nodes."""
    parts = []
    architectures = listed(restricted)
    if architectures:
        beside = (
            f", and to nodes without an architecture label (toleration of {unlabelled})" if unlabelled else ""
        )
        parts.append(f"restricted to {architectures}{because(lacking)}{beside}")
    parts += [f"tolerates {taint(toleration)}" for toleration in tolerated]
    preferences = listed(preferred)
    if preferences:
        parts.append(f"prefers {preferences}")
    return intern("; ".join(parts))  # pods of one stream often share it


def tolerates_alone(reason: str) -> bool:
    """Whether the reason of a Change says that the pod gets tolerations and nothing else."""
    return reason.startswith("tolerates ") and "; prefers " not in reason


def taint(toleration: Toleration) -> str:
    """`key=value:effect`, as kubectl writes taints."""
    value = f"={toleration.value}" if toleration.value else ""
    effect = f":{toleration.effect}" if toleration.effect else ""
    return f"{toleration.key}{value}{effect}"


def not_needed(*, needed_only: bool, known: int, unasked: bool, mounted_only: bool) -> str:
    """The reason of a NotNeeded. known: how many of its images are. unasked: others cannot be looked up."""
    if unasked and not known:
        return "the platforms of its images cannot be looked up"
    if unasked:
        return "what is known of its images needs nothing; the platforms of others cannot be looked up"
    if mounted_only:
        return "its images are mounted, and say nothing about where it runs"
    if needed_only:
        return "it runs as it is, and cannot be changed once applied"
    return "its images run wherever it can go"
