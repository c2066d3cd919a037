"""Lines for people: where in a stream a member of an object stands.

    spec.template.spec.containers[0].image    ->    the line of `image:`

A member that an alias or `<<` supplies has the line of the nearest mapping or list that is written. The trees of
documents are not kept, so a document is parsed again: only for results that are shown.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.base.results import Result
from archfit.base.typing_names import Iterable
from archfit.workloads.documents import Document
from archfit.workloads.pods import Pod
from archfit.yaml.compose import parse
from archfit.yaml.tree import ROOT, Children, Tree, line_at


class Lines:
    """Lines in one stream. It remembers the document it was asked about last."""

    def __init__(self, data: bytes, documents: Iterable[Document]) -> None:
        self._data = data
        # All pods of a document have its location, those of a stamped one too, which are made anew.
        self._of = {document.pods[0].location: document for document in documents}
        self._last: tuple[Document, Tree, Children] | None = None

    def line(self, pod: Pod, path: Path) -> int:
        """The 1-based line of what stands at path in the pod's document."""
        return self._line(self._of[pod.location], path)

    def located(self, result: Result) -> Result:
        """The result with the line of its path, where it has one that is in a document."""
        if result.location is None or not result.path:
            return result
        document = self._of.get(result.location)
        if document is None:
            return result
        line = self._line(document, result.path)
        return result.replace(location=document.pods[0].location.replace(line=line), path=())

    def _line(self, document: Document, path: Path) -> int:
        if self._last is None or self._last[0] is not document:
            self._last = document, parse(document.span.text(self._data)), {}
        return document.span.line + line_at(*self._last[1:], ROOT + document.span.item, path)
