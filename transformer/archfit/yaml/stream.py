"""The plain stream: documents in, the same documents out (Helm 3 and 4, pipes).

blank input     --on-blank pass      written back as it is, with a warning
                           comment   a comment line, because Helm 4 fails an empty answer
                           fail      an error: the command before the pipe printed nothing
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.record import Record
from archfit.base.results import Result
from archfit.base.typing_names import Iterable, Iterator
from archfit.yaml.scan import check_utf8
from archfit.yaml.split import BOM, Piece, split

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


class BlankInput(InvalidInput):
    """The input holds no manifests, and may not be blank."""


class Stream(Record):
    """A stream that was read. data: what is written if nothing changes; pieces: the documents of `data`."""

    data: bytes
    pieces: tuple[Piece, ...]
    results: tuple[Result, ...] = ()


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


def read(data: bytes, on_blank: str) -> Stream:
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
    warning = Result("warning", "the input holds no manifests; it was written back as it is")
    if on_blank == "comment":
        return Stream(COMMENT if blank else data, ())
    return Stream(data, (), (warning,))


def write(data: bytes, splices: Iterable[Splice]) -> list[bytes | memoryview]:
    """The output in parts; `data` itself where nothing changes."""
    return list(parts(data, splices))


def parts(data: bytes, splices: Iterable[Splice]) -> Iterator[bytes | memoryview]:
    """The same, one after the other: views of 10,000 changes take 2 MB."""
    view, at = memoryview(data), -1
    for splice in splices:
        yield view[max(at, 0) : splice.start]
        yield splice.text
        at = splice.end
    yield data if at < 0 else view[at:]


def output_changes(data: bytes, splices: Iterable[Splice]) -> list[OutputChange]:
    """Where the output differs; putting each `was` back gives the input."""
    return list(OutputChanges(data, splices))


class OutputChanges:
    """The same, made anew by each iteration: 10,000 of them take 1.3 MB. splices: may be iterated more than once."""

    def __init__(self, data: bytes, splices: Iterable[Splice]) -> None:
        self._data = data
        self._splices = splices

    def __iter__(self) -> Iterator[OutputChange]:
        data, shift = self._data, 0
        for splice in self._splices:
            start = splice.start + shift
            yield OutputChange(start, start + len(splice.text), data[splice.start : splice.end])
            shift += len(splice.text) - (splice.end - splice.start)
