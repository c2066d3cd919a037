"""A page of the documentation for a terminal: Markdown in, lines of text out.

    | a | b |              columns, whose cells are wrapped until the table fits; <br> begins a new line of a cell
    [text](helm.md#jobs)   text (helm.md#jobs), which is what `archfit help` takes; a link within the page is its text

It knows what the pages of this project use, and no more: nobody else's text comes here.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

CODE = " " * 4
_FENCE = re.compile(r"\s*```")
_HEADING = re.compile(r"(#{1,6}) (.*)")
_ITEM = re.compile(r"(\s*)([-*]|\d+\.) (.*)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_RULE = re.compile(r"\|[\s:|-]+\|?\s*")
_CELLS = re.compile(r"(?<!\\)\|")
_PAGE = re.compile(r"[\w-]+\.md(#[\w-]+)?")
_NARROWEST = 8


def page_lines(text: str, width: int) -> Iterator[str]:
    """The page. width: in columns."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if _FENCE.match(line):
            while end < len(lines) and not _FENCE.match(lines[end]):
                end += 1
            code = textwrap.dedent("\n".join(lines[at + 1 : end]))
            yield from (f"{CODE}{part}".rstrip() for part in code.split("\n"))
            end += 1
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            yield from _table(lines[at:end], width)
        elif heading := _HEADING.match(line):
            title = inline(heading[2])
            yield title
            if len(heading[1]) < 3:
                yield "=-"[len(heading[1]) - 1] * len(title)
        elif not line.strip() or line.startswith("<!--"):
            yield ""
        else:
            while end < len(lines) and _goes_on(lines[end]):
                end += 1
            yield from _block(lines[at:end], width)
        at = end


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Each heading of a page, as (number of its line from 0, level, text)."""
    code = False
    for number, line in enumerate(text.split("\n")):
        if _FENCE.match(line):
            code = not code
        elif not code and (heading := _HEADING.match(line)):
            yield number, len(heading[1]), heading[2]


def anchor(heading: str) -> str:
    """What a link calls a heading, as GitHub makes it."""
    bare = _LINK.sub(r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", bare).replace(" ", "-")


def inline(text: str) -> str:
    """The text without marks; a link has its address in brackets where that says more."""
    parts = re.split(r"(`[^`]+`)", _PICTURE.sub(r"[picture: \1]", text))
    marked = "".join(part if at % 2 else _BOLD.sub(r"\1", part) for at, part in enumerate(parts))
    return _LINK.sub(_linked, marked).replace(r"\|", "|")


def _linked(link: re.Match[str]) -> str:
    text, target = link[1], link[2]
    if not _PAGE.fullmatch(target) and "://" not in target:
        return text
    return target if text == target.partition("#")[0] else f"{text} ({target})"


def _goes_on(line: str) -> bool:
    if not line.strip() or line.startswith("|"):
        return False
    return not (_FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line))


def _block(lines: Sequence[str], width: int) -> Iterator[str]:
    text = " ".join(line.strip() for line in lines)
    item = _ITEM.match(lines[0])
    mark = f"{item[1]}{item[2]} " if item else ""
    yield from textwrap.wrap(
        inline(text[len(mark.strip()) :].strip()),
        width,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table(lines: Sequence[str], width: int) -> Iterator[str]:
    rows = [
        [inline(cell.strip()) for cell in _CELLS.split(line.strip().strip("|"))]
        for line in lines
        if not _RULE.fullmatch(line)
    ]
    columns = max(map(len, rows))
    rows = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = _widths(rows, width - 2 * (columns - 1))
    for number, row in enumerate(rows):
        cells = [_cell(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            yield "  ".join(map(str.ljust, parts, widths)).rstrip()
        if number == 0:
            yield "  ".join("-" * wide for wide in widths)


def _widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """As wide as the longest cells, the widest columns made narrower until all fit."""
    longest = [max(len(part) for row in rows for part in row[at].split("<br>")) for at in range(len(rows[0]))]
    widths = [max(1, length) for length in longest]
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(text: str, width: int) -> list[str]:
    parts = (textwrap.wrap(part.strip(), width, break_on_hyphens=False) for part in text.split("<br>"))
    return [line for part in parts for line in part] or [""]
