"""Custom resources that hold pods: a file for each API group, `kinds/GROUP.yaml`, whose rows are written as the user's.

    operator: Strimzi            # who makes the pods
    apiVersions: [v1beta2, v1]   # of rows that state none
    module: strimzi              # operators/strimzi.py, if there is one
    workloads:                   # options.workload_rows, without `group`; a row may be for several kinds
    - kind: [KafkaBridge, KafkaConnect]
      podSpec: spec.template.pod
      seen: Strimzi 0.45.0 of 2024-12-20

`seen` is written by `make -C lab operators`: the operator made pods from what archfit wrote there. A file is read when
a stream holds an object of its group. Every path is that of the published schema or Go type.
"""

from __future__ import annotations

import os

from archfit.base.errors import InternalError, InvalidInput, Problem
from archfit.base.patch import dotted
from archfit.options.settings import Workload
from archfit.options.workload_rows import OWN_EXAMPLE, own_row
from archfit.yaml import compose, data_form
from archfit.yaml.tree import NodeLines
from archfit.yaml.values import mapping_of, plain, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = os.path.join(os.path.dirname(__file__), "kinds")
_ROWS: dict[tuple[str, str], tuple[Workload, ...]] = {}
_FILES: dict[str, KindsFile] = {}
_GROUPS: dict[str, str] = {}


def custom_rows(group: str, kind: str) -> tuple[Workload, ...]:
    """The rows of a kind, () for a kind that has none."""
    if (group, kind) not in _ROWS:
        if group not in groups():
            return ()
        _ROWS[group, kind] = kinds_file(group).rows(kind)
    return _ROWS[group, kind]


def groups() -> dict[str, str]:
    """The API groups that have a file, and its path. The folder is listed once; no manifest's text becomes a path."""
    if not _GROUPS:
        for name in sorted(os.listdir(FOLDER)):
            _GROUPS[name.removesuffix(".yaml")] = os.path.join(FOLDER, name)
    return _GROUPS


def kinds_file(group: str) -> KindsFile:
    """The file of one of `groups`."""
    if group not in _FILES:
        _FILES[group] = KindsFile(groups()[group], group)
    return _FILES[group]


def all_custom_rows() -> dict[tuple[str, str], tuple[Workload, ...]]:
    """Every row, by group and kind."""
    return {(group, kind): custom_rows(group, kind) for group in groups() for kind in kinds_file(group).kinds}


class KindsFile:
    """A file of `kinds`. Raises InternalError, with its line, where it is wrong.

    operator: who makes the pods. kinds: in their order. rows: those of a kind; a stream asks for few, only these are
    made.
    """

    def __init__(self, path: str, group: str) -> None:
        self._path, self._group = path, group
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            self._tree = compose.parse(text)
        except InvalidInput as error:
            raise InternalError(f"{path} line {error.line}: {error.message}") from None
        for double in self._tree.duplicates:
            raise self._error(
                Problem(f"the key {double.key!r} is here a second time: keep one", (), double.line)
            )
        try:
            parts = data_form.fields(self._tree.value, _PARTS, "operator: Strimzi, workloads: [..]", _NEEDED)
            self.operator = data_form.within("operator", data_form.string, parts.get("operator"))
            self._versions = plain(parts.get("apiVersions"))
            self._module = text_of(parts.get("module"))
            self._rows = data_form.within("workloads", _listed, parts.get("workloads"))
        except Problem as problem:
            raise self._error(problem) from None
        self.kinds = tuple(dict.fromkeys(kind for row in self._rows for kind in _kinds(row)))

    def rows(self, kind: str) -> tuple[Workload, ...]:
        return tuple(self._row(number, kind) for number, row in enumerate(self._rows) if kind in _kinds(row))

    def _row(self, number: int, kind: str) -> Workload:
        try:
            row = own_row(plain(self._rows[number]), self._group, kind, self._versions)
        except Problem as problem:
            raise self._error(Problem(problem.message, ("workloads", number, *problem.path))) from None
        return row.replace(operator=self._module)

    def _error(self, problem: Problem) -> InternalError:
        known = NodeLines(self._tree.text).at(problem.path) if problem.path else 0
        line = problem.line or known + 1
        field = f", {dotted(problem.path)}" if problem.path else ""
        return InternalError(f"{self._path} line {line}{field}: {problem.message}")


_NEEDED = ("operator", "apiVersions", "workloads")
_PARTS = (*_NEEDED, "module")


def _listed(value: object) -> list[object]:
    return data_form.as_list(value, f"{{{OWN_EXAMPLE}}}")


def _kinds(row: Any) -> list[str]:
    """The kinds of a row as written, "" where it names none."""
    kind = mapping_of(row).get("kind")
    return list(map(text_of, kind)) if isinstance(kind, list) else [text_of(kind)]
