"""The newer tags of an audit: which images they are asked for, and what becomes of the answers (`lookup.newer_tags`).

    facts with answers ── work list of the first architecture ── images with state `no`, in its order
                                                                   └─ N repositories at most ── `newer` of ImageFacts

    reference             the text whose tags are asked
    name:tag              itself
    name@digest           the image of a pod that names a tag beside the digest, where one does; else nothing is asked

An upgrade has to keep the architectures of the clusters' Linux nodes that the image has; where nodes were not read,
those of archfit's default. A shard has the answers of its own repositories alone, so it asks for the tags of these, up
to N of them. --timeout counts for the answers and the tags together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.audit.facts import AuditFacts, ImageFacts
from archfit.audit.findings import findings
from archfit.base.errors import InvalidReference
from archfit.images.candidates import NewerTags
from archfit.images.platforms import ARCHITECTURES, Found, Platform, parse_platform
from archfit.lookup.lookup import Lookup
from archfit.lookup.newer_tags import newer_tags
from archfit.options.settings import Options


def with_newer_tags(
    facts: AuditFacts,
    lookup: Lookup,
    required: Sequence[Platform],
    *,
    assume_cpu: int,
    most: int,
    seconds: float,
) -> AuditFacts:
    """The facts with the newer tags of images that lack the first architecture.

    required, assume_cpu: as `findings` takes them. most: how many repositories are asked. seconds: for all of it.
    """
    work = findings(facts, required, assume_cpu=assume_cpu).work_lists[0]
    images = {image.reference: image for image in facts.images}
    lacking = [item.reference for item in work.items if item.state == "no"]
    texts = _texts(facts, lacking)
    answers: dict[str, Found] = {}
    for reference in lacking:
        found = _answer(images[reference])
        if reference in texts and found:
            answers[texts[reference]] = found
    newer = newer_tags(
        lookup,
        answers,
        [Platform("linux", work.architecture)],
        cluster=_cluster(facts),
        seconds=seconds,
        most=most,
    )
    told = {
        reference: _with(images[reference], newer.get(texts.get(reference, "")), work.architecture)
        for reference in lacking
    }
    return facts.replace(images=tuple(told.get(image.reference, image) for image in facts.images))


def _texts(facts: AuditFacts, references: Iterable[str]) -> Mapping[str, str]:
    """The text of each reference whose tags can be asked for."""
    texts = {reference: reference for reference in references if "@" not in reference}
    pinned = {reference for reference in references if "@" in reference}
    written = {
        (use.reference, use.image)
        for workload in facts.workloads
        for use in workload.images
        if use.reference in pinned and ":" in use.image.partition("@")[0].rpartition("/")[2]
    }
    for reference, text in sorted(written):
        texts.setdefault(reference, text)
    return texts


def _answer(image: ImageFacts) -> Found | None:
    try:
        platforms = tuple(map(parse_platform, image.platforms))
    except InvalidReference:
        return None
    return Found(platforms, image.digest, index=image.kind == "index", origin=image.origin)


def _cluster(facts: AuditFacts) -> frozenset[str]:
    """The architectures of Linux nodes; those of archfit's default for snapshots without nodes."""
    names = {node.architecture for node in facts.nodes if node.os == "linux" and not node.virtual}
    if not names or not all(snapshot.nodes for snapshot in facts.snapshots):
        names.update(Options().cluster_architectures)
    return frozenset(names & set(ARCHITECTURES))


def _with(image: ImageFacts, newer: NewerTags | None, architecture: str) -> ImageFacts:
    if newer is None:
        why = "its platforms are stated" if image.origin == "override" else "it names a digest and no tag"
        return image.replace(newer_why=why)
    asked = architecture if newer.asked else ""
    return image.replace(newer=newer.tags, newer_read=newer.read, newer_for=asked, newer_why=newer.why)
