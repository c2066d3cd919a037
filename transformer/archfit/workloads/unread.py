"""Images and words of placement of a known kind that no row reads, so that it is unknown whose they are.

    key                                         value                                            an image
    image, *Image, *imageName, *imageRef, ..    text                                             the text
    the same                                    mapping with repository, reference, name, tag    the mapping
    images, *Images                             list or mapping of texts                         each text

nodeSelector, tolerations and nodeAffinity that are not empty place pods: those of a row, where it looks for them, or
others. What stands at a path of `neverRun`, or below, is none of them; what a row gives a reason for is named by it.
A user may replace rows: a warning names what archfit's own rows read and the user's do not, once for each kind.
"""

from __future__ import annotations

from archfit.base.patch import Path, pattern_text
from archfit.base.results import Message
from archfit.options.settings import Workload
from archfit.workloads.builtin import UserRows, own_rows
from archfit.workloads.operator_hooks import hooks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

IMAGE_ENDS = ("image", "imagename", "imageref", "imagereference", "imagerepository", "imagetag", "imageurl")
_MEMBERS = ("repository", "repo", "reference", "name", "tag")
# rbd.image is a block device (core/v1 RBDVolumeSource).
_NO_IMAGES = frozenset(
    ("annotations", "labels", "matchLabels", "nodeSelector", "env", "args", "command", "resources", "rbd")
)
_ROOT = ("apiVersion", "kind", "metadata", "status")
_PLACEMENT = frozenset(("nodeSelector", "tolerations", "nodeAffinity"))
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_DEPTH = 128


