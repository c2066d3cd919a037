"""Which pieces need no parser: those whose group and kind are plain to see and hold no pod.

Plain: exactly one line of each at the top column, bare words to the end of the line, not inside of quotes, no odd line
breaks, a key first. Where such a piece holds `items`, it is parsed: to kubectl every kind with items is a list. A
skipped piece passes through as it is, even if the rest of it is not YAML.

Most of a stream is read here and nowhere else, so it is searched with `find`: one byte at the speed of memory, a few
bytes at a tenth of it. The begin of a line is searched with `rfind`, twice as fast: it looks for the first byte, a rare
one.
"""

from __future__ import annotations

from archfit.startup.record import Record
from archfit.yaml.stream import first_content

_ODD_BREAKS = ((b"\xc2", (b"\xc2\x85",)), (b"\xe2", (b"\xe2\x80\xa8", b"\xe2\x80\xa9")))
_POD_WORDS = (b"containers", b"container:", b"image", b"Image", b"podTemplate", b"template:")
_SINGLE = ord("'")
_BEFORE_QUOTE = b" \t\r\n[{,:"
_BLANKS = b" \t"
_AFTER_COLON = (b" ", b"\t", b"\r", b"\n", b"")
_IN_A_VERSION = b"./-"
_IN_A_KEY = b"._-"
# What may begin a key that is written otherwise: in quotes, explicit, an alias, with an anchor or a tag, a merge.
OTHERWISE = (b'"', b"'", b"?", b"*", b"&", b"!", b"<")


class Identity(Record):
    """apiVersion and kind of a piece, from the lines at its top column."""

    api_version: str
    kind: str


def has_odd_breaks(data: bytes, start: int, end: int) -> bool:
    """True for a bare CR, NEL, LS or PS: line breaks to some YAML parsers and not to others."""
    for first, line_breaks in _ODD_BREAKS:
        if data.find(first, start, end) >= 0 and any(
            data.find(mark, start, end) >= 0 for mark in line_breaks
        ):
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
    if not column and not begins_with_a_key(data, start, end):
        return None
    lines = _identity_lines(data, start, end, column)
    if lines is None or has_odd_breaks(data, start, end):
        return None
    kind, api_version = lines
    if may_be_quoted(data, start, kind) or may_be_quoted(data, start, api_version):
        return None
    kind_word = _bare_word(data, kind + len(b"kind"), end, b"")
    version_word = _bare_word(data, api_version + len(b"apiVersion"), end, _IN_A_VERSION)
    return Identity(version_word, kind_word) if kind_word and version_word else None


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
    return any(data.find(word, start, end) >= 0 for word in _POD_WORDS) or has_escaped_key(data, start, end)


def may_be_list(data: bytes, start: int, end: int, column: int) -> bool:
    """True if a line at this column begins with `items`. The text has an `identity`, so no other spelling is in it."""
    first = start + column
    return (
        data.startswith(b"items", first, end) or data.rfind(b"\n" + b" " * column + b"items", start, end) >= 0
    )


def begins_with_a_key(data: bytes, start: int, end: int) -> bool:
    """True if a bare key is the first thing behind blank lines and comments."""
    start = first_content(data, start, end)
    line_end = data.find(b"\n", start, end)
    colon = data.find(b":", start, end if line_end < 0 else line_end) if start >= 0 else -1
    key = data[start:colon].translate(None, _IN_A_KEY)
    return (
        colon >= 0
        and key.isalnum()
        and data[start : start + 1].isalpha()
        and data[colon + 1 : min(colon + 2, end)] in _AFTER_COLON
    )


def may_begin_otherwise(data: bytes, start: int, end: int, column: int) -> bool:
    """True if a line of `data[start:end]` may begin, at this column, with a key that is written otherwise.

    The text before `start` is no line of it.
    """
    line, tries = b"\n" + b" " * column, range(8 + ((end - start) >> 9))
    for byte in OTHERWISE:
        # As a rule the byte is rare, and one byte is found ten times faster than several.
        at = data.find(byte, start, end)
        for _ in tries:
            if at < 0:
                break
            if data.endswith(line, start, at):
                return True
            at = data.find(byte, at + 1, end)
        else:
            if data.find(line + byte, start, end) >= 0:
                return True
    return False


def _identity_lines(data: bytes, start: int, end: int, column: int) -> tuple[int, int] | None:
    """Offsets of the only lines at this column that begin with `kind` and `apiVersion`.

    None where that is not plain to see: one is missing or stands twice, or a line may name one of them otherwise.
    """
    # The first line begins with blanks or a dash, perhaps.
    first = end if data[start : start + column].strip(b" -") else start + column
    line = b"\n" + b" " * column
    kind = _only_line(data, b"kind", line, first, start, end)
    api_version = _only_line(data, b"apiVersion", line, first, start, end) if kind >= 0 else -1
    if api_version < 0 or data.startswith(OTHERWISE, first, end):
        return None
    return None if may_begin_otherwise(data, start, end, column) else (kind, api_version)


def _only_line(data: bytes, word: bytes, line: bytes, first: int, start: int, end: int) -> int:
    """Offset of the only line that begins with the word, at `first` or behind, -1 if there is none or a second one."""
    at = first if data.startswith(word, first, end) else -1
    other = data.rfind(line + word, start, end)
    if other < 0:
        return at
    if at >= 0 or data.rfind(line + word, start, other) >= 0:
        return -1
    return other + len(line)


def _bare_word(data: bytes, colon: int, end: int, others: bytes) -> str:
    """The word behind the colon, alone in its line; "" for anything else.

    It begins with a letter and holds letters, digits and the others; blanks and one CR may follow.
    """
    line_end = data.find(b"\n", colon, end)
    value = data[colon : end if line_end < 0 else line_end].removesuffix(b"\r")
    word = value[1:].strip(_BLANKS)
    plain = word.translate(None, others).isalnum() and word[:1].isalpha()
    return word.decode() if plain and value.startswith((b": ", b":\t")) else ""


def has_escaped_key(data: bytes, start: int, end: int) -> bool:
    """Whether text in double quotes has an escape, and a colon follows it, all in one line."""
    at = data.find(b"\\", start, end)
    while at >= 0:
        opening, closing = data.rfind(b'"', start, at), data.find(b'"', at, end)
        if closing < 0:
            return False
        if opening >= 0 and data.find(b"\n", opening, closing) < 0 and is_key(data, closing + 1, end):
            return True
        at = data.find(b"\\", closing, end)
    return False


def is_key(data: bytes, at: int, end: int) -> bool:
    """Whether a colon stands here, perhaps behind blanks."""
    while window := data[at : min(at + 80, end)]:
        if rest := window.lstrip(_BLANKS):
            return rest.startswith(b":")
        at += len(window)
    return False
