"""Pods of custom resources: the rows whose placement or images are not where a pod spec has them.

A "*" of a row stands for every item or member; in all paths of a row that begin alike it stands for the same one. The
affinity that an operator writes as long as its object has none is the row's template with the object's values:

{"matchLabels": {"example.com/cluster": "{metadata.name}"}}  ->  {"matchLabels": {"example.com/cluster": "logs"}}
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.patch import Path, dotted, undotted
from archfit.options.settings import ANNOTATE, ATTRIBUTES, EMPTY, FIELDS, Workload
from archfit.workloads.operator_hooks import RowMatch, hooks_of
from archfit.workloads.patterns import MISSING, bound, get, joined, matches
from archfit.workloads.pods import ImageUse, PlacementPaths, image_uses
from archfit.yaml.compose import parse
from archfit.yaml.values import Typed, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_TEMPLATE = ("spec", "template", "spec")


class _Fields:
    def __init__(self) -> None:
        self.at: dict[str, Path] = {}
        self.inherited: list[tuple[str, Path | None, Any]] = []
        self.replaced: list[tuple[str, Path]] = []
        self.lost_default = ""
        self.hidden: list[str] = []


class CustomPod:
    """One pod of an object: what `pod_specs` makes a Pod of. Paths are from the object's root."""

    def __init__(self, row: Workload, value: dict[str, Any], there: Path, shared: dict[object, Any]) -> None:
        self.path = bound(row.pod_spec, row.there or row.pod_spec, there)
        spec = get(value, self.path)
        self.spec: dict[str, Any] = spec if isinstance(spec, dict) else {}
        self._row, self._value, self._shared = row, value, shared
        self._match = RowMatch(row, value, there, self.path, self.spec, shared)
        self._same, self._operator = self._match.same, hooks_of(row)
        # (path, patch) of what the operator merges into the pod last.
        self._patches = [
            patch for pattern in self._operator.patches(row) for patch in matches(value, self._same(pattern))
        ]

    def problem(self) -> str:
        """Why no pod can be made of it, "" if one can."""
        value = self._value
        for path in (self._same(self._field(name)) for name in FIELDS if self._of(name) is not None):
            for end in range(1, len(path)):
                holder = get(value, path[:end])
                if holder is not None and not isinstance(
                    holder, list if isinstance(path[end], int) else dict
                ):
                    return f"{dotted(path[:end])} has to be a mapping"
        return self._operator.problem(self._match)

    def _of(self, name: str) -> Path | None:
        path: Path | None = getattr(self._row, ATTRIBUTES[name])
        return path

    def _field(self, name: str) -> Path:
        return self._of(name) or (*self._row.pod_spec, name)

    def placed(self) -> tuple[dict[str, Any], PlacementPaths]:
        """A pod spec with the fields that decide its place, and where they are."""
        row = self._row
        spec = dict(self.spec) if not row.images else {}
        fields = _Fields()
        for name in FIELDS:
            spec.pop(name, None)
            value = self._field_value(name, fields) if self._of(name) is not None else None
            if value is not None:
                spec[name] = value
        paths = fields.at.values()
        above = {path[:end] for path in paths for end in range(1, len(path))}
        missing = (path for path in above if get(self._value, path) is None)
        metadata = row.metadata
        places = PlacementPaths(
            fields.at,
            self._above(paths),
            tuple(sorted(missing, key=len)),
            tuple(fields.inherited),
            ("metadata",) if metadata is None else self._same(metadata or (*row.pod_spec[:-1], "metadata")),
            self._operator.note,
            tuple(fields.replaced),
            fields.lost_default,
            row.pins and bool(fields.lost_default),
            self._operator.needed_only,
            unplaced=row.unplaced,
            hidden=tuple(fields.hidden),
            outside=row.outside,
        )
        return self._operator.placement(self._match, spec, places)

    def _field_value(self, name: str, fields: _Fields) -> Any:
        """The value that counts for a field, None without one; where it is goes into `fields`."""
        row = self._row
        fields.at[name] = path = self._same(self._field(name))
        value = get(self._value, path)
        winner = self._replaced(name)
        if winner is None:
            fields.replaced += [(name, patch) for patch, text in self._texts() if name in text]
            value = self._merge(name, value, fields)
        elif winner[1] or value not in (None, EMPTY[name]):
            fields.replaced.append((name, winner[0]))
        else:
            fields.at[name], value = winner[0], get(self._value, winner[0])
        if row.outside and name in dict(row.outside) and value in (None, EMPTY[name]):
            fields.hidden.append(name)
        for above in row.inherits if value is None or value == EMPTY[name] else ():
            source = (*self._same(above), name)
            theirs = get(self._value, source)
            if theirs not in (None, {}, []):
                fields.inherited.append((name, source, value))
                return theirs
        if name == "affinity" and row.default_affinity and self._operator.has_default(value):
            default, fields.lost_default = default_affinity(row, self._value)
            if default is not None:
                fields.inherited.append((name, None, value))
                return {**(value or {}), **default}
        return value

    def _texts(self) -> Iterator[tuple[Path, str]]:
        for path, patch in self._patches:
            text = str(patch) if isinstance(patch, list) else text_of(patch)
            if text:
                yield path, text

    def _specs(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        for path, patch in self._patches:
            spec = get(patch, _TEMPLATE)
            if isinstance(spec, dict):
                yield (*path, *_TEMPLATE), spec

    def _merge(self, name: str, own: Any, fields: _Fields) -> Any:
        """The value that counts for a field beside the patches, as a merge patch does it: lists replace, maps join."""
        theirs = [((*path, name), spec[name]) for path, spec in self._specs() if name in spec]
        if name == "nodeSelector":
            theirs += [(path, _selector(text)) for path, text in self._texts() if name in text]
            for _, value in theirs:
                own = joined(own or {}, value)
            return own
        theirs = [(path, value) for path, value in theirs if value != {}]
        if not theirs:
            return own
        path, value = theirs[-1]
        if own in (None, EMPTY[name]) and len(theirs) == 1 and value is not None:
            fields.at[name] = path
            return value
        fields.replaced.append((name, path))
        return own

    def _replaced(self, name: str) -> tuple[Path, bool] | None:
        """Where the operator takes the field from, if it is set there, and whether others there may hold it too."""
        for above in self._row.replaced_by:
            pattern = (*self._same(above), name)
            for path, value in matches(self._value, pattern):
                if value != EMPTY[name]:
                    return path, "*" in pattern
        return None

    def _above(self, paths: Iterable[Path]) -> Path:
        """The innermost mapping above all paths that exists."""
        above, *others = [path[:-1] for path in paths] or [self._match.there]
        while any(other[: len(above)] != above for other in others) or get(self._value, above) is None:
            above = above[:-1]
        return above

    def containers(self, root: Path) -> Iterator[ImageUse]:
        """The images of the containers and volumes of pod_spec; root: where the object stands."""
        others = self._operator.replaceable(self._match)
        for use in image_uses(self.spec, (*root, *self.path)):
            replaced = use.container in others and use.path[-3] == "containers"
            yield use.replace(unasked=others[use.container]) if replaced else use

    def images(self) -> Iterator[ImageUse]:
        """The images outside of the containers of pod_spec."""
        row, named = self._row, False
        if row.main:
            for _, container in self._containers(row.main):
                named = bool(container.get("image"))
            if not named and not row.images:
                yield ImageUse((*self.path, "containers"), None, unasked=row.default_image)
        for index, paths in enumerate(row.images):
            uses = [] if named and index == 0 else self._entry(paths)
            yield from uses
            runs = row.default_image and get(self._value, self._around(paths), MISSING) is not MISSING
            if runs and not uses and not (named and index == 0):
                yield ImageUse(self._same(paths[0]), None, unasked=row.default_image)
        for pattern in row.also:
            yield from self._named(pattern)
        for path, spec in self._specs():
            yield from (use for use in image_uses(spec, path) if use.text)
        for path, text in self._texts():
            if _names_an_image(text):
                yield ImageUse(path, None, unasked="this patch may change the images" + ANNOTATE)
        for path, reason in row.added:
            uses = self._named(path) if path[1:] else []
            yield from uses
            if not uses and (path[1:] or not self._states(str(path[0]))):
                yield ImageUse((*self.path, "containers"), None, unasked=reason)
        for pattern, reason in row.unseen:
            for path, _ in matches(self._value, self._same(pattern)):
                yield ImageUse(path, None, unasked=reason)
        yield from self._operator.images(self._match)

    def _states(self, name: str) -> bool:
        """Whether the image of the container with that name stands in pod_spec or in a patch."""
        specs = (self.spec, *(spec for _, spec in self._specs()))
        return any(use.text and use.container == name for spec in specs for use in image_uses(spec, ()))

    def _entry(self, paths: tuple[Path, ...]) -> list[ImageUse]:
        """The images of the first path that names one; an item of it that names none takes those of the next path."""
        own = self._same(paths[0])
        uses = self._named(paths[0])
        if not uses or "*" not in own or len(paths) == 1:
            return uses or next(filter(None, map(self._named, paths[1:])), [])
        named = {use.path[:-1] for use in uses}
        for path, holder in matches(self._value, own[:-1]):
            if isinstance(holder, dict) and path not in named:
                uses += _named(self._value, bound(paths[1], own, path))
        return list(dict.fromkeys(uses))

    def _around(self, paths: tuple[Path, ...]) -> Path:
        """The innermost mapping above all places that may name one image."""
        path, *others = map(self._same, paths)
        above = path[:-2] if "+" in str(path[-1]) else path[:-1]
        while any(other[: len(above)] != above for other in others):
            above = above[:-1]
        return above

    def _containers(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """(number, container) of the containers of pod_spec with that name."""
        containers = self.spec.get("containers")
        for number, container in enumerate(containers if isinstance(containers, list) else ()):
            if isinstance(container, dict) and text_of(container.get("name")) == name:
                yield number, container

    def _named(self, pattern: Path) -> list[ImageUse]:
        own = self._same(pattern)
        if own != pattern:
            return _named(self._value, own)
        if pattern not in self._shared:
            self._shared[pattern] = _named(self._value, pattern)
        uses: list[ImageUse] = self._shared[pattern]
        return uses


def _selector(text: str) -> Any:
    """The nodeSelector in a patch; the text itself where only what is filled in makes it one."""
    try:
        patch = parse(text).value
    except InvalidInput:
        patch = None
    selector = get(patch, ("nodeSelector",))
    return text if selector is None and "{{" in text else selector or {}


def _named(value: dict[str, Any], pattern: Path) -> list[ImageUse]:
    """The images at a path of a row; `(.., "repository+tag")` names two members of one mapping.

    "image+version": the second completes an image that has neither tag nor digest.
    """
    if pattern[-1] == "*":
        texts = ((path, text_of(text)) for path, text in matches(value, pattern))
        return [ImageUse(path, text) for path, text in texts if text]
    last = str(pattern[-1]).split("+")
    uses = []
    for path, holder in matches(value, pattern[:-1]):
        parts = [text_of(holder.get(name)) for name in last] if isinstance(holder, dict) else []
        if last[0] == "image" and parts and ("@" in parts[0] or ":" in parts[0].rpartition("/")[2]):
            parts = parts[:1]
        if parts and all(parts):
            uses.append(
                ImageUse(
                    (*path, last[0]),
                    ":".join(parts),
                    pull_policy=text_of(holder.get("imagePullPolicy")),
                    container=text_of(holder.get("name")),
                    volume=_is_data(pattern),
                )
            )
    return uses


def _is_data(pattern: Path) -> bool:
    """Whether nothing of the image runs: an image volume, a disk or kernel that KubeVirt reads with its own program."""
    return pattern[-2:] in (("image", "reference"), ("containerDisk", "image")) or "kernelBoot" in pattern


def _names_an_image(text: str) -> bool:
    """Whether `image` stands in a text as a word of its own."""
    at = text.find("image")
    while at >= 0:
        beside = text[max(at - 1, 0) : at], text[at + 5 : at + 6]
        if not any(character == "_" or character.isalnum() for character in beside):
            return True
        at = text.find("image", at + 5)
    return False


def custom_pods(row: Workload, value: dict[str, Any]) -> Iterator[CustomPod]:
    """The pods that a row finds in an object."""
    source = row.there or row.pod_spec
    shared: dict[object, Any] = {}
    for there, holder in matches(value, source):
        if isinstance(holder, dict) and _holds(row, value, source, there):
            yield CustomPod(row, value, there, shared)


def _holds(row: Workload, value: dict[str, Any], source: Path, there: Path) -> bool:
    """Whether all conditions `when` of the row hold and none `unless` does, for what `source` matches at `there`."""
    return all(
        any(
            not text or text_of(member) == text for _, member in matches(value, bound(pattern, source, there))
        )
        is wanted
        for wanted, conditions in ((True, row.when), (False, row.unless))
        for pattern, text in conditions
    )


def reasons(row: Workload, value: dict[str, Any]) -> Iterator[str]:
    """Why something in the object that the row is about is not transformed."""
    if row.reason:
        there = not row.there or any(True for _ in matches(value, row.there))
        if there and _holds(row, value, (), ()):
            yield row.reason
        return
    for pod in custom_pods(row, value) if row.there or "*" in row.pod_spec else ():
        problem = pod.problem()
        if problem:
            yield problem


def default_affinity(row: Workload, value: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The affinity that the operator writes for an object that has none, or None and what to warn of."""
    if isinstance(row.default_affinity, str):
        return None, row.default_affinity
    try:
        return _filled(row.default_affinity, value), ""
    except LookupError as missing:
        return None, (
            f"{row.kind} would lose its operator's default affinity; archfit cannot write the default too, "
            f"because {missing.args[0]} is missing"
        )


def _filled(template: Any, value: dict[str, Any]) -> Any:
    if isinstance(template, int):
        return Typed("int", str(template))
    if isinstance(template, str):
        if template[:1] != "{":
            return template
        text = text_of(get(value, undotted(template[1:-1].rstrip("?"))))
        if not text:
            raise LookupError(template[1:-1])
        return text
    if isinstance(template, dict):
        return {key: _filled(member, value) for key, member in template.items()}
    return [_filled(item, value) for item in template if not _is_absent(item, value)]


def _is_absent(template: Any, value: dict[str, Any]) -> bool:
    """Whether it is an item that counts only where its path exists, `{spec.other.name?}`, and does not."""
    return (
        isinstance(template, str)
        and template[-2:] == "?}"
        and not text_of(get(value, undotted(template[1:-2])))
    )
