"""The newer tags of an audit: which images they are asked for, and what becomes of the answers (`lookup.newer_tags`).

    facts with answers ── images with state `no`, for the first architecture ── N repositories ── `newer` of ImageFacts
                           1  of DaemonSets, which start on the first node
                           2  of the work list, in its order
                           3  of other workloads that will run: gated ones, those without pods

    reference             the text whose tags are asked
    name:tag              itself
    name@digest           the image of a pod that names a tag beside the digest, where one does; else nothing is asked

An upgrade has to keep the architectures of the clusters' Linux nodes and pools that the image has; where nodes were not
read, those of archfit's default. A shard has the answers of its own repositories alone, so it asks for their tags, up
to N of them. --timeout counts for the answers and the tags together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.audit.clusters import brought
from archfit.audit.facts import AuditFacts, ImageFacts
from archfit.audit.findings import AuditFindings, findings
from archfit.audit.upgrades.upgrades import lacking_images
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
    found = findings(facts, required, assume_cpu=assume_cpu)
    architecture = found.architectures[0]
    images = {image.reference: image for image in facts.images}
    lacking = _lacking(found)
    texts = _texts(facts, lacking)
    answers: dict[str, Found] = {}
    for reference in lacking:
        answer = _answer(images[reference])
        if reference in texts and answer:
            answers[texts[reference]] = answer
    newer = newer_tags(
        lookup,
        answers,
        [Platform("linux", architecture)],
        cluster=_cluster(facts),
        seconds=seconds,
        most=most,
    )
    told = {
        reference: _with(images[reference], newer.get(texts.get(reference, "")), architecture)
        for reference in lacking
    }
    return facts.replace(images=tuple(told.get(image.reference, image) for image in facts.images))


def _lacking(found: AuditFindings) -> list[str]:
    """The images that are known to lack the first architecture, the most urgent first; see the module."""
    known = {image.facts.reference for image in found.images if image.states[0] == "no"}
    ordered = [reference for one in found.daemon_sets[0].not_ready for reference in one.images]
    ordered += [item.reference for item in found.work_lists[0].items]
    ordered += sorted(lacking_images(found.architectures[0], 0, found.workloads))
    return [reference for reference in dict.fromkeys(ordered) if reference in known]


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
    """The architectures of Linux nodes and pools; those of archfit's default for snapshots without nodes."""
    names = {node.architecture for node in facts.nodes if node.os == "linux" and not node.virtual}
    names = names.union(*brought(facts.pools).values())
    if not names or not all(snapshot.nodes for snapshot in facts.snapshots):
        names.update(Options().cluster_architectures)
    return frozenset(names & set(ARCHITECTURES))


def _with(image: ImageFacts, newer: NewerTags | None, architecture: str) -> ImageFacts:
    if newer is None:
        why = "its platforms are stated" if image.origin == "override" else "it names a digest and no tag"
        return image.replace(newer_why=why)
    asked = architecture if newer.searched else ""
    return image.replace(newer=newer.tags, newer_read=newer.read, newer_for=asked, newer_why=newer.why)
