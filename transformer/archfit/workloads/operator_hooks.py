"""What an operator alone does with the pods of its kinds, beyond what rows can say: `operators/NAME.py`.

A file of `kinds` names the module, which is loaded with the first pod of such a kind. Rows of the user name none.
"""

from __future__ import annotations

from importlib import import_module

from archfit.base.patch import Path
from archfit.startup.record import Record
from archfit.workloads.patterns import bound
from archfit.workloads.pods import ImageUse, PlacementPaths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeAlias

    from archfit.options.settings import Workload

Placement: TypeAlias = "tuple[dict[str, Any], PlacementPaths]"
"""A pod spec with the fields that decide its place, and where they are."""


class RowMatch(Record):
    """One pod that a row finds in an object. Paths are from the object's root.

    there: what the row's `there` matches. path: of the pod; spec: what stands there, {} where nothing does.
    shared: what all pods of the row in the object have in common, found once.
    """

    row: Workload
    value: dict[str, Any]
    there: Path
    path: Path
    spec: dict[str, Any]
    shared: dict[object, Any]

    def same(self, pattern: Path) -> Path:
        """The pattern with each "*" that `there` has as well in the place of which it stands."""
        return bound(pattern, self.row.there or self.row.pod_spec, self.there)


class OperatorHooks(Record):
    """What is done with the pods of a kind.

    problem: why the pod is left as it is, "" if it is not.
    images: images that run beside those of the row.
    replaceable: by name the containers of the pod whose image other objects replace, so that it is unknown, and why;
        init containers are no part of this.
    patches: what is merged into the pod last: texts, whose images are unknown, and whose fields have no other source;
        strategic and JSON merge patches of the workload, whose placement is read and edited there, and whose images
        count; operations of a JSON Patch, which are taken as texts.
    holders: mappings whose placement is read beside that of the row.
    placement: the fields that decide the place of the pod, and where they are, as the operator has them.
    has_default: whether the row's `default_affinity` is written beside this affinity.
    needed_only: the API refuses placement by default; only what the pod cannot run without is written, with this
        warning.
    note: a message for a pod that is changed.
    """

    problem: Callable[[RowMatch], str] = lambda _: ""
    images: Callable[[RowMatch], Iterable[ImageUse]] = lambda _: ()
    replaceable: Callable[[RowMatch], Mapping[str, str]] = lambda _: {}
    patches: Callable[[Workload], Iterable[Path]] = lambda _: ()
    holders: Callable[[Workload], Iterable[Path]] = lambda _: ()
    placement: Callable[[RowMatch, dict[str, Any], PlacementPaths], Placement] = lambda _, *placement: (
        placement
    )
    has_default: Callable[[Any], bool] = lambda affinity: affinity is None
    needed_only: str = ""
    note: str = ""


_ORDINARY = OperatorHooks()
_KINDS: dict[str, Mapping[str, OperatorHooks]] = {"": {}}


def hooks_of(row: Workload) -> OperatorHooks:
    """What is done with the pods of a row."""
    if row.operator not in _KINDS:
        _KINDS[row.operator] = import_module(f"archfit.workloads.operators.{row.operator}").KINDS
    return _KINDS[row.operator].get(row.kind, _ORDINARY)
