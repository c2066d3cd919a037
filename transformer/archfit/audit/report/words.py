"""The words of an audit that its text, Markdown and page share.

All of it is plain text: each form escapes it in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.audit.amount import Amount, cpu_text, memory_text, percent
from archfit.audit.capacity import Loss
from archfit.audit.clusters import Cluster
from archfit.audit.compare import ArchitectureChange, AuditComparison, WorkloadChange
from archfit.audit.facts import ImageFacts, Standing
from archfit.audit.findings import AuditFindings
from archfit.audit.merge import missing_shards
from archfit.audit.plan.waves import Wave, Waves
from archfit.audit.plan.work_list import WorkItem
from archfit.audit.readiness import DaemonSets, ImageState, Readiness, WorkloadFinding, WorkloadState
from archfit.audit.running.container_images import SUSPICION
from archfit.audit.upgrades.upgrades import Upgrades
from archfit.base.printable import count

_MOST_NAMES = 5
STANDING_WORDS: dict[Standing, str] = {
    "running": "running",
    "pending": "pending",
    "scheduled": "of CronJobs between two runs",
    "manifest": "in manifests",
    "daemonset": "of DaemonSets: they follow the nodes",
    "gated": "held back by scheduling gates",
    "idle": "without pods now",
    "old": "of earlier revisions",
    "finished": "finished",
    "mirror": "of static pods of nodes",
    "virtual": "on virtual nodes",
    "windows": "for Windows",
}
IMAGE_WORDS: dict[ImageState, str] = {
    "yes": "yes",
    "no": "no",
    "fails": "its pods fail there",
    "absent": "gone from its registry",
    "unknown": "not known",
}
NOT_KNOWN = "not known"
WAVE_WORDS = {
    0: "every node", 1: "ready", 2: "newer tag", 3: "build it", 4: "stateful, pinned", 5: "stays", None: NOT_KNOWN,
}  # fmt: skip
_NAMED = 5
_MOST_SENTENCES = 10
FORMULAS = (
    "Readiness is the CPU that pods request whose every image runs on the architecture, divided by the CPU of all pods "
    "that could move and whose images are known. What is not known stands beside it and is never part of it.",
    "Where pods fail with exec format error, or as no build matches the platform of their node, their image is not "
    "ready for that architecture, whatever its registry says.",
    "CPU and memory are what the scheduler counts for a pod: containers, init containers, sidecars and overhead. A "
    "CronJob between two runs counts as its last run.",
    "The work list ranks images by the CPU that could move if that image alone gained the architecture.",
    "DaemonSets are no part of the readiness: they start on the first node of an architecture by themselves, so they "
    "come first.",
    "Static pods, finished and gated pods, pods on virtual nodes and for Windows, and templates that ask for no pods "
    "are counted apart.",
)
WAVE_FORMULA = (
    "The wave of a workload is the first of these that holds. 0: it is a DaemonSet, or serves a webhook. 5: no change "
    "of an image alone moves it. 4: it is a StatefulSet, or its own placement keeps it elsewhere. 3: an image that is "
    "not ready has no newer tag. 2: an image is not ready. 1: all others."
)
UPGRADE_FORMULA = (
    "With newer tags alone: what is ready, and the workloads each of whose images that are not has a newer version "
    "that was read and has the architecture. A tag for one architecture, and latest, are no such version. It is a "
    "hint: no other number counts it."
)


def of_cluster(findings: AuditFindings) -> str:
    """What was looked at: the names of the clusters, or of the first ones."""
    names = [cluster.name for cluster in findings.clusters]
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES - 1 :] = [f"{len(names) - _MOST_NAMES + 1} more clusters"]
    return ", ".join(names) or "nothing"


def cluster_words(one: Cluster) -> str:
    """What is said of a cluster beside its name: `nodes amd64, pools arm64; read 2026-11-23 00:30 UTC`."""
    nodes = f"nodes {', '.join(one.architectures)}" if one.architectures else "nodes not known"
    nodes += f"; pools may bring {', '.join(one.pools)}" if one.pools else ""
    nodes += "; not all pools are known" if one.unread_pools else ""
    return f"{nodes}; {date_words(one)}"


def date_words(one: Cluster) -> str:
    """`read 2026-11-23 00:30 UTC`, or what is known instead."""
    moment = f"{one.date[:10]} {one.date[11:16]} UTC"
    if one.date_by == "input":
        return f"read {moment} or later"
    return f"read {moment}" if one.date else "date not known"


def several(findings: AuditFindings) -> bool:
    """Whether tables need a column for the cluster."""
    return len(findings.facts.snapshots) > 1


def snapshot_names(findings: AuditFindings) -> dict[str, str]:
    """The id of each snapshot -> the name of its cluster."""
    return {cluster.snapshot: cluster.name for cluster in findings.clusters}


def ready_share(readiness: Readiness) -> str:
    """`62.2 %` of what is known; `not known` where nothing is, `-` where nothing could move."""
    ready, known = readiness.share
    if not known and readiness.counted(readiness.unknown):
        return NOT_KNOWN
    return percent(ready, known)


def ready_words(readiness: Readiness) -> str:
    """The share with the word that it needs: `62.2 % ready`, but `not known`."""
    return share_words(ready_share(readiness))


def share_words(share: str) -> str:
    """What `ready_share` gives, with its word."""
    return f"{share} ready" if share.endswith("%") else share


def share_after(readiness: Readiness, item: WorkItem) -> str:
    """The share once this image of the work list and all above it are ready."""
    ready, known = readiness.share
    known += readiness.counted(item.cumulative_unknown)
    return percent(ready + readiness.counted(item.cumulative), known) if known else NOT_KNOWN


def counted_words(readiness: Readiness, amount: Amount) -> str:
    """`2.5 CPU`, or `3 pods` where pods are counted."""
    return f"{cpu_text(amount.cpu)} CPU" if readiness.by_cpu else count(amount.pods, "pod")


def ready_sentence(readiness: Readiness) -> str:
    """`36.1 of 56 requested CPU is ready for arm64; 2 CPU not known`."""
    part, whole = readiness.share
    verb = "is" if readiness.by_cpu or 1 in (part, whole) else "are"
    return ready_amounts(readiness, f" {verb} ready for {readiness.architecture}")


def ready_amounts(readiness: Readiness, ready: str = "") -> str:
    """`36.1 of 56 requested CPU; 2 CPU not known`. ready: words behind the first amount."""
    part, whole = readiness.share
    unknown = readiness.counted(readiness.unknown)
    if not whole and not unknown:
        return f"no pod that could move to {readiness.architecture}"
    more = counted_words(readiness, readiness.unknown)
    if not whole:
        return f"it is not known what of {more} is ready for {readiness.architecture}"
    if readiness.by_cpu:
        words = f"{cpu_text(part)} of {cpu_text(whole)} requested CPU{ready}"
    else:
        words = f"{part} of {count(whole, 'pod')}{ready}"
    return f"{words}; {more} not known" if unknown else words


def upgrade_sentence(findings: AuditFindings) -> str:
    """`With newer tags alone: 36 % -> 61 %; 5 of 12 images have one`; "" where nobody asked for tags."""
    found = findings.upgrades
    if found is None:
        return ""
    first = findings.readiness[0]
    ready, known = first.share
    then = percent(ready + first.counted(found.freed), known)
    return f"With newer tags alone: {ready_share(first)} -> {then}; {upgrade_counts(found)}"


def upgrade_counts(found: Upgrades | None) -> str:
    """`5 of 12 images have one; 3 not asked`, or that nobody was asked."""
    if found is None:
        return "no image was asked for"
    verb = "has" if found.replaceable == 1 else "have"
    words = f"{found.replaceable} of {count(found.asked, 'image')} {verb} one"
    return f"{words}; {found.not_asked} not asked" if found.not_asked else words


def daemon_sentence(daemons: DaemonSets, *, nodes: bool) -> str:
    """What starts on the first node of an architecture, before anything moves. nodes: the cluster has such nodes."""
    first = f"On {daemons.architecture} nodes" if nodes else f"Before the first {daemons.architecture} node"
    if not daemons.starting:
        return f"{first}: no DaemonSet starts there"
    if not daemons.not_ready:
        return f"{first}: {count(daemons.starting, 'DaemonSet')}, ready"
    parts = []
    if daemons.blocked:
        verb = "does" if daemons.blocked == 1 else "do"
        named = _named(daemons, "blocked")
        parts.append(f"{count(daemons.blocked, 'DaemonSet')} {verb} not run there ({named})")
    if daemons.unknown:
        parts.append(f"{count(daemons.unknown, 'DaemonSet')} not known ({_named(daemons, 'unknown')})")
    return f"{first}: {', '.join(parts)}, of {daemons.starting} that would start"


def _named(daemons: DaemonSets, state: WorkloadState) -> str:
    names = [f"{one.namespace}/{one.name}" for one in daemons.not_ready if one.state == state]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def daemon_sentences(findings: AuditFindings) -> Iterator[str]:
    """Of each architecture that matters: those of the nodes, the first one of the findings, those of --require."""
    there = {group.architecture for group in findings.capacity.groups if group.os == "linux"}
    for place, daemons in enumerate(findings.daemon_sets):
        if daemons.not_ready or (daemons.starting and (findings.required or not place)):
            yield f"{daemon_sentence(daemons, nodes=daemons.architecture in there)}."


def everything_runs(findings: AuditFindings) -> bool:
    """Whether each workload that runs or will run was asked for and answered, and runs on every architecture."""
    states = {
        state
        for workload in findings.workloads
        for architecture, state in zip(findings.architectures, workload.states, strict=True)
        if workload.is_required(architecture)
    }
    return states == {"ready"}


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

    def words(amount: Amount) -> str:
        return f"{cpu_text(amount.cpu)} CPU" if amount.cpu else count(amount.pods, "pod")

    if item.alone.pods:
        return f"frees {words(item.alone)} alone"
    if item.partner:
        return f"frees {words(item.together)} together with {item.partner}"
    return f"is one of three or more in {count(item.part.pods, 'pod')}"


def with_second(item: WorkItem) -> str:
    """What the image frees together with its best partner, as `+2.5 with IMAGE`; "" without one."""
    return f"+{cpu_text(item.together.cpu)} with {item.partner}" if item.partner else ""


def used_by(item: WorkItem, most: int) -> str:
    """Who uses an image of the work list: `shop/Deployment/web and 3 more`."""
    shown = item.owners[:most]
    left = item.owner_count - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def wave_name(wave: Wave) -> str:
    """`2 newer tag`; `not known`."""
    return WAVE_WORDS[wave.number] if wave.number is None else f"{wave.number} {WAVE_WORDS[wave.number]}"


def filled(waves: Waves) -> list[Wave]:
    """Those that have workloads, then what is not known."""
    return [one for one in (*waves.waves, waves.unknown) if one.owner_count]


def plans(findings: AuditFindings) -> tuple[Waves, ...]:
    """The waves that a report shows: of the architectures that were asked for, else of the first one."""
    return findings.waves if findings.required else findings.waves[:1]


def done_words(wave: Wave) -> str:
    """`22 of 46 pods done`; of what is not known how many pods it has."""
    if wave.number is None:
        return count(wave.amount.pods, "pod")
    return f"{wave.allowed} of {count(wave.amount.pods, 'pod')} done"


def next_wave(plan: Waves) -> str:
    """Which wave comes next, and what writes its rules."""
    wave = plan.following
    if wave is None:
        return f"Nothing of waves 0 to 4 waits for {plan.architecture}, as far as the waves are known."
    waiting = f", {wave.waiting} of them not ready" if wave.waiting else ""
    return (
        f"Next is wave {wave_name(wave)}: {count(wave.owner_count, 'workload')}{waiting}; {done_words(wave)}. Done are "
        f"pods that run on {plan.architecture} nodes, or may as they are. archfit audit --format rules writes its "
        "rules."
    )


def first_owners(wave: Wave, most: int) -> str:
    """`shop/Deployment/web, shop/Deployment/cart and 7 more`."""
    shown = wave.owners[:most]
    left = wave.owner_count - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


def needed_images(wave: Wave, most: int) -> str:
    """`registry.example/app:1 and 2 more`; "" where it needs none."""
    left = len(wave.images) - most
    return ", ".join(wave.images[:most]) + (f" and {left} more" if left > 0 else "")


def group_rows(findings: AuditFindings) -> Iterator[tuple[str, str, str, tuple[Readiness, ...]]]:
    """Of each group: by what, its name, "", its readiness; then the same of its parts, with the name of the cluster."""
    for group in findings.groups:
        name = group.name or f"without {group.by}"
        yield group.by, name, "", group.readiness
        for part in group.clusters:
            yield group.by, name, part.cluster, part.readiness


def loss_sentences(findings: AuditFindings) -> list[str]:
    """`loss_sentence` of each architecture of each cluster, with its name where there are several."""
    names = snapshot_names(findings) if several(findings) else {}
    return [
        f"{names[loss.snapshot]}: {loss_sentence(loss)}" if loss.snapshot in names else loss_sentence(loss)
        for loss in findings.capacity.losses
    ]


def loss_sentence(loss: Loss) -> str:
    """What would become of the pods without nodes of an architecture."""
    if not loss.others and not loss.bring:
        return f"Without {loss.architecture} nodes, no Linux node is left (virtual ones do not count)."
    words = f"Without {loss.architecture} nodes, "
    words += "" if loss.others else "no Linux node is left until a pool makes one; "
    if loss.stranded.pods:
        words += f"{amount_words(loss.stranded)} would have no node that runs them"
    else:
        words += "no pod that could move would lose its only architecture, as far as the images are known"
    if loss.uncertain.pods:
        words += f"; of {amount_words(loss.uncertain)} this is not known"
    if not loss.moving.pods:
        return f"{words}."
    pools = f"pools may bring {' and '.join(loss.bring)} nodes"
    if not loss.others:
        return f"{words}. {amount_words(loss.moving)} would move: {pools}, within their limits and taints."
    room = "have room" if loss.fits else "have too little room"
    more = f"; {pools}" if loss.bring else ""
    return (
        f"{words}. {amount_words(loss.moving)} would move: {' and '.join(loss.others)} nodes that all of them may use "
        f"{room} ({cpu_text(loss.free_cpu)} CPU, {memory_text(loss.free_memory)}, {count(loss.free_pods, 'pod')} free)"
        f"{more}."
    )


def unknown_reasons(findings: AuditFindings) -> Iterator[str]:
    """Why images are not known: equal causes once, with how many images each, the most frequent first."""
    causes: dict[str, list[str]] = {}
    for image in findings.images:
        if image.facts.answer in ("Unknown", "Malformed", "Unasked"):
            reference = image.facts.reference
            name = reference.partition("@")[0].rpartition(":")[0] or reference
            cause = image.facts.detail.replace(reference, "the image").replace(name, "the image")
            causes.setdefault(cause, []).append(reference)
    ranked = sorted(causes.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for cause, references in ranked[:_MOST_SENTENCES]:
        more = f" (first {references[0]})" if len(references) > 1 else f" ({references[0]})"
        yield f"{count(len(references), 'image')} not known: {cause}{more if references[0] else ''}."
    if len(ranked) > _MOST_SENTENCES:
        left = sum(len(references) for _, references in ranked[_MOST_SENTENCES:])
        yield f"{count(left, 'image')} not known for {count(len(ranked) - _MOST_SENTENCES, 'other reason')}."


def not_known(findings: AuditFindings) -> Iterator[str]:
    """What the numbers leave open beside `unknown_reasons`, a sentence each."""
    answers: dict[str, int] = {}
    for image in findings.images:
        answers[image.facts.answer] = answers.get(image.facts.answer, 0) + 1
    for answer, one, more in (
        (
            "Absent",
            "is gone from its registry: no new node can pull it",
            "are gone from their registries: no new node can pull them",
        ),
        (
            "Unread",
            "belongs to another shard: merge the reports of all shards",
            "belong to other shards: merge the reports of all shards",
        ),
    ):
        if answers.get(answer):
            yield f"{count(answers[answer], 'image')} {one if answers[answer] == 1 else more}."
    failing = [
        f"{image.facts.reference} is not ready for {architecture}: pods on such nodes fail with {evidence}."
        if evidence != SUSPICION
        else f"{image.facts.reference} is not known to run on {architecture}: its pods end there in their first "
        "minute, and nowhere else. `kubectl logs --previous` says why; --live --logs reads it."
        for image in findings.images
        for architecture, evidence in zip(findings.architectures, image.failures, strict=True)
        if evidence
    ]
    yield from failing[:_MOST_SENTENCES]
    if len(failing) > _MOST_SENTENCES:
        yield f"{count(len(failing) - _MOST_SENTENCES, 'image')} more fail in pods."
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
    without = sum(workload.amount.without_cpu for workload in findings.workloads if workload.movable)
    if without:
        remedy = (
            f"each counts as {cpu_text(findings.assume_cpu)} CPU"
            if findings.assume_cpu
            else "they weigh nothing; --assume-cpu 100m gives them a weight"
        )
        yield f"{count(without, 'pod')} without a CPU request: {remedy}."
    if missing := missing_shards(findings.facts):
        names = ", ".join(f"{one.index} of {one.number}" for one in missing[:_MOST_NAMES])
        more = f" and {len(missing) - _MOST_NAMES} more" if len(missing) > _MOST_NAMES else ""
        have = len(findings.facts.shards)
        yield (
            f"This is {have} of {have + len(missing)} shards. The images of the shards that are missing are not known: "
            f"{names}{more}."
        )


def change_groups(change: ArchitectureChange) -> tuple[tuple[str, tuple[WorkloadChange, ...]], ...]:
    """The workloads whose state changed, by what became of them; what needs a look first."""
    return (
        ("regressed", change.regressed),
        ("arrived blocked", change.arrived_blocked),
        ("no longer known", change.no_longer_known),
        ("now known to be ready", change.became_ready),
    )


def change_sentences(since: AuditComparison) -> Iterator[str]:
    """What changed since an earlier audit."""
    before = ", ".join(f"{one.name}, {date_words(one)}" for one in since.before[:_MOST_NAMES])
    if before:
        more = len(since.before) - _MOST_NAMES
        yield f"The audit before: {before}{f' and {more} more clusters' if more > 0 else ''}."
    for found, words in (
        (since.clusters_arrived, "in this audit alone, so its workloads arrived"),
        (since.clusters_gone, "in the audit before alone, so its workloads are gone"),
    ):
        if found:
            yield f"{', '.join(found)}: {words}."
    for change in since.changes:
        counted = [
            f"{count(len(found), 'workload')} {words}" for words, found in change_groups(change) if found
        ]
        counted += [
            f"{count(len(found), 'image')} {words}"
            for words, found in (("gained it", change.images_gained), ("lost it", change.images_lost))
            if found
        ]
        moved = f"{ready_words(change.before)} before, {ready_words(change.after)} now"
        unchanged = "no workload changed its state" if since.stayed else "no workload is in both audits"
        yield f"{change.architecture}: {moved}; {', '.join(counted) or unchanged}."
    yield (
        f"{count(since.arrived, 'workload')} arrived, {since.gone} {'is' if since.gone == 1 else 'are'} gone, "
        f"{since.stayed} stayed."
    )
