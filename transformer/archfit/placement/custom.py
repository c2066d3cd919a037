"""What the pod of a custom resource can be given, and what its operator makes of it.

What the kind has no field for, or its operator takes from another path, is a conflict where the pod cannot run without
it (a warning where the pod has no placement at all, `unplaced`), else it is dropped.
"""

from __future__ import annotations

from archfit.base.patch import Add, Operation, Path, dotted
from archfit.base.results import Message, Removed, Severity
from archfit.options.settings import Options
from archfit.placement.affinity import Demand, with_part
from archfit.placement.evidence import KnownImages
from archfit.placement.pod_patch import Additions, because, joined, taint
from archfit.placement.reach import NOTHING, Reach, reaches
from archfit.startup.record import Record
from archfit.workloads.pods import PlacementPaths, Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence


class Writable(Record):
    """What of the additions can be written. problem: why that is not enough, "" where it is."""

    additions: Additions
    messages: tuple[Message, ...] = ()
    problem: str = ""


def writable(
    pod: Pod,
    options: Options,
    reachable: Iterable[str],
    lacking: Sequence[Removed],
    additions: Additions,
    *,
    tainted: bool,
) -> Writable:
    """What the kind has fields for. tainted: all that the pod can reach needs one of the new tolerations."""
    replaced = _replacing(pod)
    if pod.placement_paths and pod.placement_paths.pins and "nodeSelector" not in replaced:
        return _beside_default(pod, additions)
    no_affinity = pod.lacks("affinity") or "affinity" in replaced
    no_tolerations = pod.lacks("tolerations") or "tolerations" in replaced
    if not no_affinity and not no_tolerations:
        return Writable(additions)
    kind, unplaced = pod.ref.kind, pod.placement_paths.unplaced if pod.placement_paths else ""
    needed: dict[str, str] = {}
    if no_affinity and additions.terms is not NOTHING and not additions.terms.only_always:
        needed["affinity"] = (
            f"it has to run on {joined(reachable)}{because(lacking)}, but {kind} has no field for node "
            "affinity; restrict its namespace or nodes by other means, or leave such pods as they are with "
            "--on-conflict leave"
        )
    if no_tolerations and tainted:
        needed["tolerations"] = (
            f"it needs a toleration of {', '.join(map(taint, additions.tolerations))}, but {kind} has no field for "
            "tolerations; leave such pods as they are with --on-conflict leave"
        )
    if needed and unplaced:
        messages = [pod.message("warning", f"{unplaced}{because(lacking)}", pod.path)]
    elif needed:
        severity: Severity = "error" if options.on_conflict == "fail" else "warning"
        messages = [
            pod.message(severity, _replaced(pod.at(field)), replaced[field])
            if field in replaced
            else pod.message(severity, message, pod.path)
            for field, message in needed.items()
        ]
    else:
        preferences = [f"a preference of {name}" for name, _ in additions.preferred]
        tolerations = [f"a toleration of {taint(toleration)}" for toleration in additions.tolerations]
        messages = [
            pod.message("info", _dropped(pod, field, names), pod.path)
            for field, names in (
                ("affinity", preferences * no_affinity),
                ("tolerations", tolerations * no_tolerations),
            )
            if names and not unplaced
        ]
    elsewhere = "its operator reads what it needs from another field"
    problem = elsewhere if replaced else f"{kind} has no field for what it needs"
    left = Additions(
        NOTHING if no_affinity else additions.terms,
        () if no_affinity else additions.preferred,
        () if no_tolerations else additions.tolerations,
    )
    return Writable(left, tuple(messages), problem if needed else "")


def withheld(pod: Pod, additions: Additions, *, always: bool) -> tuple[str, ...]:
    """What the pod of a row that was not seen is not given. always: `affinity: always` would write an affinity."""
    replaced = _replacing(pod)
    texts = ["the affinity of --affinity always"] * always
    texts += [f"a preference of {name}" for name, _ in additions.preferred]
    if pod.lacks("affinity") or "affinity" in replaced:
        texts = []
    if not pod.lacks("tolerations") and "tolerations" not in replaced:
        texts += [f"a toleration of {taint(toleration)}" for toleration in additions.tolerations]
    return tuple(texts)


def parts_of(
    pod: Pod,
    demands: Sequence[Demand],
    images: KnownImages,
    cluster: Mapping[str, frozenset[str]],
    only: frozenset[str] | None,
    tainted: Collection[str],
) -> Iterator[tuple[Path, tuple[Reach, ...]]]:
    """What those of the pods can reach that have a term of their own, and where it stands. Raises MalformedField."""
    for path, term in pod.placement_paths.parts if pod.placement_paths else ():
        wanted = [with_part(demand, path, term) for demand in demands]
        yield path, reaches(wanted, images, cluster, only, tainted)


def _beside_default(pod: Pod, additions: Additions) -> Writable:
    """What leaves the affinity as it is that the operator writes: labels for nodeSelector, each of one value."""
    required = additions.terms.required
    if required and not additions.terms.only_always:
        only = [
            (key, values[0]) for key, operator, values in required[0] if operator == "In" and len(values) == 1
        ]
        pins = tuple(only) if len(required) == 1 and len(only) == len(required[0]) else ()
        return Writable(additions.replace(pins=pins, preferred=() if pins else additions.preferred))
    names = [f"a preference of {name}" for name, _ in additions.preferred]
    names += ["an affinity"] * additions.terms.only_always
    messages = [
        pod.message("info", f"{name} would be added, but {pod.placement_paths.lost_default}", pod.path)
        for name in names
        if pod.placement_paths
    ]
    return Writable(additions.replace(terms=NOTHING, preferred=()), tuple(messages))


def effect(pod: Pod, paths: PlacementPaths, patch: Iterable[Operation]) -> list[Message]:
    """Messages about the effect of the patch on this operator."""
    messages = []
    affinity, patch = pod.at("affinity"), tuple(patch)
    if paths.lost_default and any(_within(step, affinity) for step in patch):
        messages.append(pod.message("warning", paths.lost_default, affinity))
    messages += [
        pod.message("warning", text, pod.at(name))
        for name, text in paths.outside
        if name in paths.hidden and any(_within(step, pod.at(name)) for step in patch)
    ]
    if paths.needed_only:
        messages.append(pod.message("warning", paths.needed_only, pod.path))
    if paths.note:
        messages.append(pod.message("info", paths.note, pod.path))
    return messages


def _within(step: Operation, holder: Path) -> bool:
    return isinstance(step, Add) and step.path[: len(holder)] == holder


def _replacing(pod: Pod) -> dict[str, Path]:
    """Where the operator takes fields from in place of the pod's own."""
    return dict(pod.placement_paths.replaced) if pod.placement_paths else {}


def _replaced(own: Path) -> str:
    return (
        f"it replaces {dotted(own)}, so a change there has no effect; keep one of the two, or leave "
        "such pods as they are with --on-conflict leave"
    )


def _dropped(pod: Pod, field: str, names: Iterable[str]) -> str:
    winner = _replacing(pod).get(field)
    why = f"{dotted(winner)} replaces it" if winner else f"{pod.ref.kind} has no field for {field}"
    return f"{', '.join(names)} would be added, but {why}"