def unread(rows: Iterable[Workload], value: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """(path, image) of each image in an object that none of the rows of its kind reads."""
    return _not_covered(images_in(_body(value)), _read, rows)


def unread_placement(rows: Iterable[Workload], value: dict[str, Any]) -> Iterator[Path]:
    """Where something in an object places pods, and none of the rows of its kind looks."""
    placements = ((path, "") for path in _placement_in(_body(value)))
    return (path for path, _ in _not_covered(placements, _placed, rows))


def _body(value: dict[str, Any]) -> dict[str, Any]:
    return {key: member for key, member in value.items() if key not in _ROOT}


def _not_covered(
    there: Iterable[tuple[Path, str]],
    patterns: Callable[[Iterable[Workload]], Iterator[Path]],
    rows: Iterable[Workload],
) -> Iterator[tuple[Path, str]]:
    """What is there at no pattern of the rows, which are made with the first of it."""
    read: list[Path] | None = None
    for path, text in there:
        read = list(patterns(rows)) if read is None else read
        if not any(_covers(pattern, path) for pattern in read):
            yield path, text


def _placement_in(value: Any, path: Path = ()) -> Iterator[Path]:
    if len(path) > _DEPTH or not isinstance(value, (dict, list)):
        return
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if key not in _PLACEMENT:
            yield from _placement_in(member, (*path, key))
        elif member:
            yield (*path, key)


def _placed(rows: Iterable[Workload]) -> Iterator[Path]:
    """Patterns of where rows look for placement; as `_read` has them."""
    for row in rows:
        for path, _ in (*row.never_run, *row.unseen):
            yield (*path, "#")
        if row.objects:
            yield (*row.objects, "#")
        if row.reason:
            yield from _named_whole(row)
        elif row.pod_spec:
            yield from _fields(row)
            operator = hooks_of(row)
            for holder in (row.pod_spec, *row.inherits, *row.replaced_by, *operator.holders(row)):
                yield from _members(holder)
            for path in operator.patches(row):
                yield (*path, "#")


def _named_whole(row: Workload) -> Iterator[Path]:
    """What a row that transforms nothing says of all objects that have it."""
    if row.reason and not row.unless and not row.when:
        yield (*row.there, "#")


def _fields(row: Workload) -> Iterator[Path]:
    for path, name in ((row.node_selector, "nodeSelector"), (row.tolerations, "tolerations")):
        yield path or (*row.pod_spec, name)
    yield (*(row.affinity or (*row.pod_spec, "affinity")), "nodeAffinity")


def _members(holder: Path) -> Iterator[Path]:
    for names in (("nodeSelector",), ("tolerations",), ("affinity", "nodeAffinity")):
        yield (*holder, *names)


def images_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """(path, text) of everything that looks like an image."""
    if len(path) > _DEPTH or not isinstance(value, (dict, list)):
        return
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        if not isinstance(key, str):
            yield from images_in(member, (*path, key))
        elif key not in _NO_IMAGES:
            at = (*path, key)
            yield from _named(key, member, at)
            yield from images_in(member, at)


def _named(key: str, value: Any, at: Path) -> Iterator[tuple[Path, str]]:
    name = key.replace("_", "").replace("-", "").lower()
    if name.endswith(IMAGE_ENDS):
        if isinstance(value, str) and value:
            yield at, value
        elif isinstance(value, dict):
            text = ":".join(
                value[member] for member in _MEMBERS if isinstance(value.get(member), str) and value[member]
            )
            if text:
                yield at, text
    if name.endswith(("images", "image")) and not isinstance(value, str):
        items = value.items() if name.endswith("images") and isinstance(value, dict) else ()
        for step, item in enumerate(value) if isinstance(value, list) else items:
            if isinstance(item, str) and item:
                yield (*at, step), item


def _read(rows: Iterable[Workload]) -> Iterator[Path]:
    """Patterns of what is read, each with the "*" of its row; a last "#" stands for all that is below."""
    for row in rows:
        added = (path for path, _ in row.added)
        for path in (*(path for paths in row.images for path in paths), *row.also, *added):
            yield (*path[:-1], str(path[-1]).split("+")[0])
        for path, _ in row.unseen:
            yield path
        for path, _ in row.never_run:
            yield (*path, "#")
        yield from _named_whole(row)
        if row.objects:
            yield (*row.objects, "#")
        own = (row.pod_spec,) if row.pod_spec and not row.reason else ()
        patches = hooks_of(row).patches(row) if own else ()
        for spec in (*own, *((*patch, "spec", "template", "spec") for patch in patches)):
            for name in _CONTAINERS:
                yield (*spec, name, "*", "image")
            yield (*spec, "volumes", "*", "image", "reference")


def _covers(pattern: Path, path: Path) -> bool:
    if pattern and pattern[-1] == "#":
        pattern = pattern[:-1]
        path = path[: len(pattern)]
    elif len(pattern) == len(path) + 1 and pattern[-1] in _MEMBERS:
        pattern = pattern[:-1]
    return len(pattern) == len(path) and all(
        token in ("*", step) for token, step in zip(pattern, path, strict=True)
    )


def incomplete(user_rows: UserRows, kinds: Iterable[tuple[str, str]]) -> Iterator[Message]:
    """A warning for each of the kinds whose rows in `user_rows` read less than archfit's.

    kinds: group and kind of what the stream holds; doubles count once.
    """
    for group, kind in dict.fromkeys(kinds):
        theirs = user_rows.get((group, kind))
        if not theirs:
            continue
        read = {path for row in theirs for path in (*_read_by(row), *(path for path, _ in row.never_run))}
        lost = [path for row in own_rows(group, kind) for path in _read_by(row) if path not in read]
        if lost:
            yield Message(
                "warning",
                f"workloads: the rows for {'/'.join(filter(None, (group, kind)))} replace archfit's own, which read "
                f"{', '.join(dict.fromkeys(map(pattern_text, lost)))} too: add it to your rows, or leave your rows out",
            )


def _read_by(row: Workload) -> Iterator[Path]:
    """Where a row looks for pods and images, and for what replaces their placement."""
    if row.reason or row.unplaced:
        return
    if row.pod_spec:
        yield row.pod_spec
    yield from (path for entry in row.images for path in entry)
    yield from row.also
    yield from (path for path, _ in row.added if path[1:])
    yield from row.replaced_by
    yield from hooks_of(row).patches(row) if row.pod_spec else ()
