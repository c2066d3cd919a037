"""Several inputs read as one stream, and what each of them holds.

So a RuntimeClass, a Namespace or a pull secret counts for the pods of every input, as if all were one stream. A single
input is not copied. `Manifests.data` is the text of all, in which every offset of an inventory counts; documents and
lines are those of the input.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice, zip_longest
from typing import Any

from archfit.base.errors import InvalidInput
from archfit.base.results import Message
from archfit.options.settings import Options
from archfit.pipeline import scan
from archfit.placement.selection import questions
from archfit.startup.record import Record
from archfit.stream_inventory import StreamInventory
from archfit.workloads.pods import Pod
from archfit.yaml import stream
from archfit.yaml.stream import LineCount, Piece

BLANK = "the input holds no manifests"
_BETWEEN = b"\n---\n"


class Manifests(Record):
    """One input. name: of its file, "" for standard input. messages: why it could not be read, or was blank.

    data, pieces: of all inputs, and the documents of this one in it; none where there are messages. start, end: where
    the input stands in data.
    """

    name: str
    data: bytes
    pieces: tuple[Piece, ...] = ()
    inventory: StreamInventory = StreamInventory((), (), ())
    messages: tuple[Message, ...] = ()
    blank: bool = False
    start: int = 0
    end: int = 0

    @property
    def pods(self) -> list[Pod]:
        """Every pod, in the order of the stream."""
        return [pod for document in self.inventory.documents for pod in document.pods]


def read_manifests(sources: Iterable[tuple[str, bytes]], options: Options) -> list[Manifests]:
    """What each input holds; what is wrong with one is among its messages. A blank one among others is passed over."""
    read = [_read(name, data, options.on_blank) for name, data in sources]
    if any(source.pieces for source in read):
        blank = (Message("warning", BLANK),)
        read = [source.replace(messages=blank) if source.blank else source for source in read]
    if len(read) == 1:
        whole = scan(read[0].data, read[0].pieces, options) if read[0].pieces else read[0].inventory
        return [read[0].replace(inventory=whole)]
    data = _BETWEEN.join(source.data for source in read)
    at = 0
    placed: list[Manifests] = []
    pieces: list[Piece] = []
    for source in read:
        moved = _moved(source.pieces, data, at)
        placed.append(source.replace(data=data, pieces=moved, start=at, end=at + len(source.data)))
        pieces += [piece.replace(number=piece.number + len(pieces)) for piece in moved]
        at += len(source.data) + len(_BETWEEN)
    return _apart(placed, scan(data, pieces, options)) if pieces else placed


def _read(name: str, data: bytes, on_blank: str) -> Manifests:
    try:
        read = stream.read_stream(data, on_blank)
    except InvalidInput as error:
        blank = isinstance(error, stream.BlankInput)
        return Manifests(name, data, messages=(Message.from_error(error),), blank=blank, end=len(data))
    if not read.pieces:
        return Manifests(name, data, messages=(Message("warning", BLANK),), blank=True, end=len(data))
    return Manifests(name, data, read.pieces, end=len(data))


def _moved(pieces: Iterable[Piece], data: bytes, by: int) -> tuple[Piece, ...]:
    """The pieces of an input as pieces of the data of all; their lines stay those of the input."""
    lines = LineCount(data, by)
    return tuple(piece.replace(start=piece.start + by, end=piece.end + by, lines=lines) for piece in pieces)


def _apart(inputs: Sequence[Manifests], whole: StreamInventory) -> list[Manifests]:
    """The inventory of all as one of each input. What is about no place goes to an input without a name."""
    firsts = list(accumulate((len(source.pieces) for source in inputs[:-1]), initial=0))
    documents, own_options, stamps, messages, untouched = (
        defaultdict[int, list[Any]](list) for _ in range(5)
    )
    options = iter(whole.pod_options)
    for document, of_document in zip_longest(whole.documents, whole.stamps):
        at, less = _place(document.span.number, firsts)
        span = document.span.replace(number=document.span.number - less)
        documents[at].append(document.replace(span=span, pods=_renumbered(document.pods, less)))
        own_options[at] += islice(options, len(document.pods))
        if of_document is not None:
            objects = tuple(_renumbered(pods, less) for pods in of_document.objects)
            stamps[at].append(of_document.replace(objects=objects))
    for items, by_input in ((whole.messages, messages), (whole.untouched, untouched)):
        for item in items:
            if item.location is not None:
                at, less = _place(item.location.document, firsts)
                by_input[at] += _renumbered((item,), less)
    apart = []
    for at, source in enumerate(inputs):
        pods = (pod for document in documents[at] for pod in document.pods)
        texts = (text for pod, own in zip(pods, own_options[at], strict=True) for text in questions(pod, own))
        part = StreamInventory(
            tuple(documents[at]),
            tuple(messages[at]),
            tuple(dict.fromkeys(texts)),
            tuple(untouched[at]),
            tuple(own_options[at]),
            tuple(stamps[at]),
            () if at else whole.excluded,
        )
        apart.append(source.replace(inventory=part))
    general = tuple(message for message in whole.messages if message.location is None)
    return [*apart, Manifests("", inputs[0].data, messages=general)] if general else apart


def _place(number: int, firsts: Sequence[int]) -> tuple[int, int]:
    """The input that has the document of that number, and how many documents stand before that input."""
    at = bisect_right(firsts, number - 1) - 1
    return at, firsts[at]


def _renumbered(items: tuple[Any, ...], less: int) -> tuple[Any, ...]:
    """Pods, Results or Untouched, whose documents are counted from the first of their input."""
    return tuple(
        item.replace(location=item.location.replace(document=item.location.document - less)) for item in items
    )
