"""A piece of the stream into documents with pods, and messages about the rest.

An item of a list that does not parse by itself makes the whole list one document.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.results import Location, Message
from archfit.startup.record import Record
from archfit.workloads.builtin import LISTS, OWN_GROUPS, PODLESS, UserRows, every_row, group_of
from archfit.yaml.scan import Span, spans, whole
from archfit.yaml.stream import Piece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from archfit.workloads.documents import Contents, Document
    from archfit.workloads.unsupported.untouched import Untouched

_KUSTOMIZE = "kustomize.config.k8s.io"
_NONE: UserRows = {}


class Inventory(Record):
    """documents: those with pods. messages: warnings and errors. untouched: what may hold pods and is left as it is."""

    documents: tuple[Document, ...] = ()
    messages: tuple[Message, ...] = ()
    untouched: tuple[Untouched, ...] = ()


def is_podless(api_version: str, kind: str, user_rows: UserRows = _NONE) -> bool | None:
    """Whether objects of a kind hold no pod: True, False, or None for a kind that no table lists."""
    key = group_of(api_version), kind
    if key in PODLESS and key not in user_rows:
        return True
    if key in LISTS or key[0] == _KUSTOMIZE or every_row(*key, user_rows):
        return False
    if key[0] in OWN_GROUPS:
        return None
    from archfit.workloads.unsupported.unknown_kinds import known_list

    return False if known_list(*key) else None


def scan_piece(data: bytes, piece: Piece, user_rows: UserRows = _NONE) -> Inventory:
    """What the piece holds. Problems become error messages; nothing is raised for bad input."""
    parts = list(spans(data, piece, lambda api_version, kind: is_podless(api_version, kind, user_rows)))
    try:
        return _inventory(_read(data, parts, user_rows))
    except InvalidInput as error:
        if not any(span.item for span in parts):
            return Inventory(messages=(_unreadable(data, error, piece),))
    try:
        return _inventory(_read(data, [whole(piece)], user_rows))
    except InvalidInput as error:
        return Inventory(messages=(_unreadable(data, error, piece),))


def _inventory(parts: Sequence[Contents]) -> Inventory:
    if len(parts) == 1:
        only = parts[0]
        return Inventory((only.document,) if only.document else (), only.messages, only.untouched)
    return Inventory(
        tuple(part.document for part in parts if part.document),
        tuple(message for part in parts for message in part.messages),
        tuple(left for part in parts for left in part.untouched),
    )


def _read(data: bytes, parts: list[Span], user_rows: UserRows) -> list[Contents]:
    if not parts:
        return []
    from archfit.workloads.documents import read_document  # a stream without pods does not load the parser

    return [read_document(data, part, user_rows) for part in parts]


def _unreadable(data: bytes, error: InvalidInput, piece: Piece) -> Message:
    from archfit.workloads.documents import source_file
    from archfit.workloads.unsupported.non_objects import (
        CHART,
        OTHER_COMMAND,
        is_chart_source,
        is_error_message,
        remedy,
    )

    text = data[piece.start : piece.end]
    location = Location(piece.number, error.line or piece.line, source_file(data, piece.start, piece.end))
    if is_error_message(text):
        message = f"{error.message}. {OTHER_COMMAND}"
    elif is_chart_source(text):
        message = CHART
    else:
        message = ". ".join(part for part in (error.message, remedy(error.message, text)) if part)
    return Message("error", message, location=location)
