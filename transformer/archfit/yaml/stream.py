"""The plain stream: documents in, the same documents out. A piece is one document; every byte is kept.

    stream     = piece *( separator piece )
    separator  = a line that begins with "---" followed by a blank, a tab, CR, LF, "#" or the end of the stream
    end        = a line "..." behind content: only comments and blanks may follow before the next separator

Kubernetes' readers separate first and parse then, so they refuse a directive (`%YAML`) and a `...` that ends nothing.
`---foo` is content. What stands on a separator line behind the dashes never reaches the parser if it is blank or
a comment: libyaml stumbles over `---# c`, which Kubernetes' readers accept. Anything else there is an error, as it
is for kubectl. Nor does a byte order mark at the start of a piece reach the parser.

Lines end at LF, as they do for k8s.io/apimachinery's YAMLReader; CRLF is an LF with a blank before it. Bytes are
searched with `find`, and lines are counted only where one is asked for: most processes have 20 ms to live.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.results import Message
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BOM = b"\xef\xbb\xbf"
_AFTER_MARKER = (b"", b" ", b"\t", b"\r", b"\n", b"#")
_BLANKS = b" \t\r"
_MARKS = b"%."
# The first bytes of files that hold other files.
_ARCHIVES = (
    (0, b"\x1f\x8b", "gzip"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (257, b"ustar", "tar"),
)
BEFORE_THE_PIPE = "Did the command before the pipe fail? Run it alone"
COMMENT = b"# archfit: no manifests\n"


class LineCount:
    """Lines of places in one stream, counted from the place that was asked about last. start: where line 1 begins."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        self._data = data
        self._at, self._line = start, 1

    def at(self, offset: int) -> int:
        """The 1-based line of the byte at offset."""
        if offset < self._at:
            self._line -= self._data.count(b"\n", offset, self._at)
        else:
            self._line += self._data.count(b"\n", self._at, offset)
        self._at = offset
        return self._line


class Piece(Record):
    """One document: `data[start:end]` is what the parser may see.

    start, end: byte offsets; the separator line before the piece is outside.
    number: 1-based, counting pieces that hold something besides comments and blanks.
    lines: of the stream.
    """

    start: int
    end: int
    number: int
    lines: LineCount

    @property
    def line(self) -> int:
        """1-based line of `start`."""
        return self.lines.at(self.start)


class BlankInput(InvalidInput):
    """The input holds no manifests, and may not be blank."""


class Stream(Record):
    """A stream that was read. data: what is written if nothing changes; pieces: the documents of `data`."""

    data: bytes
    pieces: tuple[Piece, ...]
    messages: tuple[Message, ...] = ()


class Splice(Record):
    """`data[start:end]` of the input is replaced by `text`. Offsets in bytes."""

    start: int
    end: int
    text: bytes


class OutputChange(Record):
    """A change, seen from the output: `output[start:end]` stands where the input had `was`. Offsets in bytes.

    file: where each file has an output of its own, "" for a stream.
    """

    start: int
    end: int
    was: bytes
    file: str = ""


def read_stream(data: bytes, on_blank: str) -> Stream:
    """The stream in data. Raises InvalidInput if it is an archive, no UTF-8, cannot be split, or may not be blank."""
    for start, magic, kind in _ARCHIVES:
        if data.startswith(magic, start):
            raise InvalidInput(
                f"this is a {kind} archive, not YAML. Unpack it, or if it is a Helm chart, render it: "
                "helm template ARCHIVE | archfit"
            )
    check_utf8(data)
    pieces = tuple(split(data))
    if pieces:
        return Stream(data, pieces)
    if on_blank == "fail":
        raise BlankInput(
            f"the input holds no manifests. {BEFORE_THE_PIPE}, or allow this with --on-blank=pass"
        )
    blank = not data.removeprefix(BOM).strip()
    warning = Message("warning", "the input holds no manifests; it was written back as it is")
    if on_blank == "comment":
        return Stream(COMMENT if blank else data, ())
    return Stream(data, (), (warning,))


def parts(data: bytes, splices: Iterable[Splice]) -> Iterator[bytes | memoryview]:
    """The output, part after part; `data` itself where nothing changes. Views of 10,000 changes take 2 MB."""
    view, at = memoryview(data), -1
    for splice in splices:
        yield view[max(at, 0) : splice.start]
        yield splice.text
        at = splice.end
    yield data if at < 0 else view[at:]


def output_changes(data: bytes, splices: Iterable[Splice]) -> Iterator[OutputChange]:
    """Where the output differs; putting each `was` back gives the input. 10,000 of them would take 1.3 MB."""
    shift = 0
    for splice in splices:
        start = splice.start + shift
        yield OutputChange(start, start + len(splice.text), data[splice.start : splice.end])
        shift += len(splice.text) - (splice.end - splice.start)


