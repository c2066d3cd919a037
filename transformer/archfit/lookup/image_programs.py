"""The programs of images, on the architectures in question: of each, the manifest that a node would take is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.images.contents import Build, ImageContents, Part
from archfit.images.platforms import Answer, Found, Platform, Unknown
from archfit.images.reference import Reference, parse
from archfit.lookup.lookup import Lookup
from archfit.programs.program import Programs, Verdict, judged
from archfit.programs.start import Start


class ImagePrograms:
    """manifests: by text of the image and architecture; a sentence where none is known. read: by reference."""

    def __init__(
        self, manifests: Mapping[tuple[str, str], Reference | str], read: Mapping[str, Programs | Unknown]
    ) -> None:
        self._manifests = manifests
        self._read = read

    def verdict(self, image: str, platform: Platform, start: Start) -> Verdict | None:
        """What the start of an image means on Linux nodes of an architecture; None where nobody asked."""
        if platform.os != "linux":
            return Verdict("unread", f"programs for {platform.os} are not read")
        manifest = self._manifests.get((image, platform.architecture))
        if manifest is None:
            return None
        if isinstance(manifest, str):
            return Verdict("unread", manifest)
        programs = self._read[manifest.normalised]
        if isinstance(programs, Unknown):
            return Verdict("unread", programs.cause)
        program = programs.of(start)
        return judged(program, platform.architecture) if program else None


def image_programs(
    lookup: Lookup,
    images: Iterable[tuple[str, Answer, Start]],
    architectures: Sequence[str],
) -> ImagePrograms:
    """The programs of images: each as written, its answer, and a start. The deadline is that of the last `resolve`.

    Only what offers an architecture is read there.
    """
    starts: dict[str, dict[Start, None]] = {}
    answers: dict[str, Found] = {}
    for text, answer, start in images:
        if isinstance(answer, Found) and answer.image:
            if answer.digest or text not in answers:
                answers[text] = answer
            starts.setdefault(text, {})[start] = None
    tops = {text: _pinned(text, answer.digest) for text, answer in answers.items() if answer.digest}
    indexes = [Part(tops[text]) for text, answer in answers.items() if text in tops and answer.index]
    behind = lookup.contents(indexes)
    manifests: dict[tuple[str, str], Reference | str] = {}
    wanted: dict[Reference, dict[Start, None]] = {}
    for text, answer in answers.items():
        for architecture in architectures:
            manifest = _manifest(text, answer, architecture, tops, behind)
            if manifest:
                manifests[text, architecture] = manifest
            if isinstance(manifest, Reference):
                wanted.setdefault(manifest, {}).update(starts[text])
    read = lookup.programs({reference: list(some) for reference, some in wanted.items()})
    return ImagePrograms(
        manifests,
        {
            name: programs if isinstance(programs, Programs | Unknown) else Unknown(programs.detail)
            for name, programs in read.items()
        },
    )


def _manifest(
    text: str,
    answer: Found,
    architecture: str,
    tops: Mapping[str, Reference],
    behind: Mapping[str, object],
) -> Reference | str:
    """The manifest for the architecture, "" for none; why it is not known."""
    if text not in tops:
        return "its platforms are stated, and nobody was asked"
    top = tops[text]
    if not answer.index:
        builds: Sequence[Build] = [Build(answer.digest, platform) for platform in answer.platforms]
    else:
        contents = behind.get(top.normalised)
        if not isinstance(contents, ImageContents):
            return str(
                getattr(contents, "cause", "") or getattr(contents, "detail", "its index was not read")
            )
        builds = contents.children
    build = _taken(builds, architecture)
    return _pinned(text, build.digest) if build else ""


def _taken(builds: Iterable[Build], architecture: str) -> Build | None:
    own = [build for build in builds if build.platform.os == "linux"]
    for name in (architecture, *(["386"] if architecture == "amd64" else [])):
        fitting = [build for build in own if build.platform.architecture == name]
        plain = [build for build in fitting if not build.platform.variant or name == "arm"]
        if plain:
            return plain[0]
    return None


def _pinned(text: str, digest: str) -> Reference:
    return parse(text).replace(tag="", digest=digest)
