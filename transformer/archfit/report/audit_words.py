"""The words of an audit that its text, Markdown and page share.

Everything here is plain text; each output escapes it in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.cluster.audit_amount import Amount, cpu_text, percent
from archfit.cluster.audit_capacity import Loss
from archfit.cluster.audit_compare import ArchitectureChange, AuditComparison, WorkloadChange
from archfit.cluster.audit_facts import ImageFacts, Standing
from archfit.cluster.audit_findings import AuditFindings
from archfit.cluster.audit_merge import missing_shards
from archfit.cluster.audit_readiness import ImageState, Readiness, WorkloadFinding
from archfit.cluster.audit_work_list import WorkItem
from archfit.printable import count

STANDING_WORDS: dict[Standing, str] = {
    "running": "running",
    "pending": "pending",
    "manifest": "in manifests",
    "daemonset": "DaemonSets: they follow the nodes",
    "gated": "held back by scheduling gates",
    "idle": "without pods now: CronJobs between runs, old ReplicaSets",
    "finished": "finished",
    "mirror": "static pods of nodes",
    "virtual": "on virtual nodes",
    "windows": "for Windows",
}
IMAGE_WORDS: dict[ImageState, str] = {
    "yes": "yes",
    "no": "no",
    "absent": "gone from its registry",
    "unknown": "not known",
}
WORK_WORDS = {"no": "build it", "absent": "push it again", "unknown": "find out"}
FORMULAS = (
    "Readiness is the CPU that pods request whose every image has the architecture, divided by the CPU of all pods "
    "that could move. An image that could not be asked never counts as ready.",
    "CPU and memory are what the scheduler counts for a pod: containers, init containers, sidecars and overhead.",
    "The work list ranks images by the CPU that becomes free to move if that image alone gains the architecture.",
    "DaemonSets, static pods, finished and gated pods, pods on virtual nodes and for Windows, and templates without "
    "pods are counted apart.",
)


def of_cluster(findings: AuditFindings) -> str:
    """What was looked at: the names of the snapshots."""
    return (
        ", ".join(dict.fromkeys(snapshot.name or snapshot.id for snapshot in findings.facts.snapshots))
        or "nothing"
    )


def several(findings: AuditFindings) -> bool:
    """Whether tables need a column for the cluster."""
    return len(findings.facts.snapshots) > 1


def snapshot_names(findings: AuditFindings) -> dict[str, str]:
    """The id -> the name for people; the id is added where two have one name."""
    names = [snapshot.name for snapshot in findings.facts.snapshots]
    return {
        one.id: one.name if names.count(one.name) == 1 and one.name else f"{one.name} {one.id}".strip()
        for one in findings.facts.snapshots
    }


def ready_share(readiness: Readiness) -> str:
    """`62.2 %`."""
    return percent(*readiness.share)


def share_after(readiness: Readiness, freed: Amount) -> str:
    """The share once that much more is ready."""
    total = readiness.total
    if readiness.by_cpu:
        return percent(readiness.ready.cpu + freed.cpu, total.cpu)
    return percent(readiness.ready.pods + freed.pods, total.pods)


def ready_sentence(readiness: Readiness) -> str:
    """`36.1 of 58 requested CPU is ready for arm64`."""
    part, whole = readiness.share
    if not whole:
        return f"no pod that could move to {readiness.architecture}"
    if readiness.by_cpu:
        return f"{cpu_text(part)} of {cpu_text(whole)} requested CPU is ready for {readiness.architecture}"
    return (
        f"{part} of {count(whole, 'pod')} {'is' if part == 1 else 'are'} ready for {readiness.architecture}"
    )


def amount_words(amount: Amount) -> str:
    """`12.5 CPU in 8 pods of 3 workloads`."""
    return (
        f"{cpu_text(amount.cpu)} CPU in {count(amount.pods, 'pod')} of {count(amount.workloads, 'workload')}"
    )


def runs_on(image: ImageFacts) -> str:
    """The architectures of an image, or why they are not known."""
    if image.answer == "Found":
        return (", ".join(image.architectures) or "no Linux node") if image.restricts else "anywhere"
    words = {"Absent": "gone from its registry", "Unread": "not asked: it belongs to another shard"}
    return f"{words.get(image.answer, 'not known')}{f': {image.detail}' if image.detail else ''}"


def title(workload: WorkloadFinding) -> str:
    """`namespace/Kind/name`."""
    facts = workload.facts
    return "/".join(part for part in (facts.namespace, facts.kind, facts.name) if part)


def gain(item: WorkItem) -> str:
    """What the image brings, in words."""
    if item.alone.pods:
        alone = f"{cpu_text(item.alone.cpu)} CPU" if item.alone.cpu else count(item.alone.pods, "pod")
        return f"frees {alone} alone"
    if item.partner:
        return f"frees {cpu_text(item.together.cpu)} CPU together with {item.partner}"
    return f"is one of three or more in {count(item.part.pods, 'pod')}"


def loss_sentence(loss: Loss) -> str:
    """What would become of the pods without nodes of an architecture."""
    if not loss.others:
        return f"All Linux nodes are {loss.architecture}: without them nothing runs."
    stranded = amount_words(loss.stranded) if loss.stranded.pods else "no pod is known that"
    words = f"Without {loss.architecture} nodes {stranded} could run nowhere"
    if loss.uncertain.pods:
        words += f", and perhaps {amount_words(loss.uncertain)} (images that are not known)"
    if not loss.moving.pods:
        return f"{words}."
    fits = "which fits in" if loss.moving.cpu <= loss.free_cpu else "for which there is too little room in"
    return (
        f"{words}. {amount_words(loss.moving)} would move, {fits} the {cpu_text(loss.free_cpu)} CPU that "
        f"{' and '.join(loss.others)} nodes have free."
    )


def not_known(findings: AuditFindings) -> Iterator[str]:
    """What the numbers leave open, a sentence each."""
    answers: dict[str, int] = {}
    for image in findings.images:
        if image.used.pods or image.apart.pods or image.used.workloads:
            answers[image.facts.answer] = answers.get(image.facts.answer, 0) + 1
    for answer, one, more in (
        (
            "Unknown",
            "could not be looked up: its pods do not count as ready",
            "could not be looked up: their pods do not count as ready",
        ),
        (
            "Absent",
            "is gone from its registry: no new node can pull it",
            "are gone from their registries: no new node can pull them",
        ),
        (
            "Unasked",
            "has no name to look up, and does not count as ready",
            "have no name to look up, and do not count as ready",
        ),
        ("Malformed", "is no image reference", "are no image references"),
        (
            "Unread",
            "belongs to another shard: merge the reports of all shards",
            "belong to other shards: merge the reports of all shards",
        ),
    ):
        if answers.get(answer):
            yield f"{count(answers[answer], 'image')} {one if answers[answer] == 1 else more}."
    for snapshot in findings.facts.snapshots:
        if not snapshot.nodes and snapshot.source != "manifests":
            yield (
                f"{snapshot.name or snapshot.id} holds no nodes: which build runs, what nodes have free and what could "
                "run nowhere is not known. Add `nodes` to the list."
            )
    without = sum(workload.amount.without_cpu for workload in findings.workloads if workload.movable)
    if without:
        remedy = (
            f"each counts as {cpu_text(findings.assume_cpu)} CPU"
            if findings.assume_cpu
            else "they weigh nothing; --assume-cpu 100m gives them a weight"
        )
        yield f"{count(without, 'pod')} without a CPU request: {remedy}."
    if findings.facts.shards:
        have = len(findings.facts.shards)
        of = have + len(missing_shards(findings.facts))
        if have < of:
            yield f"This is {have} of {of} shards."


def change_groups(change: ArchitectureChange) -> tuple[tuple[str, tuple[WorkloadChange, ...]], ...]:
    """The workloads whose state changed, by what became of them; what needs a look first."""
    return (
        ("regressed", change.regressed),
        ("arrived blocked", change.arrived_blocked),
        ("no longer known", change.no_longer_known),
        ("became ready", change.became_ready),
    )


def change_sentences(since: AuditComparison) -> Iterator[str]:
    """What changed since an earlier audit."""
    for change in since.changes:
        counted = [
            f"{count(len(found), 'workload')} {words}" for words, found in change_groups(change) if found
        ]
        counted += [
            f"{count(len(found), 'image')} {words}"
            for words, found in (("gained it", change.images_gained), ("lost it", change.images_lost))
            if found
        ]
        moved = f"{ready_share(change.before)} ready before, {ready_share(change.after)} now"
        yield f"{change.architecture}: {moved}; {', '.join(counted) or 'no workload changed its state'}."
    yield (
        f"{count(since.arrived, 'workload')} arrived, {since.gone} {'is' if since.gone == 1 else 'are'} gone, "
        f"{since.stayed} stayed."
    )
