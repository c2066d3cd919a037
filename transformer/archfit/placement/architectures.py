"""S(os): the architectures that every image of a pod offers for an operating system.

    an image offers, for an os             because
    the architecture of each platform      variants fold to the node label: arm/v6, arm/v7 -> arm
    amd64 too, where it has linux/386      containerd runs 386 on amd64 nodes
    nothing else                           arm is never taken for arm64

    an image restricts nothing when        because
    it is an artifact                      nothing of it is run (`Found.image` is False)
    a platform is wasi/* or */wasm*        a WebAssembly runtime class runs it on any node
    it is a volume of a single manifest    the kubelet mounts its files wherever the pod is (KEP-4639)

S(os) is the intersection over the images that restrict; None where no image does: every architecture.
"""

from __future__ import annotations

from archfit.outcome import Removed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from archfit.images.platforms import Found
    from archfit.workloads.pods import ImageUse

    Known: TypeAlias = Sequence[tuple[ImageUse, Found]]


def offered(use: ImageUse, found: Found, os: str) -> set[str] | None:
    """The architectures that one image offers for an os, None when it restricts nothing."""
    if not found.image or (use.volume and not found.index):
        return None
    architectures = set()
    for platform in found.platforms:
        architecture = platform.architecture
        if platform.os == os:
            architectures.add(architecture)
        if architecture[:4] == "wasm" or platform.os == "wasi":
            return None
    if "386" in architectures and os == "linux":
        architectures.add("amd64")
    return architectures


def supported(images: Known, os: str) -> frozenset[str] | None:
    """S(os), None when no image restricts."""
    common: set[str] | None = None
    for use, found in images:
        own = offered(use, found, os)
        if own is not None:
            common = own if common is None else common & own
    return None if common is None else frozenset(common)


def removed(images: Known, os: str, architectures: Iterable[str]) -> tuple[Removed, ...]:
    """Those of the architectures that not all images offer, sorted, each with the images that do not."""
    blame: dict[str, dict[str, None]] = {architecture: {} for architecture in sorted(architectures)}
    for use, found in images:
        own = offered(use, found, os)
        for architecture, culprits in blame.items():
            if own is not None and architecture not in own:
                culprits[use.text or ""] = None
    return tuple(
        Removed(architecture, tuple(culprits)) for architecture, culprits in blame.items() if culprits
    )
