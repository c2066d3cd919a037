"""The stamp of an in-place run: what archfit added, so that a later run can take exactly that back. Pure.

    metadata:                      of the object, never of its pod template: a change there would roll the pods
      annotations:
        archfit.dev/added: '[{"path":"/spec/template/spec/tolerations/-","value":{...}}, ...]'

    {"path": P, "value": V}                a member, or with "-" at the end of P an item of a list
    {"path": P, "value": V, "null": true}  the member was there, without a value
    {"path": "/metadata/annotations"}      there were no annotations; with "null", none but their key
    {"path": "/metadata"}                  there was no metadata; with "null", none but its key
    {"by": D, "images": N, ..}             the policy or the webhook added it (`admission.added_record`)

Paths are RFC 6901 from the object's root; JSON without blanks, keys and entries sorted. `state` says what taking one
back means, `decisions` writes it anew.
"""

from __future__ import annotations

import json

from archfit.base.patch import Add, Operation, Path, apply, pointer
from archfit.placement.annotations import STAMP
from archfit.startup.record import Record
from archfit.yaml.values import plain, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

NAME = STAMP
METADATA: Path = ("metadata",)
ANNOTATIONS: Path = ("metadata", "annotations")
MISSING = object()


class Addition(Record):
    """One thing that a run added. path: from the object's root. null: the member was there, without a value."""

    path: Path
    value: Any
    null: bool = False


def read(text: object, value: Any) -> tuple[tuple[Addition, ...], Addition | None]:
    """The entries of a stamp, and the one of the metadata or annotations that archfit made. Raises ValueError.

    value: the object that has the stamp, which says what is an index and what a key.
    """
    try:
        return _read(text, value)
    except RecursionError:
        raise ValueError(text) from None


def _read(text: object, value: Any) -> tuple[tuple[Addition, ...], Addition | None]:
    entries, holder = list[Addition](), None
    for one in _decoded(text):
        path, null = _path(str(one.get("path")), value), "null" in one
        if not set(one) <= {"path", "value", "null", "by", "images"} or (null and one["null"] is not True):
            raise ValueError(text)
        if "value" in one:
            entries.append(Addition(path, typed(one["value"]), null))
        elif path in (METADATA, ANNOTATIONS):
            holder = Addition(path, None, null)
        else:
            raise ValueError(text)
    return tuple(entries), holder


def _decoded(text: object) -> list[dict[str, Any]]:
    decoded = json.loads(text) if isinstance(text, str) else None
    if isinstance(decoded, list) and all(isinstance(one, dict) for one in decoded):
        return decoded
    raise ValueError(text)


def _path(text: str, value: Any) -> Path:
    """The path of an RFC 6901 pointer into value. Raises ValueError."""
    if not text.startswith("/"):
        raise ValueError(text)
    path: list[str | int] = []
    for word in text[1:].split("/"):
        step: str | int = word.replace("~1", "/").replace("~0", "~")
        if word.isdecimal() and not isinstance(value, dict):
            step = int(word)
        path.append(step)
        value = at(value, (step,))
    return tuple(path)


def write(entries: Iterable[Addition], holder: Addition | None) -> str:
    """The text of a stamp. holder: the annotations, where archfit makes them."""
    listed: list[dict[str, Any]] = [
        {"path": pointer(entry.path), "value": plain(entry.value), **_null(entry)} for entry in entries
    ]
    listed += [{"path": pointer(holder.path), **_null(holder)}] if holder else []
    texts = [json.dumps(one, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for one in listed]
    return f"[{','.join(sorted(texts))}]"


def _null(entry: Addition) -> dict[str, bool]:
    return {"null": True} if entry.null else {}


def record(before: Any, patch: Iterable[Operation], root: Path) -> tuple[Addition, ...]:
    """The entries of what a patch adds to an object, which is `before` now; what is added below an addition is part
    of it. root: where the object stands in its document, from whose root the patch counts.
    """
    made: list[Addition] = []
    numbers: dict[Path, int] = {}
    for step in patch:
        if not isinstance(step, Add):
            continue
        path = step.path[len(root) :]
        around = next((path[:end] for end in range(1, len(path) + 1) if path[:end] in numbers), None)
        if around is not None:
            number = numbers[around]
            inner = Add(path[len(around) :], step.value)
            made[number] = made[number].replace(value=apply(made[number].value, [inner]))
            continue
        if path[-1] != "-":
            numbers[path] = len(made)
        made.append(Addition(path, step.value, null=path[-1] != "-" and at(before, path) is None))
    return tuple(made)


def at(value: Any, path: Path) -> Any:
    """The value at path, `MISSING` where there is none."""
    for token in path:
        if isinstance(value, dict):
            value = value.get(token, MISSING)
        elif isinstance(value, list) and isinstance(token, int) and token < len(value):
            value = value[token]
        else:
            return MISSING
    return value
