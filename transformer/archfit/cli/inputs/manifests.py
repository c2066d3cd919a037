"""Several inputs read as one stream, and what was found in each.

    inputs ── read one by one ── as one text ── inventory ── taken apart ──> Manifests of each input

So a RuntimeClass, a Namespace or a pull secret counts for the pods of every input, as if all were one stream. A single
input is not copied. `Manifests.data` is the text of all, in which every offset of an inventory counts; documents and
lines are those of the input.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from archfit.base.errors import InvalidInput
from archfit.base.results import Result
from archfit.edit.stamp.document_stamps import DocumentStamps
from archfit.options.settings import Options
from archfit.pipeline import StreamInventory, inventory
from archfit.placement.selection import questions
from archfit.startup.record import Record
from archfit.workloads.documents import Document
from archfit.workloads.pods import Pod
from archfit.yaml import stream
from archfit.yaml.stream import LineCount, Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BLANK = "the input holds no manifests"
_BETWEEN = b"\n---\n"


class Manifests(Record):
    """One input. name: of its file, "" for standard input. results: why it could not be read, or was blank.

    data, pieces: of all inputs, and the documents of this one in it; none where there are results. start, end: where
    the input stands in data.
    """

    name: str
    data: bytes
    pieces: tuple[Piece, ...] = ()
    inventory: StreamInventory = StreamInventory((), (), ())
    results: tuple[Result, ...] = ()
    blank: bool = False
    start: int = 0
    end: int = 0

    @property
    def pods(self) -> list[Pod]:
        """Every pod, in the order of the stream."""
        return [pod for document in self.inventory.documents for pod in document.pods]


def read_manifests(found: Iterable[tuple[str, bytes]], options: Options) -> list[Manifests]:
    """What each input holds; what is wrong with one is among its results. A blank one among others is passed over."""
    read = [_read(name, data, options.on_blank) for name, data in found]
    if any(one.pieces for one in read):
        read = [one.replace(results=(Result("warning", BLANK),)) if one.blank else one for one in read]
    if len(read) == 1:
        one = read[0]
        return [one.replace(inventory=inventory(one.data, one.pieces, options))] if one.pieces else read
    data = _BETWEEN.join(one.data for one in read)
    at, number = 0, 0
    placed: list[Manifests] = []
    pieces: list[Piece] = []
    for one in read:
        placed.append(
            one.replace(data=data, pieces=_moved(one.pieces, data, at, 0), start=at, end=at + len(one.data))
        )
        pieces += _moved(one.pieces, data, at, number)
        at += len(one.data) + len(_BETWEEN)
        number += len(one.pieces)
    return _apart(placed, inventory(data, pieces, options)) if pieces else placed


def _read(name: str, data: bytes, on_blank: str) -> Manifests:
    try:
        read = stream.read(data, on_blank)
    except InvalidInput as error:
        blank = isinstance(error, stream.BlankInput)
        return Manifests(name, data, results=(Result.from_error(error),), blank=blank, end=len(data))
    if not read.pieces:
        return Manifests(name, data, results=(Result("warning", BLANK),), blank=True, end=len(data))
    return Manifests(name, data, read.pieces, end=len(data))


def _moved(pieces: Iterable[Piece], data: bytes, by: int, number: int) -> tuple[Piece, ...]:
    """The pieces of an input as pieces of the data of all; their lines stay those of the input."""
    lines = LineCount(data, by)
    return tuple(
        piece.replace(
            start=piece.start + by,
            end=piece.end + by,
            number=piece.number + number,
            lines=lines,
        )
        for piece in pieces
    )


def _apart(inputs: Sequence[Manifests], whole: StreamInventory) -> list[Manifests]:
    """The inventory of all as one of each input. What is about no place goes to an input without a name."""
    firsts, number = list[int](), 0  # the number of the last piece before each input
    for one in inputs:
        firsts.append(number)
        number += len(one.pieces)

    def of(number: int) -> int:
        """The input that has the document of that number: the last one that begins before it."""
        return bisect_right(firsts, number - 1) - 1

    parts = [_Input() for _ in inputs]
    general: list[Result] = []
    options = iter(whole.pod_options)
    for at, document in enumerate(whole.documents):
        number = of(document.span.number)
        part, less = parts[number], firsts[number]
        part.documents.append(
            document.replace(
                span=document.span.replace(number=document.span.number - less),
                pods=tuple(_renumbered(pod, less) for pod in document.pods),
            )
        )
        part.options += [next(options) for _ in document.pods]
        if whole.stamps:
            part.stamps.append(_renumbered_stamps(whole.stamps[at], less))
    for result in whole.results:
        if result.location is None:
            general.append(result)
        else:
            number = of(result.location.document)
            parts[number].results.append(_renumbered(result, firsts[number]))
    for left in whole.untouched:
        number = of(left.location.document)
        parts[number].untouched.append(_renumbered(left, firsts[number]))
    made = [one.replace(inventory=part.inventory()) for one, part in zip(inputs, parts, strict=True)]
    if whole.excluded:
        made[0] = made[0].replace(inventory=made[0].inventory.replace(excluded=whole.excluded))
    return [*made, Manifests("", inputs[0].data, results=tuple(general))] if general else made


class _Input:
    """What an inventory says about one input."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.results: list[Result] = []
        self.options: list[Any] = []
        self.stamps: list[DocumentStamps] = []
        self.untouched: list[Any] = []

    def inventory(self) -> StreamInventory:
        pods = (pod for document in self.documents for pod in document.pods)
        texts = (text for pod, own in zip(pods, self.options, strict=True) for text in questions(pod, own))
        return StreamInventory(
            tuple(self.documents),
            tuple(self.results),
            tuple(dict.fromkeys(texts)),
            tuple(self.untouched),
            tuple(self.options),
            tuple(self.stamps),
        )


def _renumbered(one: Any, less: int) -> Any:
    """A Pod, a Result or an Untouched, whose document is counted from its input's first."""
    return one.replace(location=one.location.replace(document=one.location.document - less)) if less else one


def _renumbered_stamps(stamps: DocumentStamps, less: int) -> DocumentStamps:
    objects = tuple(tuple(_renumbered(pod, less) for pod in pods) for pods in stamps.objects)
    return stamps.replace(objects=objects)
