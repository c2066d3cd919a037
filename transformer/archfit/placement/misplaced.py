"""Annotations of archfit at a place where they have no effect: an error, never silence.

counts            metadata.annotations of the object and of every template on the way to a pod (`annotations`)
is an error       a name under archfit.dev/ in any other `annotations`, and a known name anywhere else, as in labels
is not looked at  an object without pods, such as a Service that got its annotations from `commonAnnotations`, and
                  one that a controller made
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.patch import Path, dotted
from archfit.placement.annotations import KNOWN, PREFIX, nearest, way
from archfit.results import Result
from archfit.typing_names import Any
from archfit.workloads.builtin import Own
from archfit.workloads.owner import controller_of
from archfit.workloads.pod_specs import objects
from archfit.workloads.pods import Pod


def misplaced(value: Any, pods: Sequence[Pod], own: Own) -> list[Result]:
    """An error for each annotation in a document that counts nowhere. value: the document; own: the user's rows."""
    counts = {(*at, "annotations") for pod in pods for at, _ in way(pod)}
    counts |= {(*at, "metadata", "annotations") for at, _ in objects(value, (), own)}
    by_root: dict[Path, list[Pod]] = {}
    for pod in pods:
        by_root.setdefault(pod.root, []).append(pod)
    roots = {at: by_root.get(at, []) for at, _ in objects(value, (), own)}
    results = []
    for at in _names(value, []):
        if at[:-1] in counts:
            continue
        root = next((at[:end] for end in range(len(at), -1, -1) if at[:end] in roots), ())
        holding = roots.get(root, [])
        if holding and not controller_of(holding[0].object_metadata):
            results.append(
                Result("error", _said(str(at[-1]), holding), holding[0].ref, dotted(at), holding[0].location)
            )
    return results


def _names(value: Any, path: list[str | int]) -> Iterator[Path]:
    """The path of every name of ours that may be meant as an annotation."""
    if isinstance(value, dict):
        for name, member in value.items():
            path.append(name)
            if name[:12] == PREFIX and (name in KNOWN or path[-2:-1] == ["annotations"]):
                yield tuple(path)
            if isinstance(member, (dict, list)):
                yield from _names(member, path)
            path.pop()
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, (dict, list)):
                path.append(number)
                yield from _names(item, path)
                path.pop()


def _said(name: str, pods: Sequence[Pod]) -> str:
    places = dict.fromkeys(dotted((*at, "annotations")) for at, _ in reversed(way(pods[0])))
    unknown = "" if name in KNOWN else f"there is no annotation {name}; {nearest(name)} "
    return f"{unknown}{name} has no effect here; write it in {' or '.join(places)}"
