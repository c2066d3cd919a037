"""What was decided, as compare.go takes it: steps from the roots of documents, which readers may count otherwise."""

from typing import Any

from archfit.base.errors import ArchfitError
from archfit.base.patch import Remove, Test
from archfit.base.results import Location
from archfit.yaml.compose import parse
from archfit.yaml.container import slices
from archfit.yaml.stream import split
from archfit.yaml.values import plain
from fuzz.asking import Question
from fuzz.engine import Done


def patch(text: bytes, outcome: Done) -> list[dict[str, Any]]:
    """What was decided, from the roots of the documents, as compare.go takes it."""
    made = []
    for pod, decision in outcome.edits.decisions:
        within: tuple[str | int, ...] = ()
        for step in decision.patch:
            if isinstance(step, Test):
                continue
            within = within or (() if pod.path[0] == "items" else _item(text, pod.location))
            operation = type(step).__name__.lower()
            one = {"document": pod.location.document - 1, "op": operation, "path": [*within, *step.path]}
            made.append(one if isinstance(step, Remove) else {**one, "value": plain(step.value)})
    return made


def renumbered(text: bytes, asked: Question) -> Question | None:
    """The question without the documents that hold nothing, None if each holds something."""
    numbers = [number for number, piece in enumerate(split(text)) if not _is_empty(text, piece)]
    if isinstance(asked, str) or len(numbers) == asked["documents"]:
        return None
    moved = [
        {**step, "document": numbers.index(step["document"])}
        for step in asked["patch"]
        if step["document"] in numbers
    ]
    return {**asked, "documents": len(numbers), "patch": moved}


def has_only_merges(text: bytes) -> bool:
    """Whether a document has no key but "<<": in quotes it is a merge for kustomize, and then the document is empty."""
    values = (_value(text, piece) for piece in split(text))
    return any(isinstance(value, dict) and value.keys() == {"<<"} for value in values)


def _item(text: bytes, location: Location) -> tuple[str | int, ...]:
    """Where an object stands that was parsed by itself: in a list, the number of the item that begins at its line."""
    piece = split(text)[location.document - 1]
    if piece.line == location.line:
        return ()
    lines = [text.count(b"\n", 0, item.start) + 1 for item in slices(text, piece.start, piece.end) or ()]
    return ("items", lines.index(location.line)) if location.line in lines else ()


def _is_empty(text: bytes, piece: Any) -> bool:
    return not _value(text, piece)


def _value(text: bytes, piece: Any) -> Any:
    """What a document holds; the error, where it cannot be read."""
    try:
        return parse(text[piece.start : piece.end].decode()).value
    except ArchfitError as error:
        return error
