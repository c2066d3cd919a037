"""Pieces into documents: which are skipped, which are parsed, and the text that the parser sees.

piece ── plain to see ──┬── no items; no pod kind, or no word of it  skipped
                        ├── a list ── its items, each as a piece ──> this table again
                        └── anything else ────────────────────────── parsed
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.startup.record import Record
from archfit.yaml.skip import Identity, has_odd_breaks, has_pod_words, identity, may_be_list
from archfit.yaml.stream import BOM, Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Span(Record):
    """A part of the stream that has to be parsed: `data[start:end]`.

    number: of its document, 1-based. line: 1-based, of `start`. item: it is one item of a list, and parses as a list of
    one. Offsets count from the start of the stream.
    """

    start: int
    end: int
    number: int
    line: int
    item: bool = False

    def text(self, data: bytes) -> str:
        """What the parser sees."""
        return data[self.start : self.end].decode()


def whole(piece: Piece) -> Span:
    """The piece as one part."""
    return Span(piece.start, piece.end, piece.number, piece.line)


def spans(data: bytes, piece: Piece, is_podless: Callable[[str, str], bool | None]) -> Iterator[Span]:
    """The parts of a piece that have to be parsed.

    is_podless(api_version, kind): True if objects of the kind hold no pod, False if they may, None if that is unknown.
    """
    sliced = not data.startswith(BOM, piece.start)
    for start, end, item in _parsed(data, piece.start, piece.end, 0, is_podless, sliced=sliced):
        yield Span(start, end, piece.number, piece.lines.at(start), item)


def _parsed(
    data: bytes,
    start: int,
    end: int,
    column: int,
    is_podless: Callable[[str, str], bool | None],
    *,
    closed: bool = True,
    sliced: bool = True,
) -> Iterator[tuple[int, int, bool]]:
    named = identity(data, start, end, column) if closed else None
    if named is not None:
        podless = is_podless(named.api_version, named.kind)
        if (podless or (podless is None and not has_pod_words(data, start, end))) and not may_be_list(
            data, start, end, column
        ):
            return
        if sliced and column == 0 and _is_list(named):
            from archfit.yaml.container import slices

            inside = slices(data, start, end)
            if inside is not None:
                for part in inside:
                    yield from _parsed(
                        data, part.start, part.end, part.column, is_podless, closed=part.closed
                    )
                return
    yield start, end, column > 0


def _is_list(named: Identity) -> bool:
    """Whether `items` are objects of any kind (API conventions, KRM functions spec)."""
    if named.kind == "ResourceList":
        return named.api_version.startswith("config.kubernetes.io/")
    return named.kind == "List" and named.api_version == "v1"


def check_editable(data: bytes, span: Span) -> None:
    """Raises InvalidInput where YAML parsers disagree on what a line is."""
    if has_odd_breaks(data, span.start, span.end):
        raise InvalidInput(
            "this document needs a change but holds a bare CR, NEL, LS or PS, which some YAML parsers read as a line "
            "break and others do not. Write it as an escape in double quotes",
            line=span.line,
            document=span.number,
        )
    # The first one of a document is outside of it, so that one at its start is the second.
    second = data.startswith(BOM, span.start)
    mark = span.start if second else data.find(b"\n" + BOM, span.start, span.end) + 1
    if second or mark:
        raise InvalidInput(
            "this document needs a change but has a byte order mark at the start of a line, which some YAML "
            "parsers skip and others read as text. Remove it",
            line=span.line + data.count(b"\n", span.start, mark),
            document=span.number,
        )
