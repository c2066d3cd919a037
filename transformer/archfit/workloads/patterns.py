"""Paths of rows applied to an object: "*" is every item of a list or member of a mapping, "=a" the items named a.

matches({"a": [{"b": 1}, {"b": null}]}, ("a", "*", "b"))    (("a", 0, "b"), 1); null is nothing
bound(("a", "*", "c"), ("a", "*"), ("a", 3))                ("a", 3, "c")
"""

from __future__ import annotations

from archfit.base.patch import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MISSING = object()


def matches(value: Any, pattern: Path, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, value) of everything in `value` that the pattern means and that is not null."""
    if not pattern:
        if value is not None:
            yield at, value
        return
    step, rest = pattern[0], pattern[1:]
    if step == "*":
        inside = _members(value)
    elif isinstance(step, str) and step[:1] == "=":
        inside = (member for member in _members(value) if _member(member[1], "name") == step[1:])
    else:
        inside = iter([(step, _member(value, step))])
    for key, member in inside:
        yield from matches(member, rest, (*at, key))


def _member(value: Any, step: str | int, otherwise: Any = None) -> Any:
    if isinstance(value, dict):
        return value.get(step, otherwise)
    return (
        value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else otherwise
    )


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def get(value: Any, path: Path, otherwise: Any = None) -> Any:
    """The value at a path without "*", `otherwise` where there is none."""
    for step in path:
        value = _member(value, step, MISSING)
    return otherwise if value is MISSING else value


def joined(value: Any, over: Any) -> Any:
    """Two mappings as one, where members of `over` count; one that is no mapping instead: the decision names it."""
    if not isinstance(over, dict):
        return over
    return {**value, **over} if isinstance(value, dict) else value


def bound(pattern: Path, source: Path, path: Path) -> Path:
    """The pattern with each "*" that `source` has as well in its place in `path`, which source matches."""
    same = True
    steps: list[str | int] = []
    for index, token in enumerate(pattern):
        same = same and index < len(source) and source[index] == token
        steps.append(path[index] if same else token)
    return tuple(steps)
