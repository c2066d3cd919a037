"""A piece of the stream into documents with pods, and results about the rest.

    piece ── spans ── parse ──┬── pods found                     Document
                              ├── a kind in a row, without pods  "not transformed", with the reason
                              ├── a kind in no row, with pods?   "not transformed", with what to do
                              ├── null, or a mapping             passes through
                              └── anything else                  error: this is not a Kubernetes object

An item of a list that does not parse by itself makes the whole list one document.
"""

from __future__ import annotations

from archfit.errors import InvalidInput
from archfit.record import Record
from archfit.results import Location, Result
from archfit.source.scan import Span, spans
from archfit.source.split import Piece
from archfit.typing_names import Any
from archfit.workloads.builtin import LISTS, OWN_GROUPS, PODLESS, WORKLOADS, Own, group_of, rows_of
from archfit.workloads.coverage.duplicates import duplicate_results
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.source.nodes import Children, Tree
    from archfit.workloads.coverage.untouched import Untouched
    from archfit.workloads.sites import Sites

_SOURCE = b"# Source: "
_KUSTOMIZE = "kustomize.config.k8s.io"
_NO_OBJECTS = (None, "", "Kustomization", "Component")
_NONE: Own = {}


class Document(Record):
    """A parsed part of the stream that holds pods.

    value: plain values of the object. properties: anchors and tags of the text, for the proof; duplicates: how many
    keys stand twice in it.
    """

    span: Span
    value: Any
    properties: tuple[tuple[str | None, str | None], ...]
    duplicates: int
    sites: Sites
    pods: tuple[Pod, ...]


class Inventory(Record):
    """documents: those with pods. results: warnings and errors. untouched: what may hold pods and is left as it is."""

    documents: tuple[Document, ...] = ()
    results: tuple[Result, ...] = ()
    untouched: tuple[Untouched, ...] = ()


def is_podless(api_version: str, kind: str, own: Own = _NONE) -> bool | None:
    """Whether objects of a kind hold no pod: True, False, or None for a kind that no table lists."""
    key = group_of(api_version), kind
    if key in PODLESS and key not in own:
        return True
    if key in LISTS or key[0] == _KUSTOMIZE or rows_of(api_version, kind, own):
        return False
    if key[0] in OWN_GROUPS:
        return None
    from archfit.workloads.coverage.unknown_kinds import listed

    return False if listed(*key) else None


def scan_piece(data: bytes, piece: Piece, own: Own = _NONE) -> Inventory:
    """What the piece holds. Problems become error results; nothing is raised for bad input. own: the user's rows."""
    parts = list(spans(data, piece, lambda api_version, kind: is_podless(api_version, kind, own)))
    try:
        found = [_read(data, span, own) for span in parts]
    except InvalidInput as error:
        if not any(span.item for span in parts):
            return Inventory(results=(_unreadable(data, error, piece),))
        try:
            found = [
                _read(data, Span(piece.start, piece.end, piece.number, piece.line, mask=piece.mask), own)
            ]
        except InvalidInput as whole:
            return Inventory(results=(_unreadable(data, whole, piece),))
    return Inventory(
        tuple(document for inventory in found for document in inventory.documents),
        tuple(result for inventory in found for result in inventory.results),
        tuple(one for inventory in found for one in inventory.untouched),
    )


def _unreadable(data: bytes, error: InvalidInput, piece: Piece) -> Result:
    from archfit.workloads.coverage.foreign import CHART, OTHER_COMMAND, is_chart_source, is_error_message

    text = data[piece.start : piece.end]
    location = Location(piece.number, error.line or piece.line, _source(data, piece.start, piece.end))
    message = CHART if is_chart_source(text) else error.message
    if is_error_message(text):
        message = f"{error.message}. {OTHER_COMMAND}"
    return Result("error", message, location=location)


def _source(data: bytes, start: int, end: int) -> str:
    """The file that Helm names above the object, "" if it names none."""
    at = data.find(_SOURCE, start, min(end, start + 512))
    if at < 0 or (at > start and data[at - 1 : at] != b"\n"):
        return ""
    line_end = data.find(b"\n", at, end)
    return data[at + len(_SOURCE) : line_end if line_end >= 0 else end].decode().strip()


def _read(data: bytes, span: Span, own: Own) -> Inventory:
    # Imported here, so that a stream without pods does not load the parser.
    from archfit.source.compose import parse
    from archfit.source.nodes import ROOT
    from archfit.workloads.sites import anchors, find_sites

    try:
        tree = parse(span.text(data))
    except InvalidInput as error:
        raise InvalidInput(error.message, line=span.line + max(error.line - 1, 0)) from None
    root, value = (ROOT + 1, tree.value[0]) if span.item else (ROOT, tree.value)
    location = Location(span.number, span.line, _source(data, span.start, span.end))
    if value is None:
        return Inventory()
    if not isinstance(value, dict):
        return Inventory(results=_foreign(tree, root, value, span, location))
    glued = next((key for key in value if key.startswith("---")), None)
    if glued is not None:
        raise InvalidInput(
            "a line begins with '---' and goes on: kubectl refuses it. Put '---' on a line of its own",
            line=span.line + f"\n{tree.text}".split(f"\n{glued}", 1)[0].count("\n"),
        )
    pods = find_pods(value, location, (), own)
    results = duplicate_results(tree, root, pods, span, location)
    untouched: tuple[Untouched, ...] = ()
    if len(pods) != 1 or pods[0].root or (pods[0].group, pods[0].ref.kind) not in WORKLOADS:
        from archfit.workloads.coverage.untouched import untouched_in

        untouched = tuple(untouched_in(value, pods, location, own))
    if "items" in value or not value.get("apiVersion") or value.get("kind") in _NO_OBJECTS:
        results = (*results, *_foreign(tree, root, value, span, location))
    if not pods:
        return Inventory((), results, untouched)
    sites = find_sites(tree, root, value, anchors(pods))
    return Inventory(
        (Document(span, value, tree.properties, len(tree.duplicates), sites, tuple(pods)),),
        results,
        untouched,
    )


def _foreign(tree: Tree, root: int, value: Any, span: Span, location: Location) -> tuple[Result, ...]:
    """A result for each part of a document that is not a Kubernetes object."""
    from archfit.source.nodes import line_at
    from archfit.workloads.coverage.foreign import foreign

    known: Children = {}
    return tuple(
        Result(
            severity,
            message,
            location=location.replace(
                line=span.line + line_at(tree, known, root, path) if path else span.line
            ),
        )
        for path, severity, message in foreign(value, item=span.item)
    )
