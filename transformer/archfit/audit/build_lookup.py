"""The answers of registries for an audit: which platforms each image has, which build really runs, what it starts.

Each round asks what is left for all builds at once, each digest once; the cache keeps what is behind a digest for ever:

    images      the tags, as every run asks them; what is behind the indexes that this reads is known, too
    indexes     of the image, where its answer came from the cache: for CRI-O and for config digests
    digests     D of an imageID at its repository; then, where that gives nothing, at the repository of the pod's image
    builds      C of an imageID: the build of the image's index that the node would take
    configs     the config C itself, which says its platform; one build is left: that build
    builds      the build of the index for that platform

So a config digest costs at most three requests besides the image's own, and never more than the index has builds and
one. What cannot be learned makes a verdict `unknown` with the reason; a registry that fails changes nothing else.

A shard asks for the images of its repositories, and for the builds whose imageID names one of them. What the cache has
is a registry's answer, and is called so: an audit that runs again gives the same bytes. --on-unknown and --on-absent
say what archfit writes into manifests; an audit reports the answers as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from archfit.audit.builds import ImageId, Known, image_id, proof, taken
from archfit.base.errors import InvalidReference
from archfit.facts.facts import AuditFacts, BuildFacts, ImageFacts, Shard
from archfit.facts.merge import shard_of
from archfit.images.contents import Build, ImageContents, Part
from archfit.images.platforms import (
    Answer,
    Found,
    Platform,
    Unknown,
    kind_of,
    parse_platform,
)
from archfit.images.reference import Reference, parse
from archfit.lookup.image_programs import image_programs
from archfit.lookup.lookup import Lookup
from archfit.placement.evidence import offered
from archfit.placement.uncounted import counted
from archfit.programs.program import ProgramsOf
from archfit.programs.start import Start
from archfit.startup.record import Record
from archfit.workloads.pods import ImageUse

_ANSWERED_NOW = ("registry", "cache")
_NOT_SAID = Start(unread="the input does not say what its containers start: make the report with --programs")
_WORST_FIRST = ("wrong", "unread", "right")


def answered(facts: AuditFacts, lookup: Lookup, shard: tuple[int, int] | None = None) -> AuditFacts:
    """The facts with the answers of lock file, cache and registries.

    shard: (index, number of shards): only its images and builds are asked, the others stay unread.
    Raises UsageError and InvalidLock.
    """

    def mine(reference: str) -> bool:
        return shard is None or shard_of(reference, shard[1]) == shard[0]

    images = [image.reference for image in facts.images if image.answer == "Unread" and mine(image.reference)]
    running = {build: _running(build) for build in facts.builds if build.verdict == "unread"}
    running = {build: image for build, image in running.items() if mine(image.home)}
    distinct = list(dict.fromkeys(running.values()))
    wanted = [*images, *(image.spec.normalised for image in distinct if image.spec and image.at_home)]
    contents = lookup.keep_contents()
    answers = lookup.answers(list(dict.fromkeys(wanted)))
    asking = _Asking(lookup, answers, dict(contents))
    asking.learn(distinct)
    own = frozenset(images)
    return facts.replace(
        images=tuple(
            _image_facts(image.reference, answers[image.reference]).replace(starts=image.starts)
            if image.reference in own
            else image
            for image in facts.images
        ),
        builds=tuple(
            proof(build, asking.known(running[build])) if build in running else build
            for build in facts.builds
        ),
        shards=tuple(Shard(snapshot.id, *shard) for snapshot in facts.snapshots) if shard else facts.shards,
    )


class _RunningImages(Record):
    """What several BuildFacts have in common. spec: the pod's image, None where it is no reference."""

    image: str
    identity: ImageId
    spec: Reference | None
    os: str
    architecture: str
    runtime: str

    @property
    def at_home(self) -> bool:
        """The runtime names no other repository than the pod."""
        return self.spec is not None and self.identity.name in {"", self.spec.name}

    @property
    def home(self) -> str:
        """The reference whose shard asks for it."""
        if self.identity.name:
            return f"{self.identity.name}@{self.identity.digest}"
        return self.spec.normalised if self.spec else self.image


def _running(build: BuildFacts) -> _RunningImages:
    identity = image_id(build.image_id)
    try:
        spec = parse(build.image)
    except InvalidReference:
        spec = None
    return _RunningImages(
        build.image, identity, spec, build.node_os or "linux", build.node_architecture, build.runtime
    )


