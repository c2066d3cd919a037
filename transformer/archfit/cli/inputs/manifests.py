"""Several inputs read as one stream, whose places name the input that they are in.

So a RuntimeClass, a Namespace or a pull secret counts for the pods of every input, as if all were one stream. A single
input is not copied. Every offset counts in the text of all; documents and lines are those of the input.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from archfit.base.errors import InvalidInput
from archfit.base.results import Location, Message
from archfit.options.settings import Options
from archfit.pipeline import scan
from archfit.startup.record import Record
from archfit.stream_inventory import StreamInventory
from archfit.workloads.pods import Pod
from archfit.workloads.unsupported.non_objects import OTHER_COMMAND
from archfit.yaml import stream
from archfit.yaml.stream import BEFORE_THE_PIPE, LineCount, Piece

BLANK = "the input holds no manifests"
_BETWEEN = b"\n---\n"
_Item = TypeVar("_Item")


class Source(Record):
    """One input. name: of its file, "" for standard input. messages: why it could not be read, or was blank.

    pieces: its documents, in the text of all; none where there are messages. start: where it begins in that text.
    """

    name: str
    data: bytes
    pieces: tuple[Piece, ...] = ()
    messages: tuple[Message, ...] = ()
    blank: bool = False
    start: int = 0


def _file_of(message: Any) -> str | None:
    return message.location.file if message.location else None


class Manifests(Record):
    """All inputs. data, pieces: their text and its documents. notes: about what was not read."""

    sources: tuple[Source, ...] = ()
    data: bytes = b""
    pieces: tuple[Piece, ...] = ()
    inventory: StreamInventory = StreamInventory((), (), ())
    notes: tuple[Message, ...] = ()

    @property
    def messages(self) -> list[Message]:
        """About reading the inputs."""
        read = [in_file(message, source.name) for source in self.sources for message in source.messages]
        return [*read, *self.notes]

    @property
    def pods(self) -> list[Pod]:
        """Every pod, in the order of the stream."""
        return [pod for document in self.inventory.documents for pod in document.pods]

    def in_order(self, items: Iterable[_Item], file: Callable[[_Item], str | None] = _file_of) -> list[_Item]:
        """The items input by input; what is of none of several stands last. file: of an item, by default a message."""
        order, at_end = {source.name: at for at, source in enumerate(self.sources)}, len(self.sources)
        if at_end == 1:
            return list(items)
        unnamed = order.get("", at_end)

        def place(item: _Item) -> int:
            name = file(item)
            return at_end if name is None else order.get(name, unnamed)

        return sorted(items, key=place)

    def by_source(self, items: Iterable[_Item], start: Callable[[_Item], int]) -> list[list[_Item]]:
        """The items of each input. start: the offset of an item."""
        starts = [source.start for source in self.sources]
        groups: list[list[_Item]] = [[] for _ in starts]
        for item in items:
            groups[bisect_right(starts, start(item)) - 1].append(item)
        return groups


def read_manifests(files: Iterable[tuple[str, bytes]], options: Options) -> Manifests:
    """What the inputs hold; what is wrong with one is among the messages. A blank one among others is passed over."""
    sources = [_read(name, data, options.on_blank) for name, data in files]
    if any(source.pieces for source in sources):
        blank = (Message("warning", BLANK),)
        sources = [source.replace(messages=blank) if source.blank else source for source in sources]
    data, pieces = sources[0].data, sources[0].pieces
    if len(sources) > 1:
        data = _BETWEEN.join(source.data for source in sources)
        sources = list(_moved(sources, data))
        pieces = tuple(piece for source in sources for piece in source.pieces)
        pieces = tuple(piece.replace(number=number) for number, piece in enumerate(pieces, start=1))
    inventory = scan(data, pieces, options) if pieces else StreamInventory((), (), ())
    if len(sources) > 1 or sources[0].name:
        inventory = _named(inventory, sources)
    return Manifests(tuple(sources), data, pieces, inventory)


def in_file(message: Message, name: str) -> Message:
    """The message with the name of its file, if it has one. No command before a pipe wrote what a file holds."""
    if not name:
        return message
    for words in (OTHER_COMMAND, BEFORE_THE_PIPE):
        message = message.replace(text=message.text.replace(words, "Name files that hold rendered manifests"))
    if not message.location:
        return message.replace(text=f"{name}: {message.text}")
    return message.replace(location=message.location.replace(file=name))


def _read(name: str, data: bytes, on_blank: str) -> Source:
    try:
        read = stream.read_stream(data, on_blank)
    except InvalidInput as error:
        blank = isinstance(error, stream.BlankInput)
        return Source(name, data, messages=(Message.from_error(error),), blank=blank)
    if not read.pieces:
        return Source(name, data, messages=(Message("warning", BLANK),), blank=True)
    return Source(name, data, read.pieces)


def _moved(sources: Iterable[Source], data: bytes) -> Iterator[Source]:
    """The inputs as parts of the text of all; the lines of their documents stay those of the input."""
    at = 0
    for source in sources:
        lines = LineCount(data, at)
        pieces = tuple(
            piece.replace(start=piece.start + at, end=piece.end + at, lines=lines) for piece in source.pieces
        )
        yield source.replace(pieces=pieces, start=at)
        at += len(source.data) + len(_BETWEEN)


def _named(inventory: StreamInventory, sources: Sequence[Source]) -> StreamInventory:
    """What all hold, with places in the inputs."""
    firsts = list(accumulate((len(source.pieces) for source in sources[:-1]), initial=0))

    def moved(location: Location) -> Location:
        at = bisect_right(firsts, location.document - 1) - 1
        return location.replace(document=location.document - firsts[at], file=sources[at].name)

    def named(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(item.replace(location=moved(item.location)) if item.location else item for item in items)

    return inventory.replace(
        documents=tuple(document.replace(pods=named(document.pods)) for document in inventory.documents),
        messages=tuple(
            in_file(message, message.location.file if message.location else "")
            for message in named(inventory.messages)
        ),
        untouched=named(inventory.untouched),
        stamps=tuple(
            stamps.replace(objects=tuple(map(named, stamps.objects))) for stamps in inventory.stamps
        ),
    )
