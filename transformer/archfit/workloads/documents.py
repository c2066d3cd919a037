"""A parsed part of the stream: its pods, and messages about what it holds besides.

Loaded with the first part that has to be parsed, together with the parser.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.patch import Path
from archfit.base.results import Location, Message
from archfit.startup.record import Record
from archfit.workloads.builtin import WORKLOADS, UserRows
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod
from archfit.workloads.sites import Sites, anchors, find_sites
from archfit.yaml.compose import parse
from archfit.yaml.scan import Span
from archfit.yaml.stream import BOM
from archfit.yaml.tree import ROOT, NodeLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from archfit.workloads.unsupported.untouched import Untouched

_SOURCE = b"# Source: "
_NO_OBJECTS = (None, "", "Kustomization", "Component")


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


class Contents(Record):
    """What a part holds. document: None without pods. untouched: what may hold pods and is left as it is."""

    document: Document | None = None
    messages: tuple[Message, ...] = ()
    untouched: tuple[Untouched, ...] = ()


def read_document(data: bytes, span: Span, user_rows: UserRows) -> Contents:
    """The contents of a part. Raises InvalidInput."""
    if data.startswith(BOM, span.start):
        raise InvalidInput(
            "a byte order mark stands at the start of this document, and kubectl reads it as a part of the first key. "
            "Remove it",
            line=span.line,
        )
    try:
        tree = parse(span.text(data))
    except InvalidInput as error:
        raise InvalidInput(error.message, line=span.line + max(error.line - 1, 0)) from None
    root, value = (ROOT + 1, tree.value[0]) if span.item else (ROOT, tree.value)
    location = Location(span.number, span.line, source_file(data, span.start, span.end))
    if value is None:
        return Contents()
    if not isinstance(value, dict):
        return Contents(messages=_non_objects(tree.text, value, span, location))
    glued = next((key for key in value if key.startswith("---")), None)
    if glued is not None:
        raise InvalidInput(
            "a line begins with '---' and goes on: kubectl refuses it. Put '---' on a line of its own",
            line=span.line + f"\n{tree.text}".split(f"\n{glued}", 1)[0].count("\n"),
        )
    pods = find_pods(value, location, (), user_rows)
    messages: tuple[Message, ...] = ()
    if tree.duplicates:
        from archfit.workloads.unsupported.duplicates import duplicate_messages

        messages = duplicate_messages(tree, root, pods, span, location)
    untouched: tuple[Untouched, ...] = ()
    ordinary = len(pods) == 1 and not pods[0].root and (pods[0].group, pods[0].ref.kind) in WORKLOADS
    if not ordinary or "items" in value:
        from archfit.workloads.unsupported.untouched import untouched_in

        untouched = tuple(untouched_in(value, pods, location, user_rows))
    if "items" in value or not value.get("apiVersion") or value.get("kind") in _NO_OBJECTS:
        messages = (*messages, *_non_objects(tree.text, value, span, location))
    if not pods:
        return Contents(None, messages, untouched)
    sites = find_sites(tree, root, value, anchors(pods))
    document = Document(span, value, tree.properties, len(tree.duplicates), sites, tuple(pods))
    return Contents(document, messages, untouched)


def source_file(data: bytes, start: int, end: int) -> str:
    """The file that Helm names above the object, "" if it names none."""
    at = data.find(_SOURCE, start, min(end, start + 512))
    if at < 0 or (at > start and data[at - 1 : at] != b"\n"):
        return ""
    line_end = data.find(b"\n", at, end)
    return data[at + len(_SOURCE) : line_end if line_end >= 0 else end].decode().strip()


def _non_objects(text: str, value: Any, span: Span, location: Location) -> tuple[Message, ...]:
    from archfit.workloads.unsupported.non_objects import non_objects

    lines = NodeLines(text, item=span.item)
    return tuple(
        Message(
            severity, message, location=location.replace(line=span.line + (lines.at(path) if path else 0))
        )
        for path, severity, message in non_objects(value, item=span.item)
    )


class Lines:
    """Lines of one stream for people. It remembers the document it was asked about last.

    The nodes of documents are not kept, so a document is read again, as far as it is asked for (`NodeLines`).
    """

    def __init__(self, data: bytes, documents: Iterable[Document]) -> None:
        self._data = data
        # All pods of a document have its location, those of a stamped one too, which are made anew.
        self._of = {document.pods[0].location: document for document in documents}
        self._last: tuple[Document, NodeLines] | None = None

    def line(self, pod: Pod, path: Path) -> int:
        """The 1-based line of what stands at path in the pod's document."""
        return self._line(self._of[pod.location], path)

    def located(self, message: Message) -> Message:
        """The message with the line of its path, where it has one that is in a document."""
        if message.location is None or not message.path:
            return message
        document = self._of.get(message.location)
        if document is None:
            return message
        line = self._line(document, message.path)
        return message.replace(location=document.pods[0].location.replace(line=line), path=())

    def _line(self, document: Document, path: Path) -> int:
        if self._last is None or self._last[0] is not document:
            text, item = document.span.text(self._data), document.span.item
            self._last = document, NodeLines(text, item=item, twice=document.duplicates > 0)
        return document.span.line + self._last[1].at(path)
