"""Paths of nodes, as written, found in one pass: a search for each would read a mapping of a thousand keys so often."""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.startup.record import Record
from archfit.yaml.tree import Alias, Tree, is_mapping, items, members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
