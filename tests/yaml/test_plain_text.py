"""What `stream`, `skip` and `container` find with plain searches is what regular expressions say, in any text."""

import itertools
import random
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from archfit.base.errors import InvalidInput
from archfit.yaml import container, stream
from archfit.yaml.container import Slice
from archfit.yaml.skip import has_odd_breaks, has_pod_words, identity, may_be_quoted
from archfit.yaml.unusual_text import block_end
from corpus_streams import each_stream

_BLANK_LINES = rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*"
_BEGINS_WITH_A_KEY = re.compile(_BLANK_LINES + rb"[A-Za-z][A-Za-z0-9_.-]*:(?=[ \t\r\n]|\Z)").match
_IDENTITY_LINES = re.compile(rb"(?:(kind|apiVersion)|['\"?*&!<])").match
_ITEMS_KEY = re.compile(rb"(?:\A|\n)items:\r?\n" + _BLANK_LINES + rb"( *)-(?=[ \r\n])").search
_OTHERWISE = re.compile(rb"\n['\"?*&!<]").search
_BLANK_OR_COMMENT = re.compile(rb"[ \t\r]*(?:#[^\n]*)?").fullmatch
_END_AND_BLANK = re.compile(rb"\.\.\.[ \t\r]*(?:#[^\n]*)?").fullmatch
_IS_END = re.compile(rb"\.\.\.(?=[ \t\r\n#]|\Z)").match
_BARE_KIND = re.compile(rb"kind:[ \t]+([A-Za-z][A-Za-z0-9]*)[ \t]*\r?(?=\n|\Z)").match
_BARE_API_VERSION = re.compile(rb"apiVersion:[ \t]+([A-Za-z][A-Za-z0-9./-]*)[ \t]*\r?(?=\n|\Z)").match
_ESCAPED_KEY = re.compile(rb'"[^"\n]*\\[^"\n]*"[ \t]*:').search
_POD_WORD = re.compile(rb"containers|container:|[iI]mage|podTemplate|template:").search
_ANCHOR = re.compile(rb"(?:(?<=[ \t\[{,\n])|\A)&[A-Za-z0-9_-]").search
_SEPARATOR = re.compile(rb"^---(?=[ \t\r\n#]|\Z)", re.MULTILINE).finditer
_SEPARATOR_HERE = re.compile(rb"---(?=[ \t\r\n#]|\Z)").match


def _identity_lines(data: bytes, start: int, end: int, column: int) -> tuple[int, int] | None:
    """Offsets of the only lines of `kind` and `apiVersion`; None where a line begins with another spelling."""
    places = [match.end() for match in re.compile(b"\n" + b" " * column).finditer(data, start, end)]
    if not data[start : start + column].strip(b" -"):
        places.append(start + column)
    found: dict[bytes, int] = {}
    for match in filter(None, (_IDENTITY_LINES(data, place, end) for place in places)):
        if match[1] is None or match[1] in found:
            return None
        found[match[1]] = match.start()
    return (found[b"kind"], found[b"apiVersion"]) if len(found) == 2 else None


def _identity(data: bytes, start: int, end: int, column: int) -> tuple[str, str] | None:
    if not column and not _BEGINS_WITH_A_KEY(data, start, end):
        return None
    lines = _identity_lines(data, start, end, column)
    if lines is None or has_odd_breaks(data, start, end):
        return None
    kind, version = _BARE_KIND(data, lines[0], end), _BARE_API_VERSION(data, lines[1], end)
    if kind is None or version is None or any(may_be_quoted(data, start, at) for at in lines):
        return None
    return version[1].decode(), kind[1].decode()


def _block(text: bytes) -> tuple[int, int, int] | None:
    """First line, end and column of the items."""
    key = _ITEMS_KEY(text) if _BEGINS_WITH_A_KEY(text) else None
    if key is None or _ANCHOR(text) or may_be_quoted(text, 0, text.index(b"items:", key.start())):
        return None
    if b"\nitems:" in b"\n" + text[: key.start()]:
        return None
    first, column = key.end() - 1 - len(key[1]), len(key[1])
    stop = block_end(text, first, column)
    again = re.compile(rb"\n {%d}- |\nitems:" % column).search(text, stop - 1)
    if again or _OTHERWISE(b"\n" + text[:first]) or _OTHERWISE(text[stop - 1 :]):
        return None
    return first, stop, column


def _items(data: bytes, start: int, end: int) -> list[Slice]:
    """The items of a list, which are found as the expressions say."""
    found = container.slices(data, start, end)
    block = _block(data[start:end])
    assert (found is None) == (block is None)
    if not found or not block:
        return []
    first, stop, column = block
    starts = [one.start() for one in re.finditer(rb"(?m)^ {%d}-" % column, data[start : start + stop])]
    assert [(one.start - start, one.column) for one in found] == [
        (at, column + 2) for at in starts if at >= first
    ]
    assert [one.end for one in found] == [*(one.start for one in found[1:]), start + stop]
    return found


def _check_identity(data: bytes, start: int, end: int, column: int) -> None:
    found = identity(data, start, end, column)
    assert (found and (found.api_version, found.kind)) == _identity(data, start, end, column)
    words = _POD_WORD(data, start, end) or _ESCAPED_KEY(data, start, end)
    assert has_pod_words(data, start, end) == (words is not None)


