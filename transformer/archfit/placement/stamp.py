"""The stamp of an in-place run: what archfit added, so that a later run can take exactly that back. Pure.

    metadata:                      of the object, never of its pod template: a change there would roll the pods
      annotations:
        archfit.dev/added: '[{"path":"/spec/template/spec/tolerations/-","value":{...}}, ...]'

    {"path": P, "value": V}                a member, or with "-" at the end of P an item of a list
    {"path": P, "value": V, "null": true}  the member was there, without a value
    {"path": "/metadata/annotations"}      there were no annotations; with "null", none but their key

    run 1    decide ─ patch ────────────────────────────────── record
    run 2    read ─ take back what is unmodified ─ decide ─ patch ─ record, and nothing changes where both are equal

What the user changed since is the user's: it stays, which is said. A pod that is left alone (skip, an unknown image)
keeps what it has. Paths are RFC 6901 from the object's root; JSON without blanks, keys and entries sorted.
"""

from __future__ import annotations

import json

from archfit.outcome import Decision, Result
from archfit.patch import Add, Remove, Test, apply, dotted, pointer
from archfit.placement.annotations import PREFIX
from archfit.record import Record
from archfit.source.values import plain, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from archfit.patch import Operation, Path
    from archfit.workloads.pods import Pod

NAME = f"{PREFIX}added"
_HOLDER: Path = ("metadata", "annotations")
_FIELDS = ("affinity", "tolerations")
_MISSING = object()


class Entry(Record):
    """One thing that was added. path: from the object's root. null: the member was there, without a value."""

    path: Path
    value: Any
    null: bool = False


class Taken(Record):
    """What an object's stamp says, and what taking it back needs. Each tuple has one part for each pod of the object.

    entries: what the stamp records. operations: what takes it back, from the document's root. kept: what the user
    changed since. annotation: what takes the stamp itself away, () where there is none. problem: why it cannot be read.
    """

    entries: tuple[tuple[Entry, ...], ...]
    operations: tuple[tuple[Operation, ...], ...]
    kept: tuple[tuple[Path, ...], ...]
    annotation: tuple[Operation, ...] = ()
    problem: str = ""


def taken(value: Any, pods: Sequence[Pod], removable: Callable[[Path], bool]) -> Taken:
    """What taking back the stamp of one object needs.

    value: the document's; pods: all of the object. removable: whether the text lets a node go by itself; it does not
    where the user has put a comment into it.
    """
    root = pods[0].root
    none: tuple[tuple[Any, ...], ...] = ((),) * len(pods)
    annotations = _at(value, (*root, *_HOLDER))
    if not isinstance(annotations, dict) or NAME not in annotations:
        return Taken(none, none, none)
    try:
        entries, holder = read(annotations[NAME])
        of_pods = _of_pods(entries, pods)
    except ValueError:
        problem = f"{NAME} is not as archfit wrote it, so nothing can be taken back: remove the annotation"
        return Taken(none, none, none, problem=problem)
    back = [
        _back(value, [entry.replace(path=(*root, *entry.path)) for entry in own], removable)
        for own in of_pods
    ]
    path: Path = (*root, *_HOLDER)
    annotation: tuple[Operation, ...] = (Test((*path, NAME), annotations[NAME]), Remove((*path, NAME)))
    if holder and len(annotations) == 1 and removable(path):
        annotation = (Test(path, annotations), Add(path, None) if holder.null else Remove(path))
    return Taken(
        of_pods, tuple(operations for operations, _ in back), tuple(kept for _, kept in back), annotation
    )


def undone(value: Any, found: Iterable[Taken]) -> Any:
    """The document's value once everything is taken back."""
    for one in found:
        value = apply(value, [step for steps in (one.annotation, *one.operations) for step in steps])
    return value


def read(text: object) -> tuple[tuple[Entry, ...], Entry | None]:
    """The entries of a stamp, and the one of the annotations where archfit made them. Raises ValueError."""
    entries, holder = list[Entry](), None
    for one in _decoded(text):
        path, null = _path(str(one.get("path"))), "null" in one
        if not set(one) <= {"path", "value", "null"} or (null and one["null"] is not True):
            raise ValueError(text)
        if "value" in one:
            entries.append(Entry(path, typed(one["value"]), null))
        elif path == _HOLDER:
            holder = Entry(path, None, null)
        else:
            raise ValueError(text)
    return tuple(entries), holder


