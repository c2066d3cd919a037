"""The tables of the page: what is in their cells, and by what a script sorts them.

    Cell        text, sorting key ("" sorts by the text), kind of cell, lines below a summary
    kinds       text, number, image (monospace), state (one word with a mark), details (a summary that opens)

All texts are raw here; the template escapes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from archfit.cluster.audit_amount import cpu_text, memory_text
from archfit.cluster.audit_compare import AuditComparison
from archfit.cluster.audit_facts import BuildFacts, Standing
from archfit.cluster.audit_findings import AuditFindings
from archfit.cluster.audit_readiness import WorkloadFinding
from archfit.record import Record
from archfit.report.audit_words import (
    IMAGE_WORDS,
    STANDING_WORDS,
    WORK_WORDS,
    change_groups,
    ready_share,
    runs_on,
    several,
    share_after,
    snapshot_names,
    used_by,
)

_COUNTS_AS: dict[Standing, str] = {
    "manifest": "in a manifest",
    "daemonset": "daemon",
    "scheduled": "between two runs",
    "idle": "no pods now",
    "old": "earlier revision",
    "mirror": "static pod",
    "virtual": "virtual node",
}
Kind: TypeAlias = Literal["text", "number", "image", "state", "details"]


class Cell(Record):
    """One cell. key: by which it is sorted, "" for the text itself. lines: what a summary opens."""

    text: str
    key: str = ""
    lines: tuple[str, ...] = ()


class Column(Record):
    """One column; where no cell has a text it is left out."""

    label: str
    kind: Kind = "text"


class Table(Record):
    """One table. name: for ids. note: a sentence above it. numbered: rows begin with their rank."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def number(value: int, text: str = "") -> Cell:
    """A number, which is sorted as one."""
    return Cell(text or f"{value:,}", f"{value}")


def cpu(thousandths: int) -> Cell:
    """1/1000 CPU as CPUs."""
    return number(thousandths, cpu_text(thousandths))


def memory(count: int) -> Cell:
    """Bytes."""
    return number(count, memory_text(count))


def work_tables(findings: AuditFindings) -> tuple[Table, ...]:
    """The work lists, one for each architecture that lacks something."""
    found = []
    for work, readiness in zip(findings.work_lists, findings.readiness, strict=True):
        rows = tuple(
            (
                number(item.rank),
                Cell(item.reference),
                Cell(", ".join(item.offers) or IMAGE_WORDS[item.state]),
                Cell(WORK_WORDS[item.state]),
                cpu(item.alone.cpu),
                number(item.alone.pods),
                cpu(item.part.cpu),
                Cell(f"+{cpu_text(item.together.cpu)} with {item.partner}", f"{item.together.cpu}")
                if item.partner
                else Cell("", "0"),
                Cell(share_after(readiness, item), f"{item.cumulative.cpu}"),
                Cell(used_by(item, len(item.owners))),
            )
            for item in work.items
        )
        columns = (
            Column("#", "number"), Column("Image", "image"), Column("Runs on"), Column("To do"),
            Column("Frees CPU alone", "number"), Column("Pods", "number"),
            Column("CPU of all its pods", "number"), Column("Frees with a second image", "image"),
            Column("Ready then", "number"), Column("Used by"),
        )  # fmt: skip
        if rows:
            found.append(
                _table(f"work-{work.architecture}", f"Work list for {work.architecture}", columns, rows)
            )
    return tuple(found)


def groups(findings: AuditFindings) -> Table:
    """The readiness of clusters, namespaces and labels."""
    columns = (
        Column("By"), Column("Name"),
        *(Column(f"{one} ready", "number") for one in findings.architectures),
        Column("CPU", "number"), Column("Pods", "number"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(one.by),
            Cell(one.name or f"without {one.by}"),
            *(
                Cell(ready_share(part), f"{part.share[0] * 1000 // part.share[1] if part.share[1] else 0}")
                for part in one.readiness
            ),
            cpu(one.readiness[0].total.cpu),
            number(one.readiness[0].total.pods),
        )
        for one in findings.groups
    )
    return _table("groups", "Readiness by group", columns, rows)


def daemon_sets(findings: AuditFindings) -> Table:
    """What would not run on the first node of an architecture, or of which that is not known."""
    names, cluster = snapshot_names(findings), several(findings)
    columns = (
        Column("Architecture"), Column("Cluster"), Column("Namespace"), Column("Name"), Column("Kind"),
        Column("State", "state"), Column("Not ready", "image"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(daemons.architecture),
            Cell(names.get(one.snapshot, "") if cluster else ""),
            Cell(one.namespace),
            Cell(one.name),
            Cell(one.kind),
            Cell(one.state),
            Cell(", ".join(one.images)),
        )
        for daemons in findings.daemon_sets
        for one in daemons.not_ready
    )
    return _table("daemonsets", "DaemonSets that are not ready", columns, rows)


