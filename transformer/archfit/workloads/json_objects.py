"""Objects of a large list in JSON, each read by itself.

    list ── json_parts ──┬── a kind without pods      no part
                         └── anything else            a part, its text alone
    part ── read ────────┬── pods found               Document, its places not known yet
                         └── otherwise                what may hold pods and is left as it is
    document ── placed ──── read again ─────────────── Document with all values and places, for an edit

Messages, paths and lines are those of one document. The list is one document where it is no usual JSON, and where more
than one object counts: an object without a kind, a list in it, a pod whose image another object names.
"""

from __future__ import annotations

from archfit.errors import InternalError, InvalidInput
from archfit.results import Location
from archfit.source.json_list import Listed, json_list
from archfit.source.scan import Span
from archfit.source.split import Piece
from archfit.source.tree import C_EXTENSION
from archfit.source.usual_json import Unusual
from archfit.source.usual_json import read as read_text
from archfit.typing_names import Callable
from archfit.workloads.borrowed_images import NAMED
from archfit.workloads.builtin import LISTS, UserRows, group_of
from archfit.workloads.documents import Contents, Document, untouched_of
from archfit.workloads.json_sites import json_sites
from archfit.workloads.kept_values import lighten
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.sites import Sites, anchors

_NO_SITES = Sites({}, (), 2, 0)


def json_parts(data: bytes, piece: Piece, is_podless: Callable[[str, str], bool | None]) -> list[Span] | None:
    """The objects of a list in JSON that may hold pods, None where the piece has to be one document."""
    if not C_EXTENSION:  # PyYAML's pure parser refuses tabs between the parts of JSON
        return None
    found = json_list(
        data, piece.start, piece.end, lambda api_version, kind: is_podless(api_version, kind) is not True
    )
    if found is None or (group_of(found.api_version), found.kind) not in LISTS:
        return None
    kind, line = found.kind.removesuffix("List"), piece.line
    parts = []
    for item in found.items:
        listed = Listed(item.number, line)
        if not item.kind:
            listed = Listed(item.number, line, item.api_version or found.api_version, kind)
            if kind in ("", "Resource"):
                return None
            if is_podless(listed.api_version, kind):
                continue
        parts.append(Span(item.start, item.end, piece.number, piece.lines.at(item.start), listed=listed))
    return parts


def read(data: bytes, span: Span, listed: Listed, user_rows: UserRows, *, light: bool) -> Contents:
    """The contents of a part. light: as `documents.read` takes it.

    Raises InvalidInput where its list has to be one document.
    """
    try:
        value = read_text(span.text(data))
    except Unusual:
        raise InvalidInput("an object of the list is no usual JSON", line=span.line) from None
    typed = value if not listed.kind else {**value, "kind": listed.kind, "apiVersion": listed.api_version}
    location = Location(span.number, listed.line)
    pods = find_pods(typed, location, listed.path, user_rows)
    untouched = untouched_of(typed, pods, location, user_rows, listed.path)
    if not pods and (group_of(value.get("apiVersion", "")), value.get("kind")) not in NAMED:
        return Contents(None, (), untouched)
    if not pods or any(pod.placement_paths is not None and pod.placement_paths.same for pod in pods):
        raise InvalidInput("one object of the list names the image of another's pod", line=span.line)
    light = light and not user_rows and lighten(data, span, value, pods)
    return Contents(Document(span, value, (), 0, _NO_SITES, tuple(pods), light), (), untouched)


def placed(document: Document, text: str) -> Document:
    """The document with all of its values and the places of its edits. text: its own."""
    at = document.at
    spines = {path[len(at) :]: spine for path, spine in anchors(document.pods).items()}
    try:
        value, found = read_text(text), json_sites(text, spines)
    except Unusual:
        raise InternalError("usual JSON is not usual when it is read again") from None
    sites = found.replace(at={(*at, *path): site for path, site in found.at.items()})
    return document.replace(value=value, sites=sites, light=False)
