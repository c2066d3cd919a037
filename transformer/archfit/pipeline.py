"""The whole job on one page: scan -> look up -> decide -> edit -> prove.

stream ── split ── scan ──> documents with pods ── questions ──> lookup ──> answers
                                    └──────── decide <────────────────────────┘
                                                └── patch ── edit ── prove ──> splices of the stream

What needs a pod is in `pod_stages`, which is loaded with the first document that holds one. With `stamp`, pods are
those without what an earlier run added, and the patch takes that out as well (`stamp`).
"""

from __future__ import annotations

from archfit.errors import InvalidInput, UnplaceableEdit
from archfit.options.settings import Options
from archfit.record import Record
from archfit.results import Decision, Result
from archfit.source.split import Piece
from archfit.stream import Splice
from archfit.typing_names import Callable, Iterable, Iterator, Mapping, TypeAlias
from archfit.workloads.builtin import UserRows, by_kind
from archfit.workloads.inventory import Inventory, scan_piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.images.platforms import Answer
    from archfit.placement.selection import PodOptions
    from archfit.stamp.document_stamps import DocumentStamps
    from archfit.workloads.coverage.untouched import Untouched
    from archfit.workloads.documents import Document
    from archfit.workloads.pods import Pod


Lookup: TypeAlias = "Callable[[list[str]], Mapping[str, Answer]]"


# A stream of less than that takes less memory than the program, and is read without another module.
_SMALL = 1 << 20


class Survey(Record):
    """What a stream holds, before anything is known about its images.

    documents: those with pods. results: messages about the rest. texts: the image strings that the
    decisions depend on, as written, each once. untouched: objects that may hold pods and are left as they are.
    pod_options: one for each pod of the documents, in order. stamps: with `stamp`, those of each document; its
    pods are those that it would hold without them.
    """

    documents: tuple[Document, ...]
    results: tuple[Result, ...]
    texts: tuple[str, ...]
    untouched: tuple[Untouched, ...] = ()
    pod_options: tuple[PodOptions, ...] = ()
    stamps: tuple[DocumentStamps, ...] = ()

    def pods(self) -> Iterator[tuple[Pod, PodOptions]]:
        """Every pod with its options, in the order of the stream."""
        return zip((pod for one in self.documents for pod in one.pods), self.pod_options, strict=True)


class Decided(Record):
    """What was decided about a stream.

    decisions: one for each pod spec, in the order of the stream. answers: by image string, as written.
    """

    decisions: tuple[tuple[Pod, Decision], ...]
    results: tuple[Result, ...]
    answers: Mapping[str, Answer]

    def failed(self) -> bool:
        """Whether an error stands in the way of any output."""
        return any(result.severity == "error" for result in self.results)


class Transformed(Decided):
    """What became of a stream. survey: what it holds.

    splices: what changes, in order; meaningless if an error stands in the way.
    """

    survey: Survey = Survey((), (), ())
    splices: tuple[Splice, ...] = ()


def survey(data: bytes, pieces: Iterable[Piece], options: Options, *, light: bool = False) -> Survey:
    """What the pieces of a stream hold, and which images have to be looked up. light: as `scan_piece` takes it."""
    pieces, rows = tuple(pieces), by_kind(options.workloads)
    inventories = [scan_piece(data, piece, rows, light=light) for piece in pieces]
    documents = tuple(document for inventory in inventories for document in inventory.documents)
    results = [result for inventory in inventories for result in inventory.results]
    untouched = _untouched(inventories, options)
    results += _coverage(documents, untouched, rows)
    found = Survey(documents, tuple(results), (), tuple(untouched))
    if not documents:
        return found
    from archfit.pod_stages import surveyed

    more = surveyed(data, pieces, documents, options, rows)
    return found.replace(
        documents=more.documents,
        results=(*found.results, *more.results),
        texts=more.texts,
        pod_options=more.pod_options,
        stamps=more.stamps,
    )


