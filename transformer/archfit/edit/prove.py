"""The proof: the edited text, read again, is the original with the patch applied, and nothing else.

Anchors and tags are the same, and no key stands twice that did not before. A failed proof is a bug in archfit.
"""

from __future__ import annotations

import sys

from archfit.base.errors import ArchfitError, InternalError
from archfit.base.patch import Operation, Remove, apply
from archfit.workloads.documents import Document
from archfit.yaml.compose import parse
from archfit.yaml.values import typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def prove(document: Document, patch: Iterable[Operation], after: str) -> None:
    """Checks one edited document. after: its whole text, edited. Raises InternalError."""
    try:
        tree = parse(after, most=sys.maxsize)  # additions are bounded by the pods that they are for
        expected = apply(document.value, [as_read(step) for step in patch])
    except ArchfitError as error:
        raise InternalError(f"the edited text cannot be read again: {error}") from error
    if tree.value != ([expected] if document.span.item else expected):
        raise InternalError("the edited text is not what was decided")
    if len(tree.duplicates) != document.duplicates:
        raise InternalError("the edited text names a key twice")
    if tree.properties != document.properties:
        raise InternalError("the edited text has other anchors or tags than the original")


def as_read(step: Operation) -> Operation:
    """The operation with its value as the parser would give it back: numbers and booleans become Typed."""
    return step if isinstance(step, Remove) else step.replace(value=typed(step.value))
