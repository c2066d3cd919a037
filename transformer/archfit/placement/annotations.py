"""The annotations under `archfit.dev/`, as users write them on a pod template.

    archfit.dev/skip              "true" or "false"             on the object or its template
    archfit.dev/only              amd64, arm64                  narrows the pod, never widens it
    archfit.dev/tolerate          "true" or "false"             whether toleration rules apply
    archfit.dev/image-platforms   linux/amd64, linux/arm/v7     what every image of the pod supports
    archfit.dev/added             what an in-place run added  on the object; `placement.stamp` reads it

Lists are separated by commas, blanks or both. An unknown name is an error that names the nearest known one. A
name that stands on the object alone, where it would have no effect, is an error too.
"""

from __future__ import annotations

from archfit.errors import InvalidReference
from archfit.images.platforms import normalised, parse_platform
from archfit.outcome import Result
from archfit.patch import dotted
from archfit.placement.shape import Malformed, mapping
from archfit.record import Record
from archfit.source.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from archfit.images.platforms import Platform
    from archfit.patch import Path
    from archfit.workloads.pods import Pod

PREFIX = "archfit.dev/"
KNOWN = tuple(PREFIX + name for name in ("skip", "only", "tolerate", "image-platforms", "added"))
_ANYWHERE = (PREFIX + "skip", PREFIX + "added")


class Annotations(Record):
    """What the annotations of one pod say; None where they say nothing.

    only: architectures, as node labels spell them.
    results: an error for each annotation that cannot be obeyed.
    """

    skip: bool = False
    only: frozenset[str] | None = None
    tolerate: bool | None = None
    platforms: tuple[Platform, ...] | None = None
    results: tuple[Result, ...] = ()


_SILENT = Annotations()


def annotated(pod: Pod) -> Annotations:
    """Reads the pod template's annotations, and `skip` of the object's."""
    template, own = pod.metadata.get("annotations"), pod.object_metadata.get("annotations")
    if not _ours(template) and not _ours(own):
        return _SILENT
    return _Reading(pod).annotated()


def _ours(found: object) -> bool:
    """Whether there is anything to read: a name of ours, or a shape that is an error."""
    if not found:
        return False
    if not isinstance(found, dict):
        return True
    return any(name[:12] == PREFIX for name in found)


class _Reading:
    """One pod's annotations, while errors are collected."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.errors: list[Result] = []

    def annotated(self) -> Annotations:
        pod = self.pod
        at = pod.metadata_path
        template = self.ours(pod.metadata, at)
        above = (*pod.root, "metadata")
        own = self.ours(pod.object_metadata, above) if pod.object_metadata != pod.metadata else {}
        where, there = (*at, "annotations"), (*above, "annotations")
        for name in own:
            if name in KNOWN and name not in _ANYWHERE and name not in template:
                self.error(
                    (*there, name),
                    f"{name} has no effect here; write it on the pod template, in {dotted(where)}",
                )
        template_skip, own_skip = self.truth(template, "skip", where), self.truth(own, "skip", there)
        return Annotations(
            bool(template_skip or own_skip),
            self.architectures(template, where),
            self.truth(template, "tolerate", where),
            self.platforms(template, where),
            tuple(self.errors),
        )

    def error(self, path: Path, message: str) -> None:
        result = Result("error", message, self.pod.ref, dotted(path), self.pod.place)
        if result not in self.errors:
            self.errors.append(result)

    def ours(self, metadata: dict[str, Any], at: Path) -> dict[str, str]:
        try:
            found = mapping(metadata, "annotations", at) or {}
        except Malformed as malformed:
            self.error(malformed.path, str(malformed))
            return {}
        names = [name for name in found if name.startswith(PREFIX)]
        for name in names:
            if name not in KNOWN:
                self.error((*at, "annotations", name), f"there is no annotation {name}; {_nearest(name)}")
        return {name: text_of(found[name]).strip() for name in names}

    def truth(self, found: dict[str, str], name: str, at: Path) -> bool | None:
        text = found.get(PREFIX + name)
        if text is None or text in ("true", "false"):
            return None if text is None else text == "true"
        self.error((*at, PREFIX + name), f'{PREFIX}{name} has to be "true" or "false", not {text!r}')
        return None

    def architectures(self, found: dict[str, str], at: Path) -> frozenset[str] | None:
        name = PREFIX + "only"
        if name not in found:
            return None
        names = _listed(found[name])
        if names and all(word.replace("_", "").isalnum() for word in names):
            return frozenset(normalised("linux", word).architecture for word in names)
        self.error(
            (*at, name), f"{name} has to be a list of architectures, as in amd64,arm64, not {found[name]!r}"
        )
        return None

    def platforms(self, found: dict[str, str], at: Path) -> tuple[Platform, ...] | None:
        name = PREFIX + "image-platforms"
        if name not in found:
            return None
        try:
            platforms = {str(platform): platform for platform in map(parse_platform, _listed(found[name]))}
        except InvalidReference as error:
            self.error((*at, name), f"{name}: {error}")
            return None
        if not platforms:
            self.error((*at, name), f"{name} is empty; write platforms, as in linux/amd64,linux/arm64")
            return None
        return tuple(platforms[text] for text in sorted(platforms))


def _listed(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _nearest(name: str) -> str:
    from difflib import get_close_matches  # 2 ms that only this error needs

    close = get_close_matches(name, KNOWN, 1, 0.0)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(KNOWN)}"