def workloads(findings: AuditFindings) -> Table:
    """Every workload; those that could move and are not ready come first."""
    names, cluster = snapshot_names(findings), several(findings)
    known = {image.facts.reference: runs_on(image.facts) for image in findings.images}
    columns = (
        Column("Cluster"), Column("Namespace"), Column("Workload", "details"), Column("Kind"), Column("State"),
        Column("Pods", "number"), Column("CPU", "number"), Column("Memory", "number"),
        *(Column(one, "state") for one in findings.architectures), Column("Not ready", "image"), Column("Where"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(names.get(one.facts.snapshot, "") if cluster else ""),
            Cell(one.facts.namespace),
            Cell(one.facts.name, "", tuple(_opened(one, known))),
            Cell(one.facts.kind),
            Cell(_COUNTS_AS.get(one.facts.standing, one.facts.standing)),
            number(one.amount.pods),
            cpu(one.amount.cpu),
            memory(one.amount.memory),
            *(Cell(state) for state in one.states),
            Cell(", ".join(dict.fromkeys(use.reference for uses in one.not_ready for use in uses))),
            Cell(one.facts.where),
        )
        for one in sorted(
            findings.workloads,
            key=lambda one: (not one.movable, one.states[0] == "ready", -one.amount.cpu),
        )
    )
    return _table("workloads", "Workloads", columns, rows)


def images(findings: AuditFindings) -> Table:
    """Every image."""
    columns = (
        Column("Image", "image"), Column("Runs on"), *(Column(one, "state") for one in findings.architectures),
        Column("Pods", "number"), Column("CPU", "number"), Column("Counted apart, pods", "number"), Column("Kind"),
        Column("Answer from"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(one.facts.reference),
            Cell(runs_on(one.facts)),
            *(Cell(state) for state in one.states),
            number(one.used.pods),
            cpu(one.used.cpu),
            number(one.apart.pods),
            Cell(one.facts.kind),
            Cell(one.facts.origin),
        )
        for one in findings.images
    )
    return _table("images", "Images", columns, rows)


def builds(findings: AuditFindings) -> tuple[Table, ...]:
    """What is to be said of the builds that run."""
    names, cluster = snapshot_names(findings), several(findings)
    found = findings.builds
    columns = (
        Column("Cluster"), Column("Namespace"), Column("Workload"), Column("Container"), Column("Image", "image"),
        Column("Nodes"), Column("Containers", "number"), Column("Build that runs"), Column("Why"),
    )  # fmt: skip

    def row(one: BuildFacts, why: str) -> tuple[Cell, ...]:
        return (
            Cell(names.get(one.snapshot, "") if cluster else ""),
            Cell(one.namespace),
            Cell(f"{one.kind}/{one.name}", one.name),
            Cell(one.container),
            Cell(one.image),
            Cell(f"{one.node_os}/{one.node_architecture}"),
            number(one.pods),
            Cell(one.platform),
            Cell(why),
        )

    tables = (
        _table(
            "mismatches", "Builds that are not for their node", columns,
            tuple(row(one, one.reason) for one in found.mismatches),
        ),
        _table(
            "evidence", "What pods say of their builds", columns,
            tuple(row(one, one.evidence) for one in found.evidence),
        ),
        _table(
            "moved", "Tags that moved since the pods started", columns,
            tuple(row(one, one.moved) for one in found.moved),
        ),
        _table(
            "reasons", "Why builds are not proven",
            (Column("Verdict"), Column("Reason"), Column("Containers", "number")),
            tuple((Cell(one.verdict), Cell(one.reason), number(one.containers)) for one in found.reasons),
        ),
    )  # fmt: skip
    return tuple(table for table in tables if table.rows)


