"""A store in one SQLite file, shared by concurrent runs of one user.

    entries(key TEXT PRIMARY KEY, value TEXT)      value: JSON, never pickle
    application_id 0x61726366 ("arcf")             so that a foreign file is not written to
    user_version   1                               the schema; a newer one is left alone

Write-ahead logging: readers never wait, writers wait for each other, a killed process leaves no damage. The file is
made beside its place and linked into it when complete, so that no run ever sees half of one. Directory 0700, file
0600. A run that only reads writes nothing. Source: SQLite, "Write-Ahead Logging" and "PRAGMA Statements".
"""

from __future__ import annotations

import os
import sqlite3

from archfit.store import StoreTrouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

APPLICATION_ID = 0x61726366
SCHEMA = 1
_WAIT_SECONDS = 3.0
_AT_ONCE = 500
_SCHEMA = f"""
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {SCHEMA};
    CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class SqliteStore:
    """See `archfit.store`. Safe under several processes; used by one thread at a time."""

    def __init__(self, path: str) -> None:
        """Open the file, making it and its directory where they are missing. Raises StoreTrouble."""
        self._path = path
        try:
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
                self._file.executescript("PRAGMA journal_mode = WAL;" + _SCHEMA)
            (application,) = self._file.execute("PRAGMA application_id").fetchone()
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise self._trouble(error) from None
        if application != APPLICATION_ID:
            raise StoreTrouble(
                f"{self._path} is not a cache of archfit and is left alone: name another file in --cache"
            )
        if version != SCHEMA:
            raise StoreTrouble(
                f"the cache {self._path} was written by another version of archfit (format {version}, not {SCHEMA}) and "
                "is not used: remove it, or name another file in --cache"
            )

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys that there are. Raises StoreTrouble."""
        found: dict[str, str] = {}
        try:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = self._file.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", some)  # noqa: S608 - only question marks
                found.update(
                    (key, value) for key, value in rows if isinstance(key, str) and isinstance(value, str)
                )
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        return found

    def put_many(self, entries: Mapping[str, str]) -> None:
        """Write all or none. Raises StoreTrouble."""
        try:
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute("BEGIN IMMEDIATE")
            try:
                self._file.executemany(
                    "INSERT OR REPLACE INTO entries VALUES (?, ?)", sorted(entries.items())
                )
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._trouble(error) from None

    def close(self) -> None:
        self._file.close()

    def _trouble(self, error: Exception) -> StoreTrouble:
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        if damaged:
            return StoreTrouble(f"the cache {self._path} is damaged or no SQLite file ({error}): remove it")
        why = getattr(error, "strerror", None) or error
        return StoreTrouble(f"the cache {self._path} cannot be used ({why}): name another file in --cache")


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)


def _make(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    partial = os.path.join(folder, f".{os.path.basename(path)}.{os.urandom(8).hex()}.new")
    try:
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
        made = _connect(partial)
        try:
            made.executescript("PRAGMA journal_mode = WAL;" + _SCHEMA)
        finally:
            made.close()
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
