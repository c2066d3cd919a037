"""The nodes of a document: the parser's events, and functions that find them. The only importer of the YAML parser.

A node is the index of its event; `ends` leads from the event that opens a collection to the one that closes it.
PyYAML's C extension (libyaml 0.2.5) supplies the events; without it its pure parser supplies the same ones, slower.
Marks are offsets in code points.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.startup import c_parser
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

_Parser, _events, MarkedError, ReaderError = c_parser.load()
C_EXTENSION = _Parser.__name__ == "CParser"

Scalar, Alias = _events.ScalarEvent, _events.AliasEvent
MappingStart, MappingEnd = _events.MappingStartEvent, _events.MappingEndEvent
SequenceStart, SequenceEnd = _events.SequenceStartEvent, _events.SequenceEndEvent
DocumentStart, StreamEnd = _events.DocumentStartEvent, _events.StreamEndEvent

MERGE = "<<"
TAG_PREFIX = "tag:yaml.org,2002:"
ROOT = 2
"""Index of a document's root node, behind the starts of stream and document."""


class Duplicate(Record):
    """A mapping that names a key twice. opened: the mapping's node; line: 1-based, of the later key."""

    opened: int
    key: str
    line: int


class AliasUse(Record):
    """An alias. index: its node; anchored: the node that carries the anchor."""

    index: int
    anchored: int


class Tree(Record):
    """One parsed document.

    text: what was parsed.
    value: plain values, aliases resolved, merges applied; None for an empty document.
    properties: (anchor, tag) of every node that has either, in order.
    """

    text: str
    value: Any
    events: list[Any]
    ends: dict[int, int]
    duplicates: tuple[Duplicate, ...]
    aliases: tuple[AliasUse, ...]
    properties: tuple[tuple[str | None, str | None], ...]


_SURROGATE = r"\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"


def events_of(text: str) -> Callable[[], Any]:
    """A function that gives one event after another and raises `MarkedError` or `ReaderError`.

    The text is read with a line break at its end, as kubectl reads it: a block scalar may end one code point behind it.
    JSON writes what is beyond U+FFFF with halves of surrogate pairs, which libyaml refuses: they are masked.
    """
    if text.lstrip()[:1] in ("{", "[") and ("\\ud" in text or "\\uD" in text):
        import re

        text = re.sub(_SURROGATE, lambda match: match[0] if match[0] == "\\\\" else "\\uFFFD", text)
    get_event: Callable[[], Any] = _Parser(text if text.endswith("\n") else f"{text}\n").get_event
    return get_event


def is_mapping(tree: Tree, node: int) -> bool:
    """Whether the node is a mapping; an alias of one is not."""
    return isinstance(tree.events[node], MappingStart)


def is_merge(key: Any) -> bool:
    """Whether a key whose text is `<<` is a merge: it is no text in quotes (https://yaml.org/type/merge.html)."""
    return bool(key.implicit[0] or key.tag == TAG_PREFIX + "merge")


def is_sequence(tree: Tree, node: int) -> bool:
    """Whether the node is a sequence; an alias of one is not."""
    return isinstance(tree.events[node], SequenceStart)


def members(tree: Tree, mapping: int) -> Iterator[tuple[str, int, int]]:
    """(key, node of the key, node of the value) of a mapping, as written: `<<` is a key here.

    A key that is an alias is written with its star, one that only looks like a merge in quotes.
    """
    key, closing = mapping + 1, tree.ends[mapping]
    while key < closing:
        event = tree.events[key]
        name = event.value if isinstance(event, Scalar) else f"*{event.anchor}"
        yield (name if name != MERGE or is_merge(event) else f"'{MERGE}'"), key, key + 1
        key = tree.ends.get(key + 1, key + 1) + 1


def items(tree: Tree, sequence: int) -> Iterator[int]:
    """The nodes of a sequence."""
    item, closing = sequence + 1, tree.ends[sequence]
    while item < closing:
        yield item
        item = tree.ends.get(item, item) + 1


Children: TypeAlias = "dict[int, dict[str | int, int]]"


def child(tree: Tree, node: int, step: str | int, known: Children) -> int:
    """The node of a member or item as written, the last one of its name, -1 where it is not written here.

    known: a cache, empty at first, so that a caller who asks for each item of a list reads the list once.
    """
    if node not in known:
        if is_mapping(tree, node):
            known[node] = {name: value for name, _, value in members(tree, node)}
        else:
            known[node] = dict(enumerate(items(tree, node))) if is_sequence(tree, node) else {}
    return known[node].get(step, -1)


