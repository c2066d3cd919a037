"""In-place runs with `stamp`: an earlier run's additions out, this run's additions and their record in.

Only such runs read a document twice. Removals and insertions become one step of edits (`composed`), in which those that
touch belong together, and of these only the lines that differ count.
"""

from __future__ import annotations

from functools import cache, partial

from archfit.base.errors import UnplaceableEdit
from archfit.base.patch import Add, Operation, Path, Remove, Test
from archfit.base.results import Decision
from archfit.edit.insert import TextEdit, applied, insertions
from archfit.edit.prove import prove
from archfit.edit.remove import Targets, refused, remove
from archfit.edit.stamp.annotation import NAME, Nulls
from archfit.edit.stamp.decisions import object_decisions
from archfit.edit.stamp.state import StampState, stamp_state, without_stamp
from archfit.startup.record import Record
from archfit.workloads.builtin import UserRows
from archfit.workloads.documents import Document
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod
from archfit.workloads.sites import Spine, anchors, find_sites
from archfit.yaml.compose import parse
from archfit.yaml.tree import ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

PodDecisions: TypeAlias = "Sequence[tuple[Pod, Decision]]"


class DocumentStamps(Record):
    """The stamps of a document, one for each object that holds pods.

    objects: their pods as they are. states: the stamps. text: gives that of the document, as the parser sees it.
    """

    objects: tuple[tuple[Pod, ...], ...]
    states: tuple[StampState, ...]
    text: Callable[[], str]


def without_stamps(data: bytes, document: Document, user_rows: UserRows) -> tuple[Document, DocumentStamps]:
    """The document with the pods that it would hold without its stamps, and the stamps.

    Whether the text lets all of it go is looked at only where something is about to change.
    """
    span = document.span
    objects = _objects(document.pods)
    text = partial(span.text, data)
    states = tuple(stamp_state(document.value, pods, lambda _operation: True) for pods in objects)
    if data.find(NAME.encode(), span.start, span.end) < 0:
        return document, DocumentStamps(objects, states, text)
    before = _without(document, states, user_rows)
    if [len(pods) for pods in _objects(before.pods)] != [len(pods) for pods in objects]:
        problem = f"without what {NAME} records, the object holds other pods: remove the annotation"
        states = tuple(state.replace(problem=problem) for state in states)
        return document, DocumentStamps(objects, states, text)
    entries = [own for state in states for own in state.entries]
    there = [pod for pods in objects for pod in pods]
    pods = tuple(
        pod.replace(stamped=was) if own else pod
        for pod, was, own in zip(before.pods, there, entries, strict=True)
    )
    return before.replace(pods=pods), DocumentStamps(objects, states, text)


def _without(document: Document, states: Iterable[StampState], user_rows: UserRows) -> Document:
    pods = find_pods(without_stamp(document.value, states), document.pods[0].location, (), user_rows)
    return document.replace(pods=tuple(pods))


def document_decisions(
    document: Document,
    stamps: DocumentStamps,
    decisions: PodDecisions,
    decide: Callable[[Sequence[Pod]], PodDecisions],
    user_rows: UserRows,
    *,
    stamp: bool,
) -> PodDecisions:
    """The decisions for the pods of `without_stamps`, as decisions for the document as it is.

    decide: decides anew, for pods that keep what the text does not let go. stamp: objects without a stamp get one.
    """
    targets = cache(lambda: Targets(parse(stamps.text()), _root(document)))

    def null(path: Path) -> str:
        return targets().null(path)

    by_object = _by_object(document, stamps.states, decisions, null, stamp=stamp)
    back = [step for state in stamps.states if not state.problem for step in state.all_operations()]
    if not back or not any(decision.patch for pods in by_object for _, decision in pods):
        return [pod for pods in by_object for pod in pods]
    stuck = refused(targets(), back)
    if stuck:
        states = tuple(
            stamp_state(document.value, pods, lambda operation: operation.path not in stuck)
            for pods in stamps.objects
        )
        pods = _without(document, states, user_rows).pods
        pods = tuple(
            was.replace(stamped=pod).as_recorded.replace(stamped=was.stamped)
            for pod, (was, _) in zip(pods, decisions, strict=True)
        )
        again = _by_object(document, states, decide(pods), null, stamp=stamp)
        # An object without a change keeps its decision: its stamp is not taken back.
        changes = (any(decision.patch for _, decision in pods) for pods in by_object)
        by_object = [
            new if change else old for new, old, change in zip(again, by_object, changes, strict=True)
        ]
    return [pod for pods in by_object for pod in pods]


