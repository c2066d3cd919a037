"""What taking back a stamp means: what is unmodified goes, what the user changed since is the user's. Pure.

    entry                      is there still           goes                          stays, as the user's
    a mapping                  with more in it          its own members, one by one   those that differ
    a list, or an item         among other items        the items; a list of ours     the list that lacks one of them
                                                        that only has such items
    in an item of a list       the item moved           as above
    in an item of a list       not, or as another one                                 all of it

The stamp goes with them, and the annotations or metadata that archfit made for it, where nothing else is in them.
"""

from __future__ import annotations

from archfit.base.patch import Add, Operation, Path, Remove, Test, apply, pointer
from archfit.edit.stamp.annotation import ANNOTATIONS, METADATA, MISSING, NAME, Addition, at, read_stamp
from archfit.startup.record import Record
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


class StampState(Record):
    """An object's stamp, and the operations that take it back. Each tuple has one part for each pod of the object.

    entries: what the stamp records. operations: what takes it back, from the document's root. kept: what the user
    changed since. annotation: what takes the stamp itself away, () where there is none. problem: why it cannot be read.
    """

    entries: tuple[tuple[Addition, ...], ...]
    operations: tuple[tuple[Operation, ...], ...]
    kept: tuple[tuple[Path, ...], ...]
    annotation: tuple[Operation, ...] = ()
    problem: str = ""

    def all_operations(self) -> list[Operation]:
        """What takes everything back."""
        return [step for steps in (self.annotation, *self.operations) for step in steps]


def stamp_state(value: Any, pods: Sequence[Pod], removable: Callable[[Operation], bool]) -> StampState:
    """What taking back the stamp of one object needs.

    value: the document's; pods: all of the object. removable: whether the text lets an operation be made by itself; it
    does not where the user has put a comment into what would go.
    """
    root = pods[0].root
    none: tuple[tuple[Any, ...], ...] = ((),) * len(pods)
    annotations = at(value, (*root, *ANNOTATIONS))
    if not isinstance(annotations, dict) or NAME not in annotations:
        return StampState(none, none, none)
    try:
        entries, holder = read_stamp(annotations[NAME], at(value, root))
        of_pods = _of_pods(entries, pods)
    except ValueError:
        problem = f"{NAME} is not as archfit wrote it, so nothing can be taken back: remove the annotation"
        return StampState(none, none, none, problem=problem)
    back = [
        _back(value, [entry.replace(path=(*root, *entry.path)) for entry in own], removable)
        for own in of_pods
    ]
    path: Path = (*root, *ANNOTATIONS)
    annotation: tuple[Operation, ...] = (Test((*path, NAME), annotations[NAME]), Remove((*path, NAME)))
    if holder and len(annotations) == 1:
        if holder.path == METADATA and len(at(value, path[:-1])) == 1:
            path = path[:-1]
        null = holder.null if path == (*root, *holder.path) else None
        gone: Operation = Remove(path) if null is None else Add(path, None, null)
        if removable(gone):
            annotation = (Test(path, at(value, path)), gone)
    return StampState(
        of_pods, tuple(operations for operations, _ in back), tuple(kept for _, kept in back), annotation
    )


def without_stamp(value: Any, states: Iterable[StampState]) -> Any:
    """The document's value once everything is taken back."""
    return apply(value, [step for state in states for step in state.all_operations()])


def _of_pods(entries: Iterable[Addition], pods: Sequence[Pod]) -> tuple[tuple[Addition, ...], ...]:
    """The entries of each pod: what is at, above or below its placement.

    Raises ValueError for one that is of none: archfit writes nowhere else.
    """
    at_or_above: dict[Path, int] = {}
    placement: dict[Path, int] = {}
    for number, pod in enumerate(pods):
        for field in ((*pod.at("affinity"), "nodeAffinity"), pod.at("tolerations"), pod.at("nodeSelector")):
            path = field[len(pod.root) :]
            placement.setdefault(path, number)
            for end in range(1, len(path) + 1):
                at_or_above.setdefault(path[:end], number)
    by_pod: list[list[Addition]] = [[] for _ in pods]
    for entry in entries:
        path = entry.path
        above = next((path[:end] for end in range(1, len(path)) if path[:end] in placement), None)
        of = at_or_above.get(path, 0 if entry.lost else None) if above is None else placement[above]
        if of is None:
            raise ValueError(pointer(path))
        by_pod[of].append(entry)
    return tuple(map(tuple, by_pod))


def _back(
    value: Any, entries: Sequence[Addition], removable: Callable[[Operation], bool]
) -> tuple[tuple[Operation, ...], tuple[Path, ...]]:
    """The operations that take the entries back, and what the user changed.

    Items of a list are taken from its end, so that no index of a later operation moves.
    """
    gone: set[Path] = set()
    kept: list[Path] = []
    operations: list[Operation] = []
    for entry in entries:
        if entry.lost:
            kept += [] if entry.path in kept else [entry.path]
        elif entry.path[-1] == "-":
            _item_back(value, entry.path[:-1], entry.value, gone, kept)
        elif (
            entry.null is not None and at(value, entry.path) == entry.value and removable(Remove(entry.path))
        ):
            operations += (Test(entry.path, entry.value), Add(entry.path, None, entry.null))
        else:
            _member_back(value, entry.path, entry.value, gone, kept)
    kept += sorted((path for path in gone if not removable(Remove(path))), key=_order)
    for path in sorted(gone.difference(kept), key=_order, reverse=True):
        operations += (Test(path, at(value, path)), Remove(path))
    return tuple(operations), tuple(kept)


def _order(path: Path) -> list[tuple[bool, str | int]]:
    return [(isinstance(token, int), token) for token in path]


def _item_back(value: Any, path: Path, item: Any, gone: set[Path], kept: list[Path]) -> None:
    items = at(value, path)
    for number in range(len(items) - 1, -1, -1) if isinstance(items, list) else ():
        if items[number] == item and (*path, number) not in gone:
            gone.add((*path, number))
            return
    if isinstance(items, list):
        kept.append(path)


def _member_back(value: Any, path: Path, added: Any, gone: set[Path], kept: list[Path]) -> None:
    there = at(value, path)
    if there is MISSING:
        return
    if there == added:
        gone.add(path)
    elif isinstance(there, dict) and isinstance(added, dict):
        for key, member in added.items():
            _member_back(value, (*path, key), member, gone, kept)
    elif isinstance(there, list) and isinstance(added, list):
        for item in added:
            _item_back(value, path, item, gone, kept)
        items = {(*path, number) for number in range(len(there))}
        if items and items <= gone:  # nothing in it is anybody else's
            gone.difference_update(items)
            gone.add(path)
            kept[:] = [other for other in kept if other != path]
    else:
        kept.append(path)
