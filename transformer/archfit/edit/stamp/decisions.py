"""Decisions of in-place runs: made for what an object is without its stamp, written for what it is now. Pure.

A pod that is left alone (skip, a conflict) keeps what it has; so does one with an unknown image, which may get more.
"""

from __future__ import annotations

import json

from archfit.base.patch import Add, Operation, Path, Test, apply
from archfit.base.results import Decision
from archfit.edit.stamp.annotation import (
    ANNOTATIONS,
    METADATA,
    MISSING,
    NAME,
    Addition,
    Nulls,
    at,
    record,
    write,
)
from archfit.edit.stamp.state import StampState
from archfit.options.settings import FIELDS
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from archfit.base.results import Effect, Reason


_KEPT = (
    "an earlier run of archfit added something here that someone changed or moved since: it stays as it is"
)

_LEFT = "the pod is left as it is"


def object_decisions(
    value: Any, state: StampState, decisions: Sequence[tuple[Pod, Decision]], null: Nulls
) -> list[tuple[Pod, Decision]]:
    """The decisions of one object, which were made for what it is once `state` is taken back, as decisions for what it
    is now; the stamp is part of their patches.

    value: the document's, as it is now. null: how the null at a path of it is written.
    """
    root = decisions[0][0].root
    if state.problem:
        return _wrong(decisions, state.problem, (*root, *ANNOTATIONS, NAME))
    now = at(value, root)
    # The pods that keep what is recorded, whatever that is.
    left = [
        decision.beside_record or decision.outcome == "Conflict" or not decision.reachable
        for _, decision in decisions
    ]
    back = [() if stays else steps for stays, steps in zip(left, state.operations, strict=True)]
    between = apply(now, _within(root, [step for steps in (state.annotation, *back) for step in steps]))
    bare = apply(now, _within(root, state.all_operations()))
    filled = {step.path: step.null for step in state.all_operations() if isinstance(step, Add)}

    def null_before(path: Path) -> str:
        return filled[path] if path in filled else null(path)

    entries = [
        entry
        for stays, own, (_, decision) in zip(left, state.entries, decisions, strict=True)
        for entry in _recorded(now, bare, own if stays else (), decision.patch, root, null_before)
    ]
    after = apply(between, _within(root, [step for _, decision in decisions for step in decision.patch]))
    kept = [
        tuple((*root, *entry.path) for entry in own if entry.lost) if stays else paths
        for stays, own, paths in zip(left, state.entries, state.kept, strict=True)
    ]
    if not any(kept) and any(state.entries) == bool(entries) and _alike(now, after, decisions):
        return [(pod, _told(pod, _unchanged(decision))) for pod, decision in decisions]
    holder = _not_a_mapping(between) if entries else ()
    if holder:
        problem = (
            "is not a mapping, so what this run adds cannot be recorded: make it one, or leave out --stamp"
        )
        return _wrong(decisions, problem, (*root, *holder))
    stamp = _annotated(between, root, entries, null_before) if entries else ()
    patched, last = [], len(decisions) - 1
    for number, (pod, decision) in enumerate(decisions):
        around = state.annotation if number == 0 else (), stamp if number == last else ()
        merged = _merged(decision, (*around[0], *back[number]), around[1])
        patched.append(
            (
                pod,
                _told(pod, merged).replace(
                    messages=(*merged.messages, *(pod.message("info", _KEPT, path) for path in kept[number]))
                ),
            )
        )
    return patched


def _wrong(decisions: Sequence[tuple[Pod, Decision]], problem: str, path: Path) -> list[tuple[Pod, Decision]]:
    """The decisions of an object whose stamp cannot be read or written; its first pod has the error."""
    first, decision = decisions[0]
    wrong = Decision(
        "Unresolved",
        "it has errors",
        immutable=decision.immutable,
        messages=(first.message("error", problem, path),),
        reasons=_instead(decision, "left out", _LEFT),
    )
    others = [
        (pod, other.replace(patch=(), reasons=_instead(other, "left out", _LEFT)))
        for pod, other in decisions[1:]
    ]
    return [(first, wrong), *others]


