"""One layer as it streams in: decompressed, read as a tar archive, and kept as names, heads and links.

    parts ─ _Source ─ gzip, zstd or nothing ─ _Archive ─ tarfile ─ LayerFiles
            counted, hashed                   counted; heads of members bounded

What it costs is bounded at each step: `tarfile` alone would take a head of any size into memory, and recurse once for
each of a chain of them. zstd:chunked and eStargz are zstd and gzip. Source: OCI image-spec 1.1, layer.md (whiteouts).
"""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Protocol

from archfit.base.packages import missing
from archfit.programs.heads import HEAD_BYTES, head_of
from archfit.programs.start import NotRead, normal
from archfit.startup.record import Record

try:
    from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14
except ImportError:
    zstd = None
try:
    import zstandard
except ImportError:  # the extra
    zstandard = None  # type: ignore[assignment]

_GZIP = b"\x1f\x8b"
_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60)))
_WINDOW_LOG = 27  # 128 MiB, as the zstd program takes without --long
_STEP = 256 * 1024
_HEAD_OF_MEMBER = 128 * 1024
"""All that comes before the content of one member, extended heads too. Of real images, some 100 KiB at most."""
_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_MOST_LINK = 4096
_OF_HOSTILE = (
    tarfile.TarError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
"""What `tarfile` raises for heads that no program writes."""
_DAMAGED: tuple[type[Exception], ...] = (
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    *(module.ZstdError for module in (zstd, zstandard) if module),
)


class Bounds(Record):
    """What may be read for one image, and by one run: bytes as sent, bytes unpacked, members of archives.

    names: what these take in memory, roughly, in bytes.
    """

    sent: int = 4 << 30
    unpacked: int = 16 << 30
    members: int = 1_000_000
    names: int = 256 << 20
    sent_in_run: int = 64 << 30


BOUNDS = Bounds()
_MOST_KEPT = 64 << 20
_NAME = 150  # bytes of a name in a table, besides its characters
_LATE = "the time was over: allow more with --timeout"


class Meter:
    """What was read for one image. left: seconds until the deadline."""

    def __init__(self, left: Callable[[], float], of_run: LayersOfRun, bounds: Bounds = BOUNDS) -> None:
        self.sent = self.unpacked = self.members = self.names = 0
        self.bounds = bounds
        self.left = left
        self.of_run = of_run

    def take(self, *, sent: int = 0, unpacked: int = 0, members: int = 0, names: int = 0) -> None:
        """Count. Raises NotRead at a bound."""
        self.sent += sent
        self.unpacked += unpacked
        self.members += members
        self.names += names
        self.of_run.sent += sent
        for amount, most, what in (
            (self.sent, self.bounds.sent, "bytes of layers"),
            (self.unpacked, self.bounds.unpacked, "bytes of unpacked layers"),
            (self.members, self.bounds.members, "files"),
            (self.names, self.bounds.names, "bytes of file names"),
            (self.of_run.sent, self.bounds.sent_in_run, "bytes of layers in one run"),
        ):
            if amount > most:
                raise NotRead(f"it is behind more than {most} {what}")
        if self.left() <= 0:
            raise NotRead(_LATE)

    def expect(self, size: int) -> None:
        """Raises NotRead where so many bytes more would be too many."""
        if self.sent + size > self.bounds.sent:
            raise NotRead(f"it is behind more than {self.bounds.sent} bytes of layers")


class LayerDescriptor(Protocol):
    """One layer as a manifest names it. size: bytes, -1 where it states none."""

    @property
    def media_type(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...


class Entry(Record):
    """A name in a layer. kind: file, link (symbolic), same (hard, to a file of this layer or one below) or folder.

    text: of a file its head (`programs.heads`), of links the target. executable: by anybody.
    """

    kind: str
    text: str = ""
    executable: bool = False


class LayerFiles(Record):
    """What a layer adds, by normal path, and what it takes away: gone, and all of a folder that others had below.

    names: as of Bounds, where it was read to its end and so has its digest; 0 where it was not.
    """

    entries: dict[str, Entry]
    gone: set[str]
    emptied: set[str]
    names: int = 0


class LayersOfRun:
    """sent: bytes so far. Layers that were read whole are kept, as images and architectures share them."""

    def __init__(self) -> None:
        self.sent = 0
        self._room = _MOST_KEPT
        self._kept: dict[str, LayerFiles | None] = {}
        self._reading: dict[str, threading.Lock] = {}

    def files(self, digest: str, seconds: float, read: Callable[[], LayerFiles]) -> LayerFiles:
        """Those of a layer: whoever wants it meanwhile waits for the first to read it. Raises NotRead, as `read`."""
        reading = self._reading.setdefault(digest, threading.Lock())
        if not reading.acquire(timeout=seconds):
            raise NotRead(_LATE)
        try:
            if digest not in self._kept:
                files = read()
                keeps = 0 < files.names <= self._room
                self._kept[digest] = files if keeps else None
                self._room -= files.names if keeps else 0
                return files
        finally:
            reading.release()
        return self._kept[digest] or read()


def read_layer(
    parts: Iterable[bytes], layer: LayerDescriptor, meter: Meter, wanted: Collection[str]
) -> LayerFiles:
    """The files of a layer. wanted: paths at which a binary ends the reading, as nothing else is asked.

    Raises NotRead, and what `parts` raises. The digest is compared where all of it was read.
    """
    source = _Source(parts, layer.digest, meter)
    files = LayerFiles({}, set(), set())
    kinds: dict[Entry, Entry] = {}
    before = meter.names
    try:
        archive = _Archive(_unpacked(source), meter)
        for name, entry in _members(archive, files, meter):
            files.entries[name] = kinds.setdefault(entry, entry)
            if name in wanted and entry.executable and not entry.text.startswith("script "):
                return files
    except _DAMAGED as error:
        raise NotRead(f"a layer of it is damaged ({type(error).__name__})") from None
    source.check_rest()
    return files.replace(names=meter.names - before)


class _Source:
    """The bytes as they come, as a file. Raises what its parts raise, and NotRead."""

    def __init__(self, parts: Iterable[bytes], digest: str, meter: Meter) -> None:
        algorithm, _, self._wanted = digest.partition(":")
        self._parts = iter(parts)
        self._meter = meter
        self._hash = hashlib.new(algorithm)
        self._rest = b""

    def peek(self, size: int) -> bytes:
        while len(self._rest) < size and (part := self._next()):
            self._rest += part
        return self._rest[:size]

    def read(self, size: int = -1, /) -> bytes:
        if not self._rest:
            self._rest = self._next()
        taken = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(taken) :]
        return taken

    def check_rest(self) -> None:
        """Read what follows the archive. Raises NotRead for another digest."""
        while self._next():
            pass
        if self._hash.hexdigest() != self._wanted:
            raise NotRead("a layer of it does not have its digest")

    def _next(self) -> bytes:
        for part in self._parts:
            if part:
                self._meter.take(sent=len(part))
                self._hash.update(part)
                return part
        return b""


class _Archive:
    """The unpacked bytes as a file that goes forward alone: `read` is for heads and bounded, `seek` skips content."""

    def __init__(self, unpacked: Callable[[int], bytes], meter: Meter) -> None:
        self._unpacked = unpacked
        self._meter = meter
        self._at = self._of_head = 0
        self.last = b""

    def begin_head(self) -> None:
        self._of_head = 0

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        self._of_head += size
        if size < 0 or self._of_head > _HEAD_OF_MEMBER:
            raise NotRead(
                f"a layer of it has a file with more than {_HEAD_OF_MEMBER >> 10} KiB before its content"
            )
        parts = []
        while size and (part := self._taken(size)):
            parts.append(part)
            size -= len(part)
        self.last = b"".join(parts)
        return self.last

    def seek(self, position: int) -> None:
        if position < self._at:
            raise NotRead("a layer of it has a file that lies before its head")
        while self._at < position and self._taken(min(_STEP, position - self._at)):
            pass

    def _taken(self, size: int) -> bytes:
        part = self._unpacked(size)
        self._at += len(part)
        self._meter.take(unpacked=len(part))
        return part


def _unpacked(source: Any) -> Callable[[int], bytes]:
    start, unpacked = source.peek(4), source
    if start.startswith(_GZIP):
        unpacked = gzip.GzipFile(fileobj=source, mode="rb")
    elif start in _ZSTD and zstd:
        most = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        unpacked = zstd.ZstdFile(source, "rb", options=most)
    elif start in _ZSTD and zstandard is not None:
        decoder: Any = zstandard.ZstdDecompressor(max_window_size=1 << _WINDOW_LOG)
        unpacked = decoder.stream_reader(source, read_across_frames=True)
    elif start in _ZSTD:
        raise NotRead(f"{missing('zstd', 'zstd', 'zstandard')}; or use Python 3.14")
    return unpacked.read  # type: ignore[no-any-return]


def _members(archive: _Archive, files: LayerFiles, meter: Meter) -> Iterator[tuple[str, Entry]]:
    """What the archive adds; what it takes away is put into `files`. Raises NotRead."""
    tar: tarfile.TarFile | None = None
    while True:
        archive.begin_head()
        try:
            if tar is None:
                tar = tarfile.TarFile(fileobj=archive, mode="r")  # type: ignore[arg-type]
            member = tar.next()
            tar.members, tar.pax_headers = [], {}  # type: ignore[attr-defined]  # it keeps all of them
            entry = _entry(tar, member, archive, files) if member else None
        except _OF_HOSTILE as error:
            raise NotRead(
                f"a layer of it is no tar archive that can be read ({type(error).__name__})"
            ) from None
        if member is None:
            if archive.last.strip(b"\0"):
                raise NotRead("a layer of it is no tar archive from some place on")
            return
        name = _name(member.name)
        meter.take(members=1, names=_NAME + len(name) + (len(entry.text) if entry else 0))
        folder, _, base = name.rpartition("/")
        if base == _OPAQUE:
            files.emptied.add(folder)
        elif base.startswith(_WHITEOUT):
            files.gone.add(f"{folder}/{base.removeprefix(_WHITEOUT)}".lstrip("/"))
        elif entry:
            yield name, entry


def _entry(
    tar: tarfile.TarFile, member: tarfile.TarInfo, archive: _Archive, files: LayerFiles
) -> Entry | None:
    if member.isdir():
        return Entry("folder")
    if member.issym():
        return Entry("link", member.linkname[:_MOST_LINK])
    if member.islnk():
        target = _name(member.linkname)
        return files.entries.get(target) or Entry("same", target)
    if not (member.isreg() and member.mode & 0o111):
        return Entry("file", "other")
    content: Any = tar.extractfile(member) if member.sparse is not None else archive
    data = content.read(min(HEAD_BYTES, member.size))
    return Entry("file", head_of(data), executable=True)


def _name(text: str) -> str:
    depth = 0
    for part in text.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            raise NotRead("a layer of it has a name that leads out of the image")
    return normal(text)
