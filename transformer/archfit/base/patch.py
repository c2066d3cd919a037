"""RFC 6902 JSON Patch: the three operations that archfit uses, and their application to plain values.

`remove` is only for additions that an earlier run of archfit recorded (`stamp`). A path is kept as a tuple of keys,
indexes and "-" (the end of a list); `pointer` writes it as RFC 6901 text. The patch is the contract of the whole
program: `edit` renders it as text, `archfit patch` prints it.
"""

from __future__ import annotations

from archfit.base.errors import ArchfitError
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]


class PatchConflict(ArchfitError):
    """A path does not exist, or a `test` does not hold (RFC 6902 section 5)."""


class Add(Record):
    """RFC 6902 4.1: sets a member, or inserts before an index; "-" appends. null: how YAML writes a value of None."""

    path: Path
    value: Any
    null: str = "null"


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
        elif part.isalnum() or part.replace("-", "").replace("_", "").isalnum():
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def pattern_text(pattern: Path) -> str:
    """`undotted` backwards: `spec.tasks[*].template`."""
    text = ""
    for step in map(str, pattern):
        if step == "*" and text:
            text += "[*]"
        elif any(mark in step for mark in "./"):
            text += f'["{step}"]'
        else:
            text += f".{step}" if text else step
    return text


def undotted(text: str) -> Path:
    """`spec.tasks[*].template` as a path, "*" for every item or member; a key with dots is `metadata["example.com/a"]`.

    Raises ValueError.
    """
    if '["' in text:
        before, _, rest = text.partition('["')
        key, closed, after = rest.partition('"]')
        if not (key and closed) or after[:1] not in {"", ".", "["} or after[:2] == ".[" or after == ".":
            raise ValueError(text)
        after = f"*{after[3:]}" if after.startswith("[*]") else after.removeprefix(".")
        return (*(undotted(before) if before else ()), key, *(undotted(after) if after else ()))
    path = tuple(text.replace("[*]", ".*").split("."))
    if not all(path) or any(mark in text.replace("[*]", "") for mark in "[] /\"'"):
        raise ValueError(text)
    return path


def to_json(patch: Iterable[Operation]) -> list[dict[str, Any]]:
    """The patch as RFC 6902 writes it, ready for a JSON encoder."""
    return [
        {
            "op": type(step).__name__.lower(),
            "path": pointer(step.path),
            **({} if isinstance(step, Remove) else {"value": step.value}),
        }
        for step in patch
    ]


def apply(value: Any, patch: Iterable[Operation]) -> Any:
    """A new value with the patch applied; what the patch does not touch is shared with `value`.

    Each collection is copied once, whatever the number of operations in it. Raises PatchConflict.
    """
    own: dict[int, Any] = {}  # the collections that were copied and may be changed, by their id
    for step in patch:
        if isinstance(step, Test):
            _tested(value, step)
        elif step.path:
            value = _changed(value, step, own)
        elif isinstance(step, Remove):
            raise PatchConflict(f"{pointer(step.path)} does not exist")
        else:
            value = step.value
    return value


def _changed(value: Any, step: Add | Remove, own: dict[int, Any]) -> Any:
    root = holder = _copied(value, step, own)
    for depth, token in enumerate(step.path[:-1]):
        _existing(holder, token, step, step.path[: depth + 1])
        inner = holder[token] = _copied(holder[token], step, own)
        holder = inner
    last = step.path[-1]
    if isinstance(step, Remove):
        _existing(holder, last, step, step.path)
        del holder[last]
    elif isinstance(holder, dict):
        holder[last] = step.value
    elif last == "-":
        holder.append(step.value)
    elif isinstance(last, int) and last <= len(holder):
        holder.insert(last, step.value)
    else:
        raise PatchConflict(f"{pointer(step.path)} does not exist")
    return root


def _copied(value: Any, step: Operation, own: dict[int, Any]) -> Any:
    if id(value) in own:
        return value
    if not isinstance(value, (dict, list)):
        raise PatchConflict(f"{pointer(step.path)} does not exist")
    copied = value.copy()
    own[id(copied)] = copied
    return copied


def _existing(holder: Any, token: str | int, step: Operation, path: Path) -> None:
    if isinstance(holder, dict):
        if token not in holder:
            raise PatchConflict(f"{pointer(step.path)}: {path[-1]!r} does not exist")
    elif not isinstance(token, int) or token >= len(holder):
        raise PatchConflict(f"{pointer(step.path)} does not exist")


def _tested(value: Any, step: Test) -> None:
    target = value
    for token in step.path:
        if isinstance(target, dict):
            target = target.get(token)
        elif isinstance(target, list) and isinstance(token, int) and token < len(target):
            target = target[token]
        else:
            raise PatchConflict(f"{pointer(step.path)} does not exist")
    if target != step.value:
        raise PatchConflict(f"{pointer(step.path)} is not what the patch expects")
