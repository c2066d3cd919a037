"""A row of `workloads:` as text.

entries        group, kind, podSpec, within, images, .. in the order of the configuration file
in_one_line    {group: 'example.com', kind: 'Widget', podSpec: 'spec.pod'}
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.base.patch import Path, pattern_text, undotted
from archfit.cluster.crds.schema import FIELDS
from archfit.options.settings import Workload


def can_be_written(path: Path) -> bool:
    """Whether a row can hold the path: its keys have no dots, blanks, quotes or brackets."""
    text = pattern_text(path)
    try:
        return text.isprintable() and "\\" not in text and undotted(text) == path
    except ValueError:
        return False


def entries(row: Workload) -> Iterator[tuple[str, str | bool | list[str]]]:
    """The keys and values of a row as the configuration file has them; what is as by default is left out."""
    yield "group", row.group
    yield "kind", row.kind
    yield "podSpec", pattern_text(row.pod_spec)
    if row.there and row.there != row.pod_spec:
        yield "within", pattern_text(row.there)
    if row.images:
        yield "images", [pattern_text(path) for entry in row.images for path in entry]
    for key, path in zip(FIELDS, (row.affinity, row.tolerations, row.node_selector), strict=True):
        if path != ():
            yield key, pattern_text(path) if path is not None else "none"
    if row.immutable:
        yield "immutable", True


def in_one_line(row: Workload) -> str:
    """The row as a flow mapping, to be pasted into `workloads:`."""
    return "{" + ", ".join(f"{key}: {_flow(value)}" for key, value in entries(row)) + "}"


def _flow(value: str | bool | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return "true" if value is True else f"'{value}'"
