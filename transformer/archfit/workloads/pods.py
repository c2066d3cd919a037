"""A pod spec found in the stream, as the decision sees it."""

from __future__ import annotations

from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from archfit.outcome import ObjectRef, Place
    from archfit.patch import Path


class ImageUse(Record):
    """One place where a pod spec names an image.

    path: from the object's root, as in ("spec", "containers", 0, "image").
    text: the string as written; None where the field is missing or null.
    volume: it is a `volumes[].image.reference` (KEP-4639).
    pull_policy: `imagePullPolicy` or `pullPolicy` as written, "" where there is none.
    container: the container's or volume's name.
    """

    path: Path
    text: str | None
    volume: bool = False
    pull_policy: str = ""
    container: str = ""


class Pod(Record):
    """One pod spec and what surrounds it; plain values of `source.values`.

    group: API group of the object, "" for core.
    path: from the object's root to the pod spec, as in ("spec", "template", "spec"); () never occurs.
    spec: the pod spec.
    metadata: `metadata` of the pod template, or of the object where the object is the pod.
    object_metadata: `metadata` of the object.
    images: in the order containers, initContainers, volumes.
    """

    ref: ObjectRef
    group: str
    place: Place
    path: Path
    spec: dict[str, Any]
    metadata: dict[str, Any]
    object_metadata: dict[str, Any]
    images: tuple[ImageUse, ...]
    immutable: bool = False
