"""Paths of values into the nodes that are written there, through aliases.

a: &x {b: 1}        a.b     ─┐
c: *x               c.b     ─┴─>  the one node b: what is removed from a is gone from c
"""

from __future__ import annotations

from archfit.base.errors import UnplaceableEdit
from archfit.base.patch import Operation, Path, dotted
from archfit.base.typing_names import Iterable
from archfit.yaml.paths import written
from archfit.yaml.tree import Children, Tree, child, is_mapping


class Targets:
    """The nodes of a document that paths mean. root: the node that paths are counted from."""

    def __init__(self, tree: Tree, root: int) -> None:
        self.tree = tree
        self._root = root
        self._known: Children = {}
        self._anchored = {use.index: use.anchored for use in tree.aliases}
        self._holders = (
            {one.node: one.holder for one in written(tree, root) if one.live} if tree.aliases else {}
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
        """How many paths mean a collection."""
        if node < 0:
            return 1
        if node not in self._uses:
            others = sum(self._used(self._holders[alias]) for alias in self._repeats.get(node, ()))
            self._uses[node] = self._used(self._holders.get(node, -1)) + others
        return self._uses[node]
