"""Lines for people: where in a stream a member of an object stands.

    spec.template.spec.containers[0].image    ->    the line of `image:`

A member that an alias or `<<` supplies has no line of its own: its nearest holder's counts. A document is parsed
again for it, as its tree was dropped long ago: only for what is to be shown.
"""

from __future__ import annotations

from archfit.source.compose import parse
from archfit.source.nodes import ROOT, is_mapping, is_sequence, items, members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from archfit.patch import Path
    from archfit.source.nodes import Tree
    from archfit.workloads.inventory import Document
    from archfit.workloads.pods import Pod


class Lines:
    """Lines in one stream. It remembers the document it was asked about last."""

    def __init__(self, data: bytes, documents: Iterable[Document]) -> None:
        self._data = data
        self._of = {id(pod): document for document in documents for pod in document.pods}
        self._last: tuple[Document, Tree] | None = None

    def line(self, pod: Pod, path: Path) -> int:
        """The 1-based line of what stands at path in the pod's document."""
        document = self._of[id(pod)]
        if self._last is None or self._last[0] is not document:
            self._last = document, parse(document.span.text(self._data))
        return document.span.line + _line(self._last[1], ROOT + document.span.item, path)


def _line(tree: Tree, node: int, path: Path) -> int:
    line: int = tree.events[node].start_mark.line
    for token in path:
        found = _child(tree, node, token)
        if found is None:
            break
        named, node = found
        line = tree.events[named].start_mark.line
    return line


def _child(tree: Tree, node: int, token: str | int) -> tuple[int, int] | None:
    """(node that the line is of, node of the value) of a member as written, None where it is not written here."""
    found = None
    if is_mapping(tree, node):
        for name, key, value in members(tree, node):
            if name == token:
                found = key, value
    elif is_sequence(tree, node):
        for number, item in enumerate(items(tree, node)):
            if number == token:
                found = item, item
    return found