class _Asking:
    """What is known of digests, and how more is learned. contents: by digest, what the images' answers have read."""

    def __init__(
        self, lookup: Lookup, answers: Mapping[str, Answer], contents: dict[str, ImageContents]
    ) -> None:
        self._lookup = lookup
        self._answers = answers
        self._contents = contents
        self._failures: dict[str, str] = {}
        self._indexes: dict[str, set[str]] = {}

    def learn(self, builds: Sequence[_RunningImages]) -> None:
        """Ask all rounds of the module."""
        pinned = [build for build in builds if build.identity.form == "digest"]
        loaded = [build for build in builds if build.identity.form == "image" and build.spec]
        self._keep(self._lookup.kept_contents(self._all_parts(builds)))
        self._read(self._index(build) for build in loaded if not self._is_known(build))
        self._take_manifests(pinned)
        of_cri_o = [build for build in pinned if build.runtime.startswith("cri-o:")]
        self._read(self._index(build) for build in of_cri_o if not self._is_known(build))
        for place in (_at_imageid, _at_spec):
            self._read(place(build) for build in pinned if not self._is_known(build))
        for next_part in (self._likely_build, self._config_or_last_build, self._build_of_config):
            self._read(next_part(build) for build in loaded if not self._is_known(build))
        self._take_indexes(builds)
        for build in pinned:
            top = self._contents.get(build.identity.digest)
            if build.spec and build.at_home and top and top.kind == "index":
                self._indexes.setdefault(build.spec.normalised, set()).add(build.identity.digest)

    def known(self, build: _RunningImages) -> Known:
        """What the proof has to go by."""
        current = self._current(build)
        others = sorted(self._indexes.get(build.spec.normalised, ())) if build.spec and build.at_home else []
        return Known(
            self._contents,
            tuple(dict.fromkeys([*([current.digest] if current else []), *others])),
            current.digest if current and current.origin in _ANSWERED_NOW else "",
            self._failure(build),
        )

    def _current(self, build: _RunningImages) -> Found | None:
        """The answer for the pod's image, where it has a digest."""
        answer = self._answers.get(build.spec.normalised) if build.spec and build.at_home else None
        return answer if isinstance(answer, Found) and answer.digest else None

    def _is_known(self, build: _RunningImages) -> bool:
        """The proof needs nothing more."""
        digest = build.identity.digest
        contents, top = self._contents.get(digest), self._top(build)
        if contents and contents.kind == "index":
            return True
        if contents and (
            contents.platform if build.identity.form == "digest" else contents.kind == "manifest"
        ):
            return True
        if top is None or top.kind == "manifest":
            return top is not None and top.config == digest
        names = {child.digest for child in top.children}
        return digest in names or digest in (
            self._contents[name].config for name in names & self._contents.keys()
        )

    def _top(self, build: _RunningImages) -> ImageContents | None:
        """What is behind the answer for the pod's image."""
        current = self._current(build)
        return self._contents.get(current.digest) if current else None

    # The parts of each round; None asks nothing.

    def _all_parts(self, builds: Iterable[_RunningImages]) -> list[Part]:
        """What the rounds may ask for, but for builds of indexes."""
        places = (self._index, _at_imageid, _at_spec)
        parts = (part for build in builds for place in places if (part := place(build)))
        return list({part.reference.normalised: part for part in parts}.values())

    def _index(self, build: _RunningImages) -> Part | None:
        current = self._current(build)
        if not current or not build.spec or current.digest in self._contents:
            return None
        return _part(build.spec, current.digest)

    def _unread(self, build: _RunningImages) -> list[Build]:
        """Builds of the image's index whose configs are not known, the one that the node would take first."""
        top = self._top(build)
        if top is None or build.spec is None:
            return []
        first = taken(top.children, build.os, build.architecture, build.runtime)
        return [
            child
            for child in dict.fromkeys([*first, *top.children])
            if child.digest not in self._contents
            and _part(build.spec, child.digest).reference.normalised not in self._failures
        ]

    def _likely_build(self, build: _RunningImages) -> Part | None:
        unread = self._unread(build)
        return _part(build.spec, unread[0].digest, "manifest") if build.spec and unread else None

    def _config_or_last_build(self, build: _RunningImages) -> Part | None:
        unread = self._unread(build)
        if build.spec is None:
            return None
        if len(unread) == 1:
            return _part(build.spec, unread[0].digest, "manifest")
        return _part(build.spec, build.identity.digest, "config")

    def _build_of_config(self, build: _RunningImages) -> Part | None:
        config = self._contents.get(build.identity.digest)
        if build.spec is None:
            return None
        if config is None:
            return _part(build.spec, build.identity.digest, "config")
        for child in self._unread(build):
            if child.platform == config.platform:
                return _part(build.spec, child.digest, "manifest")
        return None

    # What answers say

    def _read(self, parts: Iterable[Part | None]) -> None:
        wanted = {
            part.reference.normalised: part
            for part in parts
            if part
            and part.reference.normalised not in self._failures
            and part.reference.digest not in self._contents
        }
        for name, answer in self._lookup.contents(list(wanted.values())).items():
            if isinstance(answer, ImageContents):
                self._keep({name: answer})
            else:
                self._failures[name] = answer.cause

    def _keep(self, read: Mapping[str, ImageContents]) -> None:
        for name, contents in read.items():
            self._contents.setdefault(name.rpartition("@")[2], contents)

    def _take_manifests(self, builds: Iterable[_RunningImages]) -> None:
        """A single manifest whose platform is in the image's answer needs no request for its digest."""
        for build in builds:
            current = self._current(build)
            if current and not current.index and current.platforms:
                self._contents.setdefault(
                    current.digest, ImageContents("manifest", platform=current.platforms[0])
                )

    def _take_indexes(self, builds: Iterable[_RunningImages]) -> None:
        """Where an index could not be read: its platforms, without digests of builds."""
        for build in builds:
            current = self._current(build)
            if current and current.index:
                children = tuple(Build("", platform) for platform in current.platforms)
                self._contents.setdefault(current.digest, ImageContents("index", children))

    def _failure(self, build: _RunningImages) -> str:
        if build.identity.form == "image":
            if build.spec is None:
                return "the image in the pod is no reference"
            part = _part(build.spec, build.identity.digest, "config")
            why = self._failures.get(part.reference.normalised, "nothing was asked")
            return f"{build.image} names no build with this config: the tag moved, or the image was loaded ({why})"
        parts = filter(None, (_at_imageid(build), _at_spec(build)))
        causes = [self._failures.get(part.reference.normalised, "") for part in parts]
        return "; ".join(dict.fromkeys(filter(None, causes)))


