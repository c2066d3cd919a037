"""A change of a stream as a unified diff, from the places that change: `patch -p1` and `git apply` apply it exactly.

Lines end at LF; a CR before it belongs to the line. The cost is that of the lines that change.

Three lines of context stand around a change. Where a Secret is near, only those that cannot hold a value are shown, so
that none gets into a log: `---`, and what no block scalar can hold, as it has no indent (a comment, a key alone,
`kind: ..`); of lines with an indent those of a closed list. Where fewer lines may be shown on one side, the other side
has no more: patch takes a shorter end for the end of the file. Where none may be shown, the line before new lines,
which is of the same mapping, is removed and added: git would put a hunk without an old line at the end of the file, and
it refuses this one. More lines are, where the file ends with the same old lines: git would put the hunk there.

Sources: POSIX.1-2024, diff, "Diff -u Output Format"; GNU patch 2.7, src/patch.c, locate_hunk; git, apply.c and quote.c.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from archfit.base.printable import visible
from archfit.startup.record import Record
from archfit.yaml.stream import Splice

CONTEXT = 3
_NO_NEWLINE = b"\\ No newline at end of file\n"
_LONGEST_TITLE = 100
_WITHOUT_VALUE = re.compile(
    rb"(?:(?:apiVersion|kind): \S+|[\"'A-Za-z0-9_./-]+:|#.*|---[ \t]*(?:#.*)?"
    rb"|[ \t]*(?:- )*(?:apiVersion: v1|kind: Secret|(?:metadata|data|stringData|spec|items):)"
    rb"|[ \t]*(?:\"apiVersion\": \"v1\"|\"kind\": \"Secret\"),?"
    rb"|[ \t]*[\[\]{},]*)\r?\n?"
).fullmatch
_SECRET = re.compile(rb"[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?Secret\b").search
_QUOTED = re.compile(rb"[^ !#-\[\]-~]")
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_BOLD, _CYAN, _GREEN, _RED, _RESET = (f"\x1b[{code}m" for code in ("1", "36", "32", "31", "0"))


class DiffObject(Record):
    """An object that may change: `data[start:end]`. title: for the heads of its hunks."""

    start: int
    end: int
    title: str


class _Block(Record):
    """Whole lines that change: those of `data[start:end]` become others."""

    start: int
    end: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


def unified_diff(
    name: str, data: bytes, splices: Sequence[Splice], objects: Sequence[DiffObject]
) -> list[bytes]:
    """The lines of the diff, [] where nothing changes.

    splices, objects: in order. objects: those that hold pods; they do not overlap.
    """
    blocks = [block for group in _grouped(data, splices) for block in _narrowed(data, *group)]
    if not blocks:
        return []
    around = _Context(data, objects)
    diff = [_quoted_name("--- ", f"a/{name}"), _quoted_name("+++ ", f"b/{name}")]
    number, counted, shift, last = 0, 0, 0, 0
    for close in around.hunks(blocks):
        hunk = around.anchored(close, last)
        first, last = around.ends(hunk, last)
        number, counted = number + data.count(b"\n", counted, first), first
        body, removed, added, at = list[bytes](), 0, 0, first
        for block in hunk:
            body += [b" " + line for line in _lines(data[at : block.start])]
            body += [b"-" + line for line in block.old]
            body += [b"+" + line for line in block.new]
            removed, added, at = removed + len(block.old), added + len(block.new), block.end
        body += [b" " + line for line in _lines(data[at:last])]
        same = len(body) - removed - added
        diff.append(_head(number, same + removed, number + shift, same + added, around.title(hunk[0].start)))
        diff += [line if line.endswith(b"\n") else line + b"\n" + _NO_NEWLINE for line in body]
        shift += added - removed
    return diff


def colored_diff(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a diff with colours, and with escapes for what a terminal would not show."""
    heads = 2
    for line in (part for piece in lines for part in _lines(piece)):
        text = visible(line.decode(errors="replace").rstrip("\r\n"), "\t")
        if heads:
            color, heads = _BOLD, heads - 1
        elif line.startswith(b"@@"):
            color = _CYAN
        else:
            color = {b"+": _GREEN, b"-": _RED}.get(line[:1], "")
        yield f"{color}{text}{_RESET if color else ''}\n".encode()


