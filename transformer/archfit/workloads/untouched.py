"""What may hold pods and is left as it is: never without a word.

    a kind in a row      the row's reason, or what the object lacks
    a kind in no row     pod-like if it holds one of these; then the row that would help is shown
                             containers: [{image: ..}]
                             image: .., beside affinity, tolerations or nodeSelector

Each kind is reported once, with how many there are of it.
"""

from __future__ import annotations

from archfit.outcome import Result
from archfit.record import Record
from archfit.source.values import text_of
from archfit.workloads.find import objects, reference_of
from archfit.workloads.table import LISTS, PODLESS, WORKLOADS, group_of, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from archfit.outcome import ObjectRef, Place
    from archfit.patch import Path
    from archfit.workloads.pods import Pod
    from archfit.workloads.table import Own

_PLACEMENT = ("affinity", "tolerations", "nodeSelector")
_DEPTH = 64


class Untouched(Record):
    """An object, or a part of it, that is left as it is. said: why, and what to do."""

    ref: ObjectRef
    place: Place
    said: str


def untouched_in(value: Any, pods: Iterable[Pod], place: Place, own: Own) -> Iterator[Untouched]:
    """What is left as it is in a document whose pods are these."""
    with_pods = {pod.root for pod in pods}
    for at, item in objects(value, (), own):
        for said in _said(item, own, has_pods=at in with_pods):
            yield Untouched(reference_of(item), place, said)


def _said(item: dict[str, Any], own: Own, *, has_pods: bool) -> Iterator[str]:
    api_version, kind = text_of(item.get("apiVersion")), text_of(item.get("kind"))
    key = group_of(api_version), kind
    if key not in own and (key in WORKLOADS or key in PODLESS or key in LISTS):
        return
    rows = rows_of(api_version, kind, own)
    if not rows:
        found = None if has_pods else _pod_like(item)
        if found:
            name = "/".join(filter(None, key)) or "an object without a kind"
            yield (
                f"{name} looks as if it held a pod template, but archfit does not know where; "
                f"to change it, add this to the configuration file: {_row(*key, found)}"
            )
        return
    from archfit.workloads.elsewhere import reasons

    said = dict.fromkeys(reason for row in rows for reason in reasons(row, item))
    yield from said
    if not said and not has_pods and not any(row.objects for row in rows):
        paths = dict.fromkeys(_text(row.there or row.pod_spec) for row in rows if row.pod_spec)
        yield f"it has no {' and no '.join(paths)}, and so no pod to place"


def _pod_like(value: Any, at: Path = (), depth: int = 0) -> tuple[Path, str] | None:
    """The path of what looks like a pod spec, and "image" where its image stands beside its placement."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        return next(filter(None, (_pod_like(item, (*at, "*"), depth + 1) for item in value)), None)
    if not isinstance(value, dict):
        return None
    containers = value.get("containers")
    if isinstance(containers, list) and any(isinstance(one, dict) and "image" in one for one in containers):
        return at, ""
    if isinstance(value.get("image"), str) and any(name in value for name in _PLACEMENT):
        return at, "image"
    members = (_pod_like(member, (*at, key), depth + 1) for key, member in value.items() if key != "status")
    return next(filter(None, members), None)


def _row(group: str, kind: str, found: tuple[Path, str]) -> str:
    path = _text(found[0])
    images = f", images: ['{path}.image']" if found[1] else ""
    return f"spec: {{workloads: [{{group: '{group}', kind: {kind}, podSpec: '{path}'{images}}}]}}"


def _text(pattern: Path) -> str:
    return ".".join(map(str, pattern)).replace(".*", "[*]")


def told(untouched: Iterable[Untouched]) -> list[Result]:
    """One result for each kind and reason."""
    groups: dict[tuple[str, str, str], list[Untouched]] = {}
    for one in untouched:
        groups.setdefault((group_of(one.ref.api_version), one.ref.kind, one.said), []).append(one)
    return [
        Result(
            "info",
            f"not transformed: {said}" + (f" ({len(found)} such objects)" if len(found) > 1 else ""),
            ref=found[0].ref,
            place=found[0].place,
        )
        for (_, _, said), found in groups.items()
    ]
