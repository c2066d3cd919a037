"""The whole job on one page: scan -> look up -> decide -> edit -> prove.

stream ─ split ─ parse ─ find ─> pods ─ questions ─> lookup ─> answers
                                  └──── decide <────────────────┘
                                           └── patch ─ place ─ prove ─> spliced stream

With `stamp`, pods are those without what an earlier run added, and the patch takes that out as well (`edit.restamp`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from archfit.errors import InvalidInput, UnplaceableEdit
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.patch import Operation
from archfit.record import Record
from archfit.results import Decision, Result
from archfit.source.scan import check_editable
from archfit.source.split import Piece
from archfit.typing_names import TypeAlias
from archfit.workloads.builtin import by_kind
from archfit.workloads.inventory import Document, scan_piece
from archfit.workloads.owner import left_to_controllers
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.edit.insert import TextEdit
    from archfit.stamp.in_place import Back
    from archfit.workloads.coverage.untouched import Untouched


Lookup: TypeAlias = Callable[[list[str]], Mapping[str, Answer]]

_OURS = b"archfit.dev"
_SELECTING = (b"RuntimeClass", b"scheduler.alpha.")  # the words of `workloads.node_selectors`

_PURE_PARSER = (
    "PyYAML came without its C extension, so this run reads YAML about ten times slower: install PyYAML from a wheel, "
    "or build it where libyaml's headers are"
)


class Splice(Record):
    """`data[start:end]` of the input is replaced by `text`. Offsets in bytes."""

    start: int
    end: int
    text: bytes


class Survey(Record):
    """What a stream holds, before anything is known about its images.

    documents: those with pods. results: what there is to say about the rest. texts: the image strings that the
    decisions depend on, as written, each once. back: with `stamp`, for each document, what its objects' stamps say; its
    pods are those that it would hold without them. controlled: objects outside of the table that have a controller.
    """

    documents: tuple[Document, ...]
    results: tuple[Result, ...]
    texts: tuple[str, ...]
    back: tuple[Back, ...] = ()
    controlled: tuple[Untouched, ...] = ()


class Transformed(Record):
    """What became of a stream.

    splices: what changes, in order; meaningless if an error stands in the way.
    decisions: one for each pod spec, in the order of the stream. answers: by image string, as written.
    """

    splices: tuple[Splice, ...]
    decisions: tuple[tuple[Pod, Decision], ...]
    results: tuple[Result, ...]
    answers: Mapping[str, Answer]

    def failed(self) -> bool:
        """Whether an error stands in the way of any output."""
        return any(result.severity == "error" for result in self.results)


def survey(data: bytes, pieces: Iterable[Piece], options: Options) -> Survey:
    """What the pieces of a stream hold, and which images have to be looked up."""
    pieces, rows = tuple(pieces), by_kind(options.workloads)
    inventories = [scan_piece(data, piece, rows) for piece in pieces]
    documents = tuple(document for inventory in inventories for document in inventory.documents)
    results = [result for inventory in inventories for result in inventory.results]
    untouched = [one for inventory in inventories for one in inventory.untouched]
    if untouched and options.exclude:
        from archfit.placement.selection import excluded

        untouched = [one for one in untouched if not any(excluded(one, glob) for glob in options.exclude)]
    if untouched:
        from archfit.workloads.coverage.untouched import told

        results += told(untouched)
    if rows:
        from archfit.workloads.coverage.overlap import incomplete

        kinds = ((pod.group, pod.ref.kind) for document in documents for pod in document.pods)
        results += incomplete(rows, kinds)
    controlled = tuple(one for one in untouched if one.controller)
    for document in documents:
        if data.find(_OURS, document.span.start, document.span.end) >= 0:
            from archfit.placement.misplaced import misplaced

            results += misplaced(document.value, document.pods, rows)
    back: tuple[Back, ...] = ()
    if options.stamp and documents:
        from archfit.stamp.in_place import taken_back

        without = [taken_back(data, document, rows) for document in documents]
        documents, back = tuple(one for one, _ in without), tuple(stamps for _, stamps in without)
    if not documents:
        return Survey((), tuple(results), (), controlled=controlled)
    from archfit.source.nodes import C_EXTENSION  # loaded with the first document

    if not C_EXTENSION:
        results.append(Result("info", _PURE_PARSER))
    if any(pod.places is not None and pod.places.same for document in documents for pod in document.pods):
        from archfit.workloads.borrowed_images import with_borrowed_images

        documents = with_borrowed_images(documents, rows)
    if any(data.find(word) >= 0 for word in _SELECTING):
        from archfit.workloads.node_selectors import selected

        documents = selected(data, pieces, documents)
    from archfit.placement.images import questions  # a stream without pods needs no decisions

    texts = (text for document in documents for pod in document.pods for text in questions(pod, options))
    return Survey(documents, tuple(results), tuple(dict.fromkeys(texts)), back, controlled)


def decided(found: Survey, answers: Mapping[str, Answer], options: Options) -> Transformed:
    """The decisions for all pods of a survey, without the edits; answers: for each of its texts, perhaps for more."""
    pods = [pod for document in found.documents for pod in document.pods]
    if not pods:
        return Transformed((), (), (*found.results, *_left_to_controllers(found, ())), answers)
    decisions = _decisions(pods, answers, options)
    if found.back:
        decisions = tuple(_stamped(found, decisions, answers, options))
    # Several pods of an object read the same annotations: an error in one is one error.
    own = dict.fromkeys(result for _, decision in decisions for result in decision.results)
    results = (*found.results, *own, *_left_to_controllers(found, decisions))
    return Transformed((), decisions, results, answers)


def _decisions(
    pods: Iterable[Pod], answers: Mapping[str, Answer], options: Options
) -> tuple[tuple[Pod, Decision], ...]:
    from archfit.placement.decide import decide

    decisions = tuple((pod, decide(pod, answers, options)) for pod in pods)
    if any(pod.places is not None and pod.places.missing for pod, _ in decisions):
        from archfit.placement.materialise import holders_once

        return tuple(holders_once(decisions))
    return decisions


def _left_to_controllers(found: Survey, decisions: Iterable[tuple[Pod, Decision]]) -> Iterator[Result]:
    """One result about all objects that a controller made."""
    objects = {
        (pod.location, pod.root): (pod.ref, decision.controller)
        for pod, decision in decisions
        if decision.controller
    }
    yield from left_to_controllers(
        [*objects.values(), *((one.ref, one.controller) for one in found.controlled)]
    )


def _stamped(
    found: Survey,
    decisions: Iterable[tuple[Pod, Decision]],
    answers: Mapping[str, Answer],
    options: Options,
) -> Iterator[tuple[Pod, Decision]]:
    from archfit.stamp.in_place import decisions_stamped

    rest, rows = iter(decisions), by_kind(options.workloads)
    for document, back in zip(found.documents, found.back, strict=True):
        own = [next(rest) for _ in document.pods]
        yield from decisions_stamped(
            document, back, own, lambda pods: _decisions(pods, answers, options), rows
        )


def transform(data: bytes, pieces: Iterable[Piece], options: Options, lookup: Lookup) -> Transformed:
    """What the pieces of a stream need, decided and proven; `lookup` is called once, with every distinct image."""
    found = survey(data, pieces, options)
    transformed = decided(found, lookup(list(found.texts)) if found.texts else {}, options)
    if transformed.failed():
        return transformed
    results = list(transformed.results)
    patches = iter(transformed.decisions)
    splices: list[Splice] = []
    for document in found.documents:
        own = [next(patches)[1] for _ in document.pods]
        try:
            patch = [step for decision in own for step in decision.patch]
            splices += _edited(data, document, patch, stamp=options.stamp)
        except (UnplaceableEdit, InvalidInput) as error:
            results.append(_problem(document, error))
    return transformed.replace(splices=tuple(splices), results=tuple(results))


def _edited(data: bytes, document: Document, patch: list[Operation], *, stamp: bool) -> list[Splice]:
    """The splices that make one document say what its patch says."""
    if not patch:
        return []
    if stamp:
        from archfit.stamp.in_place import restamped

        check_editable(data, document.span)
        text = document.span.text(data)
        return _splices(document, text, restamped(text, document, patch))[0]
    from archfit.edit.insert import insertions
    from archfit.edit.prove import prove

    span = document.span
    check_editable(data, span)
    text = span.text(data)
    splices, after = _splices(document, text, insertions(text, document.value, document.sites, patch))
    prove(document, patch, after)
    return splices


def _splices(document: Document, text: str, edits: Iterable[TextEdit]) -> tuple[list[Splice], str]:
    """The edits of a document's text as splices of the stream, and the edited text."""
    after: list[str] = []
    splices, at, offset = [], 0, document.span.start
    for edit in edits:
        offset += len(text[at : edit.start].encode())
        length = len(text[edit.start : edit.end].encode())
        splices.append(Splice(offset, offset + length, edit.text.encode()))
        after += (text[at : edit.start], edit.text)
        at, offset = edit.end, offset + length
    return splices, "".join((*after, text[at:]))


def _problem(document: Document, error: UnplaceableEdit | InvalidInput) -> Result:
    pod = document.pods[0]
    line = error.line if isinstance(error, InvalidInput) else document.span.line + error.line - 1
    message = error.message if isinstance(error, InvalidInput) else str(error)
    return Result("error", message, ref=pod.ref, location=pod.location.replace(line=line))
