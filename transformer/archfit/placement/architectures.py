"""S(os): the architectures that every image of a pod offers for an operating system.

    an entry of an index counts for         because
    its architecture, without a variant     every node of the architecture takes it; amd64/v1 and arm64/v8 are spelt so
    arm, with any variant                   they share one node label
    amd64 too, where it is linux/386        containerd may take it on amd64 nodes; CRI-O does not (`uncounted` warns)
    nothing, with another variant           amd64/v3, arm64/v9: no runtime takes it unless its node is set up for it
    nothing, of os wasi or wasm* beside     the pod's runtime runs native code; a pod that names a runtimeClassName is
      native entries                        for `evidence` to judge
    never arm for arm64

    an image restricts nothing when         because
    it is an artifact                       nothing of it is run (`Found.image` is False)
    all its platforms are wasi/* or wasm*   a WebAssembly runtime class runs it on any node
    it is a volume of a single manifest     the kubelet mounts its files wherever the pod is (KEP-4639)

A single manifest counts by its architecture, whatever the variant: nodes pull it without a check. Answers of
registries are stored unchanged, so that these rules also apply to old caches and lock files.

S(os) is the intersection over the images that restrict; None where no image does: every architecture. Source:
containerd/platforms, compare.go and database.go; containers/image, internal/pkg/platform/platform_matcher.go.
"""

from __future__ import annotations

from archfit.images.platforms import Found, Platform
from archfit.memo import Memo
from archfit.results import Removed
from archfit.typing_names import Iterable, Sequence, TypeAlias
from archfit.workloads.pods import ImageUse

Known: TypeAlias = Sequence[tuple[ImageUse, Found]]


def offered(use: ImageUse, found: Found, os: str) -> set[str] | None:
    """The architectures that one image offers for an os, None when it restricts nothing."""
    if not found.image or (use.volume and not found.index):
        return None
    architectures = set()
    native = False
    for platform in found.platforms:
        architecture = platform.architecture
        if architecture[:4] == "wasm" or platform.os == "wasi":
            continue
        native = True
        if platform.os == os and (not platform.variant or architecture == "arm" or not found.index):
            architectures.add(architecture)
    if not native and found.platforms:
        return None
    if "386" in architectures and os == "linux":
        architectures.add("amd64")
    return architectures


def is_wasm(platform: Platform) -> bool:
    """WebAssembly, which a runtime class runs on nodes of any architecture."""
    return platform.os == "wasi" or platform.architecture[:4] == "wasm"


def is_plain(found: Found) -> bool:
    """Every entry counts for its own architecture, so that there is nothing to report: a fast form of the rule."""
    emulated = amd64 = False
    for platform in found.platforms:
        architecture = platform.architecture
        if architecture == "amd64" and not platform.variant:
            amd64 = True
        elif architecture == "386":
            emulated = True
        if (
            (platform.variant and architecture != "arm")
            or architecture[:4] == "wasm"
            or platform.os == "wasi"
        ):
            return False
    return amd64 or not emulated


def supported(images: Known, os: str) -> frozenset[str] | None:
    """S(os), None when no image restricts."""
    common: set[str] | None = None
    for use, found in images:
        own = offered(use, found, os)
        if own is not None:
            common = own if common is None else common & own
    return None if common is None else frozenset(common)


def _removals(lacking: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Removed, ...]:
    return tuple([Removed(*one) for one in lacking])


def _sorted(architectures: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(architectures))


_removed = Memo(_removals, 256)
_OFTEN = 32
"""Images of a pod that others repeat; for more, nothing is kept."""
in_order = Memo(_sorted, 256)
"""Architectures, sorted."""


def removed(images: Known, os: str, architectures: Iterable[str]) -> tuple[Removed, ...]:
    """Those of the architectures that not all images offer, sorted, each with the images that do not."""
    blame: dict[str, dict[str, None]] = {architecture: {} for architecture in sorted(architectures)}
    for use, found in images:
        own = offered(use, found, os)
        for architecture, culprits in blame.items():
            if own is not None and architecture not in own:
                culprits[use.text or ""] = None
    lacking = tuple([(gone, tuple(culprits)) for gone, culprits in blame.items() if culprits])
    return _removed[lacking] if len(images) <= _OFTEN else _removals(lacking)
