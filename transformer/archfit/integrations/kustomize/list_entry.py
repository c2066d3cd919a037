"""One more entry in a list of the user's own YAML file; every other byte stays. Pure.

    inserted(text, ("pipeline", "mutators"), {"exec": "archfit"})

The engine that edits manifests makes the edit, and the result is read again and compared. ruamel.yaml does not serve
here: its round trip writes the whole file, and changes the indents of lists and the blanks before comments on the way.
"""

from __future__ import annotations

from typing import Any

from archfit.edit.insert import insertions
from archfit.errors import ArchfitError, UnplaceableEdit
from archfit.patch import Add, Operation, apply
from archfit.source.compose import parse
from archfit.source.tree import ROOT
from archfit.workloads.sites import Spine, find_sites


def inserted(text: str, path: tuple[str, ...], item: Any) -> str:
    """The text with `item` at the end of the list at path, which is made where it is missing.

    text: one document, a mapping. Raises UnplaceableEdit where the text has no place for it, InvalidInput.
    """
    tree = parse(text)
    spine: Spine = None
    for key in reversed(path):
        spine = {key: spine}
    operation = _operation(tree.value, path, item)
    edits = insertions(text, tree.value, find_sites(tree, ROOT, tree.value, {(): spine}), [operation])
    for edit in reversed(edits):
        text = text[: edit.start] + edit.text + text[edit.end :]
    if parse(text).value != apply(tree.value, [operation]):
        raise ArchfitError(
            f"the entry cannot be added to {'.'.join(path)} without another change to the file"
        )
    return text


def _operation(value: Any, path: tuple[str, ...], item: Any) -> Operation:
    new: Any = [item]
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            raise UnplaceableEdit(f"{'.'.join(path[:depth]) or 'the document'} is not a mapping")
        if value.get(key) is None:
            for inner in reversed(path[depth + 1 :]):
                new = {inner: new}
            return Add(path[: depth + 1], new)
        value = value[key]
    if not isinstance(value, list):
        raise UnplaceableEdit(f"{'.'.join(path)} is not a list")
    return Add((*path, "-"), item)