def _untouched(inventories: Iterable[Inventory], options: Options) -> list[Untouched]:
    """The objects that may hold pods and are left as they are, without those that the user excludes."""
    untouched = [one for inventory in inventories for one in inventory.untouched]
    if untouched and options.exclude:
        from archfit.placement.selection import excluded

        return [one for one in untouched if not any(excluded(one, glob) for glob in options.exclude)]
    return untouched


def _coverage(documents: Iterable[Document], untouched: list[Untouched], rows: UserRows) -> list[Result]:
    """Messages about objects that no row of the table reads completely. rows: the user's own."""
    results: list[Result] = []
    if untouched:
        from archfit.workloads.coverage.untouched import untouched_results

        results += untouched_results(untouched)
    if rows:
        from archfit.workloads.coverage.overlap import incomplete

        kinds = ((pod.group, pod.ref.kind) for document in documents for pod in document.pods)
        results += incomplete(rows, kinds)
    return results


def decided(found: Survey, answers: Mapping[str, Answer], options: Options) -> Decided:
    """The decisions for all pods of a survey; answers: for each of its texts, perhaps for more."""
    decisions: tuple[tuple[Pod, Decision], ...] = ()
    if found.documents:
        from archfit.pod_stages import decisions_of, stamped_decisions

        decisions = decisions_of(found.pods(), answers, options)
        if found.stamps:
            decisions = stamped_decisions(found.documents, found.stamps, decisions, answers, options)
    # Several pods of an object read the same annotations: an error in one is one error.
    own = dict.fromkeys(result for _, decision in decisions for result in decision.results)
    return Decided(decisions, (*found.results, *own, *_left_to_controllers(found, decisions)), answers)


def _left_to_controllers(found: Survey, decisions: Iterable[tuple[Pod, Decision]]) -> Iterator[Result]:
    """One result about all objects that a controller made."""
    objects = {
        (pod.location, pod.root): (pod.ref, decision.controller)
        for pod, decision in decisions
        if decision.controller
    }
    left = [one for one in found.untouched if one.controller]
    owned = [*objects.values(), *((one.ref, one.controller) for one in left)]
    if owned:
        from archfit.workloads.owner import left_to_controllers

        yield from left_to_controllers(owned)


def transform(data: bytes, pieces: Iterable[Piece], options: Options, lookup: Lookup) -> Transformed:
    """What the pieces of a stream need, decided and proven; `lookup` is called once, with every distinct image."""
    found = survey(data, pieces, options, light=not options.stamp and len(data) > _SMALL)
    return transformed(data, found, lookup(list(found.texts)) if found.texts else {}, options)


def transformed(data: bytes, found: Survey, answers: Mapping[str, Answer], options: Options) -> Transformed:
    """What a survey's documents become, decided and proven. data: that of the survey."""
    made = decided(found, answers, options)
    made = made.replace(results=located(data, found, made.results))
    if made.failed() or not found.documents:
        return Transformed(made.decisions, made.results, answers, found)
    from archfit.pod_stages import edited

    results = list(made.results)
    decisions = iter(made.decisions)
    splices: list[Splice] = []
    for document in found.documents:
        patch = [step for _ in document.pods for step in next(decisions)[1].patch]
        try:
            splices += edited(data, document, patch, stamp=options.stamp)
        except (UnplaceableEdit, InvalidInput) as error:
            results.append(_problem(document, error))
    return Transformed(made.decisions, tuple(results), answers, found, tuple(splices))


def located(data: bytes, found: Survey, results: tuple[Result, ...]) -> tuple[Result, ...]:
    """The results of a survey's decisions, each with the line of what it is about.

    Infos keep the line of their document, as a document is parsed again to find another one.
    """
    if not any(result.path and result.severity != "info" for result in results):
        return results
    from archfit.workloads.line_numbers import Lines

    lines = Lines(data, found.documents)
    return tuple(result if result.severity == "info" else lines.located(result) for result in results)


def _problem(document: Document, error: UnplaceableEdit | InvalidInput) -> Result:
    pod = document.pods[0]
    line = error.line if isinstance(error, InvalidInput) else document.span.line + error.line - 1
    message = error.message if isinstance(error, InvalidInput) else str(error)
    return Result("error", message, ref=pod.ref, location=pod.location.replace(line=line))
