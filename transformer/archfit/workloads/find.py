"""Values into pods: the rows of the table applied to an object, lists opened on the way."""

from __future__ import annotations

from archfit.outcome import ObjectRef
from archfit.source.values import text_of
from archfit.workloads.pods import ImageUse, Pod
from archfit.workloads.table import LISTS, WORKLOADS, group_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from archfit.outcome import Place
    from archfit.patch import Path

_LIST_DEPTH = 16


def find_pods(value: Any, place: Place, path: Path = ()) -> list[Pod]:
    """The pods of an object, or of every object of a list.

    path: where the object stands in its document, () for the document itself. Pod.path begins with it.
    """
    return [pod for at, item in objects(value, path) for pod in _pods_of(item, place, at)]


def objects(value: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """(path, object) of an object, or of every object of a `List`, nested ones too."""
    if not isinstance(value, dict):
        return
    key = group_of(text_of(value.get("apiVersion"))), text_of(value.get("kind"))
    if key in LISTS and isinstance(value.get("items"), list) and len(path) < 2 * _LIST_DEPTH:
        for number, item in enumerate(value["items"]):
            yield from objects(_typed(item, value), (*path, "items", number))
    else:
        yield path, value


def _typed(item: Any, around: dict[str, Any]) -> Any:
    """An item of a typed list (PodList) may leave out what the list's own kind says (API conventions, lists)."""
    kind = text_of(around.get("kind")).removesuffix("List")
    if isinstance(item, dict) and kind and not item.get("kind"):
        return {**item, "kind": kind, "apiVersion": item.get("apiVersion") or around.get("apiVersion")}
    return item


def reference_of(value: dict[str, Any]) -> ObjectRef:
    """The identity that an object gives itself."""
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return ObjectRef(
        text_of(value.get("apiVersion")),
        text_of(value.get("kind")),
        text_of(metadata.get("namespace")),
        text_of(metadata.get("name")) or text_of(metadata.get("generateName")),
    )


def _pods_of(value: dict[str, Any], place: Place, path: Path) -> Iterator[Pod]:
    group = group_of(text_of(value.get("apiVersion")))
    row = WORKLOADS.get((group, text_of(value.get("kind"))))
    if row is None:
        return
    above: Any = value
    for token in row.pod_spec[:-1]:
        above = above.get(token) if isinstance(above, dict) else None
    spec = above.get(row.pod_spec[-1]) if isinstance(above, dict) else None
    if not isinstance(spec, dict):
        return
    at = (*path, *row.pod_spec)
    yield Pod(
        reference_of(value),
        group,
        place,
        at,
        spec,
        _mapping(above.get("metadata")),
        _mapping(value.get("metadata")),
        tuple(_images(spec, at)),
        row.immutable,
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _images(spec: dict[str, Any], at: Path) -> Iterator[ImageUse]:
    for field in ("containers", "initContainers"):
        for number, container in _entries(spec.get(field)):
            yield ImageUse(
                (*at, field, number, "image"),
                _text(container.get("image")),
                volume=False,
                pull_policy=text_of(container.get("imagePullPolicy")),
                container=text_of(container.get("name")),
            )
    for number, volume in _entries(spec.get("volumes")):
        image = volume.get("image")
        if isinstance(image, dict):
            yield ImageUse(
                (*at, "volumes", number, "image", "reference"),
                _text(image.get("reference")),
                volume=True,
                pull_policy=text_of(image.get("pullPolicy")),
                container=text_of(volume.get("name")),
            )


def _entries(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield number, entry


def _text(value: Any) -> str | None:
    return None if value is None else text_of(value)
