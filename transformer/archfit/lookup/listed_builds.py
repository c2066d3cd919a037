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

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from archfit.images.contents import Build, ImageContents, Part
from archfit.images.platforms import Absent, Answer, Found, Platform, Unknown
from archfit.images.reference import Reference, tagged

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
            if (entry.os, entry.architecture) in cells and entry.is_baseline
        ]
        if wanted:
            yield reference.replace(tag="", digest=answer.digest), answer, tuple(wanted)


def with_builds(images: Mapping[str, Image], read: Read) -> dict[str, Answer]:
    """The answers, by the keys of the images, judged by what is there."""
    indexes = listed_at((at for at, _, _ in images.values()), read)
    answers: dict[str, Answer] = {}
    builds: dict[str, list[tuple[Platform, Reference]]] = {}
    for name, (at, answer, wanted) in images.items():
        listed = indexes.get(at.normalised, ())
        if isinstance(listed, str):
            answers[name] = Unknown(f"its index cannot be read: {listed}", last=answer)
        else:
            own = (build for build in listed if build.platform in wanted)
            builds[name] = [(build.platform, at.replace(digest=build.digest)) for build in own]
    manifests = dict.fromkeys(at for some in builds.values() for _, at in some)
    there = read([Part(at, "presence") for at in manifests])
    for name, some in builds.items():
        by_platform: dict[Platform, list[Said]] = {}
        for platform, build in some:
            by_platform.setdefault(platform, []).append(there.get(build.normalised))
        answers[name] = _judged(*images[name][1:], by_platform)
    return answers


def listed_at(indexes: Iterable[Reference], read: Read) -> dict[str, tuple[Build, ...] | str]:
    """The builds of indexes, each pinned, by its normalised reference; of one that cannot be read, why."""
    listed: dict[str, tuple[Build, ...] | str] = {}
    for name, index in read([Part(at) for at in dict.fromkeys(indexes)]).items():
        why = index.cause if isinstance(index, Absent | Unknown) else ""
        listed[name] = index.children if isinstance(index, ImageContents) else why
    return listed


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
        if reference.digest and isinstance(answer, Found) and not answer.index:
            tag = tagged(reference.original)
            if tag:
                builds[reference.normalised] = tag, answer
    tags = resolve(list(dict.fromkeys(tag for tag, _ in builds.values()))) if builds else {}
    indexes: dict[str, Reference] = {}
    for name, (tag, _) in builds.items():
        index = tags[tag.normalised]
        if isinstance(index, Found) and index.index:
            indexes[name] = tag.replace(tag="", digest=index.digest)
    listed = listed_at(indexes.values(), read)
    for name, at in indexes.items():
        tag, answer = builds[name]
        own = listed.get(at.normalised, ())
        if not isinstance(own, str) and any(child.digest == answer.digest for child in own):
            yield name, answer.replace(part_of=f"{tag}@{at.digest}")


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
