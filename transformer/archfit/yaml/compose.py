"""Events into values: anchors, aliases, merges, tags and keys as Kubernetes' readers understand them.

    - &a [1]                 an anchor; a later one of the same name replaces it
    - *a                     an alias is the anchored value itself, shared and never copied

    a: &x {b: 1, c: 2}
    d: {b: 3, <<: *x}        error: `b` stands before a `<<` that supplies it; kubectl and kustomize disagree on it
    d: {<<: *x, b: 3}        {b: 3, c: 2}        an explicit key wins
    d: {<<: [*x, *y]}        earlier sources win over later ones

Source: https://yaml.org/type/merge.html. PyYAML's composers raise on a re-used anchor, lose the place of an alias and
overflow the C stack on 200,000 nested brackets.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.memo import Memo
from archfit.yaml.tree import (
    MERGE,
    TAG_PREFIX,
    Alias,
    AliasUse,
    DocumentStart,
    Duplicate,
    MappingEnd,
    MappingStart,
    MarkedError,
    ReaderError,
    Scalar,
    SequenceEnd,
    SequenceStart,
    StreamEnd,
    Tree,
    events_of,
    is_merge,
)
from archfit.yaml.values import NoJsonNumber, PlainKey, Typed, plain, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

DEPTH_LIMIT = 250
"""Collections inside collections, aliases written out; CustomResourceDefinitions of the wild reach about 60."""
NODE_LIMIT = 1_000_000
"""Scalars, aliases and both ends of collections, after every alias is written out. 1.25 KiB for each is enough for the
document, its edits and their proof. go-yaml stops at a ratio, this at a number.
"""
_resolved = Memo(resolve, 10_000)
_NO_KEY = object()
_MERGE = object()
_IDENTITY = ("apiVersion", "kind", "items")


def parse(text: str, most: int = NODE_LIMIT) -> Tree:
    """The one document in text as a Tree; value is None for an empty one. most: nodes, as `NODE_LIMIT` counts them.

    Raises InvalidInput, its line counted from the first line of text.
    """
    try:
        tree = _compose(text, events_of(text), most)
    except MarkedError as error:
        raise _unreadable(error, len(text.rstrip())) from None
    except ReaderError as error:
        # Its position counts bytes or code points, by parser; the first one of its kind is the one.
        code = error.character if isinstance(error.character, int) else ord(error.character)
        raise InvalidInput(
            f"this is not YAML: the character U+{code:04X} is not allowed in it",
            line=text.count("\n", 0, text.find(chr(code))) + 1,
        ) from None
    if "?" in text or "\\/" in text:
        from archfit.yaml.unusual_text import check_scalars

        check_scalars(tree)
    return tree


def _unreadable(error: Any, end: int) -> InvalidInput:
    """The parser's error, at the line where something is wrong or, where the end is missing, begins.

    It never quotes the text at that line, which may be part of a Secret.
    """
    problem = " ".join(part for part in (error.context, error.problem) if part)
    if "expected <document start>" in problem:
        problem += " (documents are separated by a line '---')"
    mark = error.problem_mark or error.context_mark
    if mark and error.context_mark and mark.index >= end:
        mark = error.context_mark
    return InvalidInput(f"this is not YAML: {problem}", line=mark.line + 1 if mark else 1)


def _compose(text: str, get_event: Callable[[], Any], most: int) -> Tree:
    events: list[Any] = []
    ends: dict[int, int] = {}
    duplicates: list[Duplicate] = []
    anchors = Anchors(events, ends)
    open_anchors = anchors.open
    merges: dict[int, list[tuple[Any, int]]] = {}
    stack: list[tuple[Any, Any, int, int]] = []
    resolved = _resolved
    # The root is the only item of a list around it. A list has no key; a mapping has one between key and value.
    container: Any = []
    key: Any = None
    opened = size_at_open = 0
    expanded = 0
    document = False
    append = events.append
    for index in range(most):
        event = get_event()
        append(event)
        kind = type(event)
        if kind is Scalar:
            if event.tag is None:
                try:
                    value = resolved[event.value] if event.implicit[0] else event.value
                except NoJsonNumber:
                    # As a key it is its text.
                    if key is not _NO_KEY:
                        raise _no_json_number(event) from None
                    value = event.value
            else:
                value = _tagged(event)
            if event.anchor is not None or event.tag is not None:
                anchors.scalar(event, value, index)
            if key is _NO_KEY:
                if value == MERGE and is_merge(event):
                    key = _MERGE
                else:
                    key = value if type(value) is str else _key(value, event)
                continue
        elif kind is MappingStart or kind is SequenceStart:
            if key is _NO_KEY:
                raise _collection_as_key(event)
            if len(stack) >= DEPTH_LIMIT:
                raise InvalidInput(
                    f"collections are nested more than {DEPTH_LIMIT} deep", line=line_of(event)
                )
            stack.append((container, key, opened, size_at_open))
            opened, size_at_open = index, index + expanded
            if event.anchor is not None or event.tag is not None:
                anchors.begin(event, opened)
            container, key = ({}, _NO_KEY) if kind is MappingStart else ([], None)
            continue
        elif kind is MappingEnd or kind is SequenceEnd:
            ends[opened] = index
            if opened in merges:
                merge(container, merges.pop(opened), events, opened, ends)
            value = container
            if opened in open_anchors:
                anchors.end(opened, value, index + expanded - size_at_open)
            container, key, opened, size_at_open = stack.pop()
        elif kind is Alias:
            value, weight = anchors.value(event, index, len(stack))
            expanded += weight
            if index + expanded >= most:
                raise InvalidInput(f"its aliases stand for more than {most:,} nodes", line=line_of(event))
            if key is _NO_KEY:
                key = value if type(value) is str else _key(value, event)
                continue
        elif kind is DocumentStart:
            if document:
                raise InvalidInput(
                    "a second document begins here without '---' at the start of a line", line=line_of(event)
                )
            document = True
            continue
        elif kind is StreamEnd:
            root = container[0] if container else None
            return Tree(
                text, root, events, ends, tuple(duplicates), tuple(anchors.uses), tuple(anchors.properties)
            )
        else:
            continue
        if key is None:
            container.append(value)
            continue
        if key is _MERGE:
            merges.setdefault(opened, []).append((value, index))
        else:
            if key in container:
                duplicates.append(Duplicate(opened, key, line_of(event)))
            container[key] = value
        key = _NO_KEY
    raise InvalidInput(
        f"a document with more than {most:,} nodes is not read: write its objects as documents of their own, with "
        "'---' between them, or a list of them in block style, as `kubectl get -o yaml` does",
        line=line_of(event),
    )


def _key(value: Any, event: Any) -> str:
    """A key that is no string in YAML: its text, as JSON has only strings."""
    if isinstance(event, Scalar):
        if value is None:
            raise InvalidInput(
                "a mapping key that is null; kubectl refuses it. Put it in quotes", line=line_of(event)
            )
        return PlainKey(event.value)
    if isinstance(value, Typed):
        return PlainKey(value.text)
    raise _collection_as_key(event)


def _collection_as_key(event: Any) -> InvalidInput:
    return InvalidInput(
        "a mapping key that is a collection; Kubernetes knows only strings. Is it a placeholder such as {{image}}? "
        "Put it in quotes",
        line=line_of(event),
    )


def _tagged(event: Any) -> Any:
    """The value of a scalar with a tag; what Kubernetes' readers do not know is a string to them."""
    tag, text = event.tag.removeprefix(TAG_PREFIX), event.value
    if tag == "binary":
        from binascii import a2b_base64

        try:
            return a2b_base64(text).decode(errors="replace")
        except ValueError:
            raise InvalidInput("a value tagged !!binary is not base64", line=line_of(event)) from None
    if tag not in ("null", "bool", "int", "float"):
        return text
    try:
        value = resolve(text)
    except NoJsonNumber:
        raise _no_json_number(event) from None
    kind = value.kind if isinstance(value, Typed) else "null" if value is None else "str"
    if kind == tag and tag in ("null", "bool"):
        return value
    number = Typed(tag, text)
    if (kind != tag and (kind, tag) != ("int", "float")) or isinstance(plain(number), str):
        raise InvalidInput(f"a value tagged !!{tag} is none; kubectl refuses it", line=line_of(event))
    return number


def _no_json_number(event: Any) -> InvalidInput:
    return InvalidInput(
        "a number that JSON does not have (.inf, .nan); kubectl refuses it. Put it in quotes if it is text",
        line=line_of(event),
    )


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
                same = isinstance(value, (str, Typed)) and mapping[name] == value
                if name in own and own[name] < index and not same:
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
