"""The geometry of the page's charts; the template draws it as inline SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.audit.amount import cpu_text
from archfit.audit.capacity import NodeGroup
from archfit.audit.plan.waves import Waves
from archfit.audit.plan.work_list import WorkItem, WorkList
from archfit.audit.readiness import Readiness
from archfit.audit.report.words import gain, platform, ready_sentence, ready_share, share_after, wave_name
from archfit.audit.upgrades import Upgrades
from archfit.base.printable import count, visible
from archfit.startup.record import Record

_STEPS = (1, 2, 5)


class Segment(Record):
    """A part of a bar. kind: ready, newer, unknown, blocked, used, free; w2 to w5 for a wave. start, width: of 1000."""

    kind: str
    start: float
    width: float
    words: str


class Bar(Record):
    """A bar with what stands beside it. value: the number that counts. alternative: all of it in words."""

    label: str
    value: str
    segments: tuple[Segment, ...]
    alternative: str


class ParetoColumn(Record):
    """A column of the Pareto chart; pixels. alone, together: y and height. dot: of the line. label: rank and name."""

    x: float
    width: float
    label: str
    alone: tuple[float, float]
    together: tuple[float, float]
    dot: tuple[float, float]
    words: str


class Pareto(Record):
    """The chart of a work list; pixels. ticks: (y, text) of the axes.

    A column for each image: CPU that it frees alone, and what only its best pair frees above that; over them the line
    of the readiness that is reached.
    """

    width: int
    height: int
    left: int
    right: int
    base: float
    columns: tuple[ParetoColumn, ...]
    line: str
    ticks: tuple[tuple[float, str], ...]
    shares: tuple[tuple[float, str], ...]
    left_out: int
    alternative: str


def readiness_bar(row: Readiness, upgrades: Upgrades | None) -> Bar:
    """How much of what could move is ready, not known, blocked. upgrades: what of it newer tags alone would free."""
    freed = row.counted(upgrades.freed) if upgrades else 0
    values = (
        ("ready", row.counted(row.ready), "ready"),
        ("newer", freed, "with newer tags"),
        ("unknown", row.counted(row.unknown), "not known"),
        ("blocked", row.counted(row.blocked) - freed, "blocked"),
    )
    parts = [(kind, value, f"{_amount(value, by_cpu=row.by_cpu)} {words}") for kind, value, words in values]
    detail, segments = _segments(parts, row.counted(row.total))
    return Bar(row.architecture, ready_share(row), segments, f"{ready_sentence(row)}: {detail}.")


def wave_bar(plan: Waves, readiness: Readiness) -> Bar:
    """How what is to move is spread over the waves; what runs on every node does not move."""
    waves = [wave for wave in (*plan.waves[1:], plan.unknown) if wave.owner_count]
    by_cpu = any(wave.amount.cpu for wave in waves)
    unit = "CPU" if by_cpu else "pods"
    total, parts = 0, []
    for wave in waves:
        kind = {None: "unknown", 1: "ready"}.get(wave.number, f"w{wave.number}")
        value = wave.amount.cpu if by_cpu else wave.amount.pods
        parts.append((kind, value, f"{wave_name(wave)}: {cpu_text(value) if by_cpu else value}"))
        total += value
    detail, segments = _segments(parts, total)
    words = f"Waves to {readiness.architecture} by {unit}: {detail}."
    return Bar(f"To {readiness.architecture}", _amount(total, by_cpu=by_cpu), segments, words)


def node_bars(groups: Sequence[NodeGroup], names: dict[str, str]) -> tuple[Bar, ...]:
    """The nodes of each architecture; their lengths compare. names: of the snapshots, empty where there is one."""
    largest = max((group.cpu for group in groups), default=0)
    bars = []
    for group in groups:
        used = min(group.requested_cpu, group.cpu)
        rest = group.cpu - used
        closed = max(0, rest - group.free_cpu)
        parts = [
            ("used", used, f"{cpu_text(group.requested_cpu)} CPU requested"),
            ("free", rest - closed, f"{cpu_text(group.free_cpu)} CPU free"),
            ("closed", closed, f"{cpu_text(closed)} CPU on closed nodes"),
        ]
        detail, segments = _segments(parts, largest)
        name = f"{names[group.snapshot]} " if group.snapshot in names else ""
        label = group.architecture + ("" if group.os == "linux" else f" ({group.os})")
        label = name + (label if group.architecture else platform(group.os, ""))
        nodes = count(group.nodes, "node")
        words = f"{nodes}, {label}, {cpu_text(group.cpu)} CPU: {detail}."
        bars.append(Bar(label, nodes, segments, words))
    return tuple(bars)


def pareto(work: WorkList, readiness: Readiness, width: int, most: int) -> Pareto | None:
    """The chart with the first images of the list. width: in pixels. most: how many images. None for an empty list."""
    if not work.items:
        return None
    items = work.items[:most]
    height, left, right, top = 280, 44, 46, 30
    base = height - 26.0
    values = [(readiness.counted(item.alone), readiness.counted(item.together)) for item in items]
    step, largest = _scale(max(1, *(sum(pair) for pair in values)))
    slot = (width - left - right) / len(items)
    thick = min(slot * 0.62, 56)

    def y(part: float, whole: float) -> float:
        return round(base - (base - top) * (part / whole if whole else 0), 1)

    part, whole = readiness.share
    columns, points = [], [(float(left), y(part, whole))]
    for place, (item, (alone, together)) in enumerate(zip(items, values, strict=True)):
        x = round(left + slot * place + (slot - thick) / 2, 1)
        high, higher = y(alone, largest), y(alone + together, largest)
        reached = part + readiness.counted(item.cumulative)
        dot = (round(x + thick / 2, 1), y(reached, whole))
        points.append(dot)
        words = f"{item.rank}. {item.reference}: {gain(item)}; {share_after(readiness, item)} ready then"
        columns.append(
            ParetoColumn(
                x,
                round(thick, 1),
                _label(item, slot),
                (high, round(base - high, 1)),
                (higher, round(high - higher, 1)),
                dot,
                words,
            )
        )
    ticks = range(0, largest + 1, step)
    first = items[0]
    return Pareto(
        width,
        height,
        left,
        right,
        base,
        tuple(columns),
        " ".join(f"{x},{y}" for x, y in points),
        tuple((y(tick, largest), cpu_text(tick) if readiness.by_cpu else f"{tick}") for tick in ticks),
        tuple((y(share, 100), f"{share} %") for share in (0, 50, 100)),
        len(work.items) - len(items),
        f"Work list for {work.architecture}: {first.reference} {gain(first)}. With the first {len(items)} images "
        f"{share_after(readiness, items[-1])} is ready, today {ready_share(readiness)}. The table below has all.",
    )


def _label(item: WorkItem, slot: float) -> str:
    """The rank, and as much of the image's own name as there is room for."""
    name = item.reference.rpartition("@")[0] or item.reference
    name = visible(name.rpartition("/")[2].partition(":")[0])
    room = int(slot / 7) - 4
    if room < 6:
        return f"{item.rank}"
    return f"{item.rank} {name if len(name) <= room else f'{name[: room - 1]}…'}"


def _scale(largest: int) -> tuple[int, int]:
    """(step, end) of an axis with two to five steps."""
    size = 1
    while True:
        for step in (step * size for step in _STEPS):
            if step * 5 >= largest:
                return step, -(-largest // step) * step
        size *= 10


def _amount(value: int, *, by_cpu: bool) -> str:
    return f"{cpu_text(value)} CPU" if by_cpu else f"{value} pods"


def _segments(parts: Iterable[tuple[str, int, str]], whole: int) -> tuple[str, tuple[Segment, ...]]:
    """The words of those that are not 0, and what is drawn of them."""
    segments, start = [], 0.0
    for kind, value, words in parts:
        if value:
            width = round(value * 1000 / whole, 1) if whole else 0.0
            segments.append(Segment(kind, round(start, 1), width, words))
            start += width
    return ", ".join(segment.words for segment in segments), tuple(segments)
