"""A store in one SQLite file, shared by concurrent runs of one user.

    entries(key TEXT PRIMARY KEY, value TEXT)      value: JSON, never pickle
        claim:<key>   {"owner": "..", "until": 1767225610.5}
    application_id 0x61726366 ("arcf")             so that no other program's file is written to
    user_version   2                               the schema; an older one is emptied, a newer one is left alone

A file is used only if it is a regular file of this user, in a folder that no other may write to, as SQLite believes
what lies beside it; and if it holds that table and nothing else: reading a view could take for ever. It is made under
another name and linked to its own when it is complete, so that no run sees an incomplete file. Directory 0700, file
0600. With write-ahead logging a killed process leaves no damage.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time

from archfit.lookup.store import StoreTrouble
from archfit.startup import c_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    T = TypeVar("T")

APPLICATION_ID = 0x61726366
SCHEMA = 2
_WAIT_SECONDS = 3.0
_AT_ONCE = 500
_READS = 20
"""More of them are a server's, which has some dozen connections: each would keep 2 MiB of pages."""
_PAGES_KIB = 256
_CLAIM = "claim:"
_LONGEST_CLAIM_SECONDS = 60
_BESIDE = ("-wal", "-shm", "-journal")
_PRAGMAS = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA};"
_TABLE = "CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


