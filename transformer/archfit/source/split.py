"""Text into pieces: the documents of a stream, every byte kept.

    stream     = piece *( separator piece )
    separator  = a line that begins with "---" followed by a blank, a tab, CR, LF, "#" or the end of the stream
    directives = a piece that holds only "%" lines, comments and blanks, with at least one "%" line: it belongs
                 to the next piece
    end        = a line "...": only comments, blanks and directives may follow before the next separator

`---foo` is content. What stands on a separator line behind the dashes never reaches the parser if it is blank or
a comment: libyaml stumbles over `---# c`, which Kubernetes' readers accept. Anything else there is an error,
because kubectl drops it without a word.

Lines end at LF, as they do for k8s.io/apimachinery's YAMLReader; CRLF is an LF with a blank before it.
"""

from __future__ import annotations

import re

from archfit.errors import InvalidInput
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BOM = b"\xef\xbb\xbf"
_AFTER_MARKER = (b"", b" ", b"\t", b"\r", b"\n", b"#")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\r]*(?:#[^\n]*)?", re.DOTALL).fullmatch
_ONLY_DIRECTIVES = re.compile(rb"(?:%[^\n]*(?:\n|\Z)|[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))*", re.DOTALL).fullmatch
_NOTHING = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))*", re.DOTALL).fullmatch


class Piece(Record):
    """One document: `data[start:end]` is what the parser may see.

    start, end: byte offsets; the separator line before the piece is outside, unless directives need it.
    number: 1-based, counting pieces that hold something besides comments and blanks.
    line: 1-based line of `start`.
    mask: byte spans inside the piece that are blanked before parsing (comments on a directive's separator line).
    """

    start: int
    end: int
    number: int
    line: int
    mask: tuple[tuple[int, int], ...] = ()


def is_nothing(data: bytes) -> bool:
    """True if there are only blanks and comments (and perhaps a byte order mark)."""
    return _NOTHING(data.removeprefix(BOM)) is not None


def split(data: bytes) -> list[Piece]:
    """The pieces of the stream that hold something, in order. Raises InvalidInput."""
    pieces: list[Piece] = []
    start = len(BOM) if data.startswith(BOM) else 0
    line = 1
    directives: Piece | None = None
    for dashes in (*_lines_that_begin(data, b"---", start, len(data)), len(data)):
        line_end = data.find(b"\n", dashes)
        line_end = len(data) if line_end < 0 else line_end
        if data[dashes + 3 : dashes + 4] not in _AFTER_MARKER:
            continue
        piece = Piece(start, dashes, len(pieces) + 1, line)
        line += data.count(b"\n", start, dashes)
        if not _BLANK_OR_COMMENT(data, dashes + 3, line_end):
            raise InvalidInput(
                "text stands behind '---' on the same line, which kubectl drops silently. "
                "Begin a new line after '---'",
                line=line,
                document=piece.number,
            )
        if _first_content(data, piece.start, piece.end) >= 0:
            if _ONLY_DIRECTIVES(data, piece.start, piece.end):
                directives = piece.replace(mask=((dashes + 3, line_end),))
            else:
                _check_document_end(data, piece)
                pieces.append(directives.replace(end=piece.end) if directives else piece)
                directives = None
        start = line_end + 1
        line += 1
    return pieces


def _lines_that_begin(data: bytes, prefix: bytes, start: int, end: int) -> Iterator[int]:
    """Offsets of the lines of `data[start:end]` that begin with prefix; a line begins at `start`."""
    if data.startswith(prefix, start, end):
        yield start
    found = data.find(b"\n" + prefix, start, end)
    while found >= 0:
        yield found + 1
        found = data.find(b"\n" + prefix, found + 1, end)


def _first_content(data: bytes, start: int, end: int) -> int:
    """Offset of the first line that holds more than blanks and comments, -1 if there is none."""
    while start < end:
        line_end = data.find(b"\n", start, end)
        line_end = end if line_end < 0 else line_end
        if not _BLANK_OR_COMMENT(data, start, line_end):
            return start
        start = line_end + 1
    return -1


def _check_document_end(data: bytes, piece: Piece) -> None:
    """Raises InvalidInput for content behind a `...` line, which kubectl and kustomize drop silently."""
    for dots in _lines_that_begin(data, b"...", piece.start, piece.end):
        if data[dots + 3 : dots + 4] in _AFTER_MARKER:
            line_end = data.find(b"\n", dots, piece.end)
            rest = _first_content(data, line_end + 1, piece.end) if line_end >= 0 else -1
            if rest >= 0:
                raise InvalidInput(
                    "content follows the document end '...' without a new '---'; kubectl and kustomize drop it "
                    "silently. Put '---' on a line of its own before it",
                    line=piece.line + data.count(b"\n", piece.start, rest),
                    document=piece.number,
                )
            return
