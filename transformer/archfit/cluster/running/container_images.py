"""The images of a pod spec, and what its status says of each container.

containers[], initContainers[]   image                 their entry in containerStatuses, initContainerStatuses
volumes[].image                  reference (KEP-4639)   no entry
ephemeralContainers[]            never counted: they belong to live debugging
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from archfit.cluster.audit_facts import ContainerImage, Role
from archfit.cluster.running.object_fields import mapping, mappings, text
from archfit.cluster.runtime_evidence import runtime_evidence
from archfit.errors import InvalidReference
from archfit.images.reference import parse
from archfit.record import Record

_LISTS: tuple[tuple[str, Role], ...] = (("containers", "container"), ("initContainers", "init"))
_REASON = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}", re.ASCII).fullmatch
_IMAGE_ID = 1024


class ContainerStatus(Record):
    """One container of a pod. image_id: as reported, "" before it starts.

    reason: of `state` where it waits or has ended, as ImagePullBackOff; "" while it runs. evidence: `runtime_evidence`.
    """

    container: str
    image: str
    image_id: str
    reason: str
    evidence: str


def container_images(spec: Mapping[str, Any]) -> tuple[ContainerImage, ...]:
    """The images of a pod spec, in its order."""
    return tuple(_images(spec))


def container_statuses(pod: Mapping[str, Any]) -> tuple[ContainerStatus, ...]:
    """What runs in the pod's containers, in the order of its spec; () without a status."""
    spec, status = mapping(pod.get("spec")), mapping(pod.get("status"))
    entries = {
        text(entry.get("name")): entry
        for name in ("containerStatuses", "initContainerStatuses")
        for entry in mappings(status.get(name))
    }
    return tuple(
        _status(
            text(container.get("name")), text(container.get("image")), entries[text(container.get("name"))]
        )
        for name, _ in _LISTS
        for container in mappings(spec.get(name))
        if text(container.get("name")) in entries
    )


@lru_cache(maxsize=8192)
def reference_of(image: str) -> str:
    """The normalised reference, or the string as written where it is none."""
    try:
        return parse(image).normalised
    except InvalidReference:
        return image


def container_image(container: str, role: Role, image: str) -> ContainerImage:
    """One use of an image."""
    return ContainerImage(container, role, image, reference_of(image))


def _images(spec: Mapping[str, Any]) -> Iterator[ContainerImage]:
    for name, role in _LISTS:
        for container in mappings(spec.get(name)):
            yield container_image(text(container.get("name")), role, text(container.get("image")))
    for volume in mappings(spec.get("volumes")):
        if "image" in volume:
            reference = text(mapping(volume["image"]).get("reference"))
            yield container_image(text(volume.get("name")), "volume", reference)


def _status(name: str, image: str, entry: Mapping[str, Any]) -> ContainerStatus:
    state = mapping(entry.get("state"))
    reason = next(
        (text(mapping(state[part]).get("reason")) for part in ("waiting", "terminated") if state.get(part)),
        "",
    )
    return ContainerStatus(
        name,
        image,
        text(entry.get("imageID"))[:_IMAGE_ID],
        reason if _REASON(reason) else "",
        runtime_evidence(entry),
    )
