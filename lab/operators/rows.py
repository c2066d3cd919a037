"""Which rows of custom resources were seen: `seen` in transformer/archfit/workloads/kinds, from the recordings.

A field of a row was seen where, in a case or a turn, archfit wrote at the path of the row and the same field of an
object that the operator made, its affinity or its tolerations, carries more of the architecture than without; or
where it made pods for fewer nodes, for the affinity. A row was seen if all fields were that it has. That object has
an image of the row. An image that another row of the stream has at a place of its own tells nothing: the object may
be the other one's. Whether these pods are right is the replay's question (tests/real/operators).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from archfit.base.patch import dotted, pattern_text
from archfit.base.results import Location
from archfit.options.settings import FIELDS, Workload
from archfit.workloads import custom_rows
from archfit.workloads.pod_specs import find_pods
from operators import recordings
from operators.definition import operators
from seen_rows import rows_as_seen

_ARCHITECTURE = "kubernetes.io/arch"
Key: TypeAlias = tuple[str, str, str]


def files() -> Iterator[tuple[Path, str]]:
    shown: dict[tuple[Key, str], set[str]] = {}
    for operator in sorted(operators(), key=lambda one: one.released):
        by = f"{operator.operator} {operator.version.removeprefix('v')} of {operator.released}"
        for row, field in (found for case in operator.cases for found in seen(case)):
            key = (row.group, row.kind, pattern_text(row.pod_spec or row.objects))
            shown.setdefault((key, by), _written(row)).discard(field)
    whole = {key: by for (key, by), lacking in shown.items() if not lacking}
    for group, path in custom_rows.groups().items():
        yield Path(path), _with_seen(Path(path).read_text(encoding="utf-8"), group, whole)


def _written(row: Workload) -> set[str]:
    """The fields in which archfit writes for a row."""
    fields = {"affinity": row.affinity, "tolerations": row.tolerations}
    return {name for name, path in fields.items() if path is not None}


def _with_seen(text: str, group: str, seen: Mapping[Key, str]) -> str:
    """The text with `seen` at the end of the rows that were seen, and of no other one."""
    head, *blocks = re.split(r"(?m)^(?=- )", text)
    made = [head]
    for row, block in zip(yaml.safe_load(text)["workloads"], blocks, strict=True):
        body, mark, comment = re.sub(r"(?m)^  seen: .*\n", "", block).partition("\n#")
        kinds = row["kind"] if isinstance(row["kind"], list) else [row["kind"]]
        path = row.get("podSpec") or row.get("objects", "")
        said, *others = {seen.get((group, kind, path)) for kind in kinds}
        if others:
            raise ValueError(f"{group}: {', '.join(kinds)} were not seen alike: write a row for each")
        rest = body.removesuffix("\n") + (f"\n  seen: {said}" if said else "")
        made.append(rest + (mark + comment if mark else "\n"))
    return "".join(made)


def seen(case: Path) -> Iterator[tuple[Workload, str]]:
    """(row, field) of what a case and its turns show, each as often as it was seen."""
    text = (case / "object.yaml").read_bytes()
    without = case / "made.yaml"
    yield from _of_stream(text, without, case / "made-placed.yaml")
    for number, (_, turned) in enumerate(recordings.turns(text) if recordings.has_turns(case) else (), 1):
        yield from _of_stream(turned, without, case / f"turn-{number}" / "made-placed.yaml")


def _of_stream(text: bytes, without: Path, made: Path) -> Iterator[tuple[Workload, str]]:
    if not made.exists():
        return
    rows = _rows(text)
    before = {_key(one): _mentions(one) for one in recordings.read(without)}
    after = recordings.read(made)
    fewer = Counter(map(_key, recordings.read(without))) - Counter(map(_key, after))
    placed = []
    for one in after:
        more = _mentions(one) - before.get(_key(one), Counter())
        placed += [(one, field) for field in more | Counter({"affinity": _key(one) in fewer})]
    changed = recordings.placed(text, recordings.ALL).changed
    for decision in changed:
        row, lent = rows.get((decision["document"], decision["path"]), (None, False))
        images = _images(decision)
        elsewhere = {
            image for other in changed if other is not decision for image, _ in _images(other) - images
        }
        if row is None:
            continue
        # What an object borrows from another one stands there, and may be changed there too.
        told = [image for image, _ in images if lent or image not in elsewhere]
        for one, field in placed:
            if not images or _runs(one, told):
                yield row, field


def _images(decision: Any) -> set[tuple[str, str]]:
    """Each image that is stated, and where."""
    return {(one["image"], one["field"]) for one in decision["images"] if one.get("image")}


def _rows(text: bytes) -> dict[tuple[int, str], tuple[Workload, bool]]:
    """The row of each pod, and whether another object lends something to it."""
    found = {}
    for number, document in enumerate(yaml.safe_load_all(text), 1):
        for pod in find_pods(document, Location(number, 1)) if document else ():
            if pod.row is not None:
                paths = pod.placement_paths
                lent = paths is not None and paths.lender is not None
                found[number, dotted(pod.path)] = pod.row, lent
    return found


def all_seen(text: bytes) -> bool:
    """Whether the table has every row of a stream, so that the default writes as much as `all`."""
    return all(row.seen for row, _ in _rows(text).values())


def _key(value: Any) -> tuple[str, str]:
    return value["kind"], value["metadata"]["name"]


def _mentions(value: Any) -> Counter[str]:
    """How often the architecture stands in each field, at any depth."""
    found: Counter[str] = Counter()
    if isinstance(value, dict):
        for name, member in value.items():
            if name in FIELDS:
                found[name] += json.dumps(member).count(_ARCHITECTURE)
            else:
                found += _mentions(member)
    elif isinstance(value, list):
        for item in value:
            found += _mentions(item)
    return found


def _runs(value: Any, images: list[str]) -> bool:
    text = json.dumps(value)
    return any(f'"{image}"' in text for image in images)


def forget() -> None:
    """As if nothing was seen: so the row of an object around another one counts whatever its file says."""
    custom_rows._ROWS.update(rows_as_seen({}))
