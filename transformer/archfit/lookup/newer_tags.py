"""The nearest tags that have what images lack: one search for each repository, all of them side by side.

Each repository wants one manifest in a round, and all of a round are asked at once. An upgrade has to keep the
architectures of the cluster that the image has, and add those that are required: a tag for arm64 alone takes no amd64
image's place.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from time import monotonic

from archfit.base.printable import count
from archfit.images.candidates import (
    MOST_MANIFESTS,
    NewerTag,
    NewerTags,
    Reading,
    Reads,
    Suggestion,
    offers,
    search,
)
from archfit.images.platforms import Absent, Answer, Found, Platform, Unknown
from archfit.images.reference import Reference, parse, tagged
from archfit.images.tag_list import TagList
from archfit.images.tags import begins
from archfit.lookup import entries
from archfit.lookup.lookup import Lookup
from archfit.startup.record import Record

DEFAULT_REPOSITORIES = 50
_MOST_BEGINNINGS = 2
"""Of the tags of one repository; a list is read where they stand."""


class _Image(Record):
    """One image. tag: that it names, beside a digest too. moved: the tag may name another image by now."""

    text: str
    reference: Reference
    tag: str
    moved: bool
    wanted: tuple[Platform, ...]
    missing: tuple[Platform, ...]


class _Repository:
    """One repository's search, as far as it has come. end: when it ends, by the monotonic clock."""

    def __init__(self, images: Sequence[_Image], listed: TagList, end: float) -> None:
        self.reads = Reads()
        self.listed = _with_what_runs(listed, images)
        self.images = images
        self.end = end
        self.suggestions: dict[str, Suggestion | None] = {}
        self.answers: dict[str, Found] = {}
        self.failure = ""
        self.image = images[0]
        self.plan = self._plan()
        self.tag = next(self.plan, "")

    def _plan(self) -> Generator[str, Reading, None]:
        for image in self.images:
            if monotonic() >= self.end:
                return
            self.image = image
            self.suggestions[image.text] = yield from search(
                image.tag, self.listed, image.wanted, image.missing, self.reads, moved=image.moved
            )

    def reference(self) -> Reference:
        """Of the tag that is to be read next."""
        name = self.image.reference.name
        return self.image.reference.replace(tag=self.tag, digest="", original=f"{name}:{self.tag}")

    def take(self, answer: Answer) -> None:
        """Go on with what was read."""
        if isinstance(answer, Found):
            self.answers[self.tag] = answer
        elif isinstance(answer, Unknown):
            self.failure = self.failure or answer.cause
        try:
            self.tag = self.plan.send(_reading(answer, self.image))
        except StopIteration:
            self.tag = ""

    def outcome(self, image: _Image) -> NewerTags:
        listed, suggestion = self.listed, self.suggestions.get(image.text)
        if image.text not in self.suggestions and listed.read != "no":
            return NewerTags((), "no", "no time was left for it: allow more with --timeout")
        if suggestion:
            answer = self.answers[suggestion.tag]
            platforms = tuple(map(str, answer.platforms))
            tag = NewerTag(suggestion.tag, answer.digest, suggestion.step, platforms, suggestion.exact)
            return NewerTags((tag,), listed.read, listed.why)
        unread = sum(reading == "unknown" for reading in self.reads.known.values())
        if unread and listed.read == "complete":
            why = f"{unread} of {count(len(self.reads.known), 'tag')} could not be read: {self.failure}"
            return NewerTags((), "partial", why)
        if self.reads.spent and listed.read == "complete":
            return NewerTags((), "partial", f"{MOST_MANIFESTS} tags were read, and there are more")
        return NewerTags((), listed.read, listed.why)