class _Context:
    def __init__(self, data: bytes, objects: Sequence[DiffObject]) -> None:
        self._data, self._parts = data, list(_parts(objects, len(data)))
        self._starts = [part.start for part in self._parts]
        self._open: dict[int, bool] = {}

    def hunks(self, blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
        """The blocks, those together that few lines keep apart."""
        hunk = [blocks[0]]
        for block in blocks[1:]:
            at, between = hunk[-1].end, 0
            while at < block.start and between <= 2 * CONTEXT and self._shown(at):
                at, between = self._line_end(at), between + 1
            if at >= block.start and between <= 2 * CONTEXT:
                hunk.append(block)
            else:
                yield hunk
                hunk = [block]
        yield hunk

    def ends(self, hunk: Sequence[_Block], shown: int) -> tuple[int, int]:
        """Where the lines of a hunk begin and end, its context included. shown: where the hunk before it ends."""
        before, behind = [hunk[0].start], [hunk[-1].end]
        while len(before) <= CONTEXT and before[-1] > shown:
            start = self._line_before(before[-1])
            if not self._shown(start):
                break
            before.append(start)
        while len(behind) <= CONTEXT and behind[-1] < len(self._data) and self._shown(behind[-1]):
            behind.append(self._line_end(behind[-1]))
        # Only at an end of the file may a side be the shorter one.
        if len(before) > len(behind) and behind[-1] < len(self._data):
            del before[len(behind) :]
        elif len(behind) > len(before) and before[-1] > 0:
            del behind[len(before) :]
        return before[-1], behind[-1]

    def anchored(self, hunk: list[_Block], shown: int) -> list[_Block]:
        """The hunk; where it has no context, lines before it are taken out and put in again, as git needs them.

        One line if it would show no old line; more if the file ends with its old lines, where git would put it.
        """
        first, last = self.ends(hunk, shown)
        if first == last and shown < first and last < len(self._data):
            hunk = _from(self._data, self._line_before(first), hunk)
            first, last = self.ends(hunk, shown)
        if hunk[-1].end < last or last == len(self._data) or not self._data.endswith(self._data[first:last]):
            return hunk
        start, same = first, len(self._data) - (last - first)
        while shown < start and self._shown(before := self._line_before(start)):
            same -= start - before
            differs = self._data[before:start] != self._data[same : same + start - before]
            start = before
            if differs:
                break
        return _from(self._data, start, hunk) if start < first else hunk

    def title(self, at: int) -> str:
        """What the object at an offset is called."""
        return visible(self._part(at).title or self._part(max(0, at - 1)).title)[:_LONGEST_TITLE]

    def _shown(self, start: int) -> bool:
        end = self._line_end(start)
        part = self._part(start)
        if end <= part.end and self._is_open(part):
            return True
        return _WITHOUT_VALUE(self._data, start, end) is not None

    def _is_open(self, part: DiffObject) -> bool:
        """Whether all of its lines may be shown: no Secret is among them."""
        if part.start not in self._open:
            self._open[part.start] = _SECRET(self._data, part.start, part.end) is None
        return self._open[part.start]

    def _part(self, at: int) -> DiffObject:
        return self._parts[bisect_right(self._starts, at) - 1]

    def _line_before(self, start: int) -> int:
        return self._data.rfind(b"\n", 0, start - 1) + 1

    def _line_end(self, start: int) -> int:
        return self._data.find(b"\n", start) + 1 or len(self._data)


def _from(data: bytes, start: int, hunk: list[_Block]) -> list[_Block]:
    """The hunk from an earlier line on, whose lines are taken out and put in again."""
    lines, block = _lines(data[start : hunk[0].start]), hunk[0]
    return [_Block(start, block.end, (*lines, *block.old), (*lines, *block.new)), *hunk[1:]]


def _parts(objects: Iterable[DiffObject], end: int) -> Iterator[DiffObject]:
    at = 0
    for part in objects:
        if at < part.start:
            yield DiffObject(at, part.start, "")
        yield part
        at = part.end
    yield DiffObject(at, end, "")


def _grouped(data: bytes, splices: Iterable[Splice]) -> Iterator[tuple[int, int, list[Splice]]]:
    """Whole lines, and the splices in them."""
    start, end, group = 0, -1, list[Splice]()
    for splice in splices:
        first = data.rfind(b"\n", 0, splice.start) + 1
        whole = (
            max(first, end) <= splice.start == first
            and splice.text[-1:] in (b"", b"\n")
            and data[splice.end - 1 : splice.end] in (b"", b"\n")
        )
        last = splice.end if whole else data.find(b"\n", splice.end) + 1 or len(data)
        if first <= end:
            end = max(end, last)
            group.append(splice)
            continue
        if group:
            yield start, end, group
        start, end, group = first, last, [splice]
    if group:
        yield start, end, group


def _narrowed(data: bytes, start: int, end: int, splices: Iterable[Splice]) -> Iterator[_Block]:
    """The block without the lines at its beginning and end that stay as they are."""
    parts, at = list[bytes](), start
    for splice in splices:
        parts += (data[at : splice.start], splice.text)
        at = splice.end
    old, new = _lines(data[start:end]), _lines(b"".join((*parts, data[at:end])))
    least = min(len(old), len(new))
    first = next((number for number in range(least) if old[number] != new[number]), least)
    last = next(
        (number for number in range(least - first) if old[-1 - number] != new[-1 - number]), least - first
    )
    changed = tuple(old[first : len(old) - last]), tuple(new[first : len(new) - last])
    if any(changed):
        start += sum(map(len, old[:first]))
        yield _Block(start, start + sum(map(len, changed[0])), *changed)


def _lines(text: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in text.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _head(old: int, removed: int, new: int, added: int, title: str) -> bytes:
    """old, new: lines before the hunk; a hunk without lines is named by the line before it."""
    places = f"-{old + bool(removed)},{removed} +{new + bool(added)},{added}"
    return f"@@ {places} @@{f' {title}' if title else ''}\n".encode()


def _quoted_name(mark: str, name: str) -> bytes:
    """A line of the head; a blank in the name is followed by a tab at the end, as git and diff write it."""
    raw = os.fsencode(name)
    if _QUOTED.search(raw):
        return f'{mark}"{"".join(map(_escaped, raw))}"\n'.encode()
    return mark.encode() + raw + (b"\t\n" if b" " in raw else b"\n")


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
