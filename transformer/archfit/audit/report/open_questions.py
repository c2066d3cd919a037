"""What the numbers of an audit leave open, a sentence each: images, programs, labels, nodes, tags and shards."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from archfit.audit.amount import cpu_text
from archfit.audit.findings import AuditFindings
from archfit.audit.places import Lack
from archfit.audit.readiness import title
from archfit.audit.report.words import lack_words, plans
from archfit.audit.running.container_images import EVIDENCE, SUSPICION
from archfit.base.printable import count, few
from archfit.facts.merge import missing_shards

_MOST_SENTENCES = 10
_NAMED = 5


def unknown_reasons(findings: AuditFindings) -> Iterator[str]:
    """Why images are not known: equal causes once, with how many images each, the most frequent first."""
    causes: dict[str, list[str]] = defaultdict(list)
    for image in findings.images:
        if image.facts.answer in ("Unknown", "Malformed", "Unasked"):
            reference = image.facts.reference
            name = reference.partition("@")[0].rpartition(":")[0] or reference
            cause = image.facts.detail.replace(reference, "the image").replace(name, "the image")
            causes[cause].append(reference)
    ranked = sorted(causes.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for cause, references in ranked[:_MOST_SENTENCES]:
        more = f" (first {references[0]})" if len(references) > 1 else f" ({references[0]})"
        yield f"{count(len(references), 'image')} not known: {cause}{more if references[0] else ''}."
    if len(ranked) > _MOST_SENTENCES:
        left = sum(len(references) for _, references in ranked[_MOST_SENTENCES:])
        yield f"{count(left, 'image')} not known for {count(len(ranked) - _MOST_SENTENCES, 'other reason')}."


def not_known(findings: AuditFindings) -> Iterator[str]:
    """What the numbers leave open beside `unknown_reasons`, a sentence each."""
    yield from _without_answer(findings)
    yield from _failing(findings)
    yield from placement_sentences(findings)
    yield from _unread_programs(findings)
    yield from _without_nodes_or_tags(findings)
    without = sum(workload.amount.without_cpu for workload in findings.workloads if workload.movable)
    if without:
        they, them = ("it weighs", "it") if without == 1 else ("they weigh", "them")
        remedy = (
            f"each counts as {cpu_text(findings.assume_cpu)} CPU"
            if findings.assume_cpu
            else f"{they} nothing; --assume-cpu 100m gives {them} a weight"
        )
        yield f"{count(without, 'pod')} without a CPU request: {remedy}."
    if missing := [f"{shard.index} of {shard.number}" for shard in missing_shards(findings.facts)]:
        have = len(findings.facts.shards)
        yield (
            f"This is {have} of {have + len(missing)} shards. The images of the shards that are missing are not known: "
            f"{few(missing, _NAMED)}."
        )
    yield from pin_sentences(findings)


def _without_answer(findings: AuditFindings) -> Iterator[str]:
    answers = Counter(image.facts.answer for image in findings.images)
    if absent := answers["Absent"]:
        gone, them = (
            ("is gone from its registry", "it") if absent == 1 else ("are gone from their registries", "them")
        )
        yield f"{count(absent, 'image')} {gone}: no new node can pull {them}."
    if unread := answers["Unread"]:
        words = "belongs to another shard" if unread == 1 else "belong to other shards"
        yield f"{count(unread, 'image')} {words}: merge the reports of all shards."


def _failing(findings: AuditFindings) -> Iterator[str]:
    failing = [
        f"{image.facts.reference} is not ready for {architecture}: {_failure(evidence)}."
        if evidence != SUSPICION
        else f"{image.facts.reference} is not known to run on {architecture}: its pods end there in their first "
        "minute, and nowhere else. `kubectl logs --previous` says why; --live --logs reads it."
        for image in findings.images
        for architecture, evidence in zip(findings.architectures, image.failures, strict=True)
        if evidence
    ]
    yield from (
        f"Node {fault.node} fails with {fault.evidence} of {fault.image}, which runs in other containers on "
        f"{fault.architecture}: the node's copy is damaged. Remove it there: crictl rmi {fault.image}"
        for fault in findings.builds.damaged[:_MOST_SENTENCES]
    )
    yield from failing[:_MOST_SENTENCES]
    if len(failing) > _MOST_SENTENCES:
        yield f"{count(len(failing) - _MOST_SENTENCES, 'image')} more fail."


def _failure(evidence: str) -> str:
    return (
        f"pods on such nodes fail with {evidence}"
        if evidence in EVIDENCE
        else f"{evidence}; repair its build"
    )


def placement_sentences(findings: AuditFindings) -> Iterator[str]:
    """The labels that keep workloads off the architectures of the plans, and those of which nothing is known there."""
    for plan in plans(findings):
        index = findings.architectures.index(plan.architecture)
        named: dict[Lack | str, list[str]] = defaultdict(list)
        for row in findings.workloads:
            lack = row.lacks[index] if row.lacks else None
            what = lack or (row.unsaid[index] if row.unsaid else "")
            if what and row.waves[index] is not None:
                named[what].append(title(row.owner))
        for what, owners in sorted(named.items(), key=lambda pair: (-len(pair[1]), str(pair[0])))[:_NAMED]:
            names = few(sorted(set(owners)), 2)
            if isinstance(what, Lack):
                yield f"Kept off {plan.architecture} by a label: {names}. {lack_words(what, plan.architecture)}."
            else:
                yield (
                    f"Not known for {names}: whether {plan.architecture} nodes have {what}. "
                    "No node or pool that was read says it."
                )
        if len(named) > _NAMED:
            yield f"{count(len(named) - _NAMED, 'more label')} keep workloads off {plan.architecture}, or may."


def _unread_programs(findings: AuditFindings) -> Iterator[str]:
    unread: dict[str, list[str]] = defaultdict(list)
    for image in findings.images:
        for architecture, state, why in image.facts.programs:
            if state == "unread" and architecture in findings.architectures:
                unread[why].append(f"{image.facts.reference} for {architecture}")
    for why, which in sorted(unread.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        yield f"{count(len(which), 'program')} not read: {why} ({few(which, 3)})."


def _without_nodes_or_tags(findings: AuditFindings) -> Iterator[str]:
    for snapshot in findings.facts.snapshots:
        if not snapshot.nodes and snapshot.source != "manifests":
            yield (
                f"{snapshot.name or snapshot.id} holds no nodes: which build runs, what nodes have free and what could "
                "run nowhere is not known. Add `nodes` to the list."
            )
    for plan in plans(findings):
        if plan.unasked:
            yield (
                f"{count(plan.unasked, 'image')} of others: nobody asked whether a newer tag runs on "
                f"{plan.architecture}, so the wave is not known. Add --newer-tags, or --own GLOB for images that you "
                "build."
            )
        if plan.undecided:
            yield (
                f"{count(plan.undecided, 'image')} of others: no newer tag that runs on {plan.architecture} is known, "
                "and none is ruled out, so the wave is not known. Add --own GLOB for images that you build."
            )


def pin_sentences(findings: AuditFindings) -> Iterator[str]:
    """The workloads that nothing but an architecture which they name keeps off those of the plans."""
    for plan in plans(findings):
        index = findings.architectures.index(plan.architecture)
        pinned = {
            title(row.owner)
            for row in findings.workloads
            if row.waves[index] is not None
            and row.states[index] == "ready"
            and not row.goes_to(plan.architecture)
            and not any(row.lacks[index : index + 1])
        }
        if pinned:
            yield (
                f"Kept off {plan.architecture} by their own nodeSelector or affinity, though their images run there: "
                f"{few(sorted(pinned), _NAMED)}."
            )
