"""Objects that may hold pods and are left as they are: each kind is reported once, with the number of its objects.

Objects with `archfit.dev/skip: "true"` are not reported.
"""

from __future__ import annotations

from archfit.base.patch import dotted, pattern_text
from archfit.base.results import Location, Message, ObjectRef, qualified_kind
from archfit.options.settings import Workload as Row
from archfit.startup.record import Record
from archfit.workloads.builtin import (
    LISTS,
    PODLESS,
    WORKLOADS,
    UserRows,
    every_row,
    group_of,
    other_versions,
    rows_of,
)
from archfit.workloads.custom_pods import reasons
from archfit.workloads.embedded import embedded
from archfit.workloads.pod_specs import controller_of, find_pods, objects, reference_of
from archfit.workloads.pods import Pod
from archfit.workloads.unread import unread
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_SKIP = "archfit.dev/skip"
_NO_POD = "archfit finds no pod to place in it"


class Untouched(Record):
    """An object, or a part of it, that is left as it is.

    reason: why, and what to do. known: its kind has rows. controller: what controls the object, "" if nothing does.
    podless: the rows of its kind find no pod in it. rendered: its pods are in what its controller renders.
    """

    ref: ObjectRef
    location: Location
    reason: str
    known: bool = True
    controller: str = ""
    podless: bool = False
    rendered: bool = False


def untouched_in(
    value: Any, pods: Iterable[Pod], location: Location, user_rows: UserRows
) -> Iterator[Untouched]:
    """What is left as it is in an object whose pods are these."""
    with_pods = {pod.root for pod in pods}
    for at, item, _ in objects(value, (), user_rows):
        if not _left_out(item):
            controller = controller_of(item.get("metadata"))
            for part in _of(item, location, user_rows, has_pods=at in with_pods):
                yield part.replace(controller=controller) if controller else part


def _left_out(item: dict[str, Any]) -> bool:
    metadata = item.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and text_of(annotations.get(_SKIP)) == "true"


def _of(
    item: dict[str, Any], location: Location, user_rows: UserRows, *, has_pods: bool
) -> Iterator[Untouched]:
    api_version, kind = text_of(item.get("apiVersion")), text_of(item.get("kind"))
    key = group_of(api_version), kind
    if key not in user_rows and (key in WORKLOADS or key in PODLESS or key in LISTS):
        return
    rows = rows_of(api_version, kind, user_rows)
    versions = other_versions(api_version, kind, user_rows)
    if versions:
        # Some kinds have pods only where a row says so.
        held = rows or [why for row in every_row(*key, user_rows) for why in reasons(row, item)]
        if held and not has_pods:
            reason = (
                f"archfit has read {kind} in {versions} only, and finds none of its images where they stand there; "
                f"place its pods by hand and leave it out with --exclude {qualified_kind(*key)} or the annotation "
                "archfit.dev/skip"
            )
            yield Untouched(reference_of(item), location, reason, known=False)
    elif rows:
        rendered = any(row.rendered for row in rows)
        for reason in _reasons(item, rows, user_rows, has_pods=has_pods):
            podless = reason.startswith(_NO_POD)
            yield Untouched(reference_of(item), location, reason, podless=podless, rendered=rendered)
    elif not has_pods:
        from archfit.workloads.unsupported.unknown_kinds import reason_of

        reason = reason_of(*key, item)
        if reason:
            yield Untouched(reference_of(item), location, reason, known=False)


def _reasons(
    item: dict[str, Any], rows: tuple[Row, ...], user_rows: UserRows, *, has_pods: bool
) -> Iterator[str]:
    reason = dict.fromkeys(reason for row in rows for reason in reasons(row, item))
    yield from reason
    if any(row.embedding.compared for row in rows):
        yield from _compared(rows, item, user_rows)
    if not has_pods:
        for path, _ in unread(rows, item) if any(row.pod_spec for row in rows) else ():
            reason[dotted(path)] = None
            yield f"archfit does not know which pod runs the image at {dotted(path)}"
    if not reason and not has_pods and not any(row.objects for row in rows):
        paths = list(dict.fromkeys(pattern_text(row.there or row.pod_spec) for row in rows if row.pod_spec))
        more = f" and none of {len(paths) - 3} more" if len(paths) > 3 else ""
        if paths:
            yield f"{_NO_POD}: it has no {' and no '.join(paths[:3])}{more}"


def _compared(rows: tuple[Row, ...], value: dict[str, Any], user_rows: UserRows) -> Iterator[str]:
    """What is said of the patterns in an object that hold pods."""
    for row in rows:
        for at, item, created in embedded(row, value) if row.embedding.compared else ():
            if not created and find_pods(item, Location(0, 0), at, user_rows):
                yield row.embedding.compared
                break


def untouched_messages(untouched: Iterable[Untouched]) -> list[Message]:
    """One message for each kind and reason, one in all for a kind without rows; none for objects of a controller."""
    groups: dict[tuple[str, str, str], list[Untouched]] = {}
    for entry in untouched:
        if not entry.controller:
            reason = entry.reason if entry.known else ""
            groups.setdefault((group_of(entry.ref.api_version), entry.ref.kind, reason), []).append(entry)
    return [
        Message(
            "info",
            f"not transformed: {group[0].reason}"
            + (f" ({len(group)} such objects)" if len(group) > 1 else ""),
            ref=group[0].ref,
            location=group[0].location,
        )
        for group in groups.values()
    ]
