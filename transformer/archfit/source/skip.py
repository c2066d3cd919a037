"""Which pieces need no parser.

    kind: Service                     exactly one line of each at the top column, bare words to the end of the line,
    apiVersion: v1                    not inside of quotes, no odd line breaks, a key first: then group and kind are
                                      known without parsing

    known, in the closed set of kinds without pods                    skipped
    known, in no row, and none of the words of a pod in the text      skipped
    anything else                                                     parsed

A skipped piece passes through as it is, even if the rest of it is not YAML.
"""

from __future__ import annotations

import re

from archfit.record import Record

_BARE_KIND = re.compile(rb"kind:[ \t]+([A-Za-z][A-Za-z0-9]*)[ \t]*\r?(?=\n|\Z)").match
_BARE_API_VERSION = re.compile(rb"apiVersion:[ \t]+([A-Za-z][A-Za-z0-9./-]*)[ \t]*\r?(?=\n|\Z)").match
_BEGINS_WITH_A_KEY = re.compile(
    rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:[A-Za-z][A-Za-z0-9_.-]*|\"[^\"\\\n]*\"|'[^'\n]*')[ \t]*:(?=[ \t\r\n]|\Z)"
).match
_ODD_BREAKS = ((b"\xc2", (b"\xc2\x85",)), (b"\xe2", (b"\xe2\x80\xa8", b"\xe2\x80\xa9")))
_POD_WORDS = (b"containers", b"container:", b"image", b"Image", b"podTemplate", b"template:")
_SINGLE = ord("'")
_BEFORE_QUOTE = b" \t\r\n[{,:"
_ESCAPED_KEY = rb'"[^"\n]*\\[^"\n]*"[ \t]*:'


def otherwise_written(keys: bytes) -> bytes:
    """The pattern of a line that may begin with one of the keys in quotes, with an escape, a tag or an anchor."""
    return rb"['\"](?:" + keys + rb")['\"]|\"[^\"\n]*\\|[?*&!]"


# What its first byte rules out costs a third less.
_IDENTITY_KEY = rb"(?=[ka'\"?*&!])(?:(kind|apiVersion)|" + otherwise_written(b"kind|apiVersion") + rb")"
_STARTS_WITH_ONE = re.compile(_IDENTITY_KEY).match


class Identity(Record):
    """apiVersion and kind of a piece, from the lines at its top column."""

    api_version: str
    kind: str


def has_odd_breaks(data: bytes, start: int, end: int) -> bool:
    """True for a bare CR, NEL, LS or PS: line breaks to some YAML parsers and not to others."""
    # One byte is found many times faster than two or three.
    for first, line_breaks in _ODD_BREAKS:
        if data.find(first, start, end) >= 0 and any(data.find(one, start, end) >= 0 for one in line_breaks):
            return True
    at = data.find(b"\r", start, end)
    while at >= 0:
        if data[at + 1 : at + 2] != b"\n":
            return True
        at = data.find(b"\r", at + 1, end)
    return False


def identity(data: bytes, start: int, end: int, column: int = 0) -> Identity | None:
    """Group and kind without parsing, or None where they are not plain to see.

    column: of the object's keys; its first key may stand behind a dash (an item of a list). Where something else comes
    first, such as `{..}` or an indented mapping, Kubernetes' readers take that for the object and drop the rest.
    """
    if not column and not _BEGINS_WITH_A_KEY(data, start, end):
        return None
    lines = _identity_lines(data, start, end, column)
    if lines is None or has_odd_breaks(data, start, end):
        return None
    kind, api_version = lines
    if may_be_quoted(data, start, kind) or may_be_quoted(data, start, api_version):
        return None
    bare_kind, bare_version = _BARE_KIND(data, kind, end), _BARE_API_VERSION(data, api_version, end)
    if bare_kind is None or bare_version is None:
        return None
    return Identity(bare_version[1].decode(), bare_kind[1].decode())


def may_be_quoted(data: bytes, start: int, at: int) -> bool:
    """False if `at` is certainly outside of quoted text that begins in `data[start:at]`, where none is open at `start`.

    Inside of it, the last quote before is the opening one or an escaped one; these have such neighbours. Two single
    quotes in a row are an escaped one or an empty text: what stands before them tells which.
    """
    double, single = data.rfind(b'"', start, at), data.rfind(b"'", start, at)
    while single > start and data[single - 1] == _SINGLE:
        single = data.rfind(b"'", start, single - 1)
    return (double >= 0 and data[double - 1] in _BEFORE_QUOTE + b"\\") or (
        single >= 0 and data[single - 1] in _BEFORE_QUOTE
    )


def has_pod_words(data: bytes, start: int, end: int) -> bool:
    """True if a pod spec could be hidden in this text."""
    return any(data.find(word, start, end) >= 0 for word in _POD_WORDS) or (
        data.find(b"\\", start, end) >= 0 and re.compile(_ESCAPED_KEY).search(data, start, end) is not None
    )


def _identity_lines(data: bytes, start: int, end: int, column: int) -> tuple[int, int] | None:
    """Offsets of the only lines at this column that begin with `kind` and `apiVersion`.

    None where one is missing or stands twice, or where a key with quotes, an escape, a tag or an anchor may be one of
    them once more: kubectl takes the last.
    """
    lines: dict[bytes, int] = {}
    first = start + column
    at_start = None if data[start:first].strip(b" -") else _STARTS_WITH_ONE(data, first, end)
    others = re.compile(b"\n" + b" " * column + _IDENTITY_KEY).finditer(data, start, end)
    for found in others if at_start is None else (at_start, *others):
        if found[1] is None or found[1] in lines:
            return None
        lines[found[1]] = found.start(1)
    return (lines[b"kind"], lines[b"apiVersion"]) if len(lines) == 2 else None