class SqliteStore:
    """See `archfit.lookup.store`. Safe under several processes; used by one thread at a time. clock: Unix seconds.

    left: seconds that a write may take now.
    """

    shared = False

    def __init__(
        self,
        path: str,
        clock: Callable[[], float] = time.time,
        left: Callable[[], float] = lambda: _WAIT_SECONDS,
    ) -> None:
        """Open the file, making it and its directory where they are missing. Raises StoreTrouble."""
        self._path = path
        self._clock = clock
        self._left = left
        self._reads = 0
        try:
            for ending in ("", *_BESIDE):
                _check_file(os.path.realpath(path) + ending, path + ending)
            _check_folder(os.path.dirname(os.path.realpath(path)))
            if not os.path.exists(path):
                _make(path)
            self._file = _connect(path)
        except (sqlite3.Error, OSError) as error:
            raise self._trouble(error) from None
        try:
            self._check()
        except BaseException:
            self._file.close()
            raise

    def _check(self) -> None:
        try:
            if os.path.getsize(self._path) == 0:
                self._file.executescript("PRAGMA journal_mode = WAL;" + _PRAGMAS + _TABLE)
            (application,) = self._file.execute("PRAGMA application_id").fetchone()
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
            tables = self._file.execute("SELECT type, name, sql FROM sqlite_master LIMIT 2").fetchall()
        except (sqlite3.Error, OSError) as error:
            raise self._trouble(error) from None
        if application == APPLICATION_ID and version > SCHEMA:
            raise StoreTrouble(
                f"the cache {self._path} was written by another version of archfit (format {version}, not {SCHEMA}) "
                "and is not used: remove it, or name another file in --cache"
            )
        if application != APPLICATION_ID or tables != [("table", "entries", _TABLE)]:
            raise StoreTrouble(
                f"{self._path} is not a cache of archfit and is not changed: name another file in --cache"
            )
        if version < SCHEMA:
            self._write(self._empty)

    def _empty(self) -> None:
        """Entries of an older version do not name server and repository, and are removed."""
        (version,) = self._file.execute("PRAGMA user_version").fetchone()
        if version >= SCHEMA:  # another run was faster
            return
        self._file.execute("DELETE FROM entries")
        self._file.execute(f"PRAGMA user_version = {SCHEMA}")

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        texts: dict[str, str] = {}
        self._reads += 1
        try:
            if self._reads == _READS:
                self._file.execute(f"PRAGMA cache_size = -{_PAGES_KIB}")
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = self._file.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", some)  # noqa: S608 - only question marks
                texts.update(
                    (key, value) for key, value in rows if isinstance(key, str) and isinstance(value, str)
                )
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        return texts

    def put_many(self, entries: Mapping[str, str]) -> None:
        self._write(lambda: self._replace(entries))

    def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]:

        def work() -> set[str]:
            now = self._clock()
            kept = self.get_many([_CLAIM + key for key in keys])
            held = {key for key, text in kept.items() if _held(text, owner, now)}
            won = {key for key in keys if _CLAIM + key not in held}
            text = c_json.dumps({"owner": owner, "until": now + seconds})
            self._replace({_CLAIM + key: text for key in won})
            return won

        return self._write(work)

    def release(self, keys: Sequence[str], owner: str) -> None:

        def work() -> None:
            now = self._clock()
            kept = self.get_many([_CLAIM + key for key in keys])
            self._delete(key for key, text in kept.items() if not _held(text, owner, now))

        self._write(work)

    def items(self) -> list[tuple[str, str]]:
        """Everything there is. Raises StoreTrouble."""
        return [entry for page in self.pages() for entry in page]

    def pages(self) -> Iterator[list[tuple[str, str]]]:
        """Everything there is, some hundred entries at a time; they may be removed meanwhile. Raises StoreTrouble."""
        last: object = ""
        while True:
            try:
                rows = self._file.execute(
                    "SELECT key, value FROM entries WHERE key > ? ORDER BY key LIMIT ?", (last, _AT_ONCE)
                ).fetchall()
            except sqlite3.Error as error:
                raise self._trouble(error) from None
            if not rows:
                return
            last = rows[-1][0]
            yield [(str(key), value if isinstance(value, str) else "") for key, value in rows]

    def discard(self, keys: Iterable[str]) -> int:
        """As `remove`, but their place stays in the file, for the next entries. Raises StoreTrouble."""
        return self._write(lambda: self._delete(keys))

    def used(self) -> int:
        """Bytes of the pages that hold something. Raises StoreTrouble."""
        try:
            pages, free, size = (
                self._file.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            return int(pages - free) * int(size)
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def remove(self, keys: Iterable[str]) -> int:
        """How many there were; their place in the file is given back. Raises StoreTrouble."""
        removed = self._write(lambda: self._delete(keys))
        try:
            self._file.execute("VACUUM")
        except sqlite3.OperationalError:
            # Another run is reading or writing; the next one to remove something gives the place back.
            return removed
        return removed

    def size(self) -> int:
        """Bytes of the file and of what is not yet in it."""
        beside = (self._path, f"{self._path}-wal")
        return sum(os.path.getsize(path) for path in beside if os.path.exists(path))

    def _write(self, work: Callable[[], T]) -> T:
        """What `work` gives, all of it done or nothing. Raises StoreTrouble."""
        try:
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute(f"PRAGMA busy_timeout = {int(1000 * min(_WAIT_SECONDS, self._left()))}")
            self._file.execute("BEGIN IMMEDIATE")
            try:
                done = work()
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        return done

    def _replace(self, entries: Mapping[str, str]) -> None:
        self._file.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", sorted(entries.items()))

    def _delete(self, keys: Iterable[str]) -> int:
        return self._file.executemany(
            "DELETE FROM entries WHERE key = ?", [(key,) for key in sorted(keys)]
        ).rowcount

    def close(self) -> None:
        self._file.close()

    def _trouble(self, error: Exception) -> StoreTrouble:
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if damaged:
            return StoreTrouble(
                f"the cache {self._path} is damaged or not an SQLite file ({error}): remove it, or name another "
                "file in --cache"
            )
        why = getattr(error, "strerror", None) or error
        return StoreTrouble(f"the cache {self._path} cannot be used ({why}): name another file in --cache")


def _held(text: str, owner: str, now: float) -> bool:
    """Another owner's claim that has not ended; a time that is too far away for a claim does not count."""
    try:
        claim = c_json.loads(text)
        other, until = claim["owner"], float(claim["until"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return False
    return other != owner and now < until <= now + _LONGEST_CLAIM_SECONDS


def _check_folder(folder: str) -> None:
    """Makes it where it is missing. Raises StoreTrouble where another user than root may add or replace files."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    about = os.stat(folder)
    # A group that has its user's number is the user's own.
    others = stat.S_IWOTH | (stat.S_IWGRP if about.st_gid != about.st_uid else 0)
    if about.st_uid not in (0, os.geteuid()) or about.st_mode & others:
        raise StoreTrouble(
            f"the cache's folder {folder} belongs to another user or may be written by others: name a file in a folder "
            "of your own in --cache, or run `chmod go-w` on this one"
        )


def _check_file(path: str, shown: str) -> None:
    """Raises StoreTrouble for a file that another user could have written; one that is missing is as good."""
    if not os.path.lexists(path):
        return
    about = os.lstat(path)
    if not stat.S_ISREG(about.st_mode):
        raise StoreTrouble(f"the cache {shown} is not a regular file: name another in --cache")
    if about.st_uid != os.geteuid():
        raise StoreTrouble(
            f"the cache {shown} belongs to another user and is not used: name another file in --cache"
        )


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)


def _make(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    partial = os.path.join(folder, f".{os.path.basename(path)}.{os.urandom(8).hex()}.new")
    try:
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
        file = _connect(partial)
        try:
            file.executescript("PRAGMA journal_mode = WAL;" + _PRAGMAS + _TABLE)
        finally:
            file.close()
        try:
            os.link(partial, path)
        except FileExistsError:
            pass  # Another run was faster; its file is as good.
        except OSError:
            # No hard links here. Creating in place is safe too, only that another run may see it empty.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
