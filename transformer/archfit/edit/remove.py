"""Removals of a patch as edits of the text: the reverse of `insertions`, for whole entries only.

    the last one of a block    its lines, and `{}` or `[]` behind the key that held it
    a flow member or item      its text and the comma before it; the comma behind the first one
    a value back to null       block: its lines; in brackets: the word for null in its place

Only what archfit can have written is removed: an entry that begins its line, ends its line, and holds no comment.
"""

from __future__ import annotations

import re

from archfit.base.errors import UnplaceableEdit
from archfit.base.patch import Add, Operation, Path, Remove, Test, dotted
from archfit.edit.insert import TextEdit
from archfit.yaml.tree import Children, Tree, child, is_mapping, items, last_leaf, members, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def refused(targets: Targets, patch: Iterable[Operation]) -> set[Path]:
    """The paths of those operations of a patch that the text does not let be made by themselves.

    What aliases repeat can go only if it goes wherever it is repeated.
    """
    steps = [step for step in patch if not isinstance(step, Test)]
    stuck = {path for paths in targets.partly(steps) for path in paths}
    for step in steps:
        try:
            _edits(targets, [step])
        except UnplaceableEdit:
            stuck.add(step.path)
    return stuck


def remove(tree: Tree, root: int, patch: Iterable[Add | Remove]) -> list[TextEdit]:
    """The edits for the `remove` operations of a patch, and for its `add` of null, in the order of their places.

    Paths are those of the tree as it is, whatever the patch removes before. Raises UnplaceableEdit, its line counted
    from the first line of the text.
    """
    steps = list(patch)
    targets = Targets(tree, root)
    for paths in targets.partly(steps):
        raise _impossible(
            tree, root, min(paths, key=len), "an alias repeats it in a place where it has to stay"
        )
    return _edits(targets, steps)


def _edits(targets: Targets, patch: Iterable[Add | Remove]) -> list[TextEdit]:
    tree = targets.tree
    edits: list[TextEdit] = []
    gone: dict[int, tuple[Path, set[str | int]]] = {}
    nulled: set[int] = set()
    for step in patch:
        holder = targets.node(step.path[:-1])
        if isinstance(step, Remove):
            gone.setdefault(holder, (step.path[:-1], set()))[1].add(step.path[-1])
            continue
        node = targets.member(step.path)
        if node < 0:
            raise _impossible(tree, holder, step.path, "it is not written there")
        if node not in nulled:
            nulled.add(node)
            edits.append(_nulled(tree, step, holder, node))
    for holder, (path, tokens) in gone.items():
        entries = _entries(tree, holder)
        numbers = [number for number, (token, _, _) in enumerate(entries) if token in tokens]
        if len(numbers) != len(tokens):
            raise _impossible(tree, holder, path, "it is not written there")
        if tree.events[holder].flow_style:
            edits += _from_flow(tree, path, entries, numbers)
            continue
        edits += [_lines(tree, path, entries[number]) for number in numbers]
        if len(numbers) == len(entries):
            edits.append(_left_empty(targets, path, holder))
    return _to_the_end(tree.text, sorted(edits, key=lambda edit: (edit.start, edit.end)))


_COMMA = re.compile(r"[ \t\r\n]*,").match


def _entries(tree: Tree, holder: int) -> list[tuple[str | int, int, int]]:
    """(key or index, node where the entry begins, node of its value) of a collection."""
    if is_mapping(tree, holder):
        return list(members(tree, holder))
    return [(number, item, item) for number, item in enumerate(items(tree, holder))]


def _end(tree: Tree, node: int) -> int:
    end: int = last_leaf(tree, node).end_mark.index
    return end


def _start(tree: Tree, node: int) -> int:
    start: int = tree.events[node].start_mark.index
    return start


def _from_flow(
    tree: Tree, path: Path, entries: list[tuple[str | int, int, int]], numbers: list[int]
) -> list[TextEdit]:
    """Cuts for runs of entries: with the comma before them, or behind them where nothing is before them."""
    edits, at = [], 0
    while at < len(numbers):
        first = last = numbers[at]
        while at + 1 < len(numbers) and numbers[at + 1] == last + 1:
            at, last = at + 1, last + 1
        at += 1
        start = _end(tree, entries[first - 1][2]) if first else _start(tree, entries[0][1])
        end = _end(tree, entries[last][2])
        if not first and last + 1 < len(entries):
            end = _start(tree, entries[last + 1][1])
        elif not first and (comma := _COMMA(tree.text, end)):
            end = comma.end()  # behind the last entry of all, a comma would stand alone
        edits.append(_cut(tree, (*path, entries[first][0]), entries[first][1], start, end))
    return edits


def _lines(tree: Tree, path: Path, entry: tuple[str | int, int, int]) -> TextEdit:
    token, first, value = entry
    start = _start(tree, first)
    line = tree.text.rfind("\n", 0, start) + 1
    if tree.text[line:start].strip(" ") != ("-" if isinstance(token, int) else ""):
        raise _impossible(tree, first, (*path, token), "it begins in the middle of a line")
    return _whole_lines(tree, (*path, token), first, line, _end(tree, value))


def _whole_lines(tree: Tree, path: Path, node: int, start: int, end: int) -> TextEdit:
    return _cut(tree, path, node, start, tree.text.find("\n", end) + 1 or len(tree.text))


