"""Anchors, aliases and merge keys: what they stand for, how deep they reach, and what `<<` supplies.

    - &a [1]                 an anchor; a later one of the same name replaces it
    - *a                     an alias is the anchored value itself, shared and never copied

    a: &x {b: 1, c: 2}
    d: {b: 3, <<: *x}        error: `b` stands before a `<<` that supplies it; kubectl and kustomize disagree on it
    d: {<<: *x, b: 3}        {b: 3, c: 2}        an explicit key wins
    d: {<<: [*x, *y]}        earlier sources win over later ones

Source: https://yaml.org/type/merge.html.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.typing_names import Any, Iterator
from archfit.yaml.tree import AliasUse, MappingEnd, MappingStart, Scalar, SequenceEnd, SequenceStart

DEPTH_LIMIT = 250
"""Collections inside collections, aliases written out; CustomResourceDefinitions of the wild reach about 60."""
EXPANSION_LIMIT = 1_000_000
"""Nodes after every alias is written out; go-yaml stops at a ratio, this at a number."""


class Anchors:
    """The anchors of one document while it is composed. Indexes are those of events.

    properties: anchor and tag of each node that has one. uses: the aliases. open: collections with an anchor whose end
    is not read yet.
    """

    def __init__(self, events: list[Any], ends: dict[int, int]) -> None:
        self.properties: list[tuple[str | None, str | None]] = []
        self.uses: list[AliasUse] = []
        self.open: dict[int, str] = {}
        self._events, self._ends = events, ends
        # By name: value, index, and how many nodes it has with every alias written out.
        self._known: dict[str, tuple[Any, int, int]] = {}
        self._latest: dict[str, int] = {}
        self._heights: dict[int, int] = {}

    def scalar(self, event: Any, value: Any, index: int) -> None:
        """A scalar with an anchor or a tag."""
        self.properties.append((event.anchor, event.tag))
        if event.anchor is not None:
            self._known[event.anchor] = (value, index, 1)
            self._latest[event.anchor] = index

    def begin(self, event: Any, index: int) -> None:
        """The start of a collection with an anchor or a tag."""
        self.properties.append((event.anchor, event.tag))
        if event.anchor is not None:
            self.open[index] = event.anchor
            self._latest[event.anchor] = index
            self._known.pop(event.anchor, None)

    def end(self, index: int, value: Any, size: int) -> None:
        """The end of a collection in `open`. index: of its start."""
        anchor = self.open.pop(index)
        if self._latest[anchor] == index:
            self._known[anchor] = (value, index, size)

    def value(self, event: Any, index: int, depth: int) -> tuple[Any, int]:
        """What an alias stands for, and how many nodes that is. depth: of the alias. Raises InvalidInput."""
        if event.anchor not in self._known:
            raise InvalidInput(
                "an alias stands inside its own anchor"
                if event.anchor in self.open.values()
                else "an alias has no anchor before it in its document. Is it meant as text? Put it in quotes",
                line=line_of(event),
            )
        value, anchored, size = self._known[event.anchor]
        heights = self._heights
        if anchored not in heights:
            heights[anchored] = height(self._events, self._ends, anchored, heights)
        heights[index] = heights[anchored]
        if depth + heights[anchored] > DEPTH_LIMIT:
            raise InvalidInput(
                f"its aliases stand for collections nested more than {DEPTH_LIMIT} deep", line=line_of(event)
            )
        self.uses.append(AliasUse(index, anchored))
        return value, size


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


_IDENTITY = ("apiVersion", "kind", "items")


def merge(
    mapping: dict[str, Any], merges: list[tuple[Any, int]], events: list[Any], opened: int, ends: Any
) -> None:
    """Adds what `<<` supplies to mapping, in place."""
    own = None
    done: set[int] = set()
    # A second `<<` overrides the first for kubectl; kustomize refuses it.
    for merged, index in merges[::-1]:
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
                # kustomize lets what a mapping states win over what an earlier one has by a `<<` of its own.
                if name in _IDENTITY and name not in own and mapping[name] != value:
                    raise InvalidInput(
                        f"mappings that '<<' names supply {name!r} with different values; kubectl and kustomize "
                        f"disagree on which one counts. Write {name!r} beside '<<'",
                        line=line_of(events[index]),
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
