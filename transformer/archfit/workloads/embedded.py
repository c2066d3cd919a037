"""Objects that stand in another one: which of them are created, and which are patterns that others are compared with.

    spec:
      remediationAction: inform           hands_down    counts before that of the embedded objects
      object-templates:
      - complianceType: mustnothave       created       the embedded object is compared with those of the cluster
        objectDefinition: {kind: Pod, ..} objects

A pattern with a field more matches fewer objects, so that nothing is written into it.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.base.results import Location
from archfit.base.typing_names import Any, Iterator
from archfit.options.settings import Workload
from archfit.workloads.builtin import UserRows
from archfit.workloads.patterns import bound, get, matches
from archfit.yaml.values import text_of


def embedded(row: Workload, value: dict[str, Any]) -> Iterator[tuple[Path, Any, bool]]:
    """(path, object, whether it is created) of each object that the row finds."""
    for at, item in matches(value, row.objects):
        created = all(_holds(value, bound(path, row.objects, at), texts) for path, texts in row.created)
        yield at, _handed_down(row, value, item), created


def compared(rows: tuple[Workload, ...], value: dict[str, Any], user_rows: UserRows) -> Iterator[str]:
    """What is said of the patterns in an object that hold pods."""
    from archfit.workloads.pod_specs import find_pods

    for row in rows:
        for at, item, created in embedded(row, value) if row.compared else ():
            if not created and find_pods(item, Location(0, 0), at, user_rows):
                yield row.compared
                break


def appends(row: Workload, value: dict[str, Any], within: Path) -> bool:
    """Whether lists of the embedded object at a path, or around it, are added to what is there."""
    at = within[: len(row.objects)]
    return all(
        text_of(get(value, bound(path, row.objects, at))).casefold() == text for path, text in row.appends
    )


def _holds(value: dict[str, Any], path: Path, texts: tuple[str, ...]) -> bool:
    text = text_of(get(value, path))
    return text.casefold() in texts if texts else bool(text)


def _handed_down(row: Workload, value: dict[str, Any], item: Any) -> Any:
    for path in row.hands_down if isinstance(item, dict) else ():
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
