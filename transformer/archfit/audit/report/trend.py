"""A trend in words, as a line of characters, and as the line of a chart.

    +2.2 points since 2026-11-22 00:30 UTC: 34.8 of 56 CPU then, 36.1 of 56 CPU now; not known: 2 CPU then, 2 CPU now
    9 audits since 2026-11-01, between 58 % and 64.4 %: ▁▁▂▃▃·▅▆█

The line goes from the smallest share of what it shows to the largest; both stand beside it. It has a gap where a share
was not known, and where CPU was counted and now pods are, or the other way round. What is not known stands beside the
shares, since a share may grow as less is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.audit.amount import cpu_text, percent
from archfit.audit.readiness import Readiness
from archfit.audit.report.words import counted_words, ready_words
from archfit.audit.trend.trend import Trend
from archfit.base.printable import count
from archfit.startup.record import Record

BLOCKS = "▁▂▃▄▅▆▇█"
GAP = "·"


class TrendLine(Record):
    """The line of a chart; pixels. lines: points of each unbroken part. dots: single moments, and the last."""

    width: int
    height: int
    lines: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    alternative: str


def trend_sentences(trend: Trend, *, line: bool = True) -> Iterator[str]:
    """The delta, and how long it goes on. line: with the line of characters."""
    now, then = trend.moments[-1], trend.before
    if then is None:
        yield "The history holds no earlier audit of this architecture"
        return
    since = f"since {then.date[:10]} {then.date[11:16]} UTC"
    if trend.delta is None:
        counted = "" if now.readiness.by_cpu == then.readiness.by_cpu else ", counted otherwise"
        yield (f"S{since[1:]}: {ready_words(then.readiness)} then{counted}, {ready_words(now.readiness)} now")
    else:
        words = f"{_points(trend.delta)} {since}: {_part(then.readiness)} then, {_part(now.readiness)} now"
        if then.readiness.unknown.pods or now.readiness.unknown.pods:
            unknown = [counted_words(one.readiness, one.readiness.unknown) for one in (then, now)]
            words += f"; not known: {unknown[0]} then, {unknown[1]} now"
        yield words
    if trend.bounds:
        yield _span(trend) + (f": {sparkline(trend)}" if line else "")


def sparkline(trend: Trend) -> str:
    """A character for each moment: BLOCKS from the smallest share to the largest, GAP where it is not known."""
    steps = len(BLOCKS) - 1
    return "".join(GAP if height is None else BLOCKS[round(steps * height)] for height in _heights(trend))


def trend_line(trend: Trend, width: int, height: int) -> TrendLine | None:
    """The line, in a picture of this size. None for a single moment, or where nothing is known."""
    if trend.before is None or not trend.bounds:
        return None
    margin = 4.0
    step = (width - 2 * margin) / (len(trend.moments) - 1)
    parts: list[list[tuple[float, float]]] = [[]]
    for place, share in enumerate(_heights(trend)):
        if share is None:
            parts.append([])
        else:
            x, y = margin + step * place, height - margin - (height - 2 * margin) * share
            parts[-1].append((round(x, 1), round(y, 1)))
    dots = [part[0] for part in parts if len(part) == 1]
    dots += [part[-1] for part in parts[-1:] if len(part) > 1]
    lines = (" ".join(f"{x},{y}" for x, y in part) for part in parts if len(part) > 1)
    return TrendLine(
        width, height, tuple(lines), tuple(dots), f"{'. '.join(trend_sentences(trend, line=False))}."
    )


def _heights(trend: Trend) -> Iterator[float | None]:
    """From 0, the smallest share, to 1, the largest; all in the middle where they are equal. None: a gap."""
    low, high = trend.bounds or (0, 0)
    for share in trend.shares:
        if share is None:
            yield None
        else:
            yield (share - low) / (high - low) if high > low else 0.5


def _span(trend: Trend) -> str:
    """`9 audits since 2026-11-01, between 58 % and 64.4 %`."""
    low, high = (percent(tenths, 1000) for tenths in trend.bounds or (0, 0))
    shares = low if low == high else f"between {low} and {high}"
    shown = len(trend.moments)
    if trend.number > shown:
        return f"The last {shown} of {count(trend.number, 'audit')} since {trend.since[:10]}, {shares}"
    return f"{count(shown, 'audit')} since {trend.since[:10]}, {shares}"


def _part(readiness: Readiness) -> str:
    """`34.8 of 56 CPU`."""
    ready, known = readiness.share
    if readiness.by_cpu:
        return f"{cpu_text(ready)} of {cpu_text(known)} CPU"
    return f"{ready} of {count(known, 'pod')}"


def _points(tenths: int) -> str:
    """A difference of shares: `+2.2 points`."""
    sign = "+" if tenths > 0 else "-" if tenths < 0 else ""
    whole, rest = divmod(abs(tenths), 10)
    return f"{sign}{whole}{f'.{rest}' if rest else ''} point{'' if (whole, rest) == (1, 0) else 's'}"
