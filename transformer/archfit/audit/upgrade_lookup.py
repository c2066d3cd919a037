"""The newer tags of an audit: which images they are asked for, and what becomes of the answers (`lookup.newer_tags`).

An upgrade has to keep the architectures of the clusters' Linux nodes and pools that the image has; where nodes were not
read, those of archfit's default. A shard has the answers of its own repositories alone, so it asks for their tags, up
to N of them. --timeout counts for the answers and the tags together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from archfit.audit.build_lookup import found_of
from archfit.audit.clusters import brought
from archfit.audit.findings import AuditFindings, findings
from archfit.audit.upgrades import lacking_images
from archfit.facts.facts import AuditFacts, ImageFacts
from archfit.images.candidates import NewerTags
from archfit.images.platforms import ARCHITECTURES, Platform
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
    report = findings(facts, required, assume_cpu=assume_cpu)
    architecture = report.architectures[0]
    images = {image.reference: image for image in facts.images}
    lacking = _lacking(report)
    texts = _texts(facts, lacking)
    answers = {text: found_of(images[reference]) for reference, text in texts.items()}
    wanted = [Platform("linux", architecture)]
    newer = newer_tags(lookup, answers, wanted, cluster=_cluster(facts), seconds=seconds, most=most)
    searched = {
        reference: _with(images[reference], newer.get(texts.get(reference, "")), architecture)
        for reference in lacking
    }
    return facts.replace(images=tuple(searched.get(image.reference, image) for image in facts.images))


def _lacking(report: AuditFindings) -> list[str]:
    """The images that are known to lack the first architecture, the most urgent first.

    Those of DaemonSets, which start on the first node; of the work list, in its order; of what else will run.
    """
    known = {image.facts.reference for image in report.images if image.states[0] == "no"}
    ordered = [reference for daemon in report.daemon_sets[0].not_ready for reference in daemon.images]
    ordered += [item.reference for item in report.work_lists[0].items]
    ordered += sorted(lacking_images(report.architectures[0], report.workloads))
    return [reference for reference in dict.fromkeys(ordered) if reference in known]


def _texts(facts: AuditFacts, references: Sequence[str]) -> Mapping[str, str]:
    """The text of each reference whose tags can be asked for: of a digest that of a pod which names a tag beside it."""
    texts = {reference: reference for reference in references if "@" not in reference}
    pinned = {*references} - texts.keys()
    written = {
        (use.reference, use.image)
        for workload in facts.workloads
        for use in workload.images
        if use.reference in pinned and ":" in use.image.partition("@")[0].rpartition("/")[2]
    }
    for reference, text in sorted(written):
        texts.setdefault(reference, text)
    return texts


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
    newer_for = architecture if newer.searched else ""
    return image.replace(newer=newer.tags, newer_read=newer.read, newer_for=newer_for, newer_why=newer.why)