def _decoded(text: object) -> list[dict[str, Any]]:
    decoded = json.loads(text) if isinstance(text, str) else None
    if isinstance(decoded, list) and all(isinstance(one, dict) for one in decoded):
        return decoded
    raise ValueError(text)


def write(entries: Iterable[Entry], holder: Entry | None) -> str:
    """The text of a stamp. holder: the annotations, where archfit makes them."""
    listed: list[dict[str, Any]] = [
        {"path": pointer(entry.path), "value": plain(entry.value), **_null(entry)} for entry in entries
    ]
    listed += [{"path": pointer(holder.path), **_null(holder)}] if holder else []
    texts = [json.dumps(one, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for one in listed]
    return f"[{','.join(sorted(texts))}]"


def _null(entry: Entry) -> dict[str, bool]:
    return {"null": True} if entry.null else {}


def record(before: Any, patch: Iterable[Operation], root: Path) -> tuple[Entry, ...]:
    """The entries of what a patch adds to a document, which is `before` now; what is added below an addition is part
    of it.
    """
    made: list[Entry] = []
    for step in patch:
        if not isinstance(step, Add):
            continue
        path = step.path[len(root) :]
        around = next((entry for entry in made if path[: len(entry.path)] == entry.path), None)
        if around is not None and around.path[-1] != "-":
            inner = Add(path[len(around.path) :], step.value)
            made[made.index(around)] = around.replace(value=apply(around.value, [inner]))
            continue
        null = path[-1] != "-" and _at(before, step.path) is None
        made.append(Entry(path, step.value, null))
    return tuple(made)


def stamped(
    value: Any, found: Taken, decisions: Sequence[tuple[Pod, Decision]]
) -> list[tuple[Pod, Decision]]:
    """The decisions of one object, which were made for what it is once `found` is taken back, as decisions for what it
    is now; the stamp is part of their patches.

    value: the document's, as it is now.
    """
    (first, decision), root = decisions[0], decisions[0][0].root
    if found.problem:
        said = Result("error", found.problem, first.ref, dotted((*root, *_HOLDER, NAME)), first.place)
        wrong = Decision("Unresolved", "it has errors", immutable=decision.immutable, results=(said,))
        return [(pod, wrong if pod is first else decision.replace(patch=())) for pod, decision in decisions]
    left = [_is_left(decision) for _, decision in decisions]
    back = [() if stays else steps for stays, steps in zip(left, found.operations, strict=True)]
    between = apply(value, [step for steps in (found.annotation, *back) for step in steps])
    after, entries = between, list[Entry]()
    for stays, own, (_, decision) in zip(left, found.entries, decisions, strict=True):
        entries += own if stays else record(between, decision.patch, root)
        after = apply(after, decision.patch)
    kept = [() if stays else paths for stays, paths in zip(left, found.kept, strict=True)]
    if not any(kept) and any(found.entries) == bool(entries) and _alike(value, after, decisions):
        return [(pod, _unchanged(decision)) for pod, decision in decisions]
    stamp = _annotated(between, root, entries) if entries else ()
    made, last = [], len(decisions) - 1
    for number, (pod, decision) in enumerate(decisions):
        around = found.annotation if number == 0 else (), stamp if number == last else ()
        merged = _merged(decision, (*around[0], *back[number]), around[1])
        made.append((pod, merged.replace(results=(*merged.results, *_yours(pod, kept[number])))))
    return made


def _is_left(decision: Decision) -> bool:
    """Whether the pod stays as it is, whatever that is."""
    return decision.outcome in ("Unresolved", "Conflict") or not decision.reachable


def _yours(pod: Pod, kept: Iterable[Path]) -> list[Result]:
    message = "archfit added this in an earlier run and it was changed since: it is yours now, and stays"
    return [Result("info", message, pod.ref, dotted(path), pod.place) for path in kept]


def _merged(decision: Decision, before: Sequence[Operation], behind: Sequence[Operation]) -> Decision:
    patch = (*before, *decision.patch, *behind)
    if decision.patch or not patch:
        return decision.replace(patch=patch)
    reason = f"what an earlier run added is taken back; {decision.reason}"
    return decision.replace(outcome="Change", reason=reason, patch=patch)


def _unchanged(decision: Decision) -> Decision:
    if decision.outcome != "Change":
        return decision
    return decision.replace(outcome="AlreadySet", reason="it says already what archfit would write", patch=())


def _alike(value: Any, after: Any, decisions: Iterable[tuple[Pod, Decision]]) -> bool:
    """Whether the pods are placed alike; the order of lists, which only rolls pods, does not count."""
    return all(
        _unordered(_at(value, pod.at(field))) == _unordered(_at(after, pod.at(field)))
        for pod, _ in decisions
        for field in _FIELDS
    )


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(member) for key, member in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(item) for item in value), key=_text)
    return value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _annotated(value: Any, root: Path, entries: Sequence[Entry]) -> list[Operation]:
    """What writes the stamp into the object, whose old stamp has been taken away."""
    path = (*root, *_HOLDER)
    there = _at(value, path)
    if isinstance(there, dict):
        return [Test((*path, NAME), None), Add((*path, NAME), write(entries, None))]
    text = write(entries, Entry(_HOLDER, None, null=there is None))
    return [Test(path, None), Add(path, {NAME: text})]


