"""Items of a list as pieces of their own, so that the many that hold no pod need not be parsed.

    apiVersion: v1
    items:                      every line at the items' column begins with "- ", "#" or is blank
    - kind: ConfigMap           ─┐ one slice: from its dash to the next one
      ...                       ─┘
    - kind: Deployment          ─┐
      ...                       ─┘
    kind: List                  a line left of the items, or a key beside them, ends the block; one that begins with a
                                tab does not: YAML allows no key there

Where the text is not that regular, the whole list is one piece: correct, but slower.
"""

from __future__ import annotations

import re

from archfit.record import Record
from archfit.source.skip import may_be_quoted, otherwise_written

_ITEMS_KEY = rb"(?:\A|\n)items:[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*( *)-(?=[ \r\n])"
# A key that may be "items" once more, which kubectl would take.
_ITEMS_AGAIN = rb"(?:\A|\n)(?:" + otherwise_written(b"items") + rb")"
_INDENTED = rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]"
_AMPERSAND = rb"&[A-Za-z0-9_-]"


class Slice(Record):
    """One item: `data[start:end]` parses as a list of one. column: of the item's own keys.

    closed: it certainly ends outside of quoted text. Where it does not, only its parser knows if the next slice
    is an item at all.
    """

    start: int
    end: int
    column: int
    closed: bool


def slices(data: bytes, start: int, end: int) -> list[Slice] | None:
    """The items of the list in `data[start:end]`, or None where their lines do not separate them."""
    text = data[start:end]
    found = re.search(_ITEMS_KEY, text)
    if (
        found is None
        or re.match(_INDENTED, text)
        or _may_hold_anchors(text)
        or may_be_quoted(text, 0, found.start())
    ):
        return None
    column = len(found[1])
    first = found.end() - 1 - column
    block_end = re.compile(
        rb"\n {%d}(?![- \t#\r\n])|\n {%d}-(?![ \r\n])" % (column, column)
        + (rb"|\n {0,%d}(?![ \t#\r\n])" % (column - 1) if column else b"")
    ).search(text, first)
    stop = block_end.start() + 1 if block_end and block_end.end() < len(text) else len(text)
    dash = b"\n" + b" " * column + b"- "
    if text.find(dash, stop - 1) >= 0 or text.find(b"\nitems:", stop - 1) >= 0:
        return None
    if re.search(_ITEMS_AGAIN, text[:first]) or re.search(_ITEMS_AGAIN, text[stop - 1 :]):
        return None
    starts = [first]
    at = text.find(dash[:-1], first, stop)
    while at >= 0:
        starts.append(at + 1)
        at = text.find(dash[:-1], at + 1, stop)
    ends = [*starts[1:], stop]
    return [
        Slice(start + a, start + b, column + 2, not may_be_quoted(text, a, b))
        for a, b in zip(starts, ends, strict=True)
    ]


def _may_hold_anchors(text: bytes) -> bool:
    """An alias of an anchor in another slice would not parse, and an edit at the anchor would reach it unseen."""
    return any(
        text[found.start() - 1 : found.start()] in b" \t[{,\n" for found in re.finditer(_AMPERSAND, text)
    )
