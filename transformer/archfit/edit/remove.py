"""What archfit added, out of the text again: the reverse of `place`, for whole entries and nothing else.

    a block member or item     its lines
    the last one of a block    its lines, and `{}` or `[]` behind the key that held it
    a flow member or item      its text and the comma before it; the comma behind the first one
    a value back to null       block: its lines; flow: `null` in its place

Only what archfit could have written goes: an entry that begins its line, ends its line, and holds no comment.
"""

from __future__ import annotations

from archfit.edit.place import TextEdit
from archfit.errors import UnplaceableEdit
from archfit.patch import Remove, dotted
from archfit.source.nodes import is_mapping, is_sequence, items, last_leaf, members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from archfit.patch import Operation, Path
    from archfit.source.nodes import Tree


def removable(tree: Tree, root: int, path: Path) -> bool:
    """Whether the node at path can be taken out by itself. root: the node that paths are counted from."""
    try:
        remove(tree, root, [Remove(path)])
    except UnplaceableEdit:
        return False
    return True


def remove(tree: Tree, root: int, patch: Iterable[Operation]) -> list[TextEdit]:
    """The edits for the `remove` operations of a patch, and for its `add` of null, in the order of their places.

    Paths are those of the tree as it is, whatever the patch removes before. Raises UnplaceableEdit, its line counted
    from the first line of the text.
    """
    edits: list[TextEdit] = []
    gone: dict[Path, set[str | int]] = {}
    for step in patch:
        if isinstance(step, Remove):
            gone.setdefault(step.path[:-1], set()).add(step.path[-1])
        else:
            edits.append(_nulled(tree, root, step.path))
    for path, tokens in gone.items():
        holder = _node(tree, root, path)
        entries = _entries(tree, holder)
        numbers = [number for number, (token, _, _) in enumerate(entries) if token in tokens]
        if len(numbers) != len(tokens):
            raise _impossible(tree, holder, path, "it is not written there")
        if tree.events[holder].flow_style:
            edits += _from_flow(tree, entries, numbers)
            continue
        edits += [_lines(tree, path, entries[number]) for number in numbers]
        if len(numbers) == len(entries):
            edits.append(_left_empty(tree, root, path, holder))
    return _to_the_end(tree.text, sorted(edits, key=lambda edit: (edit.start, edit.end)))


def _entries(tree: Tree, holder: int) -> list[tuple[str | int, int, int]]:
    """(key or index, node where the entry begins, node of its value) of a collection."""
    if is_mapping(tree, holder):
        return list(members(tree, holder))
    return [(number, item, item) for number, item in enumerate(items(tree, holder))]


def _node(tree: Tree, root: int, path: Path) -> int:
    node = root
    for depth, token in enumerate(path):
        inside = _entries(tree, node) if is_mapping(tree, node) or is_sequence(tree, node) else []
        node = next((value for key, _, value in reversed(inside) if key == token), -1)
        if node < 0:
            raise _impossible(tree, root, path[: depth + 1], "it is not written there")
    return node


def _end(tree: Tree, node: int) -> int:
    end: int = last_leaf(tree, node).end_mark.index
    return end


def _start(tree: Tree, node: int) -> int:
    start: int = tree.events[node].start_mark.index
    return start


def _from_flow(tree: Tree, entries: list[tuple[str | int, int, int]], numbers: list[int]) -> list[TextEdit]:
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
        edits.append(_cut(tree, entries[first][1], start, end))
    return edits


def _lines(tree: Tree, path: Path, entry: tuple[str | int, int, int]) -> TextEdit:
    token, first, value = entry
    start = _start(tree, first)
    line = tree.text.rfind("\n", 0, start) + 1
    if tree.text[line:start].strip(" ") != ("-" if isinstance(token, int) else ""):
        raise _impossible(tree, first, (*path, token), "it begins in the middle of a line")
    return _whole_lines(tree, first, line, _end(tree, value))


def _whole_lines(tree: Tree, node: int, start: int, end: int) -> TextEdit:
    """The cut of the lines from the one that begins at `start` to the one that holds `end`."""
    return _cut(tree, node, start, tree.text.find("\n", end) + 1 or len(tree.text))


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


def _cut(tree: Tree, node: int, start: int, end: int) -> TextEdit:
    # Nothing that archfit writes holds this sign, so it begins a comment of the user's.
    if "#" in tree.text[start:end]:
        raise _impossible(tree, node, (), "a comment stands there")
    return TextEdit(start, end, "")


def _left_empty(tree: Tree, root: int, path: Path, holder: int) -> TextEdit:
    """What stands for a block collection whose last entry goes."""
    if not path or not is_mapping(tree, _node(tree, root, path[:-1])):
        raise _impossible(tree, holder, path, "it would be left without a value")
    keys = [key for token, key, _ in _entries(tree, _node(tree, root, path[:-1])) if token == path[-1]]
    colon = tree.text.index(":", tree.events[keys[-1]].end_mark.index) + 1
    return TextEdit(colon, colon, " {}" if is_mapping(tree, holder) else " []")


def _nulled(tree: Tree, root: int, path: Path) -> TextEdit:
    node, above = _node(tree, root, path), _node(tree, root, path[:-1])
    key = next((key for token, key, _ in reversed(_entries(tree, above)) if token == path[-1]), node)
    start, end = _start(tree, node), _end(tree, node)
    if tree.events[node].start_mark.line == tree.events[key].end_mark.line:
        return _cut(tree, node, start, end).replace(text="null")
    return _whole_lines(tree, node, tree.text.rfind("\n", 0, start) + 1, end)


def _impossible(tree: Tree, node: int, path: Path, why: str) -> UnplaceableEdit:
    where = f"{dotted(path)} " if path else "this "
    line = tree.events[node].start_mark.line + 1
    return UnplaceableEdit(f"{where}cannot be taken out by itself: {why}. Remove it yourself", line=line)
