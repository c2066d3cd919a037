"""The cache file of `store.sqlite`, read without SQLite while nobody has it open.

Loading SQLite's library, opening the file and asking it takes 1.5 ms, a twentieth of a small run. A run that finds its
images in the cache needs a dozen entries, which stand in a dozen pages of the file:

    page 1        header (100 bytes), then the schema: one row, which has to be that of the table
    page          kind (10 leaf, 2 interior), .., number of cells, .., [last child], the places of its cells
    cell          [child: 4 bytes], size, record: size of the header, type of key, type of value; key, value
    type          13 + 2 n: text of n bytes

Entries are in the order of the bytes of their keys, in leaves and in interior pages. A record of more than 1002 bytes
goes on in other pages. Integers are big-endian; sizes and types are varints. Source: SQLite, "Database File Format".

The file rests if there is neither a write-ahead log nor a journal beside it, and if its last change is some seconds
old. While a connection uses the file, the log is there: SQLite makes it with the first read, and removes it when the
last connection has written everything to the file. So what was read is whole if the file rests before and after, with
the same time of change; two changes within one tick of the file system's clock are excluded by the seconds.

SQLite is asked instead for anything else: a file that does not rest, that is damaged, foreign, of another version or
not this user's, a page with a record that goes on elsewhere, many keys, a platform without `pread`; and for all that
writes.

The descriptor stays open until the process ends. Closing it would end the locks that a connection of this process
holds on the file (POSIX; SQLite, "How To Corrupt An SQLite Database File", 2.2).
"""

from __future__ import annotations

import os
import stat
import time

from archfit.typing_names import Callable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.store.sqlite import SqliteStore

APPLICATION_ID = 0x61726366
SCHEMA = 2
TABLE = "CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"

_REST_SECONDS = 3.0
# From about 60 keys on SQLite is faster, with its library and all.
_MOST_KEYS = 50
_PAGE = 4096
_HEADER = (
    (
        0,
        b"SQLite format 3\0" + _PAGE.to_bytes(2, "big") + b"\2\2\0@  ",
    ),  # with a write-ahead log, whole pages
    (44, (4).to_bytes(4, "big")),
    (56, (1).to_bytes(4, "big") + SCHEMA.to_bytes(4, "big")),  # UTF-8
    (68, APPLICATION_ID.to_bytes(4, "big")),
)
_SCHEMA_LEAF, _LEAF, _INTERIOR = 13, 10, 2
_DEEPEST = 12
_LONGEST_RECORD = (_PAGE - 12) * 64 // 255 - 23
_TEXT = 13
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)

_State = tuple[int, ...]
_descriptors: dict[tuple[int, int], int] = {}


class _Unusual(ValueError):
    """The file does not rest, or holds what only SQLite can read."""


_LEFT_TO_SQLITE = (OSError, ValueError, IndexError)


