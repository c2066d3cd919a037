"""Pods of custom resources: the rows whose placement or images are not where a pod spec has them.

    spec:                           there       what has to exist for there to be a pod
      kafka:
        image: app:1                images      beside the containers of pod_spec, if it has any
        template:                   missing     created with the first field that needs it
          pod:                      pod_spec
            affinity:               affinity, tolerations, nodeSelector: beside the containers, or where the row says
            tolerations:

A "*" stands for every item or member; in all paths of a row that begin alike it stands for the same one.
"""

from __future__ import annotations

from archfit.patch import dotted
from archfit.source.values import text_of
from archfit.workloads.pods import ImageUse, Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from archfit.options.values import Workload
    from archfit.patch import Path

_FIELDS = ("affinity", "tolerations", "nodeSelector")
# What counts as nothing beside null: an affinity of {} is one, to Argo.
_EMPTY: dict[str, object] = {"affinity": None, "tolerations": [], "nodeSelector": {}}
_MISSING = object()


def matches(value: Any, pattern: Path, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, value) of everything in `value` that the pattern means and that is not null."""
    if not pattern:
        if value is not None:
            yield at, value
        return
    step, rest = pattern[0], pattern[1:]
    inside = _members(value) if step == "*" else [(step, _member(value, step))]
    for key, member in inside:
        yield from matches(member, rest, (*at, key))


def _member(value: Any, step: str | int, otherwise: Any = None) -> Any:
    if isinstance(value, dict):
        return value.get(step, otherwise)
    return (
        value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else otherwise
    )


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


class Found:
    """One pod of an object: what `find` makes a Pod of. Paths are from the object's root."""

    def __init__(self, row: Workload, value: dict[str, Any], there: Path) -> None:
        self._row, self._value, self._there = row, value, there
        self.path = self._same(row.pod_spec)
        spec = get(value, self.path)
        self.spec: dict[str, Any] = spec if isinstance(spec, dict) else {}

    def _same(self, pattern: Path) -> Path:
        """The pattern with each "*" that `there` has as well in the place of which it stands."""
        same = True
        made: list[str | int] = []
        source = self._row.there or self._row.pod_spec
        for index, token in enumerate(pattern):
            same = same and index < len(source) and source[index] == token
            made.append(self._there[index] if same else token)
        return tuple(made)

    def problem(self) -> str:
        """Why no pod can be made of it, "" if one can."""
        row, value = self._row, self._value
        for path in (self._same(self._field(name)) for name in _FIELDS if self._has(name)):
            for end in range(1, len(path)):
                holder = get(value, path[:end])
                if holder is not None and not isinstance(
                    holder, list if isinstance(path[end], int) else dict
                ):
                    return f"{dotted(path[:end])} has to be a mapping"
        for marker in row.shadows:
            for path, _ in matches(value, marker):
                for name in _FIELDS:
                    if path[:-1] == self.path or get(value, (*path[:-1], name)) in (None, {}, []):
                        continue
                    if self.spec.get(name) in (None, {}, []):
                        return (
                            f"{dotted((*path[:-1], name))} may hold for {dotted(self.path)} as well; "
                            f"write the {name} that it needs into {dotted(self.path)} itself"
                        )
        return ""

    def _has(self, name: str) -> bool:
        return self._of(name) is not None

    def _of(self, name: str) -> Path | None:
        return self._row.node_selector if name == "nodeSelector" else getattr(self._row, name)

    def _field(self, name: str) -> Path:
        return self._of(name) or (*self._row.pod_spec, name)

    def placed(self) -> tuple[dict[str, Any], Places]:
        """A pod spec with the fields that decide its place, and where they are."""
        spec = dict(self.spec) if not self._row.images else {}
        at: dict[str, Path] = {}
        inherited: list[tuple[str, Path, bool]] = []
        for name in _FIELDS:
            spec.pop(name, None)
            if not self._has(name):
                continue
            at[name] = path = self._same(self._field(name))
            value = get(self._value, path)
            for above in self._row.inherits if value is None or value == _EMPTY[name] else ():
                source = (*self._same(above), name)
                theirs = get(self._value, source)
                if theirs not in (None, {}, []):
                    inherited.append((name, source, value is not None))
                    value = theirs
                    break
            if value is not None:
                spec[name] = value
        missing = {
            path[:end]
            for path in at.values()
            for end in range(1, len(path))
            if get(self._value, path[:end]) is None
        }
        metadata = self._row.metadata
        where = (
            ("metadata",)
            if metadata is None
            else self._same(metadata or (*self._row.pod_spec[:-1], "metadata"))
        )
        return spec, Places(
            at,
            self._above(at.values()),
            tuple(sorted(missing, key=len)),
            tuple(inherited),
            where,
            self._row.note,
        )

    def _above(self, paths: Iterable[Path]) -> Path:
        """The innermost mapping above all paths that exists."""
        above, *others = (path[:-1] for path in paths)
        while any(other[: len(above)] != above for other in others) or get(self._value, above) is None:
            above = above[:-1]
        return above

    def images(self) -> Iterator[ImageUse]:
        """The images that stand elsewhere than in the containers of pod_spec."""
        row, named = self._row, False
        if row.main:
            containers = self.spec.get("containers")
            for container in containers if isinstance(containers, list) else ():
                if isinstance(container, dict) and text_of(container.get("name")) == row.main:
                    named = bool(container.get("image"))
            if not named and not row.images:
                yield ImageUse((*self.path, "containers"), None, unasked=row.default_image)
        for index, paths in enumerate(row.images):
            uses = [] if named and index == 0 else next(filter(None, map(self._named, paths)), [])
            yield from uses
            if not uses and not (named and index == 0) and row.default_image:
                path = self._same(paths[0])
                if get(self._value, path[:-1], _MISSING) is not _MISSING:
                    yield ImageUse(path, None, unasked=row.default_image)
        for pattern, reason in row.unseen:
            for path, _ in matches(self._value, self._same(pattern)):
                yield ImageUse(path, None, unasked=reason)

    def _named(self, pattern: Path) -> list[ImageUse]:
        """The images at a path of the row; `(.., "repository+tag")` names two members of one mapping."""
        last = str(pattern[-1]).split("+")
        found = []
        for path, holder in matches(self._value, self._same(pattern[:-1])):
            parts = [text_of(holder.get(name)) for name in last] if isinstance(holder, dict) else []
            if parts and all(parts):
                found.append(
                    ImageUse(
                        (*path, last[0]),
                        ":".join(parts),
                        pull_policy=text_of(holder.get("imagePullPolicy")),
                        container=text_of(holder.get("name")),
                    )
                )
        return found


def get(value: Any, path: Path, otherwise: Any = None) -> Any:
    """The value at a path without "*", `otherwise` where there is none."""
    for step in path:
        value = _member(value, step, _MISSING)
    return otherwise if value is _MISSING else value


def found_by(row: Workload, value: dict[str, Any]) -> Iterator[Found]:
    """The pods that a row finds in an object."""
    if any(_barred(value, pattern, text) for pattern, text in row.unless):
        return
    for there, holder in matches(value, row.there or row.pod_spec):
        if isinstance(holder, dict):
            yield Found(row, value, there)


def _barred(value: dict[str, Any], pattern: Path, text: str) -> bool:
    return any(not text or text_of(found) == text for _, found in matches(value, pattern))


def reasons(row: Workload, value: dict[str, Any]) -> Iterator[str]:
    """Why something in the object that the row is about is not transformed."""
    if row.reason:
        if not row.there or _barred(value, row.there, row.only):
            yield row.reason
        return
    for found in found_by(row, value) if row.there or "*" in row.pod_spec else ():
        problem = found.problem()
        if problem:
            yield problem
