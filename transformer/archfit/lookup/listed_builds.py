"""Whether the builds are there that an index lists. Mirrors keep sparse indexes, and some registries lose manifests.

    the build's manifest              its platform
    is there                          counts; kept for ever, for the repository and for who may read it
    404, to HEAD and to GET           `Found.missing`: it does not count, and is asked for again in each run
    whatever else a server answers    makes the image Unknown
    nobody may be asked               `Found.listed`: it counts, by the index alone

Asked where the answer is "it runs there": for the platforms of --require and of an audit, and for those to which
`prefer` leads pods. With `prefer` alone a lock file is final: a render asks for nothing that it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from archfit.images.contents import Build, ImageContents, Part
from archfit.images.platforms import Absent, Answer, Found, Platform, Unknown
from archfit.images.reference import Reference, parse

Said: TypeAlias = "ImageContents | Absent | Unknown | None"
"""Of a digest; None: nobody may be asked."""
Read: TypeAlias = "Callable[[Sequence[Part]], Mapping[str, ImageContents | Absent | Unknown]]"
"""What is behind digests, by normalised reference."""
Image: TypeAlias = "tuple[Reference, Found, tuple[Platform, ...]]"
"""An index, pinned, its answer, and those of its platforms that are in question."""


def in_question(reference: Reference, answer: Answer, cells: Collection[tuple[str, str]]) -> Iterator[Image]:
    """The image, if its answer is an index that counts for one of the cells. cells: (os, architecture) of nodes."""
    if isinstance(answer, Found) and answer.index and answer.image and answer.digest:
        wanted = [
            entry
            for entry in answer.platforms
            if (entry.os, entry.architecture) in cells and (not entry.variant or entry.architecture == "arm")
        ]
        if wanted:
            yield reference.replace(tag="", digest=answer.digest), answer, tuple(wanted)


def with_builds(images: Mapping[str, Image], read: Read) -> dict[str, Answer]:
    """The answers, by the keys of the images, judged by what is there."""
    indexes = read([Part(at) for at in dict.fromkeys(at for at, _, _ in images.values())])
    builds = {
        name: [
            (build.platform, at.replace(digest=build.digest))
            for build in _children(indexes.get(at.normalised))
            if build.platform in wanted
        ]
        for name, (at, _, wanted) in images.items()
    }
    manifests = dict.fromkeys(at for some in builds.values() for _, at in some)
    there = read([Part(at, "presence") for at in manifests])
    answers: dict[str, Answer] = {}
    for name, (at, answer, wanted) in images.items():
        index = indexes.get(at.normalised)
        if isinstance(index, Absent | Unknown):
            why = index.detail if isinstance(index, Absent) else index.cause
            answers[name] = Unknown(f"its index cannot be read: {why}", last=answer)
            continue
        by_platform: dict[Platform, list[Said]] = {}
        for platform, build in builds[name]:
            by_platform.setdefault(platform, []).append(there.get(build.normalised))
        answers[name] = _judged(answer, wanted, by_platform)
    return answers


def with_tags(
    references: Sequence[Reference],
    answers: Mapping[str, Answer],
    resolve: Callable[[list[Reference]], Mapping[str, Answer]],
    read: Read,
) -> Iterator[tuple[str, Found]]:
    """The answers for digests that are one build of the tag beside them, which say so (`Found.part_of`)."""
    builds: dict[str, tuple[Reference, Found]] = {}
    for reference in references:
        answer = answers[reference.normalised]
        before, pin, _ = reference.original.partition("@")
        if pin and ":" in before.rpartition("/")[2] and isinstance(answer, Found) and not answer.index:
            builds[reference.normalised] = parse(before), answer
    tags = resolve(list(dict.fromkeys(tag for tag, _ in builds.values()))) if builds else {}
    indexes: dict[str, Reference] = {}
    for name, (tag, _) in builds.items():
        index = tags[tag.normalised]
        if isinstance(index, Found) and index.index:
            indexes[name] = tag.replace(tag="", digest=index.digest)
    contents = read([Part(at) for at in dict.fromkeys(indexes.values())])
    for name, at in indexes.items():
        tag, answer = builds[name]
        if any(child.digest == answer.digest for child in _children(contents.get(at.normalised))):
            yield name, answer.replace(part_of=f"{tag}@{at.digest}")


def _children(index: Said) -> tuple[Build, ...]:
    return index.children if isinstance(index, ImageContents) else ()


def _judged(
    answer: Found, wanted: Sequence[Platform], by_platform: Mapping[Platform, Sequence[Said]]
) -> Answer:
    missing: list[Platform] = []
    listed: list[Platform] = []
    for platform in wanted:
        answers = by_platform.get(platform, [None])
        if any(isinstance(build, ImageContents) for build in answers):
            continue
        unknown = next((build for build in answers if isinstance(build, Unknown)), None)
        if unknown:
            why = f"its index lists {platform}, and whether that build is there is not known: {unknown.cause}"
            return unknown.replace(cause=why, last=answer)
        (listed if None in answers else missing).append(platform)
    platforms = tuple(platform for platform in answer.platforms if platform not in missing)
    return answer.replace(platforms=platforms, missing=tuple(missing), listed=tuple(listed))
