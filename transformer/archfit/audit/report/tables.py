"""The tables of an audit: what each form shows of a list. Text, Markdown and the page only draw them, and escape them.

Two columns stand beside each other where the forms say one thing in different words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from archfit.audit.amount import cpu_text, percent
from archfit.audit.compare import ArchitectureChange
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import Wave, Waves
from archfit.audit.plan.work_list import WorkList
from archfit.audit.readiness import Readiness, WorkloadFinding, title
from archfit.audit.report import words
from archfit.audit.report.table import Cell, Column, Table, count, cpu, memory
from archfit.audit.upgrades import to_do
from archfit.base.printable import few
from archfit.facts.facts import BuildFacts, Standing

_COUNTS_AS: dict[Standing, str] = {
    "manifest": "in a manifest",
    "daemonset": "daemon",
    "scheduled": "between two runs",
    "idle": "no pods now",
    "old": "earlier revision",
    "mirror": "static pod",
    "virtual": "virtual node",
}
_MOST_USERS = 3


def readiness(findings: AuditFindings) -> Table:
    """What of each architecture is ready; for Markdown alone, since the page and the text draw it."""
    heads = ("CPU ready", "CPU blocked", "CPU not known", "Pods ready", "Workloads ready", "Pods not known")
    numbers = (Column(None, "number", markdown=head) for head in ("Ready", *heads))
    columns = (Column(None, markdown="Architecture"), *numbers)
    rows = tuple(
        (
            Cell(row.architecture), Cell(words.ready_share(row)), cpu(row.ready.cpu), cpu(row.blocked.cpu),
            cpu(row.unknown.cpu), Cell(f"{row.ready.pods} of {row.total.pods}"),
            Cell(f"{row.ready.workloads} of {row.total.workloads}"), count(row.unknown.pods),
        )
        for row in findings.readiness
    )  # fmt: skip
    return Table("readiness", "Readiness", columns, rows)


def work_list(work: WorkList, readiness: Readiness) -> Table:
    """Which images to give an architecture first. readiness: of that architecture."""
    columns = (
        Column("#", "count", "", ""), Column("Image", "image", "IMAGE", "Image"),
        Column("Runs on", "text", "RUNS ON", "Runs on"), Column("To do", "text", "TO DO", "To do"),
        Column("Frees CPU alone", "number", "FREES CPU ALONE", "Frees CPU alone"),
        Column("Pods", "count", "PODS", "Pods"),
        Column("CPU of all its pods", "number", "CPU OF ALL ITS PODS", paper=False),
        Column("Frees with a second image", "image", "WITH A SECOND", "Frees with a second image"),
        Column("Ready then", "number", "READY THEN", "Ready then"),
        Column("Used by", "text", "USED BY"), Column(None, markdown="Used by"),
    )  # fmt: skip
    rows = tuple(
        (
            count(item.rank), Cell(item.reference), Cell(", ".join(item.offers) or words.IMAGE_WORDS[item.state]),
            Cell(item.to_do, badge=item.newer[0].step if item.newer else ""), cpu(item.alone.cpu),
            count(item.alone.pods), cpu(item.part.cpu),
            Cell(f"+{cpu_text(item.together.cpu)} with {item.partner}", f"{item.together.cpu}") if item.partner
            else Cell("", "0"),
            Cell(words.share_after(readiness, item), f"{item.cumulative.cpu}"),
            Cell(few(item.owners, len(item.owners), item.owner_count)),
            Cell(few(item.owners, _MOST_USERS, item.owner_count)),
        )
        for item in work.items
    )  # fmt: skip
    name = work.architecture
    return Table(f"work-{name}", f"Work list for {name}", columns, rows, f"WORK LIST FOR {name}")


def waves(plan: Waves) -> Table:
    """In which order workloads move to an architecture."""
    idle = any(wave.not_running for wave in (*plan.waves, plan.unknown))
    columns = (
        Column("Wave", "text", "WAVE", "Wave"), Column("Workloads", "count", "WORKLOADS", "Workloads"),
        Column("Not ready", "count", "NOT READY", "Not ready"), Column("CPU", "number", "CPU", "CPU"),
        Column("Pods", "count", "PODS", "Pods"), Column("Done", "meter", "DONE", "Done"),
        Column("Do not run", "text", *(("DO NOT RUN", "Do not run") if idle else (None, None))),
        Column("Largest", "names", "LARGEST", "Largest"), Column("Needs", "image", "NEEDS", "Needs"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(words.wave_name(wave)), count(wave.owner_count), count(wave.waiting), cpu(wave.amount.cpu),
            count(wave.amount.pods), _done(wave),
            Cell(words.waiting_words(wave.not_running)), _largest(wave), Cell(few(wave.images, _MOST_USERS)),
        )
        for wave in words.filled(plan)
    )  # fmt: skip
    name = plan.architecture
    return Table(f"waves-{name}", f"Waves to {name}", columns, rows, f"WAVES TO {name}")


def _largest(wave: Wave) -> Cell:
    shown = wave.owners[:_MOST_USERS]
    left = wave.owner_count - len(shown)
    return Cell(
        few(shown, _MOST_USERS, wave.owner_count), "", (*shown, *([f"and {left} more"] if left else []))
    )


def _done(wave: Wave) -> Cell:
    if wave.number is None or not wave.amount.pods:
        return Cell("-", "0")
    return Cell(percent(wave.done, wave.amount.pods), f"{wave.done * 100 // wave.amount.pods}")


def groups(findings: AuditFindings) -> Table:
    """The readiness of clusters, namespaces and labels."""
    columns = (
        Column("By", markdown="By"), Column("Name", markdown="Name"),
        Column("Cluster", markdown="Cluster" if words.several(findings) else None), Column(None, markdown="Ready"),
        Column(None, markdown=f"For {findings.readiness[0].architecture}"),
        *(
            Column(f"{architecture} {what}", "number")
            for architecture in findings.architectures
            for what in ("ready", "not known")
        ),
        Column("CPU", "number"), Column("Pods", "count"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(by), Cell(name), Cell(cluster), Cell(words.ready_share(own[0])), Cell(words.ready_sentence(own[0])),
            *(cell for part in own for cell in _shares(part)),
            cpu(own[0].total.cpu), count(own[0].total.pods),
        )
        for by, name, cluster, own in words.group_rows(findings)
    )  # fmt: skip
    return Table("groups", "Readiness by group", columns, rows)


def _shares(readiness: Readiness) -> tuple[Cell, Cell]:
    ready, whole = readiness.share
    unknown = readiness.counted(readiness.unknown)
    return (
        Cell(words.ready_share(readiness), f"{ready * 1000 // (whole or 1)}"),
        Cell(words.unknown_share(readiness), f"{unknown * 1000 // (whole or 1)}"),
    )


def daemon_sets(findings: AuditFindings) -> Table:
    """What would not run on the first node of an architecture, or of which that is not known."""
    at = _clusters(findings)
    columns = (
        Column("Architecture", markdown="Architecture"), Column("Cluster"), Column("Namespace"), Column("Name"),
        Column("Kind"), Column(None, markdown="DaemonSet"), Column("State", "state"), Column(None, markdown="State"),
        Column("Not ready", "image", markdown="Images"), Column("To do", markdown="To do"),
    )  # fmt: skip
    known = {image.facts.reference: image for image in findings.images}
    rows = tuple(
        (
            Cell(daemons.architecture), at(daemon.snapshot), Cell(daemon.namespace), Cell(daemon.name),
            Cell(daemon.kind), Cell(f"{daemon.namespace}/{daemon.kind}/{daemon.name}"), Cell(daemon.state),
            Cell(words.NOT_KNOWN if daemon.state == "unknown" else daemon.state), _listed(daemon.images),
            _listed(
                to_do(known[of].states[index], known[of].facts, daemons.architecture, findings.own)
                for of in daemon.images
            ),
        )
        for index, daemons in enumerate(findings.daemon_sets)
        for daemon in daemons.not_ready
    )  # fmt: skip
    return Table("daemonsets", "DaemonSets that are not ready", columns, rows)


def workloads(findings: AuditFindings, chosen: Iterable[WorkloadFinding]) -> Table:
    """Workloads, in the order in which they are chosen."""
    at = _clusters(findings)
    known = {image.facts.reference: words.runs_on(image.facts) for image in findings.images}
    columns = (
        _cluster_column(findings), Column("Namespace"), Column("Workload", "details"),
        Column(None, "text", "WORKLOAD", "Workload"), Column("Kind"), Column("State"), Column(None, "text", "STANDING"),
        Column("Pods", "count", "PODS", "Pods"), Column("CPU", "number", "CPU", "CPU"),
        Column("Memory", "number", paper=False),
        *(Column(name, "state", name, paper=not place) for place, name in enumerate(findings.architectures)),
        Column(f"Wave to {findings.architectures[0]}"), Column("Not ready", "image", "NOT READY"),
        Column(None, markdown="Images"), Column("Where"),
    )  # fmt: skip
    rows = tuple(
        (
            at(row.facts.snapshot), Cell(row.facts.namespace),
            Cell(row.facts.name, "", tuple(_opened(row, known, findings.architectures))),
            Cell(title(row.owner)), Cell(row.facts.kind), Cell(_COUNTS_AS.get(row.facts.standing, row.facts.standing)),
            Cell(row.facts.standing), count(row.amount.pods), cpu(row.amount.cpu), memory(row.amount.memory),
            *map(Cell, row.states),
            Cell("" if (wave := row.waves[0]) is None else words.NOT_KNOWN if wave < 0 else f"{wave}"),
            _listed(use.reference for uses in row.not_ready for use in uses),
            _listed(use.reference for use in row.not_ready[0]), Cell(row.facts.where),
        )
        for row in chosen
    )  # fmt: skip
    return Table("workloads", "Workloads", columns, rows)


def images(findings: AuditFindings) -> Table:
    """Every image."""
    columns = (
        Column("Image", "image", "IMAGE"), Column("Runs on", "text", "RUNS ON"), Column(None, "text", "FROM"),
        *(Column(architecture, "state") for architecture in findings.architectures),
        Column("Pods", "count"), Column(None, "count", "PODS"), Column("CPU", "number", "CPU"),
        Column("Counted apart, pods", "count", paper=False), Column("Kind", paper=False),
        Column("Answer from", paper=False),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(image.facts.reference), Cell(words.runs_on(image.facts)), Cell(image.facts.origin),
            *map(Cell, image.states), count(image.used.pods), count(image.used.pods + image.apart.pods),
            cpu(image.used.cpu), count(image.apart.pods), Cell(image.facts.kind), Cell(image.facts.origin),
        )
        for image in findings.images
    )  # fmt: skip
    return Table("images", "Images", columns, rows)


def images_by_state(findings: AuditFindings) -> Iterator[tuple[str, tuple[list[str], list[str], list[str]]]]:
    """Of each image the architectures that it runs on, that it lacks, and of which nobody knows."""
    for image in findings.images:
        names: tuple[list[str], list[str], list[str]] = ([], [], [])
        for name, state in zip(findings.architectures, image.states, strict=True):
            names[{"yes": 0, "unknown": 2}.get(state, 1)].append(name)
        yield image.facts.reference or "(no image is named)", names


def builds(findings: AuditFindings) -> tuple[Table, ...]:
    """What is to be said of the builds that run."""
    at = _clusters(findings)
    columns = (
        _cluster_column(findings), Column(None, "text", "CONTAINER"), Column("Namespace"), Column("Workload"),
        Column("Container"), Column("Image", "image", "IMAGE"), Column("Nodes", "text", "NODES"),
        Column("Containers", "count", "CONTAINERS"), Column("Build that runs", "text", "BUILD"),
        Column("Why", "text", "WHY"),
    )  # fmt: skip

    def rows(those: Iterable[BuildFacts], why: str) -> tuple[tuple[Cell, ...], ...]:
        return tuple(
            (
                at(build.snapshot), Cell(f"{build.namespace}/{build.kind}/{build.name} {build.container}"),
                Cell(build.namespace), Cell(f"{build.kind}/{build.name}", build.name), Cell(build.container),
                Cell(build.image), Cell(words.platform(build.node_os, build.node_architecture)), count(build.pods),
                Cell(build.platform), Cell(getattr(build, why)),
            )
            for build in those
        )  # fmt: skip

    mismatches = rows(findings.builds.mismatches, "reason")
    evidence = rows(findings.builds.evidence, "evidence")
    moved = rows(findings.builds.moved, "moved")
    of_reasons = (
        Column("Verdict", "text", "VERDICT"), Column("Reason"), Column("Containers", "count", "CONTAINERS"),
        Column(None, "text", "REASON"),
    )  # fmt: skip
    reasons = tuple(
        (Cell(reason.verdict), Cell(reason.reason), count(reason.containers), Cell(reason.reason))
        for reason in findings.builds.reasons
    )
    tables = (
        Table("mismatches", "Builds that are not for their node", columns, mismatches),
        Table("evidence", "What pods say of their builds", columns, evidence),
        Table("moved", "Tags that moved since the pods started", columns, moved, "TAGS THAT MOVED"),
        Table("reasons", "Why builds are not proven", of_reasons, reasons, "BUILDS THAT ARE NOT PROVEN"),
    )
    return tuple(table for table in tables if table.rows)


def nodes(findings: AuditFindings) -> Table:
    """Nodes by architecture."""
    at = _clusters(findings)
    columns = (
        Column("Cluster"), Column("System", markdown="System"), Column("Nodes", "count", markdown="Nodes"),
        Column("CPU", "number", markdown="CPU"), Column("Requested", "number", markdown="Requested"),
        Column("Free", "number", markdown="Free"), Column("Memory", "number", markdown="Memory"),
        Column("Requested memory", "number", markdown="Requested"), Column("Pods", "number"),
        Column("Cordoned", "count", markdown="Cordoned"), Column("Spot", "count", markdown="Spot"), Column("Taints"),
    )  # fmt: skip
    rows = tuple(
        (
            at(group.snapshot), Cell(words.platform(group.os, group.architecture)), count(group.nodes), cpu(group.cpu),
            cpu(group.requested_cpu), cpu(group.free_cpu), memory(group.memory), memory(group.requested_memory),
            Cell(f"{group.requested_pods:,} of {group.pods:,}", f"{group.requested_pods}"), count(group.cordoned),
            count(group.spot), Cell(", ".join(f"{taint} ({number})" for taint, number in group.taints)),
        )
        for group in findings.capacity.groups
    )  # fmt: skip
    return Table("nodes", "Nodes by architecture", columns, rows)


def instances(findings: AuditFindings) -> Table:
    """Nodes by instance type."""
    at = _clusters(findings)
    columns = (
        _cluster_column(findings), Column("System", "text", "SYSTEM"), Column("Instance type"),
        Column(None, "text", "INSTANCE TYPE"), Column("Capacity"), Column(None, "text", "CAPACITY"),
        Column("Nodes", "count", "NODES"), Column("CPU", "number", "CPU"), Column("Requested", "number", "REQUESTED"),
        Column("Memory", "number", "MEMORY"), Column("Requested memory", "number", "REQUESTED"),
    )  # fmt: skip
    rows = tuple(
        (
            at(instance.snapshot), Cell(words.platform(instance.os, instance.architecture)),
            Cell(instance.instance_type), Cell(instance.instance_type or "-"), Cell(instance.capacity),
            Cell(instance.capacity or "-"), count(instance.nodes),
            cpu(instance.cpu), cpu(instance.requested_cpu), memory(instance.memory), memory(instance.requested_memory),
        )
        for instance in findings.capacity.instances
    )  # fmt: skip
    return Table("instances", "Nodes by instance type", columns, rows)


def mislabelled(findings: AuditFindings) -> Table:
    """Nodes whose label is wrong."""
    at = _clusters(findings)
    columns = (
        _cluster_column(findings), Column("Node", "text", "NODE"),
        Column("Label kubernetes.io/arch", "text", "kubernetes.io/arch"), Column("Its kubelet says", "text", "KUBELET"),
    )  # fmt: skip
    rows = tuple(
        (at(node.snapshot), Cell(node.name), Cell(node.label), Cell(node.kubelet))
        for node in findings.capacity.mislabelled
    )
    return Table("mislabelled", "Nodes whose label is wrong", columns, rows)


def changes(change: ArchitectureChange) -> Table:
    """What changed for one architecture since an earlier audit."""
    columns = (
        Column("Change", markdown=f"For {change.architecture}"), Column("Cluster"), Column("Namespace"),
        Column("Workload"), Column(None, markdown="Workload"), Column("Kind"), Column("Pods", "count"),
        Column("CPU", "number", markdown="CPU"), Column("Not ready", "image", markdown="Images"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(what), Cell(row.cluster), Cell(row.namespace), Cell(row.name),
            Cell(f"{row.namespace}/{row.kind}/{row.name}"), Cell(row.kind), count(row.amount.pods),
            cpu(row.amount.cpu), Cell(", ".join(row.images)),
        )
        for what, changed in words.change_groups(change)
        for row in changed
    )  # fmt: skip
    return Table(f"since-{change.architecture}", f"Changes for {change.architecture}", columns, rows)


def counted_apart(findings: AuditFindings) -> Table:
    """What is no part of the readiness."""
    columns = (
        Column("What"), Column("Workloads", "count"), Column("Pods", "count"), Column("CPU", "number"),
        Column("Memory", "number"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(words.STANDING_WORDS[part.standing]), count(part.amount.workloads), count(part.amount.pods),
            cpu(part.amount.cpu), memory(part.amount.memory),
        )
        for part in findings.apart
    )  # fmt: skip
    return Table("apart", "Counted apart", columns, rows)


def _cluster_column(findings: AuditFindings) -> Column:
    return Column("Cluster", "text", "CLUSTER" if words.several(findings) else None)


def _clusters(findings: AuditFindings) -> Callable[[str], Cell]:
    """The name of a snapshot's cluster, "" where there is only one."""
    names = words.several(findings)
    return lambda snapshot: Cell(names.get(snapshot, ""))


def _listed(texts: Iterable[str]) -> Cell:
    """Each once."""
    return Cell(", ".join(dict.fromkeys(texts)))


def _opened(workload: WorkloadFinding, known: dict[str, str], architectures: Iterable[str]) -> Iterator[str]:
    facts = workload.facts
    for use in facts.images:
        role = "" if use.role == "container" else f" ({use.role})"
        yield f"{use.container}{role}: {use.reference or 'no image'}, {known.get(use.reference, 'not known')}"
    if facts.runs_on:
        yield "pods on " + ", ".join(f"{name or 'no node'}: {number}" for name, number in facts.runs_on)
    if facts.terms:
        yield f"its own placement allows {', '.join(sorted(workload.allowed)) or 'no node that was read'}"
    for architecture, lack in zip(architectures, workload.lacks, strict=True) if workload.lacks else ():
        if lack:
            yield f"{architecture}: {words.lack_words(lack, architecture)}"
    if facts.not_running:
        yield f"do not run: {words.waiting_words(facts.not_running)}"
    if facts.without_cpu:
        yield f"pods without a CPU request: {facts.without_cpu}"
