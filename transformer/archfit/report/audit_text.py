"""An audit for a terminal: one screen first, then tables.

    arm64   62.2 % ready    36.1 of 58 requested CPU is ready for arm64
                            54 of 82 pods, 13 of 22 workloads; blocked 19.9 CPU, not known 2 CPU
    amd64   ..
    Work list for arm64: 8 images keep 21.9 CPU off
      1  registry.example/search-indexer:0.8.2   frees 8.25 CPU alone    76.4 %
    Nodes ..  Builds ..  Apart ..  Not known ..

    WORK LIST FOR arm64 .. WORKLOADS .. IMAGES .. BUILDS .. NODES ..

The percentage at the end of a line of the work list is the readiness once that image and all above it have the
architecture. Every cell is made visible (`printable`); long ones are shortened in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from archfit.cluster.audit_amount import cpu_text, memory_text
from archfit.cluster.audit_compare import AuditComparison
from archfit.cluster.audit_findings import AuditFindings
from archfit.cluster.audit_readiness import Readiness
from archfit.cluster.audit_work_list import WorkItem, WorkList
from archfit.printable import count, visible
from archfit.report.audit_words import (
    IMAGE_WORDS,
    STANDING_WORDS,
    WORK_WORDS,
    change_groups,
    change_sentences,
    gain,
    loss_sentence,
    not_known,
    of_cluster,
    ready_sentence,
    ready_share,
    runs_on,
    several,
    share_after,
    snapshot_names,
    title,
)

_LONGEST_CELL = 72
_ON_SCREEN = 5
_WIDTH = 110


def render(findings: AuditFindings, since: AuditComparison | None = None, *, tables: bool = True) -> bytes:
    """The text. since: what changed since an earlier audit. tables: False for the first screen alone."""
    screen = [*_screen(findings), *_changes(since)]
    lines = [part for line in screen for part in _wrapped(visible(line))]
    lines += [visible(line) for line in _tables(findings)] if tables else []
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


def _screen(findings: AuditFindings) -> Iterator[str]:
    yield f"What runs in {of_cluster(findings)}"
    yield ""
    width = max(len(one.architecture) for one in findings.readiness)
    shares = max(len(ready_share(one)) for one in findings.readiness)
    for one in findings.readiness:
        margin = f"{one.architecture:{width}}   {ready_share(one):>{shares}} ready   "
        yield f"{margin}{ready_sentence(one)}"
        yield f"{' ' * len(margin)}{_more(one)}"
    for work in findings.work_lists:
        yield from _first_work(findings, work)
    yield ""
    for group in findings.capacity.groups:
        more = [f"{group.cordoned} cordoned"] if group.cordoned else []
        more += [f"{group.spot} spot"] if group.spot else []
        more += [f"{group.tainted} tainted for their architecture"] if group.tainted else []
        note = f" ({', '.join(more)})" if more else ""
        yield (
            f"{group.os}/{group.architecture}: {count(group.nodes, 'node')}, {cpu_text(group.requested_cpu)} of "
            f"{cpu_text(group.cpu)} CPU requested, {cpu_text(group.free_cpu)} free"
            f"{note}"
        )
    for loss in findings.capacity.losses:
        yield loss_sentence(loss)
    if findings.builds.verdicts:
        yield "Containers by build: " + ", ".join(
            f"{one.containers} {one.verdict}" for one in findings.builds.verdicts
        )
    for saving in findings.costs.savings:
        when = "Ready now" if saving.when == "now" else "With the work list done"
        yield f"{when}, {saving.source} to {saving.target}: {saving.arithmetic}"
    for note in findings.costs.notes:
        yield f"Prices: {note}"
    if findings.apart:
        yield "Counted apart: " + "; ".join(
            f"{count(one.amount.workloads, 'workload')} {STANDING_WORDS[one.standing].partition(':')[0]}"
            f" ({count(one.amount.pods, 'pod')})"
            for one in findings.apart
        )
    yield from not_known(findings)


def _changes(since: AuditComparison | None) -> Iterator[str]:
    if since is None:
        return
    yield ""
    yield "Since the audit before:"
    yield from change_sentences(since)
    for change in since.changes:
        for words, found in change_groups(change)[:2]:
            yield from (
                f"  {words} for {change.architecture}: {one.namespace}/{one.kind}/{one.name} ({', '.join(one.images)})"
                for one in found[:_ON_SCREEN]
            )


def _wrapped(line: str) -> list[str]:
    """A sentence of the first screen, broken between words; what follows a margin stays below its beginning."""
    indent = len(line) - len(line.lstrip())
    if len(line) <= _WIDTH or (line.startswith("  ") and indent < 8):
        return [line]
    return wrap(line, _WIDTH, subsequent_indent=" " * indent if indent else "  ", break_long_words=False)


def _more(one: Readiness) -> str:
    total = one.total
    words = f"{one.ready.pods} of {count(total.pods, 'pod')}, "
    words += f"{one.ready.workloads} of {count(total.workloads, 'workload')}"
    words += f", {memory_text(one.ready.memory)} of {memory_text(total.memory)}" if total.memory else ""
    for amount, word in (
        (one.blocked, "blocked"),
        (one.unknown, "not known"),
        (one.pinned, "ready, but its own placement keeps it elsewhere"),
    ):
        if amount.pods:
            words += f"; {cpu_text(amount.cpu)} CPU {word}"
    return words


def _first_work(findings: AuditFindings, work: WorkList) -> Iterator[str]:
    if not work.items:
        return
    index = findings.architectures.index(work.architecture)
    readiness = findings.readiness[index]
    last = work.items[-1].cumulative
    yield ""
    yield (
        f"Work list for {work.architecture}: {count(len(work.items), 'image')} "
        f"{'keeps' if len(work.items) == 1 else 'keep'} {cpu_text(last.cpu)} CPU in {count(last.pods, 'pod')} off"
    )
    shown = work.items[: _ON_SCREEN if not index else 1]
    rows = [
        (f"{item.rank}", item.reference, _brought(item), share_after(readiness, item.cumulative))
        for item in shown
    ]
    yield from _columns(rows)
    left = len(work.items) - len(shown)
    if left:
        yield f"  and {count(left, 'image')} more, in the tables below"


def _brought(item: WorkItem) -> str:
    return f"{gain(item)}: {WORK_WORDS[item.state]}"


def _tables(findings: AuditFindings) -> Iterator[str]:
    names = snapshot_names(findings)
    cluster = several(findings)

    def at(snapshot: str) -> tuple[str, ...]:
        return (names.get(snapshot, snapshot),) if cluster else ()

    head = ("CLUSTER",) if cluster else ()
    for work, readiness in zip(findings.work_lists, findings.readiness, strict=True):
        rows = [
            (
                f"{item.rank}", item.reference, ", ".join(item.offers) or IMAGE_WORDS[item.state],
                cpu_text(item.alone.cpu), f"{item.alone.pods}", cpu_text(item.part.cpu),
                f"+{cpu_text(item.together.cpu)} with {item.partner}" if item.partner else "",
                share_after(readiness, item.cumulative),
            )
            for item in work.items
        ]  # fmt: skip
        yield from _table(
            f"WORK LIST FOR {work.architecture}",
            ("", "IMAGE", "RUNS ON", "FREES CPU", "PODS", "TAKES PART IN", "BEST PAIR", "READY THEN"),
            rows,
        )
        if work.remaining.pods:
            yield f"{work.remaining.pods} pods need three images or more at once."
    yield from _table(
        "WORKLOADS",
        (*head, "WORKLOAD", "STANDING", "PODS", "CPU", *findings.architectures, "NOT READY"),
        [
            (
                *at(one.facts.snapshot), title(one), one.facts.standing, f"{one.amount.pods}", cpu_text(one.amount.cpu),
                *one.states, ", ".join(dict.fromkeys(use.reference for uses in one.not_ready for use in uses)),
            )
            for one in sorted(findings.workloads, key=lambda one: (not one.movable, set(one.states) == {"ready"}))
        ],
    )  # fmt: skip
    yield from _table(
        "IMAGES",
        ("IMAGE", "RUNS ON", "FROM", "PODS", "CPU"),
        [
            (
                one.facts.reference, runs_on(one.facts), one.facts.origin,
                f"{one.used.pods + one.apart.pods}", cpu_text(one.used.cpu),
            )
            for one in findings.images
        ],
    )  # fmt: skip
    builds = findings.builds
    for heading, found, field in (
        ("BUILDS THAT ARE NOT FOR THEIR NODE", builds.mismatches, "reason"),
        ("WHAT PODS SAY OF THEIR BUILDS", builds.evidence, "evidence"),
        ("TAGS THAT MOVED", builds.moved, "moved"),
    ):
        yield from _table(
            heading,
            (*head, "CONTAINER", "IMAGE", "NODES", "CONTAINERS", "BUILD", "WHY"),
            [
                (
                    *at(one.snapshot), f"{one.namespace}/{one.kind}/{one.name} {one.container}", one.image,
                    f"{one.node_os}/{one.node_architecture}", f"{one.pods}", one.platform,
                    getattr(one, field),
                )
                for one in found
            ],
        )  # fmt: skip
    yield from _table(
        "BUILDS THAT ARE NOT PROVEN",
        ("VERDICT", "CONTAINERS", "REASON"),
        [(one.verdict, f"{one.containers}", one.reason) for one in builds.reasons],
    )
    yield from _table(
        "NODES BY INSTANCE TYPE",
        (*head, "SYSTEM", "INSTANCE TYPE", "CAPACITY", "NODES", "CPU", "REQUESTED", "MEMORY", "REQUESTED"),
        [
            (
                *at(one.snapshot), f"{one.os}/{one.architecture}", one.instance_type or "-", one.capacity or "-",
                f"{one.nodes}", cpu_text(one.cpu), cpu_text(one.requested_cpu), memory_text(one.memory),
                memory_text(one.requested_memory),
            )
            for one in findings.capacity.instances
        ],
    )  # fmt: skip
    yield from _table(
        "NODES WHOSE LABEL IS WRONG",
        (*head, "NODE", "kubernetes.io/arch", "KUBELET"),
        [(*at(one.snapshot), one.name, one.label, one.kubelet) for one in findings.capacity.mislabelled],
    )


def _table(heading: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield ""
        yield heading
        yield from _columns([heads, *rows])


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    cells = [[_short(visible(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _short(text: str) -> str:
    if len(text) <= _LONGEST_CELL:
        return text
    return f"{text[: _LONGEST_CELL // 2 - 2]}...{text[-(_LONGEST_CELL // 2 - 1) :]}"