_BLANK = (" ", "\t", "\r", "\n")


def colon_follows(text: str, at: int) -> bool:
    """Whether a colon stands at `at`, comments and lines apart; one inside of a comment does not count."""
    while text[at : at + 1] in _BLANK or text.startswith("#", at):
        at = text.find("\n", at) if text.startswith("#", at) else at + 1
        if at < 0:
            return False
    return text.startswith(":", at)


def last_leaf(tree: Tree, node: int) -> Any:
    """The event where the text of a node ends: a scalar, an alias, or the closing bracket of a flow collection.

    A block collection's own end mark is of no use: it overshoots to the next token, past comments and blank lines. So
    does an empty value that no colon announces (`? key`): its key is the last event then.
    """
    index = tree.ends.get(node, node)
    while isinstance(tree.events[index], (MappingEnd, SequenceEnd)):
        closing = tree.events[index]
        if closing.end_mark.index > closing.start_mark.index:
            break
        index -= 1
    event = tree.events[index]
    start = event.start_mark.index
    if start < event.end_mark.index or tree.text[start - 1 : start] not in _BLANK:
        return event
    before = tree.events[index - 1]
    return event if colon_follows(tree.text, before.end_mark.index) else before


class NodeLines:
    """The lines of a document's nodes, read from its text as far as they are asked for.

    A member that an alias or `<<` supplies has the line of the nearest mapping or list that is written. item: paths
    begin at the only item of the document. twice: a key stands twice in it; the later one counts.
    """

    def __init__(self, text: str, *, item: bool = False, twice: bool = False) -> None:
        self._root = (0, 0) if item else (0,)
        self._known: dict[tuple[int, str | int | None], tuple[int, int]] = {}
        self._reading = self._read(text)
        if twice:
            list(self._reading)

    def at(self, path: Path) -> int:
        """The 0-based line of what stands at path; of a member that of its key."""
        node, line = -1, 0
        for step in (*self._root, *path):
            while (place := self._known.get((node, step))) is None:
                if not next(self._reading, False):
                    return line
            node, line = place
        return line

    def _read(self, text: str) -> Iterator[bool]:
        """Keeps one node after another. step: None in a mapping whose next key comes."""
        holders: list[tuple[int, str | int | None]] = []
        node, line = -1, 0
        step: str | int | None = -ROOT
        for index, event in enumerate(iter(events_of(text), None)):
            if isinstance(event, (MappingEnd, SequenceEnd)):
                node, step = holders.pop()
            elif step is None:
                step = event.value if isinstance(event, Scalar) else f"*{event.anchor}"
                line = event.start_mark.line
                continue
            else:
                self._known[node, step] = index, line if isinstance(step, str) else event.start_mark.line
                yield True
                if isinstance(event, (MappingStart, SequenceStart)):
                    holders.append((node, step))
                    node, step = index, None if isinstance(event, MappingStart) else 0
                    continue
            step = step + 1 if isinstance(step, int) else None


class Written(Record):
    """A collection or alias of a document. holder: the collection that it stands in, -1 for the root.

    live: it is read; what stands under a key that its mapping names again later is not.
    """

    node: int
    path: Path
    holder: int
    live: bool


def written(tree: Tree, root: int) -> Iterator[Written]:
    """Every collection at and below root, and every alias in place of a value; holders come before their members."""
    twice = {duplicate.opened for duplicate in tree.duplicates}
    waiting = [Written(root, (), -1, live=True)]
    while waiting:
        collection = waiting.pop()
        yield collection
        node = collection.node
        if node not in tree.ends:
            continue
        last = dict(_entries(tree, node)) if node in twice else {}
        for step, value in _entries(tree, node):
            if value in tree.ends or isinstance(tree.events[value], Alias):
                live = collection.live and (step == "<<" or last.get(step, value) == value)
                waiting.append(Written(value, (*collection.path, step), node, live))


def _entries(tree: Tree, node: int) -> Iterator[tuple[str | int, int]]:
    if is_mapping(tree, node):
        return ((name, value) for name, _, value in members(tree, node))
    return enumerate(items(tree, node))