def _to_the_end(text: str, edits: list[TextEdit]) -> list[TextEdit]:
    """The edits; where lines go up to the end of a text without a last line break, so does the break before them."""
    first = len(edits)
    at = 0 if text.endswith("\n") else len(text)
    while first and edits[first - 1].end == at and not edits[first - 1].text:
        first -= 1
        at = edits[first].start
    if first == len(edits):
        return edits
    start = at - (2 if text[at - 2 : at] == "\r\n" else 1)
    return [*edits[:first], edits[first].replace(start=start), *edits[first + 1 :]]


def _cut(tree: Tree, path: Path, node: int, start: int, end: int) -> TextEdit:
    # Nothing that archfit writes holds these signs, so they are the user's.
    for sign, what in (("#", "a comment"), ("&", "an anchor"), ("*", "an alias")):
        if tree.text.find(sign, start, end) >= 0:
            raise _impossible(tree, node, path, f"{what} stands there")
    return TextEdit(start, end, "")


def _left_empty(targets: Targets, path: Path, holder: int) -> TextEdit:
    tree = targets.tree
    key = targets.key_of(holder, path)
    if key < 0:
        raise _impossible(tree, holder, path, "it would be left without a value")
    colon = tree.text.index(":", tree.events[key].end_mark.index) + 1
    return TextEdit(colon, colon, " {}" if is_mapping(tree, holder) else " []")


def _nulled(tree: Tree, step: Add, holder: int, node: int) -> TextEdit:
    start, end = _start(tree, node), _end(tree, node)
    # A key is one event, right before its value.
    beside_key = tree.events[node].start_mark.line == tree.events[node - 1].end_mark.line
    # In place of a null on a line of its own stands a value in brackets.
    if beside_key or tree.events[holder].flow_style or getattr(tree.events[node], "flow_style", False):
        return _cut(tree, step.path, node, start, end).replace(text=step.null)
    return _whole_lines(tree, step.path, node, tree.text.rfind("\n", 0, start) + 1, end)


def _impossible(tree: Tree, node: int, path: Path, why: str) -> UnplaceableEdit:
    where = f"{dotted(path)} " if path else "this "
    line = tree.events[node].start_mark.line + 1
    return UnplaceableEdit(f"{where}cannot be removed on its own: {why}. Remove it yourself", line=line)


class Targets:
    """The nodes of a document that paths mean. root: the node that paths are counted from."""

    def __init__(self, tree: Tree, root: int) -> None:
        self.tree = tree
        self._root = root
        self._known: Children = {}
        self._anchored = {use.index: use.anchored for use in tree.aliases}
        self._holders = (
            {place.node: place.holder for place in written(tree, root) if place.live} if tree.aliases else {}
        )
        self._repeats: dict[int, list[int]] = {}
        for alias, anchored in self._anchored.items():
            if alias in self._holders:
                self._repeats.setdefault(anchored, []).append(alias)
        self._uses: dict[int, int] = {}

    def node(self, path: Path) -> int:
        """The node at path. Raises UnplaceableEdit where nothing is written there, but supplied by a `<<`."""
        node = self._root
        for depth, step in enumerate(path, start=1):
            above, node = node, child(self.tree, node, step, self._known)
            node = self._anchored.get(node, node)
            if node < 0:
                raise UnplaceableEdit(
                    f"{dotted(path[:depth])} cannot be removed on its own: it is not written there. "
                    "Remove it yourself",
                    line=self.tree.events[above].start_mark.line + 1,
                )
        return node

    def member(self, path: Path) -> int:
        """The node that is written at path, an alias as it stands."""
        return child(self.tree, self.node(path[:-1]), path[-1], self._known)

    def null(self, path: Path) -> str:
        """How the null at path is written; "null" for what is not written there, or has no text in block style."""
        try:
            holder, node = self.node(path[:-1]), self.member(path)
        except UnplaceableEdit:
            return "null"
        word: str = getattr(self.tree.events[node], "value", "null") if node >= 0 else "null"
        return word if word or self.tree.events[holder].flow_style else "null"

    def key_of(self, node: int, path: Path) -> int:
        """The node of the key whose value is a collection, -1 if it is no value of a key. path: one of its paths."""
        holder = self._holders[node] if self._holders else self.node(path[:-1]) if path else -1
        # A key is one event, right before its value.
        return node - 1 if holder >= 0 and is_mapping(self.tree, holder) else -1

    def partly(self, patch: Iterable[Operation]) -> list[set[Path]]:
        """The paths of a patch that mean a node which others mean, too; a set for each node."""
        if not self._repeats:
            return []
        meant: dict[tuple[int, str | int], set[Path]] = {}
        for step in patch:
            try:
                meant.setdefault((self.node(step.path[:-1]), step.path[-1]), set()).add(step.path)
            except UnplaceableEdit:
                continue
        return [paths for (holder, _), paths in meant.items() if len(paths) != self._used(holder)]

    def _used(self, node: int) -> int:
        if node < 0:
            return 1
        if node not in self._uses:
            others = sum(self._used(self._holders[alias]) for alias in self._repeats.get(node, ()))
            self._uses[node] = self._used(self._holders.get(node, -1)) + others
        return self._uses[node]
