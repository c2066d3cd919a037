"""Which builds of images run: what imageIDs (`status.containerStatuses[].imageID`) name, and what that proves.

    imageID                                  form      reported by
    repository@sha256:D                      digest    containerd, CRI-O
    docker-pullable://repository@sha256:D    digest    Docker
    docker://sha256:C                        image     Docker, for an image without a repository
    sha256:C                                 image     containerd, for an image loaded from a file
    64 hexadecimal digits                    image     CRI-O after a restart (cri-o/cri-o#9925)
    (empty)                                  none      the container has not started

D is the digest of what the tag named: an index or a manifest. CRI-O may name the node's manifest instead of the index,
whichever digest sorts first. C is the digest of the image's config; with Docker's containerd store it is D. The
repository may be another than the pod's: a runtime keeps one entry for an image that it has under several names.

Source: kubelet_pods.go; containerd, internal/cri/server/container_status.go and internal/cri/store/image; CRI-O,
internal/storage/image.go; kubernetes/kubernetes issues 31621, 95968 and 115199.

What runtimes take on Linux, in this order; nodes report no CPU variant, and runtimes do not look for one of amd64:

    node     containerd, Docker                 CRI-O
    amd64    amd64, 386                         amd64
    arm64    arm64, arm/v8, v7, v6, v5          arm64
    arm      one of arm, by the CPU             one of arm, by the CPU
    others   their own                          their own

Source: containerd/platforms, compare.go (platformVector); containers/image,
internal/pkg/platform/platform_matcher.go; the tests hold the table against both runtimes' code.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from archfit.audit.running.container_images import EVIDENCE, SUSPICION, reference_of
from archfit.base.errors import InvalidReference
from archfit.base.printable import few
from archfit.facts.facts import BuildFacts, BuildState, ImageFacts
from archfit.images.contents import Build, ImageContents
from archfit.images.platforms import Platform, is_wasm, normalised
from archfit.images.reference import Reference, is_digest, parse
from archfit.images.reference_grammar import IDENTIFIER
from archfit.programs.program import wrong_words
from archfit.startup.record import Record

Failures: TypeAlias = Mapping[tuple[str, str], str]
"""(reference, architecture) -> what pods say of the image on nodes of the architecture, as `exec format error`."""
Form: TypeAlias = Literal["digest", "image", "none", "malformed"]

_LONGEST = 1024
_PREFIXES = ("docker-pullable://", "docker://")
_IDENTIFIER = re.compile(IDENTIFIER, re.ASCII).fullmatch
# `ctr image import` names an image without a name so; no registry has it.
_LOADED = re.compile(r"docker\.io/library/import-\d{4}-\d{2}-\d{2}", re.ASCII).fullmatch


class ImageId(Record):
    """form: as in the module; "malformed" is anything else.

    digest: D or C with `sha256:`, "" where there is none. name: `host/repository` of D in normalised spelling, "" for
    other forms, and for the name that containerd makes up for an image loaded from a file.
    """

    form: Form
    digest: str = ""
    name: str = ""


def image_id(text: str) -> ImageId:
    """What an imageID says. Raises nothing: statuses are not trusted."""
    rest = text.strip()
    if not rest:
        return ImageId("none")
    if len(rest) > _LONGEST:
        return ImageId("malformed")
    for prefix in _PREFIXES:
        rest = rest.removeprefix(prefix)
    if is_digest(rest):
        return ImageId("image", rest)
    if _IDENTIFIER(rest):
        return ImageId("image", f"sha256:{rest}")
    try:
        reference = parse(rest)
    except InvalidReference:
        return ImageId("malformed")
    if not reference.digest:
        return ImageId("malformed")
    return ImageId("digest", reference.digest, "" if _LOADED(reference.name) else reference.name)


_ARM = ("v8", "v7", "v6", "v5")
# What a node may run natively beside its own architecture, and containerd takes.
_ALSO = {
    "amd64": (Platform("linux", "386"),),
    "arm64": tuple(Platform("linux", "arm", variant) for variant in _ARM),
}


class Known(Record):
    """contents: by digest. indexes: digests of the image's indexes, what its tag names now first.

    current: the digest that the tag names now, "" where that is not known, or the image has no tag. failure: why
    nothing is behind the digest of the imageID.
    """

    contents: Mapping[str, ImageContents]
    indexes: Sequence[str] = ()
    current: str = ""
    failure: str = ""


class _Running(Record):
    """Builds one of which runs. index: where they are listed, "" where that is not known."""

    builds: tuple[Build, ...]
    index: str = ""
    none_for_node: bool = False


def proof(build: BuildFacts, known: Known) -> BuildFacts:
    """The build with verdict, platform, digests, reason and hint; evidence and counts stay."""
    identity = image_id(build.image_id)
    if identity.form == "none":
        return _unknown(build, "the container has not started")
    if identity.form == "malformed":
        return _unknown(build, "the runtime reports an imageID that archfit does not know")
    running = _running(build, identity, known)
    if running is None:
        return _unknown(build, known.failure or "nothing is known of its digest")
    judged = _judged(build, running)
    return judged.replace(moved=_moved(build, identity, judged, known))


def taken(children: Sequence[Build], os: str, architecture: str, runtime: str) -> tuple[Build, ...]:
    """Those of an index's builds of which the runtime takes one, () where there is none for the node.

    An entry that states no platform may be taken on any node: containerd reads its config, CRI-O does not look.
    runtime: as nodeInfo.containerRuntimeVersion has it.
    """
    stated = _taken([child for child in children if child.stated], os, architecture, runtime)
    return _distinct([*stated, *(child for child in children if not child.stated)])


def _taken(children: Sequence[Build], os: str, architecture: str, runtime: str) -> tuple[Build, ...]:
    own = [
        child for child in children if (child.platform.os, child.platform.architecture) == (os, architecture)
    ]
    exact = _distinct(child for child in own if child.platform.is_baseline)
    if exact:
        return exact if os != "linux" or architecture == "arm" else exact[:1]
    if os == "linux" and not runtime.startswith("cri-o:"):
        for platform in _ALSO.get(architecture, ()):
            for child in children:
                if child.platform == platform:
                    return (child,)
    return _distinct(own)


def _running(build: BuildFacts, identity: ImageId, known: Known) -> _Running | None:
    digest = identity.digest
    contents = known.contents.get(digest)
    if contents and contents.kind == "index":
        builds = taken(contents.children, build.node_os or "linux", build.node_architecture, build.runtime)
        if not build.node_architecture:
            return _Running(contents.children, digest)
        wasm = tuple(child for child in contents.children if is_wasm(child.platform))
        return _Running((*builds, *wasm) or contents.children, digest, none_for_node=not (builds or wasm))
    listing = {name: known.contents[name] for name in known.indexes if name in known.contents}
    for name, index in listing.items():
        for child in index.children:
            manifest = known.contents.get(child.digest)
            if child.digest == digest or (manifest and manifest.config == digest):
                return _Running((child,), name)
    for name, manifest in listing.items():  # the tag names a manifest alone
        if manifest.kind == "manifest" and manifest.config == digest and manifest.platform:
            return _Running((Build(name, manifest.platform),))
    if contents and contents.platform:
        return _Running((Build(digest if contents.kind == "manifest" else "", contents.platform),))
    return None


def _judged(build: BuildFacts, running: _Running) -> BuildFacts:
    node = f"{build.node_os or 'linux'}/{build.node_architecture}"
    builds = running.builds
    if not builds:
        return _unknown(build, "its index lists no build")
    platforms = _listed(str(child.platform) for child in builds)
    if len(builds) > 1:
        if running.none_for_node:
            reason = (
                f"the index has no build for {node}, only {platforms}: it is emulated, or the container fails"
            )
            return build.replace(verdict="mismatch", index=running.index, reason=reason)
        reason = (
            f"the index has several builds for {node}: {platforms}"
            if build.node_architecture
            else f"the node is not known, and the index has {platforms}"
        )
        return build.replace(verdict="ambiguous", index=running.index, reason=reason)
    child = builds[0]
    proven = build.replace(
        verdict="proven", platform=str(child.platform), manifest=child.digest, index=running.index
    )
    if not build.node_architecture:
        return proven.replace(reason="the node is not known, so that the two cannot be compared")
    own = normalised(build.node_os or "linux", build.node_architecture)
    if is_wasm(child.platform):
        return proven.replace(reason="WebAssembly, which a runtime class runs on any node")
    if child.platform in _ALSO.get(build.node_architecture, ()) and own.os == "linux":
        return proven.replace(reason=f"{child.platform} (32-bit) on {build.node_architecture}")
    if (child.platform.os, child.platform.architecture) != (own.os, own.architecture):
        reason = f"{child.platform} on {node}: it is emulated, or the container fails"
        return proven.replace(verdict="mismatch", reason=reason)
    return proven


def _moved(build: BuildFacts, identity: ImageId, judged: BuildFacts, known: Known) -> str:
    """What the tag names now, where that is not what runs; "" too where it cannot be told."""
    current = known.contents.get(known.current)
    if current is None or known.current in (judged.index, judged.manifest):
        return ""
    reference = parse(build.image)  # a registry has answered for it
    if not reference.tag:
        return ""
    # Of another repository the index may be another one although the tag has not moved.
    elsewhere = identity.name not in ("", reference.name)
    if elsewhere or not (judged.index or judged.manifest):
        return ""
    if any(child.digest == judged.manifest for child in current.children if judged.manifest):
        return ""
    if not judged.index and current.kind == "index" and not all(child.digest for child in current.children):
        return ""
    return _changes(reference, judged, current, known)


def _changes(reference: Reference, judged: BuildFacts, current: ImageContents, known: Known) -> str:
    before = known.contents.get(judged.index)
    now = _offered(current)
    other = f"{reference.name}:{reference.tag} names another image now"
    if before is None:
        return f"{other}, with {_listed(sorted(now))}"
    gained, lost = now - _offered(before), _offered(before) - now
    parts = [f"with {_listed(sorted(gained))} in addition"] if gained else []
    parts += [f"without {_listed(sorted(lost))}"] if lost else []
    return f"{other}, {' and '.join(parts) or 'for the same platforms'}"


def _offered(contents: ImageContents) -> set[str]:
    if contents.kind == "index":
        return {str(child.platform) for child in contents.children}
    return {str(contents.platform)} if contents.platform else set()


def _distinct(builds: Iterable[Build]) -> tuple[Build, ...]:
    return tuple(dict.fromkeys(builds))  # an index may list the same manifest twice


def _listed(texts: Iterable[str]) -> str:
    return few(list(dict.fromkeys(texts)), 5)


def _unknown(build: BuildFacts, reason: str) -> BuildFacts:
    return build.replace(verdict="unknown", reason=reason)


_VERDICTS: tuple[BuildState, ...] = ("proven", "mismatch", "ambiguous", "unknown", "unread")


class VerdictCount(Record):
    """containers: how many run so, over all pods. kinds: how many different ones (workload, container, image, node)."""

    verdict: BuildState
    kinds: int
    containers: int


class ReasonCount(Record):
    """Why builds are not proven, the most frequent reason first."""

    verdict: BuildState
    reason: str
    containers: int


class NodeFault(Record):
    """A node that fails with an image which other nodes of its architecture run. evidence: as `exec format error`."""

    snapshot: str
    node: str
    architecture: str
    image: str
    evidence: str


class BuildFindings(Record):
    """mismatches: by verdict. evidence: builds whose pods say that they do not run, or cannot be pulled.

    damaged: what nodes fail with that is not the image's fault. moved: builds whose tag names another index now.
    """

    verdicts: tuple[VerdictCount, ...]
    reasons: tuple[ReasonCount, ...]
    mismatches: tuple[BuildFacts, ...]
    evidence: tuple[BuildFacts, ...]
    moved: tuple[BuildFacts, ...]
    damaged: tuple[NodeFault, ...]


def build_findings(builds: Sequence[BuildFacts], damaged: tuple[NodeFault, ...]) -> BuildFindings:
    """What is to be said of the builds, in the order of the facts."""
    kinds = Counter(build.verdict for build in builds)
    containers: Counter[BuildState] = Counter()
    reasons: Counter[tuple[BuildState, str]] = Counter()
    for build in builds:
        containers[build.verdict] += build.pods
        if build.verdict in {"ambiguous", "unknown"}:
            reasons[build.verdict, build.reason] += build.pods
    return BuildFindings(
        tuple(
            VerdictCount(verdict, kinds[verdict], containers[verdict])
            for verdict in _VERDICTS
            if kinds[verdict]
        ),
        tuple(
            ReasonCount(*key, number)
            for key, number in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        tuple(build for build in builds if build.verdict == "mismatch"),
        tuple(build for build in builds if build.evidence),
        tuple(build for build in builds if build.moved),
        damaged,
    )


def reported_failures(builds: Sequence[BuildFacts]) -> tuple[Failures, tuple[NodeFault, ...]]:
    """What pods say of images on nodes of an architecture, the strongest evidence of each; and what says it of a node.

    A container that is Ready acquits its image there, by the imageID where both have one: what fails all the same has
    another reason, and `exec format error` is a damaged copy of the node. A suspicion counts on one of several
    architectures alone: a program that fails on each of them fails for a reason of its own.
    """
    strongest: dict[tuple[str, str], str] = {}
    faults: dict[tuple[str, str, str, str], str] = {}
    on_linux = [build for build in builds if build.node_os in ("linux", "")]
    runs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for build in on_linux:
        if build.ready:
            runs[reference_of(build.image), build.node_architecture].add(build.image_id)
    for build in on_linux:
        if build.evidence not in EVIDENCE:
            continue
        key = reference_of(build.image), build.node_architecture
        if build.image_id in runs[key] or (runs[key] and not build.image_id):
            names = build.failing if build.evidence != SUSPICION else ()
            for name in names:
                fault = build.snapshot, name, key[1], key[0]
                faults[fault] = min(faults.get(fault, SUSPICION), build.evidence, key=EVIDENCE.index)
        else:
            strongest[key] = min(strongest.get(key, SUSPICION), build.evidence, key=EVIDENCE.index)
    suspected = Counter(reference for (reference, _), word in strongest.items() if word == SUSPICION)
    several = len({build.node_architecture for build in on_linux}) > 1
    failures = {
        key: word
        for key, word in strongest.items()
        if word != SUSPICION or (several and suspected[key[0]] == 1)
    }
    return failures, tuple(NodeFault(*fault, faults[fault]) for fault in sorted(faults))


def wrong_programs(images: Iterable[ImageFacts]) -> Failures:
    """What images start that is not for the architecture of their entry."""
    return {
        (image.reference, architecture): wrong_words(Platform("linux", architecture), words)
        for image in images
        for architecture, state, words in image.programs
        if state == "wrong"
    }
