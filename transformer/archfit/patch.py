"""RFC 6902 JSON Patch: the three operations archfit speaks, and their application to plain values.

    [{"op": "test", "path": "/spec/tolerations", "value": null},
     {"op": "add",  "path": "/spec/tolerations", "value": [...]}]

`remove` takes back what an earlier run of archfit added and recorded (`placement.stamp`), nothing else.

A path is kept as a tuple of keys, indexes and "-" (the end of a list); `pointer` writes it as RFC 6901 text.
The patch is the contract of the whole program: `edit` renders it as text, later doors print or send it.
"""

from __future__ import annotations

from archfit.errors import ArchfitError
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    Path: TypeAlias = tuple[str | int, ...]


class PatchConflict(ArchfitError):
    """A path does not exist, or a `test` does not hold (RFC 6902 section 5)."""


class Add(Record):
    """RFC 6902 4.1: sets a member, or inserts before an index; "-" appends."""

    path: Path
    value: Any


class Test(Record):
    """RFC 6902 4.6: the value at path is this one; a missing member is written as None, as kustomize reads it."""

    __test__ = False

    path: Path
    value: Any


class Remove(Record):
    """RFC 6902 4.2: takes a member or an item away."""

    path: Path


Operation: TypeAlias = "Add | Test | Remove"


def pointer(path: Path) -> str:
    """RFC 6901 text: `~` becomes `~0`, `/` becomes `~1`."""
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in path)


def dotted(path: Path) -> str:
    """The path as people write it, `spec.containers[0].image` (KRM functions spec, `field.path`)."""
    text = ""
    for part in path:
        if isinstance(part, int) or part == "-":
            text += f"[{part}]"
        elif part.replace("-", "").replace("_", "").isalnum():
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def undotted(text: str) -> Path:
    """`spec.tasks[*].template` as a path, "*" for every item or member; keys hold no dots or brackets.

    Raises ValueError.
    """
    path = tuple(text.replace("[*]", ".*").split("."))
    if not all(path) or any(mark in text.replace("[*]", "") for mark in "[] /\"'"):
        raise ValueError(text)
    return path


def to_json(patch: Iterable[Operation]) -> list[dict[str, Any]]:
    """The patch as RFC 6902 writes it, ready for a JSON encoder."""
    return [_as_json(step) for step in patch]


def _as_json(step: Operation) -> dict[str, Any]:
    made: dict[str, Any] = {"op": type(step).__name__.lower(), "path": pointer(step.path)}
    return made if isinstance(step, Remove) else {**made, "value": step.value}


def apply(value: Any, patch: Iterable[Operation]) -> Any:
    """A new value with the patch applied; what the patch does not touch is shared with `value`.

    Raises PatchConflict.
    """
    for step in patch:
        if isinstance(step, Add):
            value = _added(value, step.path, step.value, step)
        elif isinstance(step, Test):
            _tested(value, step)
        else:
            value = _removed(value, step.path, step)
    return value


def _tested(value: Any, step: Test) -> None:
    found = value
    for token in step.path:
        if isinstance(found, dict):
            found = found.get(token)
        elif isinstance(found, list) and isinstance(token, int) and token < len(found):
            found = found[token]
        else:
            raise PatchConflict(f"{pointer(step.path)} does not exist")
    if found != step.value:
        raise PatchConflict(f"{pointer(step.path)} is not what the patch expects")


def _removed(value: Any, path: Path, step: Remove) -> Any:
    head, rest = (path[0], path[1:]) if path else ("", ())
    if isinstance(value, dict) and head in value:
        if rest:
            return {**value, head: _removed(value[head], rest, step)}
        return {key: member for key, member in value.items() if key != head}
    if isinstance(value, list) and isinstance(head, int) and head < len(value):
        kept = [_removed(value[head], rest, step)] if rest else []
        return [*value[:head], *kept, *value[head + 1 :]]
    raise PatchConflict(f"{pointer(step.path)} does not exist")


def _added(value: Any, path: Path, new: Any, step: Add) -> Any:
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(value, dict):
        if rest and head not in value:
            raise PatchConflict(f"{pointer(step.path)}: {head!r} does not exist")
        return {**value, head: _added(value[head], rest, new, step) if rest else new}
    if isinstance(value, list):
        if head == "-" and not rest:
            return [*value, new]
        if isinstance(head, int) and head < len(value) + (not rest):
            if rest:
                return [*value[:head], _added(value[head], rest, new, step), *value[head + 1 :]]
            return [*value[:head], new, *value[head:]]
    raise PatchConflict(f"{pointer(step.path)} does not exist")
