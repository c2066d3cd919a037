"""The entries of an image that do not count as they are, and the messages about them.

Loaded for such images only (`evidence.is_plain`), which are few. Platforms that somebody states count as the
entries of an index do: whoever knows that amd64 nodes take an amd64/v3 image states linux/amd64.

Who takes linux/386 on an amd64 node: containerd up to 2.0, later with `use_local_image_pull` (client.Pull matches with
`platforms.Only`); not containerd from 2.1 by default (its transfer service matches with `platforms.Ordered`), not CRI-O
(containers/image matches the architecture as it is). Source: containerd, internal/cri/server/images/image_pull.go and
core/transfer/image/imagestore.go.
"""

from __future__ import annotations

from archfit.images.platforms import Found, Platform, Unknown, is_wasm
from archfit.images.reference import parse
from archfit.workloads.pods import ImageUse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

WASM_RUNTIMES = ("slight", "spin", "wasm", "wws")
"""Words in the names of RuntimeClasses and handlers: of containerd's runwasi shims, SpinKube, wasmtime and wasmedge."""
_HIGHER = "no runtime takes an entry of a higher variant on a node that is not set up for it"


def runs_wasm(names: Iterable[str]) -> bool:
    """Whether one of the names, of a RuntimeClass and its handler, is that of a WebAssembly runtime."""
    return any(word in name.lower() for name in names for word in WASM_RUNTIMES)


def counted(
    use: ImageUse, found: Found, *, runtime_class: bool, wanted: Collection[str] | None
) -> tuple[Found | Unknown, tuple[str, ...]]:
    """The answer to use for this pod, and its warnings.

    runtime_class: the pod names one for WebAssembly. wanted: architectures of Linux nodes to warn about, None for all.
    """
    if not found.image or (use.volume and not found.index):
        return found, ()
    wasm = [platform for platform in found.platforms if is_wasm(platform)]
    if runtime_class and wasm:
        return found.replace(platforms=tuple(wasm)), ()
    native = [platform for platform in found.platforms if not is_wasm(platform)]
    higher = [one for one in native if one.variant and one.architecture != "arm"]
    if not found.index:
        return found, tuple(_single(use, found, one) for one in higher if _matters(one, wanted))
    plain = {(one.os, one.architecture) for one in native if one not in higher}
    if native and not plain:
        return _none(use, found), ()
    warnings = []
    if ("linux", "386") in plain and ("linux", "amd64") not in plain:
        plain.add(("linux", "amd64"))
        if wanted is None or "amd64" in wanted:
            warnings.append(_emulated(use, found))
    alone = [one for one in higher if (one.os, one.architecture) not in plain and _matters(one, wanted)]
    if alone:
        warnings.append(
            f"{_listed(alone)} does not count for {_listed(_architectures(alone))}, as {_HIGHER}; {_remedy(use, found)}"
        )
    return found, tuple(warnings)


def _matters(platform: Platform, wanted: Collection[str] | None) -> bool:
    name = platform.architecture if platform.os == "linux" else f"{platform.os}/{platform.architecture}"
    return wanted is None or name in wanted


def _none(use: ImageUse, found: Found) -> Unknown:
    listed = _listed(found.platforms)
    if found.origin in ("override", "assumed"):
        return Unknown(
            f"none of the stated platforms counts ({listed}), as {_HIGHER}; {_remedy(use, found)}", final=True
        )
    return Unknown(f"no entry of its index counts ({listed}), as {_HIGHER}", remedy=_remedy(use, found))


def _single(use: ImageUse, found: Found, platform: Platform) -> str:
    return (
        f"it is built for {platform}, and is pulled by nodes that lack {platform.variant} too; keep it off them with a "
        f"nodeSelector, or {_remedy(use, found)}"
    )


def _emulated(use: ImageUse, found: Found) -> str:
    return (
        "it counts for amd64 by linux/386 alone, which CRI-O does not take on amd64 nodes, nor containerd from 2.1 on "
        "without use_local_image_pull; build it for linux/amd64, or "
        f"{_statement(use, found, (*_baselines(found), 'linux/amd64'))}"
    )


def _remedy(use: ImageUse, found: Found) -> str:
    return _statement(use, found, _baselines(found))


def _baselines(found: Found) -> Iterable[str]:
    return (
        f"{platform.os}/{platform.architecture}" if platform.architecture != "arm" else str(platform)
        for platform in found.platforms
    )


def _statement(use: ImageUse, found: Found, platforms: Iterable[str]) -> str:
    listed = ",".join(sorted(set(platforms)))
    if found.origin == "override":
        return f"if your nodes take it, state {listed} instead (--image-platforms or archfit.dev/image-platforms)"
    if found.origin == "assumed":
        return f"if your nodes take it, write --assume {listed}"
    return f"if your nodes take it, state --image-platforms '{parse(use.text or '').name}={listed}'"


def _architectures(platforms: Iterable[Platform]) -> set[str]:
    return {platform.architecture for platform in platforms}


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names)))
