"""Objects that stand in another one: which of them are created, which are patterns that others are compared with, and
what the object around them fills in.

A pattern (complianceType: mustnothave) with a field more matches fewer objects, so that nothing is written into it.

    Sensor    parameters[].dest: spec.template.spec.containers.0.image    the event says what stands there: unknown
    Object    references[].toFieldPath: ..containers[0].image             another object does (provider-kubernetes)
"""

from __future__ import annotations

import re

from archfit.base.patch import Path, dotted
from archfit.options.settings import ANNOTATE, Workload
from archfit.workloads.patterns import bound, get, matches
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STEPS = re.compile(r"[^.\[\]]+")


def embedded(row: Workload, value: dict[str, Any]) -> Iterator[tuple[Path, Any, bool]]:
    """(path, object, whether it is created) of each object that the row finds."""
    for at, item in matches(value, row.objects):
        created = all(
            _holds(value, bound(path, row.objects, at), texts) for path, texts in row.embedding.created
        )
        yield at, _handed_down(row, value, item), created


def appends(row: Workload, value: dict[str, Any], within: Path) -> bool:
    """Whether lists of the embedded object at a path, or around it, are added to what is there."""
    at = within[: len(row.objects)]
    return all(
        text_of(get(value, bound(path, row.objects, at))).casefold() == text
        for path, text in row.embedding.appends
    )


def filled(row: Workload, around: dict[str, Any], pod: Pod, at: Path) -> Pod:
    """The pod with images that are unknown where `around`, which stands at `at`, says that something fills them in."""
    inside = pod.root[len(at) :]
    if not all(step in ("*", own) for step, own in zip(row.objects, inside, strict=False)):
        return pod
    images, lists = pod.images, [(*pod.path, name) for name in ("containers", "initContainers")]
    for texts, holder in row.embedding.filled:
        for path, text in matches(around, bound(texts, row.objects, inside)):
            steps = (int(step) if step.isdigit() else step for step in _STEPS.findall(text_of(text)))
            place = (*at, *bound(holder, row.objects, inside), *steps)
            reason = f"{dotted((*at, *path))} lets something else fill it in" + ANNOTATE
            met = tuple(use.replace(unasked=reason) if _meets(place, use.path) else use for use in images)
            container = place[: len(pod.path) + 2]
            new = container[:-1] in lists and not any(_meets(container, use.path) for use in images)
            if new:
                met = (*images, ImageUse(place, None, unasked=reason))
            images = met
    return pod.replace(images=images) if images != pod.images else pod


def _meets(place: Path, path: Path) -> bool:
    """Whether one of them is above the other, or both are one."""
    return all(step in (own, "*", "#") for step, own in zip(place, path, strict=False))


def _holds(value: dict[str, Any], path: Path, texts: tuple[str, ...]) -> bool:
    text = text_of(get(value, path))
    return text.casefold() in texts if texts else bool(text)


def _handed_down(row: Workload, value: dict[str, Any], item: Any) -> Any:
    for path in row.embedding.hands_down if isinstance(item, dict) else ():
        member = get(value, path)
        if member is not None:
            item = _with(item, path, member)
    return item


def _with(item: Any, path: Path, member: Any) -> Any:
    """The item with another member at a path; without mappings on the way it has no such member."""
    if not path:
        return member
    below = item.get(path[0]) if isinstance(item, dict) else None
    if len(path) > 1 and not isinstance(below, dict):
        return item
    return {**item, path[0]: _with(below, path[1:], member)} if isinstance(item, dict) else item