def nodes(findings: AuditFindings) -> tuple[Table, ...]:
    """Nodes by architecture and by instance type, and those whose label is wrong."""
    names, cluster = snapshot_names(findings), several(findings)

    def at(snapshot: str) -> Cell:
        return Cell(names.get(snapshot, "") if cluster else "")

    found = findings.capacity
    tables = (
        _table(
            "nodes", "Nodes by architecture",
            (
                Column("Cluster"), Column("System"), Column("Nodes", "number"), Column("CPU", "number"),
                Column("Requested", "number"), Column("Free", "number"), Column("Memory", "number"),
                Column("Requested memory", "number"), Column("Pods", "number"), Column("Cordoned", "number"),
                Column("Spot", "number"), Column("Taints"),
            ),
            tuple(
                (
                    at(one.snapshot), Cell(f"{one.os}/{one.architecture}"), number(one.nodes), cpu(one.cpu),
                    cpu(one.requested_cpu), cpu(one.free_cpu), memory(one.memory), memory(one.requested_memory),
                    number(one.requested_pods, f"{one.requested_pods:,} of {one.pods:,}"), number(one.cordoned),
                    number(one.spot), Cell(", ".join(f"{taint} ({count})" for taint, count in one.taints)),
                )
                for one in found.groups
            ),
        ),
        _table(
            "instances", "Nodes by instance type",
            (
                Column("Cluster"), Column("System"), Column("Instance type"), Column("Capacity"),
                Column("Nodes", "number"), Column("CPU", "number"), Column("Requested", "number"),
                Column("Memory", "number"), Column("Requested memory", "number"),
            ),
            tuple(
                (
                    at(one.snapshot), Cell(f"{one.os}/{one.architecture}"), Cell(one.instance_type), Cell(one.capacity),
                    number(one.nodes), cpu(one.cpu), cpu(one.requested_cpu), memory(one.memory),
                    memory(one.requested_memory),
                )
                for one in found.instances
            ),
        ),
        _table(
            "mislabelled", "Nodes whose label is wrong",
            (Column("Cluster"), Column("Node"), Column("Label kubernetes.io/arch"), Column("Its kubelet says")),
            tuple((at(one.snapshot), Cell(one.name), Cell(one.label), Cell(one.kubelet)) for one in found.mislabelled),
        ),
    )  # fmt: skip
    return tuple(table for table in tables if table.rows)


def changes(since: AuditComparison) -> tuple[Table, ...]:
    """What changed since an earlier audit, a table for each architecture that has changes."""
    columns = (
        Column("Change"), Column("Cluster"), Column("Namespace"), Column("Workload"), Column("Kind"),
        Column("Pods", "number"), Column("CPU", "number"), Column("Not ready", "image"),
    )  # fmt: skip
    tables = []
    for change in since.changes:
        rows = tuple(
            (
                Cell(words),
                Cell(one.cluster),
                Cell(one.namespace),
                Cell(one.name),
                Cell(one.kind),
                number(one.amount.pods),
                cpu(one.amount.cpu),
                Cell(", ".join(one.images)),
            )
            for words, found in change_groups(change)
            for one in found
        )
        if rows:
            tables.append(
                _table(f"since-{change.architecture}", f"Changes for {change.architecture}", columns, rows)
            )
    return tuple(tables)


def counted_apart(findings: AuditFindings) -> Table:
    """What is no part of the readiness."""
    columns = (
        Column("What"), Column("Workloads", "number"), Column("Pods", "number"), Column("CPU", "number"),
        Column("Memory", "number"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(STANDING_WORDS[one.standing]),
            number(one.amount.workloads),
            number(one.amount.pods),
            cpu(one.amount.cpu),
            memory(one.amount.memory),
        )
        for one in findings.apart
    )
    return _table("apart", "Counted apart", columns, rows)


def _opened(one: WorkloadFinding, known: dict[str, str]) -> Iterator[str]:
    for use in one.facts.images:
        role = "" if use.role == "container" else f" ({use.role})"
        yield f"{use.container}{role}: {use.reference or 'no image'}, {known.get(use.reference, 'not known')}"
    if one.facts.runs_on:
        yield "pods on " + ", ".join(
            f"{architecture or 'no node'}: {count}" for architecture, count in one.facts.runs_on
        )
    if one.facts.pinned:
        yield f"its own placement allows only {', '.join(one.facts.pinned)}"
    if one.facts.without_cpu:
        yield f"pods without a CPU request: {one.facts.without_cpu}"


def _table(
    name: str, caption: str, columns: Sequence[Column], rows: tuple[tuple[Cell, ...], ...], note: str = ""
) -> Table:
    """The table without the columns that say nothing."""
    kept = [place for place in range(len(columns)) if any(row[place].text for row in rows)]
    if len(kept) == len(columns) or not rows:
        return Table(name, caption, tuple(columns), rows, note)
    return Table(
        name,
        caption,
        tuple(columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
        note,
    )
