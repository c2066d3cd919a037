"""In-place runs with `stamp`: an earlier run's additions out, this run's additions and their record in.

    text ── taken_back ─> what a run without the earlier one would have seen ── decide ── patch
    text ── remove ── place ── prove ─> text, changed only where both runs differ

The stages of `placement.stamp` applied to documents. Only such runs read a document twice.
"""

from __future__ import annotations

from archfit.edit.place import TextEdit, place
from archfit.edit.prove import prove
from archfit.edit.remove import removable, remove
from archfit.errors import UnplaceableEdit
from archfit.patch import Add, Remove
from archfit.placement.stamp import NAME, stamped, taken, undone
from archfit.source.compose import parse
from archfit.source.nodes import ROOT
from archfit.workloads.find import find_pods
from archfit.workloads.sites import anchors, find_sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from archfit.outcome import Decision
    from archfit.patch import Operation, Path
    from archfit.placement.stamp import Taken
    from archfit.workloads.inventory import Document
    from archfit.workloads.pods import Pod
    from archfit.workloads.sites import Spine
    from archfit.workloads.table import Own


def taken_back(data: bytes, document: Document, own: Own) -> tuple[Document, tuple[Taken, ...]]:
    """The document with the pods that it would hold without its stamps, and what the stamps say, one for each object
    that holds pods.
    """
    span = document.span
    if data.find(NAME.encode(), span.start, span.end) < 0:
        return document, tuple(
            taken(document.value, pods, lambda _path: False) for pods in _objects(document)
        )
    tree = parse(span.text(data))
    root = ROOT + 1 if span.item else ROOT

    def alone(path: Path) -> bool:
        return removable(tree, root, path)

    found = tuple(taken(document.value, pods, alone) for pods in _objects(document))
    pods = find_pods(undone(document.value, found), document.pods[0].place, (), own)
    return document.replace(pods=tuple(pods)), found


def decisions_stamped(
    document: Document, found: Sequence[Taken], decisions: Sequence[tuple[Pod, Decision]]
) -> Iterator[tuple[Pod, Decision]]:
    """The decisions for the pods of `taken_back`, as decisions for the document as it is."""
    left = iter(decisions)
    for one, pods in zip(found, _objects(document), strict=True):
        yield from stamped(document.value, one, [next(left) for _ in pods])


def restamped(text: str, document: Document, patch: Sequence[Operation]) -> list[TextEdit]:
    """The edits that make `text` say what the patch of stamped decisions says, proven, in the order of their places.

    text: of the document, as the parser sees it. Raises UnplaceableEdit, InternalError.
    """
    root = ROOT + 1 if document.span.item else ROOT
    back = [step for step in patch if isinstance(step, Remove) or _nulls(step)]
    more = [step for step in patch if isinstance(step, Add) and not _nulls(step)]
    between = _applied(text, remove(parse(text), root, back)) if back else text
    tree = parse(between)
    value = tree.value[0] if document.span.item else tree.value
    sites = find_sites(tree, root, value, _with_metadata(document.pods))
    try:
        edits = place(between, value, sites, more)
    except UnplaceableEdit as error:
        raise UnplaceableEdit(str(error), line=_line_before(text, between, error.line)) from None
    after = _applied(between, edits)
    prove(document, patch, after)
    return _differences(text, after) if back else edits


def _nulls(step: Operation) -> bool:
    return isinstance(step, Add) and step.value is None


def _objects(document: Document) -> list[list[Pod]]:
    """The pods of each object, in order."""
    found: dict[Path, list[Pod]] = {}
    for pod in document.pods:
        found.setdefault(pod.root, []).append(pod)
    return list(found.values())


def _with_metadata(pods: Iterable[Pod]) -> dict[Path, Spine]:
    """Where edits may go: what the pods need, and the annotations of their objects."""
    found = anchors(pods)
    for pod in pods:
        below = found.setdefault(pod.root, {})
        if isinstance(below, dict):
            found[pod.root] = {**below, "metadata": {"annotations": None}}
    return found


def _applied(text: str, edits: Iterable[TextEdit]) -> str:
    parts, at = list[str](), 0
    for edit in edits:
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def _differences(text: str, after: str) -> list[TextEdit]:
    """The edits by which the texts differ, in whole lines."""
    from difflib import SequenceMatcher

    lines, others = text.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return [
        TextEdit(starts[first], starts[last], "".join(others[start:end]))
        for kind, first, last, start, end in SequenceMatcher(
            None, lines, others, autojunk=False
        ).get_opcodes()
        if kind != "equal"
    ]


def _line_before(text: str, between: str, line: int) -> int:
    """The line of `text` that is a line of `between`, counted from 1; `between` lacks lines of `text`."""
    lines, others = text.splitlines(), between.splitlines()
    wanted = others[line - 1] if 0 < line <= len(others) else ""
    nth = others[:line].count(wanted)
    for number, one in enumerate(lines, start=1):
        nth -= one == wanted
        if not nth:
            return number
    return line