def split(data: bytes) -> list[Piece]:
    """The pieces of the stream that hold something, in order. Raises InvalidInput."""
    pieces: list[Piece] = []
    start = first_line = len(BOM) if data.startswith(BOM) else 0
    lines = LineCount(data)
    has_ends = data.find(b"\n...") >= 0
    opening = False
    for dashes in (*_lines_that_begin(data, b"---", start, len(data)), len(data)):
        if data[dashes + 3 : dashes + 4] not in _AFTER_MARKER:
            continue
        line_end = data.find(b"\n", dashes)
        line_end = len(data) if line_end < 0 else line_end
        first = first_content(data, start, dashes)
        if line_end - dashes > 3 and not _is_blank_or_comment(data, dashes + 3, line_end):
            raise InvalidInput(
                "text stands behind '---' on the same line, which kubectl refuses. Begin a new line after '---'",
                line=lines.at(dashes),
                document=len(pieces) + 1 + (first >= 0),
            )
        if first >= 0 and data[first] in _MARKS:
            first = _marked(data, first, dashes, lines, len(pieces) + 1, opening=opening)
        if first >= 0:
            piece = Piece(start, dashes, len(pieces) + 1, lines)
            if has_ends:
                _check_end(data, piece)
            pieces.append(piece)
        # The first line is a part of the first document to Kubernetes' readers, and they skip a byte order mark behind
        # every other separator.
        opening = dashes == first_line
        start = line_end + 1
        if not opening and data.startswith(BOM, start):
            start += len(BOM)
    return pieces


def _marked(data: bytes, first: int, end: int, lines: LineCount, number: int, *, opening: bool) -> int:
    """Where content begins in a piece that may begin with a directive or with `...`; -1 for none. Raises InvalidInput.

    opening: the piece stands behind a `---` that begins the stream: there alone `...` ends an empty document.
    """
    if data.startswith(b"%", first):
        raise InvalidInput(
            "a '%' directive stands here, which kubectl and kustomize refuse. Remove the line, or is this the output "
            "of another command? Run that command alone",
            line=lines.at(first),
            document=number,
        )
    if not data.startswith(b"...", first) or data[first + 3 : first + 4] not in _AFTER_MARKER:
        return first
    if not opening:
        raise InvalidInput(
            "a '...' stands here and ends no document, which kubectl and kustomize refuse. Remove the line",
            line=lines.at(first),
            document=number,
        )
    _check_end(data, Piece(first, end, number, lines))
    return -1


def check_utf8(data: bytes) -> None:
    """Raises InvalidInput unless the whole stream is UTF-8."""
    if data.isascii():
        return
    at, step = 0, 1 << 16
    while at < len(data):
        # A slice ends at a line, which never cuts a character.
        end = data.find(b"\n", min(at + step, len(data) - 1)) + 1 or len(data)
        try:
            data[at:end].decode()
        except UnicodeDecodeError as error:
            at += error.start
            if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                hint = "It looks like UTF-16: convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW"
            elif b"\0" in data[:1024]:
                hint = "It looks like a binary file: name rendered manifests"
            else:
                hint = "Save the file as UTF-8"
            raise InvalidInput(
                f"the byte 0x{data[at]:02x} is not UTF-8, which Kubernetes requires. {hint}",
                line=data.count(b"\n", 0, at) + 1,
                document=len(split(data[:at] + b"?")),
            ) from None
        at = end


def _lines_that_begin(data: bytes, prefix: bytes, start: int, end: int) -> Iterator[int]:
    """Offsets of the lines of `data[start:end]` that begin with prefix; a line begins at `start`."""
    if data.startswith(prefix, start, end):
        yield start
    before = data.find(b"\n" + prefix, start, end)
    while before >= 0:
        yield before + 1
        before = data.find(b"\n" + prefix, before + 1, end)


def first_content(data: bytes, start: int, end: int, *, behind_end: bool = False) -> int:
    """Offset of the first line that holds more than blanks and comments, -1 if there is none.

    behind_end: of a document, where more `...` say nothing.
    """
    while start < end:
        if data[start : start + 1].isalpha():  # a key, as a rule
            return start
        line_end = data.find(b"\n", start, end)
        line_end = end if line_end < 0 else line_end
        at = start + 3 if behind_end and data.startswith(b"...", start, line_end) else start
        if not data.startswith(b"#", start) and not _is_blank_or_comment(data, at, line_end):
            return start
        start = line_end + 1
    return -1


def _is_blank_or_comment(data: bytes, start: int, line_end: int) -> bool:
    # A line may be the whole stream; the window spares its copy.
    shown = data[start : min(start + 80, line_end)].lstrip(_BLANKS) or data[start:line_end].lstrip(_BLANKS)
    return not shown or shown.startswith(b"#")


def _check_end(data: bytes, piece: Piece) -> None:
    """Raises InvalidInput for content behind a `...` line, which kubectl and kustomize drop silently."""
    for dots in _lines_that_begin(data, b"...", piece.start, piece.end):
        if data[dots + 3 : dots + 4] in _AFTER_MARKER:
            line_end = data.find(b"\n", dots, piece.end)
            rest = first_content(data, line_end + 1, piece.end, behind_end=True) if line_end >= 0 else -1
            if rest >= 0:
                raise InvalidInput(
                    "content follows the document end '...' without a new '---'; kubectl and kustomize drop it "
                    "silently. Put '---' on a line of its own before it",
                    line=piece.lines.at(rest),
                    document=piece.number,
                )
            return
