"""What aliases and merge keys stand for: how deep they reach, and what `<<` supplies.

    a: &x {b: 1, c: 2}
    d: {b: 3, <<: *x}        error: `b` stands before a `<<` that supplies it; kubectl and kustomize disagree on it
    d: {<<: *x, b: 3}        {b: 3, c: 2}        an explicit key wins
    d: {<<: [*x, *y]}        earlier sources win over later ones

Source: https://yaml.org/type/merge.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.errors import InvalidInput
from archfit.source.nodes import MappingEnd, MappingStart, Scalar, SequenceEnd, SequenceStart
from archfit.typing_names import Any


def line_of(event: Any) -> int:
    """The 1-based line where an event begins."""
    return int(event.start_mark.line) + 1


def height(events: list[Any], ends: dict[int, int], anchored: int, heights: dict[int, int]) -> int:
    """How deep the collections of an anchored node are nested.

    heights: of the aliases before it and of the anchored nodes that were asked about; those inside of it are added, so
    that no event is visited for two of them.
    """
    outer = [0]
    opened: list[int] = []
    index = anchored
    end = ends.get(anchored, anchored)
    while index <= end:
        event = events[index]
        if isinstance(event, (MappingStart, SequenceStart)) and index not in heights:
            opened.append(index)
            outer.append(0)
        elif isinstance(event, (MappingEnd, SequenceEnd)):
            reached = outer.pop() + 1
            outer[-1] = max(outer[-1], reached)
            start = opened.pop()
            if events[start].anchor is not None:
                heights[start] = reached
        elif index in heights:
            outer[-1] = max(outer[-1], heights[index])
            index = ends.get(index, index)
        index += 1
    return outer[0]


def merge(
    mapping: dict[str, Any], merges: list[tuple[Any, int]], events: list[Any], opened: int, ends: Any
) -> None:
    """Adds what `<<` supplies to mapping, in place."""
    own = None
    done: set[int] = set()
    # A second `<<` overrides the first for kubectl; kustomize refuses it.
    for merged, index in reversed(merges):
        for source in _sources(merged, done, events[index]):
            for name, value in source.items():
                if name not in mapping:
                    mapping[name] = value
                    continue
                own = own if own is not None else _key_places(events, opened, ends)
                if name in own and own[name] < index:
                    raise InvalidInput(
                        f"the key {name!r} stands before a '<<' (line {line_of(events[index])}) that supplies it too; "
                        "kubectl and kustomize disagree on which one counts. Put '<<' first",
                        line=line_of(events[own[name]]),
                    )


def _sources(merged: Any, done: set[int], event: Any) -> Iterator[dict[str, Any]]:
    """The mappings of one `<<`, but for those that are done: what supplies its keys again supplies nothing."""
    if id(merged) in done:
        return
    listed = isinstance(merged, list)
    if listed:
        done.add(id(merged))
    for source in merged if listed else (merged,):
        if not isinstance(source, dict):
            raise InvalidInput("'<<' needs a mapping or a list of mappings", line=line_of(event))
        if id(source) not in done:
            done.add(id(source))
            yield source


def _key_places(events: list[Any], opened: int, ends: dict[int, int]) -> dict[str, int]:
    """Key -> index of its event, for the mapping that `events[opened]` opens (and that is just being closed)."""
    places: dict[str, int] = {}
    index = opened + 1
    while not isinstance(events[index], MappingEnd):
        if isinstance(events[index], Scalar):
            places[events[index].value] = index
        index = ends.get(index + 1, index + 1) + 1
    return places