def _of_pods(entries: Iterable[Entry], pods: Sequence[Pod]) -> tuple[tuple[Entry, ...], ...]:
    """The entries of each pod. Raises ValueError for one that is of none: archfit writes nowhere else."""
    found: list[list[Entry]] = [[] for _ in pods]
    for entry in entries:
        found[_pod_of(entry.path, pods)].append(entry)
    return tuple(map(tuple, found))


def _pod_of(path: Path, pods: Sequence[Pod]) -> int:
    for number, pod in enumerate(pods):
        for field in _FIELDS:
            at = pod.at(field)[len(pod.root) :]
            common = min(len(at), len(path))
            if common > 1 and at[:common] == path[:common]:
                return number
    raise ValueError(pointer(path))


def _back(
    value: Any, entries: Sequence[Entry], removable: Callable[[Path], bool]
) -> tuple[tuple[Operation, ...], tuple[Path, ...]]:
    """The operations that take the entries back, and what the user changed.

    Items of a list are taken from its end, so that no index of a later operation moves.
    """
    gone: set[Path] = set()
    kept: list[Path] = []
    operations: list[Operation] = []
    for entry in entries:
        if entry.path[-1] == "-":
            _item_back(value, entry.path[:-1], entry.value, gone, kept)
        elif entry.null and _at(value, entry.path) == entry.value and removable(entry.path):
            operations += (Test(entry.path, entry.value), Add(entry.path, None))
        else:
            _member_back(value, entry.path, entry.value, gone, kept)
    kept += sorted((path for path in gone if not removable(path)), key=_order)
    for path in sorted(gone.difference(kept), key=_order, reverse=True):
        operations += (Test(path, _at(value, path)), Remove(path))
    return tuple(operations), tuple(kept)


def _order(path: Path) -> list[tuple[bool, str | int]]:
    return [(isinstance(token, int), token) for token in path]


def _item_back(value: Any, at: Path, item: Any, gone: set[Path], kept: list[Path]) -> None:
    items = _at(value, at)
    for number in range(len(items) - 1, -1, -1) if isinstance(items, list) else ():
        if items[number] == item and (*at, number) not in gone:
            gone.add((*at, number))
            return
    if isinstance(items, list):
        kept.append(at)


def _member_back(value: Any, at: Path, added: Any, gone: set[Path], kept: list[Path]) -> None:
    there = _at(value, at)
    if there is _MISSING:
        return
    if there == added:
        gone.add(at)
    elif isinstance(there, dict) and isinstance(added, dict):
        for key, member in added.items():
            _member_back(value, (*at, key), member, gone, kept)
    elif isinstance(there, list) and isinstance(added, list):
        for item in added:
            _item_back(value, at, item, gone, kept)
    else:
        kept.append(at)


def _at(value: Any, path: Path) -> Any:
    for token in path:
        if isinstance(value, dict):
            value = value.get(token, _MISSING)
        elif isinstance(value, list) and isinstance(token, int) and token < len(value):
            value = value[token]
        else:
            return _MISSING
    return value


def _path(text: str) -> Path:
    """The path of an RFC 6901 pointer; digits are the index of an item. Raises ValueError."""
    if not text.startswith("/"):
        raise ValueError(text)
    words = [word.replace("~1", "/").replace("~0", "~") for word in text[1:].split("/")]
    return tuple(int(word) if word.isdecimal() else word for word in words)
