"""The programs of images, on the architectures in question: of each, the manifest that a node would take is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.images.contents import Build
from archfit.images.platforms import Absent, Answer, Found, Platform, Unknown
from archfit.images.reference import Reference, parse
from archfit.lookup.listed_builds import listed_at
from archfit.lookup.lookup import Lookup
from archfit.programs.program import ProgramsOf, Verdict, judged
from archfit.programs.start import Start


def image_programs(
    lookup: Lookup, images: Iterable[tuple[str, Answer, Start]], architectures: Sequence[str]
) -> ProgramsOf:
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
    pinned = {
        text: parse(text).replace(tag="", digest=answer.digest, original="")
        for text, answer in answers.items()
        if answer.digest
    }
    indexes = listed_at((at for text, at in pinned.items() if answers[text].index), lookup.contents)
    manifests: dict[tuple[str, str], Reference | str] = {}
    wanted: dict[Reference, dict[Start, None]] = {}
    for text, answer in answers.items():
        builds: Sequence[Build] | str = [Build(answer.digest, platform) for platform in answer.platforms]
        if text not in pinned:
            builds = "its platforms are stated, and nobody was asked"
        elif answer.index:
            builds = indexes[pinned[text].normalised]
        for architecture in architectures:
            if isinstance(builds, str):
                manifests[text, architecture] = builds
            elif build := _taken(builds, architecture):
                manifest = manifests[text, architecture] = pinned[text].replace(digest=build.digest)
                wanted.setdefault(manifest, {}).update(starts[text])
    read = lookup.programs({reference: list(some) for reference, some in wanted.items()})

    def verdict(image: str, platform: Platform, start: Start) -> Verdict | None:
        if platform.os != "linux":
            return Verdict("unread", f"programs for {platform.os} are not read")
        manifest = manifests.get((image, platform.architecture))
        if manifest is None or isinstance(manifest, str):
            return Verdict("unread", manifest) if manifest else None
        programs = read[manifest.normalised]
        if isinstance(programs, Absent | Unknown):
            return Verdict("unread", programs.cause)
        program = programs.of(start)
        return judged(program, platform.architecture) if program else None

    return verdict


def _taken(builds: Iterable[Build], architecture: str) -> Build | None:
    fitting = {
        build.platform.architecture: build
        for build in reversed([*builds])
        if build.platform.os == "linux" and build.platform.is_baseline
    }
    return fitting.get(architecture) or (fitting.get("386") if architecture == "amd64" else None)
