"""The entries of an image that do not count as they are, and the messages about them.

Platforms that somebody states count as the entries of an index do: whoever knows that amd64 nodes take an amd64/v3
image states linux/amd64.

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
    use: ImageUse, answer: Found, *, runtime_class: bool, wanted: Collection[str] | None
) -> tuple[Found | Unknown, tuple[str, ...]]:
    """The answer to use for this pod, and its warnings.

    runtime_class: the pod names one for WebAssembly. wanted: architectures of Linux nodes to warn about, None for all.
    """
    if not answer.image or (use.volume and not answer.index):
        return answer, ()
    native = [platform for platform in answer.platforms if not is_wasm(platform)]
    if runtime_class and len(native) < len(answer.platforms):
        return answer.replace(platforms=tuple(filter(is_wasm, answer.platforms))), ()
    higher = [entry for entry in native if entry.variant and entry.architecture != "arm"]
    if not answer.index:
        return answer, tuple(
            f"it is built for {entry}, and is pulled by nodes that lack {entry.variant} too; keep it off them with a "
            f"nodeSelector, or {_remedy(use, answer)}"
            for entry in higher
            if _matters(entry, wanted)
        )
    plain = {(entry.os, entry.architecture) for entry in native if entry not in higher}
    if native and not plain:
        return _none(use, answer), ()
    warnings = []
    if ("linux", "386") in plain and ("linux", "amd64") not in plain:
        plain.add(("linux", "amd64"))
        if wanted is None or "amd64" in wanted:
            warnings.append(
                "it counts for amd64 by linux/386 alone, which CRI-O does not take on amd64 nodes, nor containerd from "
                "2.1 on without use_local_image_pull; build it for linux/amd64, or "
                f"{_statement(use, answer, (*_baselines(answer), 'linux/amd64'))}"
            )
    alone = [
        entry for entry in higher if (entry.os, entry.architecture) not in plain and _matters(entry, wanted)
    ]
    if alone:
        warnings.append(
            f"{_listed(alone)} does not count for {_listed({entry.architecture for entry in alone})}, as {_HIGHER}; "
            f"{_remedy(use, answer)}"
        )
    return answer, tuple(warnings)


def _matters(platform: Platform, wanted: Collection[str] | None) -> bool:
    name = platform.architecture if platform.os == "linux" else f"{platform.os}/{platform.architecture}"
    return wanted is None or name in wanted


def _none(use: ImageUse, answer: Found) -> Unknown:
    listed = _listed(answer.platforms)
    if answer.origin in ("override", "assumed"):
        return Unknown(
            f"none of the stated platforms counts ({listed}), as {_HIGHER}; {_remedy(use, answer)}",
            final=True,
        )
    return Unknown(f"no entry of its index counts ({listed}), as {_HIGHER}", remedy=_remedy(use, answer))


def _remedy(use: ImageUse, answer: Found) -> str:
    return _statement(use, answer, _baselines(answer))


def _baselines(answer: Found) -> Iterable[str]:
    return (
        f"{platform.os}/{platform.architecture}" if platform.architecture != "arm" else str(platform)
        for platform in answer.platforms
    )


def _statement(use: ImageUse, answer: Found, platforms: Iterable[str]) -> str:
    listed = ",".join(sorted(set(platforms)))
    if answer.origin == "override":
        return f"if your nodes take it, state {listed} instead (--image-platforms or archfit.dev/image-platforms)"
    if answer.origin == "assumed":
        return f"if your nodes take it, write --assume {listed}"
    return f"if your nodes take it, state --image-platforms '{parse(use.text or '').name}={listed}'"


def _listed(names: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, names)))