def newer_tags(
    lookup: Lookup,
    images: Mapping[str, Found],
    required: Sequence[Platform],
    *,
    cluster: Collection[str],
    seconds: float,
    most: int = DEFAULT_REPOSITORIES,
) -> dict[str, NewerTags]:
    """What was found for each image that lacks a required platform; those without a tag to go on from are left out.

    images: answers by text, the most wanted first. cluster: its architectures. seconds: for all of it. most: how many
    repositories are asked.
    """
    end = monotonic() + seconds
    by_repository: dict[str, list[_Image]] = {}
    for text, answer in images.items():
        image = _image(text, answer, required, cluster)
        if image:
            by_repository.setdefault(image.reference.name, []).append(image)
    groups = list(by_repository.items())
    why = f"not asked: --newer-tags={most} allows no more repositories"
    outcomes = {
        image.text: NewerTags((), "no", why, searched=False) for _, group in groups[most:] for image in group
    }
    named = [image.reference.replace(tag=image.tag) for _, group in groups[:most] for image in group]
    if not named:
        return outcomes
    lists = tag_lists(lookup, named, seconds=end - monotonic())
    repositories = [_Repository(group, lists[name], end) for name, group in groups[:most]]
    while waiting := [repository for repository in repositories if repository.tag]:
        references = [repository.reference() for repository in waiting]
        answers = lookup.probe(references, seconds=max(0.0, end - monotonic()))
        for repository, reference in zip(waiting, references, strict=True):
            repository.take(answers[reference.normalised])
    for repository in repositories:
        outcomes |= {image.text: repository.outcome(image) for image in repository.images}
    return {text: outcomes[text] for text in images if text in outcomes}


def tag_lists(lookup: Lookup, references: Sequence[Reference], *, seconds: float) -> dict[str, TagList]:
    """The tags of each reference's repository, by `host/repository`, as far as they can be had.

    A long list is read where the tags of the references stand, too.
    From the cache for 24 hours, then from registries; with --offline from the cache, up to --max-stale.
    seconds: how long it may take.
    """
    sources, operator, context = lookup.sources, lookup.sources.operator, lookup.sources.context
    cache, now = sources.cache(), context.clock()
    context.deadline.start(seconds)
    wanted = {reference.name: entries.repository(reference) for reference in references}
    longest = operator.max_stale_seconds if sources.silent else entries.LIST_SECONDS
    lists: dict[str, TagList | Absent | Unknown] = {}
    if operator.cache_ttl_seconds or sources.silent:
        lists |= cache.tag_lists(list(wanted.values()), now, longest)
    missing = [repository for repository in wanted.values() if repository.normalised not in lists]
    if missing and not sources.silent:
        near: dict[str, list[str]] = {}
        for reference in references:
            beginning = begins(reference.tag)
            known = near.setdefault(wanted[reference.name].normalised, [])
            if beginning and beginning not in known and len(known) < _MOST_BEGINNINGS:
                known.append(beginning)
        lists |= sources.registries().tag_lists(missing, near)
    lookup.clear_line()
    return {
        name: _tags_of(lists.get(repository.normalised), sources.silent)
        for name, repository in wanted.items()
    }


def _tags_of(answer: TagList | Absent | Unknown | None, silent: str) -> TagList:
    if isinstance(answer, TagList):
        return answer
    why = answer.cause if answer else f"the cache has no list of its tags, and {silent} forbids asking"
    return TagList((), "no", why)


def _with_what_runs(listed: TagList, images: Sequence[_Image]) -> TagList:
    """The list; a part of one where it lacks a tag in use: proxies and pull-through caches list what they hold."""
    absent = next((image.tag for image in images if image.tag not in listed.tags), "")
    if listed.read != "complete" or not absent:
        return listed
    return listed.replace(
        read="partial", why=f"its list lacks {absent}, which is in use, so it is a part of one"
    )


def _image(text: str, answer: Found, required: Sequence[Platform], cluster: Collection[str]) -> _Image | None:
    missing = tuple(platform for platform in required if not offers(answer.platforms, [platform]))
    if not missing or not answer.image or answer.origin == "override":
        return None
    named = tagged(text)
    if named is None:
        return None
    systems = dict.fromkeys(platform.os for platform in required)
    kept = [Platform(system, architecture) for system in systems for architecture in sorted(cluster)]
    wanted = [*required, *(platform for platform in kept if offers(answer.platforms, [platform]))]
    return _Image(text, parse(text), named.tag, "@" in text, tuple(dict.fromkeys(wanted)), missing)


def _reading(answer: Answer, image: _Image) -> Reading:
    if isinstance(answer, Absent):
        return "absent"
    if not isinstance(answer, Found):
        return "unknown"
    if not answer.image:
        return "lacks"
    if offers(answer.platforms, image.wanted):
        return "has"
    return "part" if offers(answer.platforms, image.missing) else "lacks"