class RestingStore:
    """See `archfit.store`. connect: opens the file by SQLite, and is called with the first need of it.

    Raises StoreTrouble as `connect` does.
    """

    shared = False

    def __init__(self, path: str, connect: Callable[[], SqliteStore]) -> None:
        self._path = path
        self._connect = connect
        self._connection: SqliteStore | None = None
        try:
            self._state = _state(path)
            self._file = _opened(path)
            self._root = _root(self._page(1), self._state[2])
            if _state(path) != self._state:
                raise _Unusual
        except _LEFT_TO_SQLITE:
            self._sqlite()

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        if self._connection is None and len(keys) <= _MOST_KEYS:
            try:
                found = self._read(keys)
                if _state(self._path) == self._state:
                    return found
            except _LEFT_TO_SQLITE:
                pass
        return self._sqlite().get_many(keys)

    def put_many(self, entries: Mapping[str, str]) -> None:
        self._sqlite().put_many(entries)

    def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]:
        return self._sqlite().claim(keys, owner, seconds)

    def release(self, keys: Sequence[str], owner: str) -> None:
        self._sqlite().release(keys, owner)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _sqlite(self) -> SqliteStore:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _read(self, keys: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        pages: dict[int, _Node] = {}
        for key in keys:
            wanted, number = key.encode(), self._root
            for _ in range(_DEEPEST):
                if number not in pages:
                    pages[number] = _Node(self._page(number))
                node = pages[number]
                at = node.place(wanted)
                if at < len(node.keys) and node.keys[at] == wanted:
                    found[key] = node.value(at)
                    break
                if not node.children:
                    break
                number = node.children[at]
            else:
                raise _Unusual
        return found

    def _page(self, number: int) -> bytes:
        data = os.pread(self._file, _PAGE, (number - 1) * _PAGE)
        if len(data) != _PAGE:
            raise _Unusual
        return data


class _Node:
    """A page of the table. keys: in order. children: numbers of pages, one more than keys; none in a leaf."""

    def __init__(self, data: bytes) -> None:
        kind, count = data[0], int.from_bytes(data[3:5], "big")
        if kind not in (_LEAF, _INTERIOR) or not count:
            raise _Unusual
        start = 12 if kind == _INTERIOR else 8
        self._data = data
        self.keys: list[bytes] = []
        self.children: list[int] = []
        self._values: list[tuple[int, int]] = []
        for place in range(start, start + 2 * count, 2):
            at = data[place] << 8 | data[place + 1]
            if kind == _INTERIOR:
                self.children.append(int.from_bytes(data[at : at + 4], "big"))
                at += 4
            size, at = _varint(data, at)
            types, first = _types(data, at, 2)
            key, value = (_text_size(one) for one in types)
            end = at + size
            if size > _LONGEST_RECORD or end > _PAGE or first + key + value != end:
                raise _Unusual
            self.keys.append(data[first : first + key])
            self._values.append((first + key, end))
        if kind == _INTERIOR:
            self.children.append(int.from_bytes(data[8:12], "big"))

    def place(self, wanted: bytes) -> int:
        """How many keys are less."""
        low, high = 0, len(self.keys)
        while low < high:
            middle = (low + high) // 2
            if self.keys[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def value(self, at: int) -> str:
        """The text of an entry."""
        start, end = self._values[at]
        return self._data[start:end].decode()


def _state(path: str) -> _State:
    """What changes when the file does. Raises _Unusual unless the file rests and is this user's to read and write."""
    about = os.lstat(path)
    if (
        not hasattr(os, "pread")
        or not stat.S_ISREG(about.st_mode)
        or about.st_uid != os.geteuid()
        or not time.time() - about.st_mtime > _REST_SECONDS
        or os.path.lexists(f"{path}-wal")
        or os.path.lexists(f"{path}-journal")
        or not os.access(path, os.R_OK | os.W_OK)
        or not os.access(os.path.dirname(path) or ".", os.R_OK | os.W_OK | os.X_OK)
    ):
        raise _Unusual
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _opened(path: str) -> int:
    """The descriptor of the file, one for each file of the process."""
    about = os.lstat(path)
    identity = about.st_dev, about.st_ino
    if identity not in _descriptors:
        descriptor = os.open(path, _FLAGS)
        about = os.fstat(descriptor)
        _descriptors.setdefault((about.st_dev, about.st_ino), descriptor)
    return _descriptors[identity]


def _root(data: bytes, size: int) -> int:
    """The first page of the table. data: page 1. size: of the file."""
    if any(data[at : at + len(expected)] != expected for at, expected in _HEADER):
        raise _Unusual
    if data[24:28] != data[92:96] or int.from_bytes(data[28:32], "big") * _PAGE != size:
        raise _Unusual  # another program wrote it, or a part is missing
    if data[100] != _SCHEMA_LEAF or data[103:105] != b"\0\1":
        raise _Unusual
    _, at = _varint(data, data[108] << 8 | data[109])
    _, at = _varint(data, at)
    (kind, name, table, root, sql), start = _types(data, at, 5)
    row = []
    for length in (_text_size(kind), _text_size(name), _text_size(table), root, _text_size(sql)):
        row.append(data[start : start + length])
        start += length
    if row[:3] + row[4:] != [b"table", b"entries", b"entries", TABLE.encode()] or not 1 <= root <= 4:
        raise _Unusual
    return int.from_bytes(row[3], "big")


def _types(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """The types of a record of `count` fields, and where the first field begins."""
    size, place = _varint(data, at)
    types = []
    for _ in range(count):
        one, place = _varint(data, place)
        types.append(one)
    if place != at + size:
        raise _Unusual
    return types, place


def _text_size(kind: int) -> int:
    if kind < _TEXT or not kind & 1:
        raise _Unusual
    return (kind - _TEXT) // 2


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer of at most three bytes, and where it ends; no page has longer ones that matter."""
    value = 0
    for place in range(at, at + 3):
        byte = data[place]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, place + 1
    raise _Unusual
