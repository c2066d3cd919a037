"""An audit for a terminal: one screen of 80 columns and 40 lines, whatever its size. With --all, tables follow.

Parts of the screen are parted by an empty line; the longest ones are cut first, and say how much they leave out. The
layout is the same on a terminal and in a pipe.
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
from archfit.audit.report import open_questions, tables, words
from archfit.audit.report.pool_words import pool_sentences, unread_pools
from archfit.audit.report.table import Table
from archfit.base.printable import count, few, visible
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
    chosen = [*_parts(_changes(since)), *_parts(_groups(findings, sys.maxsize if everything else _ON_SCREEN))]
    height = sys.maxsize if everything else _HEIGHT - 2
    lines = _fitted([*parts[:_HEADS], *chosen, *parts[_HEADS:]], _HEADS + len(chosen), height)
    lines += [visible(line) for line in _tables(findings)] if everything else ["", "All tables: --all"]
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


def image_lines(findings: AuditFindings, _since: AuditComparison | None) -> bytes:
    """One line an image; a dash for none."""
    rows: list[tuple[str, ...]] = [("IMAGE", "RUNS ON", "LACKS", "NOT KNOWN")]
    for image, names in tables.images_by_state(findings):
        rows.append((visible(image), *(" ".join(some) or "-" for some in names)))
    return "".join(f"{line}\n" for line in _aligned(rows)).encode()


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
            range(len(parts)), key=lambda at: (kept[at] > 1, at >= heads, kept[at] > 2, weights[at], at)
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
    yield from words.daemon_sentences(findings)
    width = max(len(row.architecture) for row in findings.readiness)
    shares = max(len(words.ready_words(row)) for row in findings.readiness)
    for row in findings.readiness:
        yield f"{row.architecture:{width}}   {words.ready_words(row):>{shares}}   {words.ready_amounts(row)}"
        yield f"{' ' * (width + 3)}{_more(row)}"
        if row is findings.readiness[0] and findings.upgrades:
            yield f"{' ' * (width + 3)}{words.upgrade_sentence(findings)}"
    for saving in findings.costs.savings:
        when = "Ready now" if saving.when == "now" else "With the work list done"
        yield f"{when}, {saving.source} to {saving.target}: {saving.arithmetic}"
    if everything:
        for work in findings.work_lists[1:]:
            yield from _first_work(findings, work)
    yield from _waves(findings.waves[0])
    yield from _first_work(findings, findings.work_lists[0])
    yield ""
    yield from open_questions.unknown_reasons(findings)
    yield from open_questions.not_known(findings)
    yield ""
    first = findings.architectures[0]
    groups = findings.capacity.groups
    for group in sorted(groups, key=lambda group: (group.os, group.architecture) != ("linux", first)):
        numbers = {
            "cordoned": group.cordoned,
            "not Ready": group.not_ready,
            "virtual": group.virtual,
            "closed by a taint": group.reserved,
            "spot": group.spot,
            "tainted for their architecture": group.tainted,
        }
        more = ", ".join(f"{number} {state}" for state, number in numbers.items() if number)
        yield (
            f"{words.platform(group.os, group.architecture)}: {count(group.nodes, 'node')}, "
            f"{cpu_text(group.requested_cpu)} of {cpu_text(group.cpu)} CPU requested, {cpu_text(group.free_cpu)} free"
            f"{f' ({more})' if more else ''}"
        )
    yield from pool_sentences(findings)
    yield from unread_pools(findings)
    yield from words.loss_sentences(findings)
    yield ""
    if findings.builds.verdicts:
        yield words.verdict_sentence(findings)
    for note in findings.costs.notes:
        yield f"Prices: {note}"
    if findings.apart:
        yield "Counted apart: " + "; ".join(
            f"{count(part.amount.workloads, 'workload')} {words.STANDING_WORDS[part.standing].partition(':')[0]}"
            f" ({count(part.amount.pods, 'pod')})"
            for part in findings.apart
        )


def _waves(plan: Waves) -> Iterator[_Item]:
    shown = words.filled(plan)
    if not shown:
        return
    yield ""
    yield f"Waves to {plan.architecture} (done: running pods that are there, or may go as they are):"
    names = [words.wave_name(wave) for wave in shown]
    cpus = [f"{cpu_text(wave.amount.cpu)} CPU" for wave in shown]
    widths = [max(map(len, column)) for column in (names, [f"{wave.owner_count}" for wave in shown], cpus)]
    cells = []
    for wave, name, cpu in zip(shown, names, cpus, strict=True):
        indent = "" if wave.number is not None else "  "
        noun = "workload " if wave.owner_count == 1 else "workloads"
        line = f"  {indent + name:{widths[0]}}  {wave.owner_count:>{widths[1]}} {noun}  {cpu:>{widths[2]}}"
        needs = f"; needs {count(len(wave.images), 'image')}" if wave.images else ""
        cells.append((line, f"  {words.done_words(wave)}", needs))
    # What does not fit is left out of every row: a row that is cut would show another number.
    fit = next((size for size in (3, 2) if max(len("".join(row[:size])) for row in cells) <= _WIDTH), 1)
    yield from (("".join(row[:fit]),) for row in cells)
    if sentence := words.waiting_sentence(plan):
        yield sentence


def _groups(findings: AuditFindings, most: int) -> Iterator[_Item]:
    rows = [row for row in words.group_rows(findings) if not row[2] or most == sys.maxsize]
    for by in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == by]
        yield ""
        yield f"By {by}:"
        for _, name, cluster, (first, *_) in own[:most]:
            head = f"    in {_short(cluster)}" if cluster else f"  {_short(name, _WIDTH // 2)}"
            yield f"{head}: {words.ready_words(first)}; {words.ready_sentence(first)}"
        yield max(0, len(own) - most)


def _head(findings: AuditFindings, most: int) -> Iterator[_Item]:
    for cluster in findings.clusters[:most]:
        yield f"{_short(cluster.name)}: {words.cluster_words(cluster)}"
    yield max(0, len(findings.clusters) - most)
    if not findings.clusters:
        yield "nothing was read"


def _changes(since: AuditComparison | None) -> Iterator[str]:
    if since is None:
        return
    yield "Since the audit before:"
    yield from words.change_sentences(since)
    for change in since.changes:
        for what, rows in words.change_groups(change)[:2]:
            for row in rows[:_ON_SCREEN]:
                name = f"{row.namespace}/{row.kind}/{row.name}"
                yield f"  {what} for {change.architecture}: {name} ({', '.join(row.images)})"


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


def _more(row: Readiness) -> str:
    line = f"{row.ready.pods} of {count(row.total.pods, 'pod')}, "
    line += f"{row.ready.workloads} of {count(row.total.workloads, 'workload')}"
    line += f"; {cpu_text(row.blocked.cpu)} CPU blocked" if row.blocked.pods else ""
    pinned = f"; {cpu_text(row.pinned.cpu)} CPU ready, but its own placement keeps it elsewhere"
    return line + (pinned if row.pinned.pods else "")


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
        share = words.share_after(readiness, item)
        share += " ready then" if share.endswith("%") else ""
        room = _WIDTH - 5 - 2 - len(share)
        image = _short(visible(item.reference), room)
        yield f"{item.rank:3}  {image:{room}}  {share}", _what_to_do(item)
    if shown:
        yield len(work.items) - len(shown)


def _what_to_do(item: WorkItem) -> str:
    """What it brings, what to do, who uses it; the second one is never cut, the last one is left out first."""
    to_do, users = visible(item.to_do), visible(few(item.owners, 1, item.owner_count))
    line = f"     {_short(visible(words.gain(item)), max(_SHORTEST, _WIDTH - 7 - len(to_do)))}: {to_do}"
    room = _WIDTH - len(line) - 2
    return f"{line}; {_short(users, room)}" if users and room >= _SHORTEST else line


def _tables(findings: AuditFindings) -> Iterator[str]:
    for plan in words.plans(findings):
        yield from _table(tables.waves(plan))
    for work, readiness in zip(findings.work_lists, findings.readiness, strict=True):
        yield from _table(tables.work_list(work, readiness))
        if work.remaining.pods:
            yield words.several_at_once(work.remaining.pods)
    chosen = sorted(findings.workloads, key=lambda row: (not row.movable, set(row.states) == {"ready"}))
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
    yield from (f"  {line}" for line in _aligned([[_short(visible(cell)) for cell in row] for row in rows]))


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _short(text: str, longest: int = _LONGEST_CELL) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: (longest - 3) // 2]}...{text[-(longest - 3 - (longest - 3) // 2) :]}"
