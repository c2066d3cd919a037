"""Text into pieces: the documents of a stream, every byte kept.

    stream     = piece *( separator piece )
    separator  = a line that begins with "---" followed by a blank, a tab, CR, LF, "#" or the end of the stream
    directives = a piece that holds only "%" lines, comments and blanks, with at least one "%" line: it belongs
                 to the next piece; without one it is an error
    end        = a line "...": only comments, blanks and directives may follow before the next separator; these
                 directives are outside of every piece, as they are for Kubernetes' readers

`---foo` is content. What stands on a separator line behind the dashes never reaches the parser if it is blank or
a comment: libyaml stumbles over `---# c`, which Kubernetes' readers accept. Anything else there is an error, as it
is for kubectl. Nor does a byte order mark at the start of a piece reach the parser.

Lines end at LF, as they do for k8s.io/apimachinery's YAMLReader; CRLF is an LF with a blank before it.
"""

from __future__ import annotations

import re

from archfit.errors import InvalidInput
from archfit.record import Record
from archfit.typing_names import Iterator

BOM = b"\xef\xbb\xbf"
_AFTER_MARKER = (b"", b" ", b"\t", b"\r", b"\n", b"#")
# An end of a document where none began is nothing, too.
_BLANK_OR_COMMENT = re.compile(rb"(?:\.\.\.(?=[ \t\r]|\Z))?[ \t\r]*(?:#[^\n]*)?", re.DOTALL).fullmatch
_ONLY_DIRECTIVES = rb"(?:%[^\n]*(?:\n|\Z)|[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))*"
_NOTHING = rb"(?:[ \t\r]*(?:#[^\n]*)?(?:\n|\Z))*"


class Piece(Record):
    """One document: `data[start:end]` is what the parser may see.

    start, end: byte offsets; the separator line before the piece is outside, unless directives need it.
    number: 1-based, counting pieces that hold something besides comments and blanks.
    line: 1-based line of `start`.
    mask: byte spans inside the piece that are blanked before parsing: what stands behind the dashes of the separator
        line between directives and their document, so one (perhaps empty) exactly where there are directives.
    """

    start: int
    end: int
    number: int
    line: int
    mask: tuple[tuple[int, int], ...] = ()


def is_nothing(data: bytes) -> bool:
    """True if there are only blanks and comments (and perhaps a byte order mark)."""
    return re.fullmatch(_NOTHING, data.removeprefix(BOM), re.DOTALL) is not None


def split(data: bytes) -> list[Piece]:
    """The pieces of the stream that hold something, in order. Raises InvalidInput."""
    pieces: list[Piece] = []
    start = first_line = len(BOM) if data.startswith(BOM) else 0
    line = 1
    directives: Piece | None = None
    for dashes in (*_lines_that_begin(data, b"---", start, len(data)), len(data)):
        line_end = data.find(b"\n", dashes)
        line_end = len(data) if line_end < 0 else line_end
        if data[dashes + 3 : dashes + 4] not in _AFTER_MARKER:
            continue
        piece = Piece(start, dashes, len(pieces) + 1, line)
        line += data.count(b"\n", start, dashes)
        first = _first_content(data, start, dashes)
        filled = first >= 0
        if not _BLANK_OR_COMMENT(data, dashes + 3, line_end):
            raise InvalidInput(
                "text stands behind '---' on the same line, which kubectl refuses. Begin a new line after '---'",
                line=line,
                document=piece.number + filled,
            )
        if filled:
            if _has_only_directives(data, first, piece.end):
                directives = piece.replace(mask=((dashes + 3, line_end),))
            else:
                end = _document_end(data, piece)
                pieces.append((directives or piece).replace(end=end))
                directives = None
        # Kubernetes' readers skip a mark behind a separator; the first line of the stream is none to them.
        behind_separator = directives is None and dashes > first_line
        start = line_end + 1
        if behind_separator and data.startswith(BOM, start):
            start += len(BOM)
        line += 1
    if directives:
        raise InvalidInput(
            "a '%' directive stands here and no document follows it. Is this the output of another command? "
            "Run that command alone",
            line=directives.line,
            document=directives.number,
        )
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


def _has_only_directives(data: bytes, first: int, end: int) -> bool:
    """Whether directives, comments and blanks are all there is. first: of the first line with content."""
    return (
        data.startswith(b"%", first)
        and re.fullmatch(_ONLY_DIRECTIVES, data[first:end], re.DOTALL) is not None
    )


def _document_end(data: bytes, piece: Piece) -> int:
    """Where the piece ends: at its end, or at the directives behind a `...` line.

    Raises InvalidInput for content behind a `...` line, which kubectl and kustomize drop silently.
    """
    for dots in _lines_that_begin(data, b"...", piece.start, piece.end):
        if data[dots + 3 : dots + 4] in _AFTER_MARKER:
            line_end = data.find(b"\n", dots, piece.end)
            rest = _first_content(data, line_end + 1, piece.end) if line_end >= 0 else -1
            if rest >= 0 and not _has_only_directives(data, rest, piece.end):
                raise InvalidInput(
                    "content follows the document end '...' without a new '---'; kubectl and kustomize drop it "
                    "silently. Put '---' on a line of its own before it",
                    line=piece.line + data.count(b"\n", piece.start, rest),
                    document=piece.number,
                )
            return rest if rest >= 0 else piece.end
    return piece.end