def _within(root: Path, patch: Iterable[Operation]) -> list[Operation]:
    return [step.replace(path=step.path[len(root) :]) for step in patch]


def _recorded(
    now: Any, bare: Any, own: Iterable[Addition], patch: Sequence[Operation], root: Path, null: Nulls
) -> tuple[Addition, ...]:
    """What stays recorded, and what the patch adds; below what is as it was recorded, that is part of it."""
    there = [entry for entry in own if not entry.lost]
    same = [entry for entry in there if at(now, entry.path) == entry.value]
    again = [Add((*root, *entry.path), entry.value) for entry in same]
    return (*[entry for entry in there if entry not in same], *record(bare, (*again, *patch), root, null))


def _merged(decision: Decision, before: Sequence[Operation], behind: Sequence[Operation]) -> Decision:
    patch = (*before, *decision.patch, *behind)
    if decision.patch or not patch:
        return decision.replace(patch=patch)
    reason = f"the additions of an earlier run are removed; {decision.reason}"
    return decision.replace(outcome="Change", reason=reason, patch=patch)


def _unchanged(decision: Decision) -> Decision:
    if decision.outcome != "Change":
        return decision
    return decision.replace(outcome="AlreadySet", reason="it already has what archfit would write", patch=())


def _told(pod: Pod, decision: Decision) -> Decision:
    """The decision, whose reasons say what an earlier run added already."""
    if pod.stamped is None:
        return decision
    paths = [step.path for step in decision.patch if isinstance(step, Add)]

    def there(about: str) -> bool:
        place = pod.at("tolerations" if about == "tolerations" else "affinity")
        return not any(path[: len(place)] == place or place[: len(path)] == path for path in paths)

    return decision.replace(reasons=_instead(decision, "present", "an earlier run added it (--stamp)", there))


def _instead(
    decision: Decision, effect: Effect, why: str, meant: Callable[[str], bool] = bool
) -> tuple[Reason, ...]:
    """Its reasons, with another effect for what is not added by this run. meant: by `Reason.about`."""
    return tuple(
        reason.replace(effect=effect, reason=why)
        if reason.effect == "added" and meant(reason.about)
        else reason
        for reason in decision.reasons
    )


def _alike(now: Any, after: Any, decisions: Iterable[tuple[Pod, Decision]]) -> bool:
    """Whether the pods are placed alike; the order of lists, which only rolls pods, does not count."""
    paths = {pod.at(field)[len(pod.root) :] for pod, _ in decisions for field in FIELDS}
    return all(_unordered(at(now, path)) == _unordered(at(after, path)) for path in paths)


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(member) for key, member in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=_text)
    return value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _not_a_mapping(value: Any) -> Path:
    """The path of the object's metadata or annotations where that is no mapping, () if both may hold the stamp."""
    for path in (METADATA, ANNOTATIONS):
        if not isinstance(at(value, path), dict) and at(value, path) not in (None, MISSING):
            return path
    return ()


def _annotated(value: Any, root: Path, entries: Sequence[Addition], null: Nulls) -> list[Operation]:
    """What writes the stamp into the object, whose old stamp has been taken away."""
    if isinstance(at(value, ANNOTATIONS), dict):
        path = (*root, *ANNOTATIONS, NAME)
        return [Test(path, None), Add(path, write(entries, None, value))]
    missing = ANNOTATIONS if isinstance(at(value, METADATA), dict) else METADATA
    was = null((*root, *missing)) if at(value, missing) is None else None
    text = write(entries, Addition(missing, None, was), value)
    added: Any = {NAME: text}
    for key in reversed(ANNOTATIONS[len(missing) :]):
        added = {key: added}
    return [Test((*root, *missing), None), Add((*root, *missing), added)]
