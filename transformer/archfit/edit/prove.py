"""The proof: the edited text, read again, is the original with the patch applied, and nothing else.

    value(parse(after))  ==  apply(patch, value(parse(before)))      typed: a boolean true is not the string
    anchors and tags of `after`  ==  anchors and tags of `before`; no key stands twice that did not before

Both sides are read with a final newline (`parse`), or as usual JSON, which says the same. A failed proof is a bug in
archfit, never in the input.
"""

from __future__ import annotations

from archfit.errors import ArchfitError, InternalError
from archfit.patch import Operation, Remove, apply
from archfit.source.compose import parse
from archfit.source.values import typed
from archfit.typing_names import Any, Iterable
from archfit.workloads.documents import Document


def prove(document: Document, patch: Iterable[Operation], after: str) -> None:
    """Checks one edited document. after: its whole text, edited. Raises InternalError."""
    try:
        value, duplicates, properties = _read_again(document, after)
        below = len(document.at)
        steps = (as_read(step) for step in patch)
        expected = apply(document.value, [step.replace(path=step.path[below:]) for step in steps])
    except ArchfitError as error:
        raise InternalError(f"the edited text cannot be read again: {error}") from error
    if value != ([expected] if document.span.item else expected):
        raise InternalError("the edited text is not what was decided")
    if duplicates != document.duplicates:
        raise InternalError("the edited text names a key twice")
    if properties != document.properties:
        raise InternalError("the edited text has other anchors or tags than the original")


def _read_again(document: Document, after: str) -> tuple[Any, int, tuple[tuple[str | None, str | None], ...]]:
    """Value, keys that stand twice, and anchors and tags of the edited text. Raises InvalidInput."""
    if document.span.listed:
        from archfit.source.usual_json import Unusual, is_usual, read

        try:
            if is_usual(after.encode()):
                return read(after), 0, ()
        except Unusual:
            pass
    tree = parse(after)
    return tree.value, len(tree.duplicates), tree.properties


def as_read(step: Operation) -> Operation:
    """The operation with its value as the parser would give it back: numbers and booleans become Typed."""
    return step if isinstance(step, Remove) else step.replace(value=typed(step.value))
