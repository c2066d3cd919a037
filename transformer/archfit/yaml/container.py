"""Items of a list as pieces of their own, so that the many that hold no pod need not be parsed.

    apiVersion: v1
    items:                      every line at the items' column begins with "- ", "#" or is blank
    - kind: ConfigMap           ─┐ one slice: from its dash to the next one
      ...                       ─┘
    kind: List                  a line left of the items, or a key beside them, ends the block; one that begins with a
                                tab does not: YAML allows no key there

Where the text is not that regular, the whole list is one piece: correct, but slower.
"""

from __future__ import annotations

from archfit.startup.record import Record
from archfit.yaml.skip import OTHERWISE, begins_with_a_key, may_be_quoted, may_begin_otherwise
from archfit.yaml.stream import first_content

_BEHIND_DASH = (b" ", b"\r", b"\n")
_BEFORE_ANCHOR = (b"", b" ", b"\t", b"[", b"{", b",", b"\n")
_BEGINS_NOTHING = (b"\t", b"\n", b"\r", b"#")
# Longer text repays the 3 ms of loading `re`.
_SHORT = 1 << 18


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
    key = _items_key(text)
    if key is None or _may_hold_anchors(text) or may_be_quoted(text, 0, key[0]):
        return None
    _, first, column = key
    stop = _block_end(text, first, column)
    dash = b"\n" + b" " * column + b"- "
    if text.find(dash, stop - 1) >= 0 or text.find(b"\nitems:", stop - 1) >= 0:
        return None
    if text.startswith(OTHERWISE) or any(
        may_begin_otherwise(text, a, b, 0) for a, b in ((0, first), (stop - 1, len(text)))
    ):
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


def _items_key(text: bytes) -> tuple[int, int, int] | None:
    """Where the line `items:` begins, where that of the first item does, and the column of its dash.

    None where that is not plain to see.
    """
    if not begins_with_a_key(text, 0, len(text)):  # so it is not indented
        return None
    at = 0 if text.startswith(b"items:") else text.find(b"\nitems:") + 1
    first = first_content(text, text.find(b"\n", at) + 1, len(text))
    if first < 0 or not text.startswith((b"items:\n", b"items:\r\n"), at):
        return None
    window = text[first : first + 80]
    column = len(window) - len(window.lstrip(b" "))
    if window[column : column + 1] != b"-" or window[column + 1 : column + 2] not in _BEHIND_DASH:
        return None
    return at, first, column


def _block_end(text: bytes, first: int, column: int) -> int:
    if len(text) - first > _SHORT:
        from archfit.yaml.unusual_text import block_end

        return block_end(text, first, column)
    deeper = b" " * (column + 1)
    at = text.find(b"\n", first) + 1
    while at:
        if not text.startswith(deeper, at):
            window = text[at : at + column + 2]
            shown = window.lstrip(b" ")
            beside = len(window) - len(shown) == column
            if not shown or (beside and shown == b"-"):
                break  # the text ends here
            if shown[:1] not in _BEGINS_NOTHING and not (
                beside and shown[:1] == b"-" and shown[1:] in _BEHIND_DASH
            ):
                return at
        at = text.find(b"\n", at) + 1
    return len(text)


def _may_hold_anchors(text: bytes) -> bool:
    """An alias of an anchor in another slice would not parse, and an edit at the anchor would reach it unseen."""
    at = text.find(b"&")
    while at >= 0:
        behind = text[at + 1 : at + 2]
        if text[at - 1 : at] in _BEFORE_ANCHOR and (behind.isalnum() or behind in (b"_", b"-")):
            return True
        at = text.find(b"&", at + 1)
    return False
