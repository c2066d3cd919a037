"""Which rows of custom resources were seen: `seen` in transformer/archfit/workloads/kinds, from the recordings.

A row was seen where, in a case or a turn, archfit wrote at its path and an object that the operator made carries more
of the architecture than it does without: a required term, a toleration; or where it made pods for fewer nodes. That
object has an image of the row. An image that another row of the stream has at a place of its own tells nothing: the
object may be the other one's. Whether these pods are right is the replay's question (tests/real/operators).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from archfit.base.patch import dotted, pattern_text
from archfit.base.results import Location
from archfit.options.settings import Workload
from archfit.workloads import custom_rows
from archfit.workloads.pod_specs import find_pods
from operators import recordings
from operators.definition import Operator, operators
from seen_rows import rows_as_seen

_ARCHITECTURE = "kubernetes.io/arch"
Key: TypeAlias = tuple[str, str, str]


def files() -> Iterator[tuple[Path, str]]:
    """Each file of kinds, and its text with what the recordings show."""
    shown = sorted(line for operator in operators() for line in _lines(operator))
    seen = {key: f"{operator} {version} of {released}" for key, version, released, operator in shown}
    for group, path in custom_rows.groups().items():
        yield Path(path), _with_seen(Path(path).read_text(encoding="utf-8"), group, seen)


def _lines(operator: Operator) -> Iterator[tuple[Key, str, str, str]]:
    for case in operator.cases:
        for row in seen(case):
            key = (row.group, row.kind, pattern_text(row.pod_spec or row.objects))
            yield key, operator.version.removeprefix("v"), str(operator.released), operator.operator


def _with_seen(text: str, group: str, seen: Mapping[Key, str]) -> str:
    """The text with `seen` at the end of the rows that were seen, and of no other one."""
    head, *blocks = re.split(r"(?m)^(?=- )", text)
    made = [head]
    for row, block in zip(yaml.safe_load(text)["workloads"], blocks, strict=True):
        body, mark, comment = re.sub(r"(?m)^  seen: .*\n", "", block).partition("\n#")
        said = seen.get((group, row["kind"], row.get("podSpec") or row.get("objects", "")))
        rest = body.removesuffix("\n") + (f"\n  seen: {said}" if said else "")
        made.append(rest + (mark + comment if mark else "\n"))
    return "".join(made)


def seen(case: Path) -> Iterator[Workload]:
    """The rows that a case and its turns show, each as often as it was seen."""
    text = (case / "object.yaml").read_bytes()
    without = case / "made.yaml"
    yield from _of_stream(text, without, case / "made-placed.yaml")
    for number, (_, turned) in enumerate(recordings.turns(text) if recordings.has_turns(case) else (), 1):
        yield from _of_stream(turned, without, case / f"turn-{number}" / "made-placed.yaml")


def _of_stream(text: bytes, without: Path, made: Path) -> Iterator[Workload]:
    if not made.exists():
        return
    rows = _rows(text)
    before = {_key(one): _mentions(one) for one in recordings.read(without)}
    after = recordings.read(made)
    fewer = Counter(map(_key, recordings.read(without))) - Counter(map(_key, after))
    placed = [one for one in after if _mentions(one) > before.get(_key(one), 0) or _key(one) in fewer]
    changed = recordings.placed(text, recordings.ALL).changed
    for decision in changed:
        row = rows.get((decision["document"], decision["path"]))
        images = _images(decision)
        elsewhere = {
            image for other in changed if other is not decision for image, _ in _images(other) - images
        }
        if row is None:
            continue
        # What an object borrows from another one stands there, and may be changed there too.
        told = [image for image, _ in images if row.lender or image not in elsewhere]
        if any(not images or _runs(one, told) for one in placed):
            yield row


def _images(decision: Any) -> set[tuple[str, str]]:
    """Each image that is stated, and where."""
    return {(one["image"], one["field"]) for one in decision["images"] if one.get("image")}


def _rows(text: bytes) -> dict[tuple[int, str], Workload]:
    """The row of each pod of a stream, by document and path."""
    found = {}
    for number, document in enumerate(yaml.safe_load_all(text), 1):
        for pod in find_pods(document, Location(number, 1)) if document else ():
            if pod.row is not None:
                found[number, dotted(pod.path)] = pod.row
    return found


def all_seen(text: bytes) -> bool:
    """Whether the table has every row of a stream, so that the default writes as much as `all`."""
    return all(row.seen for row in _rows(text).values())


def _key(value: Any) -> tuple[str, str]:
    return value["kind"], value["metadata"]["name"]


def _mentions(value: Any) -> int:
    return json.dumps(value).count(_ARCHITECTURE)


def _runs(value: Any, images: list[str]) -> bool:
    text = json.dumps(value)
    return any(f'"{image}"' in text for image in images)


def forget() -> None:
    """As if nothing was seen: so the row of an object around another one counts whatever its file says."""
    custom_rows._ROWS.update(rows_as_seen({}))