def _expected_pieces(data: bytes) -> list[tuple[object, ...]]:
    """(start, end, number, line) of each piece; of the error (line, document) instead."""
    begin = start = len(stream.BOM) if data.startswith(stream.BOM) else 0
    separators = [(one.start(), one.end()) for one in _SEPARATOR(data) if one.start() >= begin]
    if begin and _SEPARATOR_HERE(data[begin:]):
        separators.insert(0, (begin, begin + 3))
    found: list[tuple[object, ...]] = []
    opening = False
    for at, behind in [*separators, (len(data), len(data))]:
        line_end = at + len(data[at:].partition(b"\n")[0])
        lines = re.findall(rb"[^\n]*\n|[^\n]+\Z", data[start:at])
        first = next((n for n, line in enumerate(lines) if not _is_nothing(line)), -1)
        line, number = data.count(b"\n", 0, start) + 1, len(found) + 1
        if not _BLANK_OR_COMMENT(data, behind, line_end):
            return [(data.count(b"\n", 0, at) + 1, number + (first >= 0))]
        ends = [n for n, one in enumerate(lines) if _IS_END(one)]
        if first >= 0 and (lines[first].startswith(b"%") or (ends[:1] == [first] and not opening)):
            return [(line + first, number)]
        for n in range(ends[0] + 1 if ends else len(lines), len(lines)):
            if not _is_nothing(lines[n]) and not _END_AND_BLANK(lines[n].removesuffix(b"\n")):
                return [(line + n, number)]
        if first >= 0 and ends[:1] != [first]:
            found.append((start, at, number, line))
        opening = at == begin
        start = line_end + 1
        if not opening and data.startswith(stream.BOM, start):
            start += len(stream.BOM)
    return found


def _is_nothing(line: bytes) -> bool:
    return _BLANK_OR_COMMENT(line.removesuffix(b"\n")) is not None


def _check_pieces(data: bytes) -> list[stream.Piece]:
    """The pieces, which are as the expressions say."""
    found: list[tuple[object, ...]]
    pieces: list[stream.Piece] = []
    try:
        pieces = stream.split(data)
    except InvalidInput as error:
        found = [(error.line, error.document)]
    else:
        found = [(one.start, one.end, one.number, one.line) for one in pieces]
    assert found == _expected_pieces(data)
    return pieces


def check(data: bytes) -> None:
    """Raises AssertionError where a search and an expression disagree."""
    for start, end in [(0, len(data)), *((piece.start, piece.end) for piece in _check_pieces(data))]:
        for column in (0, 2):
            _check_identity(data, start, end, column)
        for item in _items(data, start, end)[:50]:
            _check_identity(data, item.start, item.end, item.column)


WORDS = [
    b"\napiVersion: a-b.c/v1", b"kind:x", b"\nkind:\tPod", b"\nkind : Pod",
    b"\n", b"\n", b"\n", b"\r\n", b"\r", b" ", b"  ", b"\t", b"-", b"- ", b"---", b"--- ", b"\n---\n", b"...",
    b"%YAML", b"#", b"# c", b":", b": ", b"kind", b"apiVersion", b"items", b"\nkind: List", b"\napiVersion: v1",
    b"\nitems:\n", b"kindle", b"apiVx", b"'", b'"', b"?", b"*", b"&", b"!", b"\\", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xef\xbb\xbf", b"{", b"[", b",", b"image", b"x", b"v1", b"Pod", b"\n  kind: Pod",
    b"\n- kind: Secret\n  apiVersion: v1\n", b"&a", b"&-", b"\xc3\xa9", b"'items'", b'"kind"', b'"k\\x69nd" :',
    b"metadata:\n  name: x\n", b"\n  - a: b\n",
]  # fmt: skip
BEGINNINGS = [
    b"a:x\nkind: Pod\napiVersion: a-b.c/v1",
    b"",
    b"apiVersion: v1\nkind: List\nitems:\n- a: 1\n",
    b"# Source: c\nkind: Pod\napiVersion: v1\nx: ",
    b"items:\n  - ",
]
DRAWN = st.builds(
    lambda beginning, words: beginning + b"".join(words),
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from(WORDS), max_size=14),
)


@given(data=DRAWN)
@example(data=b"\nitems:\n\nitems:\n\n- kind: Secret\n  apiVersion: v1\n")
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
def test_drawn_text(data):
    check(data)
    check(data.replace(b"\n", b"\r\n"))


@each_stream
def test_text_of_the_corpus_with_lines_broken(stream):
    text = stream.path.read_bytes()
    check(text)
    chance = random.Random(stream.name)
    for _ in range(10):
        at = chance.randrange(len(text))
        part = text[text.rfind(b"\n---\n", 0, at) + 1 :][:5000]
        line = part.rfind(b"\n", 0, chance.randrange(len(part) + 1)) + 1
        check(part[:line] + chance.choice(WORDS) + part[line + chance.choice((0, 0, 1, 4)) :])


@pytest.mark.parametrize("key", ["kind", "apiVersion"])
def test_words_behind_a_colon(key):
    other = "apiVersion: v1" if key == "kind" else "kind: A"
    for length in range(5):
        for said in itertools.product(" \t\ra1-/é#", repeat=length):
            data = f"{key}:{''.join(said)}\n{other}".encode()
            _check_identity(data, 0, len(data), 0)


def test_a_long_list_ends_where_a_short_one_does(monkeypatch):
    chance = random.Random(5)
    lines = [
        b"- a: 1\n",
        b"  - b: 1\n",
        b"  x: y\n",
        b"\n",
        b"# c\n",
        b"-\n",
        b"-",
        b" ",
        b"\tz\n",
        b"kind: List\n",
        b"  ",
    ]
    for _ in range(2000):
        text = b"items:\n" + chance.choice((b"- a: 0\n", b"  - b: 0\n", b"-\n"))
        text += b"".join(chance.choice(lines) for _ in range(chance.randrange(6)))
        short = container.slices(text, 0, len(text))
        with monkeypatch.context() as patched:
            patched.setattr(container, "_SHORT", -1)
            assert container.slices(text, 0, len(text)) == short
