"""The findings of `archfit doctor` as text of at most 100 columns. Pure.

What to do about a missing part is told once: by the entry points that need it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from archfit.base.printable import count, visible
from archfit.doctor.findings import (
    MISSING,
    NOTE,
    OK,
    SHOWN_BY_ENTRY_POINT,
    WRONG,
    Diagnostic,
    EntryPoint,
    entry_points,
)

WIDTH = 100
_COLORS = {OK: "32", NOTE: "33", MISSING: "33", WRONG: "31", "yes": "32", "no": "33"}


def doctor_text(findings: Sequence[Diagnostic], *, colors: bool) -> str:
    """The page: findings, entry points, and one line that sums up."""
    table = _entry_points(entry_points(findings), colors=colors)
    lines = [*_findings(findings, colors=colors), "", *table, "", _sum(findings)]
    return "".join(f"{line}\n" for line in lines)


def _findings(findings: Sequence[Diagnostic], *, colors: bool) -> Iterator[str]:
    width = max(len(finding.subject) for finding in findings) + 2
    indent = " " * (9 + width)
    for finding in findings:
        if finding.state == OK and finding.subject.startswith("extra "):
            continue  # an entry point says so
        first, *more = _folded(finding.text, indent)
        yield f"{_painted(finding.state, 9, colors=colors)}{finding.subject:{width}}{first}"
        yield from (f"{indent}{line}" for line in more)
        if finding.remedy and (finding.state != MISSING or finding.subject not in SHOWN_BY_ENTRY_POINT):
            first, *more = _folded(finding.remedy, f"{indent}-> ")
            yield f"{indent}-> {first}"
            yield from (f"{indent}   {line}" for line in more)


def _entry_points(table: Sequence[EntryPoint], *, colors: bool) -> Iterator[str]:
    width = max(len(row.entry_point) for row in table) + 2
    needs = max(len(row.needs) for row in table) + 2
    yield f"{'ENTRY POINT':{width}}{'NEEDS':{needs}}{'HERE':7}WHAT TO DO"
    indent = " " * (width + needs + 7)
    for row in table:
        first, *more = _folded(row.remedy, indent)
        here = _painted(row.here, 7, colors=colors)
        yield f"{row.entry_point:{width}}{row.needs:{needs}}{here}{first}".rstrip()
        yield from (f"{indent}{line}" for line in more)


def _sum(findings: Sequence[Diagnostic]) -> str:
    wrong = sum(finding.state == WRONG for finding in findings)
    missing = sum(finding.state == MISSING for finding in findings)
    parts = [
        f"{count(wrong, 'thing')} {'is' if wrong == 1 else 'are'} wrong" if wrong else "nothing is wrong"
    ]
    if missing:
        parts.append(f"{count(missing, 'optional part')} {'is' if missing == 1 else 'are'} not here")
    parts.append("no registry was asked (archfit login-check does)")
    return "; ".join(parts)


def _folded(text: str, indent: str) -> list[str]:
    """Lines of at most WIDTH columns behind the indent; a word that is longer, as a path, stays whole."""
    width = max(30, WIDTH - len(indent))
    return textwrap.wrap(visible(text), width, break_long_words=False, break_on_hyphens=False) or [""]


def _painted(word: str, width: int, *, colors: bool) -> str:
    space = " " * (width - len(word))
    if not colors or word not in _COLORS:
        return word + space
    return f"\x1b[{_COLORS[word]}m{word}\x1b[0m{space}"
