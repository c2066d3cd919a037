"""An audit for a terminal: one screen of 80 columns and 40 lines, whatever its size. With --all, tables follow.

    prod-eu: nodes amd64, arm64; read 2026-11-23 00:30 UTC

    On arm64 nodes: 1 DaemonSet does not run there (monitoring/apm-agent), of 3 ..
    arm64   64.4 % ready   36.1 of 56 requested CPU; 2 CPU not known
            54 of 78 pods, 13 of 21 workloads; 19.9 CPU blocked
            With newer tags alone: 64.4 % -> 80.1 %; 5 of 8 images have one
    amd64   ..

    Waves to arm64 (done: pods that run there, or may as they are):
      0 every node         3 workloads   3.5 CPU  28 of 42 pods done; needs 1 image

    Work list for arm64: 21.9 CPU in 28 pods wait for 8 images
      1  registry.example/search-indexer:0.8.2                              76.4 %
         frees 8.25 CPU alone: use 0.9.1 (minor)

    Not known ..  Nodes ..  Pools ..  Builds ..  Apart ..
    WORK LIST FOR arm64 .. WORKLOADS .. IMAGES .. BUILDS .. NODES ..

The percentage in the work list is the readiness once that image and all above it have the architecture. Parts of the
screen are parted by an empty line; the longest ones are cut first, and say how much they leave out. The layout is the
same on a terminal and in a pipe. Control characters of a cell are shown as escapes (`base.printable`); long cells are
shortened in the middle.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TypeAlias

from archfit.audit.amount import cpu_text
from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import Waves
from archfit.audit.plan.work_list import WorkItem, WorkList
from archfit.audit.readiness import Readiness
from archfit.audit.report import tables
from archfit.audit.report.pool_words import pool_sentences, unread_pools
from archfit.audit.report.tables import Table
from archfit.audit.report.words import (
    STANDING_WORDS,
    change_groups,
    change_sentences,
    cluster_words,
    daemon_sentences,
    done_words,
    filled,
    gain,
    group_rows,
    loss_sentences,
    not_known,
    plans,
    ready_amounts,
    ready_sentence,
    ready_words,
    share_after,
    unknown_reasons,
    upgrade_sentence,
    used_by,
    wave_name,
)
from archfit.base.printable import count, visible
from archfit.startup.record import Record

_LONGEST_CELL = 72
_ON_SCREEN = 5
_WIDTH = 80
_SHORTEST = 16
_HEIGHT = 40
_LONGEST_ITEM = 4
_MARGIN = re.compile(r" {5,}").match
_READY = re.compile(r"(\S+ {2,})(?:[\S ]{,9} ready|not known|-) {3}").match
_ROWS_FIRST = 5
_HEADS = 2
_Item: TypeAlias = str | tuple[str, ...] | int
"""A sentence, which is wrapped; a row of lines that stay together; how many more rows there are."""


def render(
    findings: AuditFindings, since: AuditComparison | None = None, *, everything: bool = False
) -> bytes:
    """The text. since: what changed since an earlier audit. everything: the first screen uncut, and all tables."""
    parts = _parts(_screen(findings, everything=everything))
    asked = [*_parts(_changes(since)), *_parts(_groups(findings, sys.maxsize if everything else _ON_SCREEN))]
    height = sys.maxsize if everything else _HEIGHT - 2
    lines = _fitted([*parts[:_HEADS], *asked, *parts[_HEADS:]], _HEADS + len(asked), height)
    lines += [visible(line) for line in _tables(findings)] if everything else ["", "All tables: --all"]
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


class _Part(Record):
    """A part of the screen. items: of each its lines. more: rows left out already. rows: whether it has any."""

    items: tuple[list[str], ...]
    more: int
    rows: bool

    def height(self, kept: int) -> int:
        """The lines of its first items, and of the one that says what is left out."""
        return sum(len(item) for item in self.items[:kept]) + bool(self.left(kept))

    def left(self, kept: int) -> int:
        """How many are left out."""
        return len(self.items) - kept + self.more


def _parts(items: Iterable[_Item]) -> list[_Part]:
    """The items between two empty ones."""
    parts: list[list[_Item]] = [[]]
    for item in items:
        if item == "":
            parts.append([])
        else:
            parts[-1].append(item)
    return [
        _Part(
            tuple(_wrapped(item) for item in part if not isinstance(item, int)),
            sum(item for item in part if isinstance(item, int)),
            any(isinstance(item, tuple) for item in part),
        )
        for part in parts
        if part
    ]


def _fitted(parts: Sequence[_Part], heads: int, most: int) -> list[str]:
    """At most so many lines. What does not fit is cut from the longest part, the first `heads` ones last.

    A part keeps its heading and a row as long as another one has more.
    """
    kept = [len(part.items) for part in parts]
    heights = [part.height(number) for part, number in zip(parts, kept, strict=True)]
    while sum(heights) + len(parts) - 1 > most:
        weights = [height - _ROWS_FIRST * part.rows for part, height in zip(parts, heights, strict=True)]
        place = max(
            range(len(parts)), key=lambda one: (kept[one] > 1, one >= heads, kept[one] > 2, weights[one], one)
        )
        kept[place] -= 1
        heights[place] = parts[place].height(kept[place])
    lines: list[str] = []
    for place, part in enumerate(parts):
        lines += [""] if place else []
        lines += [line for item in part.items[: kept[place]] for line in item]
        lines += [f"  and {part.left(kept[place])} more: --all"] if part.left(kept[place]) else []
    return lines


def _screen(findings: AuditFindings, *, everything: bool) -> Iterator[_Item]:
    yield from _head(findings, sys.maxsize if everything else _ON_SCREEN)
    yield ""
    yield from daemon_sentences(findings)
    width = max(len(one.architecture) for one in findings.readiness)
    shares = max(len(ready_words(one)) for one in findings.readiness)
    for one in findings.readiness:
        yield f"{one.architecture:{width}}   {ready_words(one):>{shares}}   {ready_amounts(one)}"
        yield f"{' ' * (width + 3)}{_more(one)}"
        if one is findings.readiness[0] and findings.upgrades:
            yield f"{' ' * (width + 3)}{upgrade_sentence(findings)}"
    if everything:
        for work in findings.work_lists[1:]:
            yield from _first_work(findings, work)
    for plan in findings.waves[:1]:
        yield from _waves(plan)
    for work in findings.work_lists[:1]:
        yield from _first_work(findings, work)
    yield ""
    yield from unknown_reasons(findings)
    yield from not_known(findings)
    yield ""
    first = findings.architectures[0]
    for group in sorted(
        findings.capacity.groups, key=lambda one: (one.os, one.architecture) != ("linux", first)
    ):
        more = [f"{group.cordoned} cordoned"] if group.cordoned else []
        more += [f"{group.not_ready} not Ready"] if group.not_ready else []
        more += [f"{group.virtual} virtual"] if group.virtual else []
        more += [f"{group.reserved} closed by a taint"] if group.reserved else []
        more += [f"{group.spot} spot"] if group.spot else []
        more += [f"{group.tainted} tainted for their architecture"] if group.tainted else []
        note = f" ({', '.join(more)})" if more else ""
        yield (
            f"{group.os}/{group.architecture}: {count(group.nodes, 'node')}, {cpu_text(group.requested_cpu)} of "
            f"{cpu_text(group.cpu)} CPU requested, {cpu_text(group.free_cpu)} free"
            f"{note}"
        )
    yield from pool_sentences(findings)
    yield from unread_pools(findings)
    yield from loss_sentences(findings)
    yield ""
    if findings.builds.verdicts:
        yield "Containers by build: " + ", ".join(
            f"{verdict.containers} {verdict.verdict}" for verdict in findings.builds.verdicts
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


def _waves(plan: Waves) -> Iterator[_Item]:
    shown = filled(plan)
    if not shown:
        return
    yield ""
    yield f"Waves to {plan.architecture} (done: pods that run there, or may as they are):"
    rows = [
        (wave_name(one), f"{one.owner_count}", f"{cpu_text(one.amount.cpu)} CPU", done_words(one))
        for one in shown
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    cells = []
    for one, (name, owners, cpu, done) in zip(shown, rows, strict=True):
        indent = "" if one.number is not None else "  "
        words = "workload " if one.owner_count == 1 else "workloads"
        line = f"  {indent + name:{widths[0]}}  {owners:>{widths[1]}} {words}  {cpu:>{widths[2]}}"
        cells.append((line, f"  {done}", f"; needs {count(len(one.images), 'image')}" if one.images else ""))
    # What does not fit is left out of every row: a row that is cut would show another number.
    fit = next((size for size in (3, 2) if max(len("".join(row[:size])) for row in cells) <= _WIDTH), 1)
    yield from (("".join(row[:fit]),) for row in cells)


def _groups(findings: AuditFindings, most: int) -> Iterator[_Item]:
    rows = [row for row in group_rows(findings) if not row[2] or most == sys.maxsize]
    for by in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == by]
        yield ""
        yield f"By {by}:"
        for _, name, cluster, (first, *_) in own[:most]:
            head = f"    in {_short(cluster)}" if cluster else f"  {_short(name, _WIDTH // 2)}"
            yield f"{head}: {ready_words(first)}; {ready_sentence(first)}"
        yield max(0, len(own) - most)


def _head(findings: AuditFindings, most: int) -> Iterator[_Item]:
    for cluster in findings.clusters[:most]:
        yield f"{_short(cluster.name)}: {cluster_words(cluster)}"
    yield max(0, len(findings.clusters) - most)
    if not findings.clusters:
        yield "nothing was read"


def _changes(since: AuditComparison | None) -> Iterator[str]:
    if since is None:
        return
    yield "Since the audit before:"
    yield from change_sentences(since)
    for change in since.changes:
        for words, found in change_groups(change)[:2]:
            yield from (
                f"  {words} for {change.architecture}: {one.namespace}/{one.kind}/{one.name} ({', '.join(one.images)})"
                for one in found[:_ON_SCREEN]
            )


def _wrapped(item: str | tuple[str, ...]) -> list[str]:
    """The lines of an item; a sentence is broken between words, and continued below where it begins."""
    if isinstance(item, tuple):
        return [_short(visible(line), _WIDTH) for line in item]
    line = visible(item)
    margin = _MARGIN(line) or _READY(line)
    indent = " " * (len(margin[margin.lastindex or 0]) if margin else 2)
    lines = wrap(line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    if len(lines) > _LONGEST_ITEM:
        lines = lines[:_LONGEST_ITEM]
        lines[-1] = f"{lines[-1][: _WIDTH - 3]}..."
    return lines


def _more(one: Readiness) -> str:
    known = one.ready + one.blocked
    words = f"{one.ready.pods} of {count(known.pods, 'pod')}, "
    words += f"{one.ready.workloads} of {count(known.workloads, 'workload')}"
    for amount, word in (
        (one.blocked, "blocked"),
        (one.pinned, "ready, but its own placement keeps it elsewhere"),
    ):
        if amount.pods:
            words += f"; {cpu_text(amount.cpu)} CPU {word}"
    return words


def _first_work(findings: AuditFindings, work: WorkList) -> Iterator[_Item]:
    if not work.items:
        return
    index = findings.architectures.index(work.architecture)
    readiness = findings.readiness[index]
    last = work.items[-1].cumulative
    if not index:
        yield ""
    yield (
        f"Work list for {work.architecture}: {cpu_text(last.cpu)} CPU in {count(last.pods, 'pod')} "
        f"{'waits' if last.pods == 1 else 'wait'} for {count(len(work.items), 'image')}"
    )
    shown = work.items[:_ON_SCREEN] if not index else ()
    for item in shown:
        share = share_after(readiness, item)
        share += " ready then" if share.endswith("%") else ""
        image = _short(visible(item.reference), _WIDTH - 5 - 2 - len(share))
        yield (
            f"{item.rank:3}  {image:{_WIDTH - 5 - 2 - len(share)}}  {share}",
            _what_to_do(item),
        )
    if shown:
        yield len(work.items) - len(shown)


def _what_to_do(item: WorkItem) -> str:
    """What it brings, what to do, who uses it; the second one is never cut, the last one is left out first."""
    to_do, users = visible(item.to_do), visible(used_by(item, 1))
    line = f"     {_short(visible(gain(item)), max(_SHORTEST, _WIDTH - 7 - len(to_do)))}: {to_do}"
    room = _WIDTH - len(line) - 2
    return f"{line}; {_short(users, room)}" if users and room >= _SHORTEST else line


def _tables(findings: AuditFindings) -> Iterator[str]:
    for plan in plans(findings):
        yield from _table(tables.waves(plan))
    for work, readiness in zip(findings.work_lists, findings.readiness, strict=True):
        yield from _table(tables.work_list(work, readiness))
        if work.remaining.pods:
            yield f"{work.remaining.pods} pods need three images or more at once."
    chosen = sorted(findings.workloads, key=lambda one: (not one.movable, set(one.states) == {"ready"}))
    for table in (
        tables.workloads(findings, chosen),
        tables.images(findings),
        *tables.builds(findings),
        tables.instances(findings),
        tables.mislabelled(findings),
    ):
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    shown = table.of("text")
    if shown.rows:
        yield ""
        yield table.heading or table.caption.upper()
        yield from _columns([[column.text or "" for column in shown.columns], *shown.texts()])


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    cells = [[_short(visible(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _short(text: str, longest: int = _LONGEST_CELL) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: (longest - 3) // 2]}...{text[-(longest - 3 - (longest - 3) // 2) :]}"
