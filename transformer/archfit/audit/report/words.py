"""The words of an audit that its text, Markdown and page share.

All of it is plain text: each form escapes it in its own way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from archfit.audit.amount import Amount, cpu_text, memory_text, percent
from archfit.audit.capacity import Loss
from archfit.audit.clusters import Cluster
from archfit.audit.compare import ArchitectureChange, AuditComparison, WorkloadChange
from archfit.audit.findings import AuditFindings
from archfit.audit.places import Lack
from archfit.audit.plan.waves import Wave, Waves
from archfit.audit.plan.work_list import WorkItem
from archfit.audit.readiness import DaemonSets, ImageState, Readiness, WorkloadState
from archfit.audit.upgrades import Upgrades
from archfit.base.printable import count, few
from archfit.facts.facts import ImageFacts, PodState, Standing

_NAMED = 5
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
    "fails": "it fails there",
    "absent": "gone from its registry",
    "unknown": "not known",
}
_POD_WORDS: dict[PodState, str] = {
    "unschedulable": "unschedulable", "pending": "pending", "crashing": "crashing", "unready": "not Ready",
}  # fmt: skip
NOT_KNOWN = "not known"
_WAVE_WORDS = ("every node", "ready", "newer tag", "build it", "stateful, pinned", "stays")


def of_cluster(findings: AuditFindings) -> str:
    """What was looked at: the names of the clusters, or of the first ones."""
    names = [cluster.name for cluster in findings.clusters]
    if len(names) > _NAMED:
        names[_NAMED - 1 :] = [f"{len(names) - _NAMED + 1} more clusters"]
    return ", ".join(names) or "nothing"


def cluster_words(cluster: Cluster) -> str:
    """What is said of a cluster beside its name: `nodes amd64, pools arm64; read 2026-11-23 00:30 UTC`."""
    nodes = f"nodes {', '.join(cluster.architectures)}" if cluster.architectures else "nodes not known"
    nodes += f"; pools may bring {', '.join(cluster.pools)}" if cluster.pools else ""
    nodes += "; not all pools are known" if cluster.unread_pools else ""
    return f"{nodes}; {_date_words(cluster)}"


def _date_words(cluster: Cluster) -> str:
    moment = f"{cluster.date[:10]} {cluster.date[11:16]} UTC"
    if cluster.date_by == "input":
        return f"read {moment} or later"
    return f"read {moment}" if cluster.date else "date not known"


def several(findings: AuditFindings) -> dict[str, str]:
    """`snapshot_names` where there are several clusters, {} where nothing needs to say which one it is."""
    return snapshot_names(findings) if len(findings.clusters) > 1 else {}


def snapshot_names(findings: AuditFindings) -> dict[str, str]:
    """The id of each snapshot -> the name of its cluster."""
    return {cluster.snapshot: cluster.name for cluster in findings.clusters}


def ready_share(readiness: Readiness) -> str:
    """`62.2 %` of all that could move; `not known` where nothing is, `-` where nothing could move."""
    ready, whole = readiness.share
    return NOT_KNOWN if whole and not readiness.is_known else percent(ready, whole)


def unknown_share(readiness: Readiness) -> str:
    """`3.4 %`: what of all that could move is not known; "" for nothing."""
    unknown = readiness.counted(readiness.unknown)
    return percent(unknown, readiness.counted(readiness.total)) if unknown else ""


def ready_words(readiness: Readiness) -> str:
    """The share with the word that it needs: `62.2 % ready`, but `not known`."""
    share = ready_share(readiness)
    return f"{share} ready" if share.endswith("%") else share


def share_after(readiness: Readiness, item: WorkItem) -> str:
    """The share once this image of the work list and all above it are ready."""
    ready, whole = readiness.share
    return percent(ready + readiness.counted(item.cumulative), whole)


def ready_sentence(readiness: Readiness) -> str:
    """`36.1 of 58 requested CPU is ready for arm64; 2 CPU not known`."""
    part, whole = readiness.share
    verb = "is" if readiness.by_cpu or 1 in (part, whole) else "are"
    return ready_amounts(readiness, f" {verb} ready for {readiness.architecture}")


def ready_amounts(readiness: Readiness, ready: str = "") -> str:
    """`36.1 of 58 requested CPU; 2 CPU not known`. ready: words behind the first amount."""
    part, whole = readiness.share
    unknown = readiness.counted(readiness.unknown)
    if not whole:
        return f"no pod that could move to {readiness.architecture}"
    more = f"{cpu_text(unknown)} CPU" if readiness.by_cpu else count(unknown, "pod")
    if not readiness.is_known:
        return f"it is not known what of {more} is ready for {readiness.architecture}"
    if readiness.by_cpu:
        words = f"{cpu_text(part)} of {cpu_text(whole)} requested CPU{ready}"
    else:
        words = f"{part} of {count(whole, 'pod')}{ready}"
    return f"{words}; {more} not known" if unknown else words


def upgrade_sentence(findings: AuditFindings) -> str:
    """`With newer tags alone: 36 % -> 61 %; 5 of 12 images have one`; "" where nobody asked for tags."""
    upgrades = findings.upgrades
    if upgrades is None:
        return ""
    first = findings.readiness[0]
    ready, whole = first.share
    then = percent(ready + first.counted(upgrades.freed), whole)
    return f"With newer tags alone: {ready_share(first)} -> {then}; {upgrade_counts(upgrades)}"


def upgrade_counts(upgrades: Upgrades | None) -> str:
    """`5 of 12 images have one; 3 not asked`, or that nobody was asked."""
    if upgrades is None:
        return "no image was asked for"
    verb = "has" if upgrades.replaceable == 1 else "have"
    words = f"{upgrades.replaceable} of {count(upgrades.asked, 'image')} {verb} one"
    return f"{words}; {upgrades.not_asked} not asked" if upgrades.not_asked else words


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
    names = [f"{daemon.namespace}/{daemon.name}" for daemon in daemons.not_ready if daemon.state == state]
    return few(names, _NAMED)


def daemon_sentences(findings: AuditFindings) -> Iterator[str]:
    """Of each architecture that matters: those of the nodes, the first one of the findings, those of --require."""
    for place, daemons in enumerate(findings.daemon_sets):
        if daemons.not_ready or (daemons.starting and (findings.required or not place)):
            yield f"{daemon_sentence(daemons, nodes=has_nodes(findings, daemons.architecture))}."


def has_nodes(findings: AuditFindings, architecture: str) -> bool:
    """Whether Linux nodes of the architecture were read."""
    return any(
        (group.os, group.architecture) == ("linux", architecture) for group in findings.capacity.groups
    )


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
    pods, workloads = count(amount.pods, "pod"), count(amount.workloads, "workload")
    return f"{cpu_text(amount.cpu)} CPU in {pods} of {workloads}"


def runs_on(image: ImageFacts) -> str:
    """The architectures of an image, or why they are not known."""
    if image.answer == "Found":
        names = (", ".join(image.architectures) or "no Linux node") if image.restricts else "anywhere"
        return f"{names} ({image.detail})" if image.detail else names
    words = {"Absent": "gone from its registry", "Unread": "not asked: it belongs to another shard"}
    return f"{words.get(image.answer, 'not known')}{f': {image.detail}' if image.detail else ''}"


def gain(item: WorkItem) -> str:
    """What the image brings, in words."""
    freed = item.alone if item.alone.pods else item.together
    words = f"{cpu_text(freed.cpu)} CPU" if freed.cpu else count(freed.pods, "pod")
    if item.alone.pods:
        return f"frees {words} alone"
    if item.partner:
        return f"frees {words} together with {item.partner}"
    return f"is one of three or more in {count(item.part.pods, 'pod')}"


def wave_name(wave: Wave) -> str:
    """`2 newer tag`; `not known`."""
    return NOT_KNOWN if wave.number is None else f"{wave.number} {_WAVE_WORDS[wave.number]}"


def platform(os: str, architecture: str) -> str:
    """`linux/arm64`: what nodes say of themselves."""
    if not os:
        return NOT_KNOWN
    return f"{os}/{architecture}" if architecture else f"{os}, no architecture label"


def several_at_once(pods: int) -> str:
    """What the work list leaves over, a sentence."""
    return f"{count(pods, 'pod')} {'needs' if pods == 1 else 'need'} three images or more at once."


def filled(waves: Waves) -> list[Wave]:
    """Those that have workloads, then what is not known."""
    return [wave for wave in (*waves.waves, waves.unknown) if wave.owner_count]


def plans(findings: AuditFindings) -> tuple[Waves, ...]:
    """The waves that a report shows: of the architectures that were asked for, else of the first one."""
    return findings.waves if findings.required else findings.waves[:1]


def done_words(wave: Wave) -> str:
    """`22 of 46 pods done`; of what is not known how many pods it has."""
    if wave.number is None:
        return count(wave.amount.pods, "pod")
    return f"{wave.done} of {count(wave.amount.pods, 'pod')} done"


def waiting_words(waiting: Iterable[tuple[PodState, int] | tuple[PodState, str, int]]) -> str:
    """`3 unschedulable, 1 crashing`: pods that do not run."""
    pods: Counter[str] = Counter()
    for state, *_, number in waiting:
        pods[_POD_WORDS[state]] += number
    return ", ".join(f"{number} {word}" for word, number in pods.items())


def waiting_sentence(plan: Waves) -> str:
    """What of the waves does not run, and so is no part of what is done; "" for nothing."""
    states = [pair for wave in (*plan.waves, plan.unknown) for pair in wave.not_running]
    return f"Pods that do not run, and so are not done: {waiting_words(states)}." if states else ""


def lack_words(lack: Lack, architecture: str) -> str:
    """`eks.amazonaws.com/nodegroup=general is on 2 amd64 nodes, and on no arm64 node or pool`."""
    nowhere = f"on no {architecture} node or pool" if lack.having else "on no node or pool that was read"
    return f"{lack.labels} is {f'on {lack.having}, and ' if lack.having else ''}{nowhere}"


def next_wave(plan: Waves) -> str:
    """Which wave comes next, and what writes its rules."""
    wave = plan.following
    if wave is None:
        return f"Nothing of waves 0 to 4 waits for {plan.architecture}, as far as the waves are known."
    waiting = f", {wave.waiting} of them not ready" if wave.waiting else ""
    return (
        f"Next is wave {wave_name(wave)}: {count(wave.owner_count, 'workload')}{waiting}; {done_words(wave)}. Done are "
        f"running pods that are there, or may go as they are. archfit audit --format rules writes its "
        "rules."
    )


def group_rows(findings: AuditFindings) -> Iterator[tuple[str, str, str, tuple[Readiness, ...]]]:
    """Of each group: by what, its name, "", its readiness; then the same of its parts, with the name of the cluster."""
    for group in findings.groups:
        name = group.name or f"without {group.by}"
        yield group.by, name, "", group.readiness
        for part in group.clusters:
            yield group.by, name, part.cluster, part.readiness


def loss_sentences(findings: AuditFindings) -> list[str]:
    """`loss_sentence` of each architecture of each cluster, with its name where there are several."""
    at = {snapshot: f"{name}: " for snapshot, name in several(findings).items()}
    return [f"{at.get(loss.snapshot, '')}{loss_sentence(loss)}" for loss in findings.capacity.losses]


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


def verdict_sentence(findings: AuditFindings) -> str:
    """`Containers by build: 4 proven, 1 mismatch`."""
    verdicts = ", ".join(f"{verdict.containers} {verdict.verdict}" for verdict in findings.builds.verdicts)
    return f"Containers by build: {verdicts}"


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
    before = [f"{cluster.name}, {_date_words(cluster)}" for cluster in since.before]
    if before:
        more = " clusters" if len(before) > _NAMED else ""
        yield f"The audit before: {few(before, _NAMED)}{more}."
    if since.clusters_arrived:
        yield f"{', '.join(since.clusters_arrived)}: in this audit alone, so its workloads arrived."
    if since.clusters_gone:
        yield f"{', '.join(since.clusters_gone)}: in the audit before alone, so its workloads are gone."
    for change in since.changes:
        counted = [f"{count(len(rows), 'workload')} {words}" for words, rows in change_groups(change) if rows]
        images = {"gained it": change.images_gained, "lost it": change.images_lost}
        counted += [f"{count(len(names), 'image')} {words}" for words, names in images.items() if names]
        was, now = (
            f"{ready_words(row)}{f' ({unknown} not known)' if (unknown := unknown_share(row)) and row.is_known else ''}"
            for row in (change.before, change.after)
        )
        moved = f"{was} before, {now} now"
        unchanged = "no workload changed its state" if since.stayed else "no workload is in both audits"
        yield f"{change.architecture}: {moved}; {', '.join(counted) or unchanged}."
    yield (
        f"{count(since.arrived, 'workload')} arrived, {since.gone} {'is' if since.gone == 1 else 'are'} gone, "
        f"{since.stayed} stayed."
    )