def _at_imageid(build: _RunningImages) -> Part | None:
    name, digest = build.identity.name, build.identity.digest
    return Part(parse(f"{name}@{digest}")) if name else None


def _at_spec(build: _RunningImages) -> Part | None:
    return _part(build.spec, build.identity.digest) if build.spec and build.identity.digest else None


def _part(spec: Reference, digest: str, kind: Literal["document", "manifest", "config"] = "document") -> Part:
    return Part(spec.replace(tag="", digest=digest), kind)


def _image_facts(reference: str, answer: Answer) -> ImageFacts:
    """The fact for a reference, which may be no reference at all. An index none of whose entries counts is Unknown."""
    if not isinstance(answer, Found):
        return ImageFacts(reference, kind_of(answer), detail=answer.cause)
    use = ImageUse((), reference)
    judged, _ = counted(use, answer, runtime_class=False, wanted=None)
    fact = ImageFacts(
        reference,
        "Found",
        tuple(sorted(map(str, (*answer.platforms, *answer.missing)))),
        digest=answer.digest,
        kind="artifact" if not answer.image else "index" if answer.index else "manifest",
        origin="registry" if answer.origin == "cache" else answer.origin,
        detail=answer.not_there,
    )
    if isinstance(judged, Unknown):
        return fact.replace(answer="Unknown", detail=judged.cause)
    architectures = offered(use, judged, "linux")
    if architectures is None:
        return fact.replace(restricts=False)
    return fact.replace(architectures=tuple(sorted(architectures)))


def found_of(image: ImageFacts) -> Found:
    """The answer that a known image's fact was made of."""
    platforms = tuple(map(parse_platform, image.platforms))
    return Found(platforms, image.digest, image.kind == "index", image.kind != "artifact", image.origin)


def with_programs(facts: AuditFacts, lookup: Lookup, architectures: Sequence[str]) -> AuditFacts:
    """The facts with the programs of images that are known; of several in one image the worst counts."""
    mounted = {use.reference for each in facts.workloads for use in each.images if use.role == "volume"}
    starts_of = {
        image.reference: image.starts or ((_NOT_SAID,) if image.reference not in mounted else ())
        for image in facts.images
        if image.answer == "Found" and image.origin != "override"
    }
    answers = {image.reference: found_of(image) for image in facts.images if image.reference in starts_of}
    uses = [(name, answers[name], start) for name, starts in starts_of.items() for start in starts]
    read = image_programs(lookup, uses, architectures)
    return facts.replace(
        images=tuple(
            image.replace(
                programs=_programs(image.reference, starts_of[image.reference], read, architectures)
            )
            if image.reference in starts_of
            else image
            for image in facts.images
        )
    )


def _programs(
    reference: str, starts: Sequence[Start], read: ProgramsOf, architectures: Sequence[str]
) -> tuple[tuple[str, str, str], ...]:
    rows = []
    for architecture in architectures:
        verdicts = [read(reference, Platform("linux", architecture), start) for start in starts]
        known = sorted(filter(None, verdicts), key=lambda verdict: _WORST_FIRST.index(verdict.state))
        rows += [(architecture, verdict.state, verdict.words) for verdict in known[:1]]
    return tuple(rows)
