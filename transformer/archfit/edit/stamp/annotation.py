"""The stamp of an in-place run: what archfit added, so that a later run can take exactly that back. Pure.

    metadata:                      of the object, never of its pod template: a change there would roll the pods
      annotations:
        archfit.dev/added: '[{"path":"/spec/template/spec/tolerations/-","value":{...}}, ...]'

    {"path": P, "value": V}                a member, or with "-" at the end of P an item of a list
    {"path": P, "value": V, "null": true}  the member was there, without a value or as `null`
    {"path": P, "value": V, "null": "~"}   .. as another word for null, or with none in brackets
    {.., "items": ["groupName=a"]}         the item that each index of P is: a person may move it, or put another before
    {"path": "/metadata/annotations"}      there were no annotations; with "null", none but their key
    {"path": "/metadata"}                  there was no metadata; with "null", none but its key
    {"by": D, "images": N, ..}             the policy or the webhook added it (`admission.added_record`)

Paths are RFC 6901 from the object's root; JSON without blanks, keys and entries sorted. `state` says what taking one
back means, `decisions` writes it anew.

    item                     known by                                                as in
    has a key for merges     its value                                               groupName=a
    the same as another      that, and a digest of the names and images in it;       name=a sha256:2c26b46b68ff
                             where these are the same, too, none is known
    others                   a digest of the names in it, or of a node selector      sha256:2c26b46b68ff.0.2
                             term without what archfit may have written into it:
                             what asks for the architecture or the system; of equal
                             ones, its index and the length of the list
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from archfit.base.patch import Add, Operation, Path, pointer
from archfit.edit.insert import folded
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS
from archfit.placement.annotations import STAMP
from archfit.startup.record import Record
from archfit.yaml.values import plain, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

NAME = STAMP
METADATA: Path = ("metadata",)
ANNOTATIONS: Path = ("metadata", "annotations")
MISSING = object()
_DIGEST = "sha256:"
_NAMES = "kind", "name"
_TOLD_APART = (*_NAMES, "image")
_OURS = ARCH_LABELS | OS_LABELS
NULL, _OTHER_NULLS = "null", ("", "~", "Null", "NULL")


class Addition(Record):
    """One thing that a run added.

    path: from the object's root; where an item on it is not there as it was, that of its list. null: how the null was
    written that was there. lost: whether that is so.
    """

    path: Path
    value: Any
    null: str | None = None
    lost: bool = False


Nulls: TypeAlias = "Callable[[Path], str]"


def read_stamp(text: object, value: Any) -> tuple[tuple[Addition, ...], Addition | None]:
    """The entries of a stamp, and the one of the metadata or annotations that archfit made. Raises ValueError.

    value: the object that has the stamp, which says what is an index and what a key.
    """
    try:
        return _read(text, value)
    except RecursionError:
        raise ValueError(text) from None


def _read(text: object, value: Any) -> tuple[tuple[Addition, ...], Addition | None]:
    entries, holder = list[Addition](), None
    known = _Items()
    for entry in _decoded(text):
        items = entry.get("items", [])
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError(text)
        path, lost = _path(str(entry.get("path")), value, items, known)
        null = entry.get("null")
        if not set(entry) <= {"path", "value", "null", "items", "by", "images"} or (
            "null" in entry and null is not True and null not in _OTHER_NULLS
        ):
            raise ValueError(text)
        null = NULL if null is True else null
        if "value" in entry:
            entries.append(Addition(path, typed(entry["value"]), null, lost))
        elif path in (METADATA, ANNOTATIONS):
            holder = Addition(path, None, null)
        else:
            raise ValueError(text)
    return tuple(entries), holder


def _decoded(text: object) -> list[dict[str, Any]]:
    decoded = json.loads(text) if isinstance(text, str) else None
    if isinstance(decoded, list) and all(isinstance(entry, dict) for entry in decoded):
        return decoded
    raise ValueError(text)


def _path(text: str, value: Any, items: Sequence[str], known: _Items) -> tuple[Path, bool]:
    """The path of an RFC 6901 pointer into value, with the indices that its items have now, and whether one of them is
    lost: then it ends at the list. Raises ValueError.
    """
    if not text.startswith("/"):
        raise ValueError(text)
    path: Path = ()
    left = iter(items)
    for word in text[1:].split("/"):
        step: str | int = word.replace("~1", "/").replace("~0", "~")
        if word.isdecimal() and not isinstance(value, dict):
            index = known.index(value, path, int(word), next(left, "")) if isinstance(value, list) else None
            if index is None:
                return path, True
            step = index
        path = (*path, step)
        value = at(value, (step,))
    return path, False


class _Items:
    """What the items of lists are known by; see the module. Each list is looked at once."""

    def __init__(self) -> None:
        self._lists: dict[int, tuple[list[str], dict[str, list[int]]]] = {}

    def index(self, items: list[Any], path: Path, index: int, item: str) -> int | None:
        """Where the item is now, None where that is not sure. item: "" in a stamp that has no more than the index."""
        names, places = self._read(items, path)
        if not item:
            return 0 if len(names) == 1 and index == 0 else None
        name, _, place = item.partition(".") if item.startswith(_DIGEST) else (item, "", "")
        hits = places.get(name, ())
        if len(hits) == 1:
            return hits[0]
        return index if place and index in hits and place == f"{index}.{len(names)}" else None

    def item(self, items: list[Any], path: Path, index: int) -> str:
        """What the item is known by."""
        name = self._read(items, path)[0][index]
        return f"{name}.{index}.{len(items)}" if name.startswith(_DIGEST) else name

    def _read(self, items: list[Any], path: Path) -> tuple[list[str], dict[str, list[int]]]:
        if id(items) not in self._lists:
            names = [_identity(item, term=path[-1:] == ("nodeSelectorTerms",)) for item in items]
            uses = Counter(names)
            names = [
                name
                if uses[name] == 1 or name.startswith(_DIGEST)
                else f"{name} {_digest(list(_names(item, _TOLD_APART)))}"
                for name, item in zip(names, items, strict=True)
            ]
            places: dict[str, list[int]] = {}
            for number, name in enumerate(names):
                places.setdefault(name, []).append(number)
            self._lists[id(items)] = names, places
        return self._lists[id(items)]


def _identity(item: Any, *, term: bool) -> str:
    if isinstance(item, dict):
        for key in ("name", "groupName"):
            if isinstance(item.get(key), str):
                return f"{key}={item[key]}"
    return _digest(_without_ours(item) if term else list(_names(item)))


def _digest(content: Any) -> str:
    text = json.dumps(plain(content), sort_keys=True, default=repr)
    return f"{_DIGEST}{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _without_ours(term: Any) -> Any:
    if not isinstance(term, dict):
        return term
    kept = {key: member for key, member in term.items() if key != "matchExpressions"}
    expressions = term.get("matchExpressions")
    for expression in expressions if isinstance(expressions, list) else ():
        if not isinstance(expression, dict) or expression.get("key") not in _OURS:
            kept.setdefault("matchExpressions", []).append(expression)
    return kept


def _names(value: Any, keys: Sequence[str] = _NAMES) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{key}={value[key]}" for key in keys if isinstance(value.get(key), str))
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names(member, keys)


def write(entries: Iterable[Addition], holder: Addition | None, value: Any) -> str:
    """The text of a stamp. holder: the annotations, where archfit makes them. value: the object."""
    known = _Items()
    listed: list[dict[str, Any]] = [
        {
            "path": pointer(entry.path),
            "value": plain(entry.value),
            **_null(entry),
            **_items(entry, value, known),
        }
        for entry in entries
    ]
    listed += [{"path": pointer(holder.path), **_null(holder)}] if holder else []
    texts = [json.dumps(item, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for item in listed]
    # A "#" could be taken for the beginning of a comment.
    return f"[{','.join(sorted(texts))}]".replace("#", r"\u0023")


def _null(entry: Addition) -> dict[str, bool | str]:
    return {} if entry.null is None else {"null": entry.null == NULL or entry.null}


def _items(entry: Addition, value: Any, known: _Items) -> dict[str, list[str]]:
    items = []
    for number, step in enumerate(entry.path):
        if isinstance(value, list) and isinstance(step, int):
            items.append(known.item(value, entry.path[:number], step))
        value = at(value, (step,))
    return {"items": items} if items else {}


def record(before: Any, patch: Iterable[Operation], root: Path, null: Nulls) -> tuple[Addition, ...]:
    """The entries of what a patch adds to an object, which is `before` now; what is added below an addition is part
    of it. root: where the object stands in its document, from whose root the patch counts. null: how a null is written.
    """
    additions = folded(step.replace(path=step.path[len(root) :]) for step in patch if isinstance(step, Add))
    return tuple(
        Addition(
            step.path,
            step.value,
            null((*root, *step.path)) if step.path[-1] != "-" and at(before, step.path) is None else None,
        )
        for step in additions
    )


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
