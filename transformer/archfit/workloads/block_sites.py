"""The sites of a document that was read by its lines, which are those that `find_sites` finds in its tree.

Where the spine of a pod spec leads to anything but block collections, or to one that ends with a literal, the tree is
needed.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.base.typing_names import Any
from archfit.workloads.sites import WIDEST_INDENT, Site, Sites, Spine
from archfit.yaml.block_lines import BlockText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class _TreeNeeded(Exception):
    pass


def block_sites(text: BlockText, value: Any, spines: Mapping[Path, Spine]) -> Sites | None:
    """The sites below `value`, an object in the text; None where only the tree has them."""
    at: dict[Path, Site] = {}
    indent = dash = -1
    try:
        for pod, spine in spines.items():
            path: Path = ()
            inner = value
            at[path] = at.get(path) or _site(text, inner)
            for depth, step in enumerate(pod, start=1):
                inner, path = inner[step], pod[:depth]
                at[path] = at.get(path) or _site(text, inner)
            _collect(text, path, inner, spine, at)
            spec, above = at[pod], at[pod[:-1]]
            if spec.kind == "mapping":
                if indent < 0 and 0 < spec.column - above.column <= WIDEST_INDENT:
                    indent = spec.column - above.column
                if dash < 0:
                    dash = _dash_of(text, inner, spec.column)
    except _TreeNeeded:
        return None
    return Sites(at, (), indent if indent > 0 else 2, max(dash, 0))


def _collect(text: BlockText, path: Path, value: Any, spine: Spine, at: dict[Path, Site]) -> None:
    below: list[tuple[str | int, Spine]]
    if isinstance(spine, dict) and isinstance(value, dict):
        below = [(name, inner) for name, inner in spine.items() if name in value]
    elif isinstance(spine, list) and isinstance(value, list):
        below = [(number, spine[0]) for number in range(len(value))]
    else:
        return
    for step, inner in below:
        here = (*path, step)
        at[here] = _site(text, value[step])
        _collect(text, here, value[step], inner, at)


def _site(text: BlockText, value: Any) -> Site:
    place = text.place(value)
    if place is None or place[3] in text.literals:
        raise _TreeNeeded
    _, column, first, last = place
    end = text.end(last)
    if value.__class__ is dict:
        return Site("mapping", False, False, column, -1, end, first + 1, len(value))
    return Site("sequence", False, False, column, -1, end, first + 1, len(value))


def _dash_of(text: BlockText, pod_spec: dict[str, Any], column: int) -> int:
    """How far the pod spec's own sequences are indented, -1 where it has none in block style."""
    for value in pod_spec.values():
        place = text.place(value) if value.__class__ is list else None
        if place is not None:
            return max(place[1] - column, 0)
    return -1
