"""`status.containerStatuses[].imageID`: which image a node runs, in the words of its container runtime.

    imageID                                  form      reported by
    repository@sha256:D                      digest    containerd, CRI-O
    docker-pullable://repository@sha256:D    digest    Docker
    docker://sha256:C                        image     Docker, for an image without a repository
    sha256:C                                 image     containerd, for an image loaded from a file
    64 hexadecimal digits                    image     CRI-O after a restart (cri-o/cri-o#9925)
    (empty)                                  none      the container has not started

D is the digest of what the tag named: an index or a manifest. CRI-O may name the node's manifest instead of the index,
whichever digest sorts first. C is the digest of the image's config; with Docker's containerd store it is D. The
repository may be another than the pod's: a runtime keeps one entry for an image that it has under several names.

Source: kubelet_pods.go; containerd, internal/cri/server/container_status.go and internal/cri/store/image; CRI-O,
internal/storage/image.go; kubernetes/kubernetes issues 31621, 95968 and 115199.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from archfit.errors import InvalidReference
from archfit.images.reference import is_digest, parse
from archfit.images.reference_grammar import IDENTIFIER
from archfit.record import Record

Form: TypeAlias = Literal["digest", "image", "none", "malformed"]

LONGEST = 1024
_PREFIXES = ("docker-pullable://", "docker://")
_IDENTIFIER = re.compile(IDENTIFIER, re.ASCII).fullmatch
# `ctr image import` names an image without a name so; no registry has it.
_LOADED = re.compile(r"docker\.io/library/import-\d{4}-\d{2}-\d{2}", re.ASCII).fullmatch


class ImageId(Record):
    """form: as in the module; "malformed" is anything else.

    digest: D or C with `sha256:`, "" where there is none. name: `host/repository` of D in normalised spelling, "" for
    other forms, and for the name that containerd makes up for an image loaded from a file.
    """

    form: Form
    digest: str = ""
    name: str = ""


def image_id(text: str) -> ImageId:
    """What an imageID says. Raises nothing: statuses are not trusted."""
    rest = text.strip()
    if not rest:
        return ImageId("none")
    if len(rest) > LONGEST:
        return ImageId("malformed")
    for prefix in _PREFIXES:
        rest = rest.removeprefix(prefix)
    if is_digest(rest):
        return ImageId("image", rest)
    if _IDENTIFIER(rest):
        return ImageId("image", f"sha256:{rest}")
    try:
        reference = parse(rest)
    except InvalidReference:
        return ImageId("malformed")
    if not reference.digest:
        return ImageId("malformed")
    return ImageId("digest", reference.digest, "" if _LOADED(reference.name) else reference.name)