def _by_object(
    document: Document, states: Sequence[StampState], decisions: PodDecisions, null: Nulls, *, stamp: bool
) -> list[PodDecisions]:
    left, objects = iter(decisions), list[PodDecisions]()
    for state, pods in zip(states, _objects(pod for pod, _ in decisions), strict=True):
        own = [next(left) for _ in pods]
        copied = any(pod.row is not None and pod.row.copied for pod in pods)
        stamped = state.problem or any(state.entries) or (stamp and not copied)
        objects.append(object_decisions(document.value, state, own, null) if stamped else own)
    return objects


def restamped(text: str, document: Document, patch: Sequence[Operation]) -> list[TextEdit]:
    """The edits of `text` that apply the patch of stamped decisions, proven, in the order of their places.

    text: of the document, as the parser sees it. Raises UnplaceableEdit, InternalError.
    """
    root = _root(document)
    steps = [step for step in patch if not isinstance(step, Test)]
    back = [step for step in steps if isinstance(step, Remove) or step.value is None]
    more = [step for step in steps if isinstance(step, Add) and step.value is not None]
    cuts = remove(parse(text), root, back) if back else []
    between = applied(text, cuts)
    tree = parse(between)
    value = tree.value[0] if document.span.item else tree.value
    sites = find_sites(tree, root, value, _with_metadata(document.pods))
    try:
        edits = insertions(between, value, sites, more)
    except UnplaceableEdit as error:
        raise UnplaceableEdit(str(error), line=_line_before(text, between, error.line)) from None
    prove(document, patch, applied(between, edits))
    return composed(text, cuts, edits)


def _root(document: Document) -> int:
    return ROOT + 1 if document.span.item else ROOT


def _objects(pods: Iterable[Pod]) -> tuple[tuple[Pod, ...], ...]:
    by_root: dict[Path, list[Pod]] = {}
    for pod in pods:
        by_root.setdefault(pod.root, []).append(pod)
    return tuple(map(tuple, by_root.values()))


def _with_metadata(pods: Iterable[Pod]) -> dict[Path, Spine]:
    spines = anchors(pods)
    for pod in pods:
        below = spines.setdefault(pod.root, {})
        if isinstance(below, dict):
            spines[pod.root] = {**below, "metadata": {"annotations": None}}
    return spines


def _line_before(text: str, between: str, line: int) -> int:
    """The line of `text` that is a line of `between`, counted from 1; `between` lacks lines of `text`."""
    lines, others = text.splitlines(), between.splitlines()
    wanted = others[line - 1] if 0 < line <= len(others) else ""
    nth = others[:line].count(wanted)
    for number, candidate in enumerate(lines, start=1):
        nth -= candidate == wanted
        if not nth:
            return number
    return line


def composed(text: str, cuts: Sequence[TextEdit], additions: Sequence[TextEdit]) -> list[TextEdit]:
    """The edits of `text` that do what `cuts` do, and then `additions` to the text that is left. All are in order."""
    if not cuts:
        return list(additions)
    narrowed = (_narrowed(text, edit) for edit in _joined(applied(text, cuts), cuts, additions))
    return [edit for edit in narrowed if edit.end > edit.start or edit.text]


def _joined(between: str, cuts: Sequence[TextEdit], additions: Sequence[TextEdit]) -> Iterator[TextEdit]:
    """One edit for all that touch each other. between: the text without the cuts."""
    # Of a cut: where it is in the text between, and by how much that is longer than what it took away.
    steps, shift = list[tuple[TextEdit, int, bool]](), 0
    for cut in cuts:
        start = cut.start + shift
        longer = len(cut.text) - (cut.end - cut.start)
        steps.append((TextEdit(start, start + len(cut.text), cut.text), longer, False))
        shift += longer
    steps += [(edit, 0, True) for edit in additions]
    steps.sort(key=lambda step: step[0].start)
    shift = number = 0
    while number < len(steps):
        start = end = steps[number][0].start
        inside, before = list[TextEdit](), shift
        while number < len(steps) and steps[number][0].start <= end:
            edit, longer, added = steps[number]
            end = max(end, edit.end)
            shift += longer
            inside += [edit] if added else []
            number += 1
        own = [edit.replace(start=edit.start - start, end=edit.end - start) for edit in inside]
        yield TextEdit(start - before, end - shift, applied(between[start:end], own))


def _narrowed(text: str, edit: TextEdit) -> TextEdit:
    old = text[edit.start : edit.end].splitlines(keepends=True)
    new = edit.text.splitlines(keepends=True)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return TextEdit(
        edit.start + sum(map(len, old[:first])),
        edit.end - sum(map(len, old[len(old) - last :])),
        "".join(new[first : len(new) - last]),
    )
