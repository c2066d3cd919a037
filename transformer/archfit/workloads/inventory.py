"""A piece of the stream into documents with pods, and results about the rest.

    piece ── spans ──┬── nothing of it can hold a pod    no parser, no result
                     └── a part that may hold one        `documents`: its pods, and results about the rest

An item of a list that does not parse by itself makes the whole list one document.
"""

from __future__ import annotations

from archfit.errors import InvalidInput
from archfit.record import Record
from archfit.results import Location, Result
from archfit.source.scan import Span, is_large_json, spans, whole
from archfit.source.split import Piece
from archfit.typing_names import Iterator, Sequence
from archfit.workloads.builtin import LISTS, OWN_GROUPS, PODLESS, UserRows, group_of, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.workloads.coverage.untouched import Untouched
    from archfit.workloads.documents import Contents, Document

_KUSTOMIZE = "kustomize.config.k8s.io"
_NONE: UserRows = {}


class Inventory(Record):
    """documents: those with pods. results: warnings and errors. untouched: what may hold pods and is left as it is."""

    documents: tuple[Document, ...] = ()
    results: tuple[Result, ...] = ()
    untouched: tuple[Untouched, ...] = ()


def is_podless(api_version: str, kind: str, user_rows: UserRows = _NONE) -> bool | None:
    """Whether objects of a kind hold no pod: True, False, or None for a kind that no table lists."""
    key = group_of(api_version), kind
    if key in PODLESS and key not in user_rows:
        return True
    if key in LISTS or key[0] == _KUSTOMIZE or rows_of(api_version, kind, user_rows):
        return False
    if key[0] in OWN_GROUPS:
        return None
    from archfit.workloads.coverage.unknown_kinds import listed

    return False if listed(*key) else None


def scan_piece(data: bytes, piece: Piece, user_rows: UserRows = _NONE, *, light: bool = False) -> Inventory:
    """What the piece holds. Problems become error results; nothing is raised for bad input.

    light: values that only patches and stamps need may be taken out of documents (`kept_values`).
    """
    return _scanned(data, piece, _parts(data, piece, user_rows, light), user_rows, light)


def scan_parts(data: bytes, piece: Piece, size: int) -> Iterator[Inventory]:
    """What the piece holds, as light documents: a list of more than `size` bytes item by item.

    Raises InvalidInput where an item of such a list does not parse by itself.
    """
    parts = _parts(data, piece, _NONE, light=True)
    if len(parts) < 2 or piece.end - piece.start <= size:
        yield _scanned(data, piece, parts, _NONE, light=True)
        return
    # Each is dropped once it is read: they take a third of what is kept of small items.
    parts.reverse()
    while parts:
        yield _inventory(_read(data, [parts.pop()], _NONE, light=True))


def _scanned(data: bytes, piece: Piece, parts: list[Span], user_rows: UserRows, light: bool) -> Inventory:
    try:
        found = _read(data, parts, user_rows, light)
    except InvalidInput as error:
        if not any(span.item or span.listed for span in parts):
            return Inventory(results=(_unreadable(data, error, piece),))
        try:
            found = _read(data, [whole(piece)], user_rows, light)
        except InvalidInput as of_whole:
            return Inventory(results=(_unreadable(data, of_whole, piece),))
    return _inventory(found)


def _inventory(found: Sequence[Contents]) -> Inventory:
    if len(found) == 1:
        only = found[0]
        return Inventory((only.document,) if only.document else (), only.results, only.untouched)
    return Inventory(
        tuple(part.document for part in found if part.document),
        tuple(result for part in found for result in part.results),
        tuple(one for part in found for one in part.untouched),
    )


def _parts(data: bytes, piece: Piece, user_rows: UserRows, light: bool) -> list[Span]:
    def podless(api_version: str, kind: str) -> bool | None:
        return is_podless(api_version, kind, user_rows)

    if light and is_large_json(data, piece):
        from archfit.workloads.json_objects import json_parts

        parts = json_parts(data, piece, podless)
        if parts is not None:
            return parts
    return list(spans(data, piece, podless))


def _read(data: bytes, parts: list[Span], user_rows: UserRows, light: bool) -> list[Contents]:
    if not parts:
        return []
    from archfit.workloads.documents import read  # a stream without pods does not load the parser

    if parts[0].listed is None:
        return [read(data, part, user_rows, light=light) for part in parts]
    from archfit.workloads import json_objects

    return [
        json_objects.read(data, part, part.listed, user_rows, light=light) for part in parts if part.listed
    ]


def _unreadable(data: bytes, error: InvalidInput, piece: Piece) -> Result:
    from archfit.workloads.coverage.broken_yaml import is_chart_source, is_error_message, remedy
    from archfit.workloads.coverage.non_objects import CHART, OTHER_COMMAND
    from archfit.workloads.documents import source_file

    text = data[piece.start : piece.end]
    location = Location(piece.number, error.line or piece.line, source_file(data, piece.start, piece.end))
    if is_error_message(text):
        message = f"{error.message}. {OTHER_COMMAND}"
    elif is_chart_source(text):
        message = CHART
    else:
        message = ". ".join(part for part in (error.message, remedy(error.message, text)) if part)
    return Result("error", message, location=location)
