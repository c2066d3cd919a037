"""The cache file read without SQLite gives what SQLite gives, and is left to SQLite wherever that is not sure."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archfit.store import StoreTrouble, resting_file
from archfit.store.resting_file import RestingStore
from archfit.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WRITER = """
import sys
from archfit.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
store.put_many({"other": "1"})
store.close()
"""
TEXT = (
    '{"checked": 1767225600, "digest": "sha256:'
    + "a" * 64
    + '", "platforms": ["linux/amd64", "linux/arm64"]}'
)


class Needed(Exception):
    """SQLite is asked."""


def refuse() -> SqliteStore:
    raise Needed


def aged(path: str) -> str:
    """The file as if its last change were long ago."""
    os.utime(path, (1.0e9, 1.0e9))
    return path


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lookups.sqlite")


def filled(path: str, names: Iterable[str] = ("a", "b")) -> str:
    with closing(SqliteStore(path)) as store:
        store.put_many({name: f"{name} {TEXT}" for name in names})
    return aged(path)


def asked_without_sqlite(path: str, keys: list[str]) -> dict[str, str]:
    with closing(RestingStore(path, refuse)) as store:
        return store.get_many(keys)


def asked_by_sqlite(path: str, keys: list[str]) -> dict[str, str]:
    with closing(SqliteStore(path)) as store:
        found = store.get_many(keys)
    aged(path)
    return found


@pytest.mark.parametrize("count", [1, 2, 11, 12, 13, 200, 5000])
def test_files_of_any_depth_are_read(path: str, count: int) -> None:
    names = [f"tag:x.example/team-{number % 7}/app-{number}:1" for number in range(count)]
    filled(path, names)
    drawn = random.Random(count).sample(names, min(count, 40))
    keys = [*drawn, "", "tag:", drawn[0] + "0", drawn[0][:-1], "z" * 300, drawn[0]]
    assert asked_without_sqlite(path, keys) == {name: f"{name} {TEXT}" for name in drawn}


KEYS = st.text("aé\0~\U0001f600:/", max_size=4) | st.integers(0, 300).map(
    "tag:docker.io/library/app-{}:1".format
)
VALUES = st.text("a\0é{}", max_size=6) | st.integers(0, 950).map("v".__mul__)
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "remove"]), st.dictionaries(KEYS, VALUES, max_size=60)), max_size=5
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(STEPS, st.lists(KEYS, max_size=20))
def test_it_gives_what_sqlite_gives(
    tmp_path: Path, steps: list[tuple[str, dict[str, str]]], keys: list[str]
) -> None:
    path = str(tmp_path / f"{len(os.listdir(tmp_path))}.sqlite")
    with closing(SqliteStore(path)) as store:
        store.put_many({"tag:a": "1"})
        for step, entries in steps:
            if step == "put":
                store.put_many(entries)
            else:
                store.remove(list(entries))
    aged(path)
    keys += [key for _, entries in steps for key in list(entries)[:5]]
    assert asked_without_sqlite(path, keys) == asked_by_sqlite(path, keys)


@pytest.mark.parametrize("size", [900, 1100, 5000, 100_000, 3_000_000])
def test_a_long_entry_is_left_to_sqlite_and_those_far_from_it_are_not(path: str, size: int) -> None:
    filled(path, [f"tag:{number:03}" for number in range(300)])
    with closing(SqliteStore(path)) as store:
        store.put_many({"tag:000+": "x" * size})
    aged(path)
    asked = []

    def connect() -> SqliteStore:
        asked.append(path)
        return SqliteStore(path)

    with closing(RestingStore(path, connect)) as store:
        assert store.get_many(["tag:299"]) == {"tag:299": f"tag:299 {TEXT}"}
        assert not asked
        assert store.get_many(["tag:000+"]) == {"tag:000+": "x" * size}
    assert bool(asked) is (size > 1000)


def recent(path: str) -> None:
    os.utime(path)


def from_the_future(path: str) -> None:
    os.utime(path, (1.0e12, 1.0e12))


def a_journal_beside_it(path: str) -> None:
    Path(f"{path}-journal").touch()


def a_log_beside_it(path: str) -> None:
    Path(f"{path}-wal").touch()


def a_link(path: str) -> None:
    os.rename(path, f"{path}.moved")
    os.symlink(f"{path}.moved", path)


def changed_by(statement: str) -> Callable[[str], None]:
    def change(path: str) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute(statement)
        aged(path)

    return change


def with_bytes(at: int, data: bytes) -> Callable[[str], None]:
    def change(path: str) -> None:
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(data)
        aged(path)

    return change


def cut_off(path: str) -> None:
    os.truncate(path, os.path.getsize(path) - 4096)
    aged(path)


UNUSUAL = [
    pytest.param(recent, id="changed-just-now"),
    pytest.param(from_the_future, id="changed-in-the-future"),
    pytest.param(a_log_beside_it, id="in-use"),
    pytest.param(a_journal_beside_it, id="a-journal"),
    pytest.param(a_link, id="a-link"),
    pytest.param(os.unlink, id="missing"),
    pytest.param(lambda path: (os.truncate(path, 0), aged(path)), id="empty"),
    pytest.param(cut_off, id="cut-off"),
    pytest.param(changed_by("PRAGMA user_version = 1"), id="older"),
    pytest.param(changed_by("PRAGMA user_version = 99"), id="newer"),
    pytest.param(changed_by("PRAGMA application_id = 7"), id="another-program"),
    pytest.param(changed_by("PRAGMA journal_mode = DELETE"), id="another-journal"),
    pytest.param(changed_by("CREATE TABLE more (x)"), id="another-table"),
    pytest.param(
        changed_by("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END"), id="a-trigger"
    ),
    pytest.param(changed_by("ALTER TABLE entries RENAME COLUMN value TO text"), id="another-column"),
    pytest.param(with_bytes(0, b"no database"), id="text"),
    pytest.param(with_bytes(16, b"\2"), id="another-page-size"),
    pytest.param(with_bytes(18, b"\3"), id="a-later-format"),
    pytest.param(with_bytes(20, b"\10"), id="reserved-bytes"),
    pytest.param(with_bytes(27, b"\xff"), id="written-by-another-program"),
    pytest.param(with_bytes(59, b"\2"), id="utf-16"),
    pytest.param(with_bytes(100, b"\0"), id="no-schema"),
]


@pytest.mark.parametrize("change", UNUSUAL)
def test_what_is_unusual_is_left_to_sqlite_at_once(path: str, change: Callable[[str], object]) -> None:
    filled(path, [f"tag:{number}" for number in range(100)])
    change(path)
    with pytest.raises(Needed):
        RestingStore(path, refuse)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param("geteuid", lambda: os.getuid() + 1, id="another-user"),
        pytest.param("access", lambda _path, mode: not mode & os.W_OK, id="read-only"),
        pytest.param("pread", None, id="no-pread"),
    ],
)
def test_what_this_user_cannot_write_is_left_to_sqlite(
    path: str, monkeypatch: pytest.MonkeyPatch, name: str, answer: Any
) -> None:
    filled(path)
    if answer is None:
        monkeypatch.delattr(os, name)
    else:
        monkeypatch.setattr(os, name, answer)
    with pytest.raises(Needed):
        RestingStore(path, refuse)


def test_many_keys_and_keys_that_are_no_text_are_left_to_sqlite(path: str) -> None:
    filled(path)
    with pytest.raises(Needed):
        asked_without_sqlite(path, [f"tag:{number}" for number in range(100)])
    with pytest.raises(Needed):
        asked_without_sqlite(path, ["\ud800"])


def test_what_writes_is_left_to_sqlite_and_so_is_all_behind_it(path: str) -> None:
    filled(path)
    with closing(RestingStore(path, lambda: SqliteStore(path))) as store:
        assert store.get_many(["a", "c"]) == {"a": f"a {TEXT}"}
        assert store.claim(["c"], "me", 9) == {"c"}
        store.put_many({"c": "3"})
        store.release(["c"], "me")
        assert store.get_many(["a", "c"]) == {"a": f"a {TEXT}", "c": "3"}


def test_trouble_with_the_file_is_that_of_sqlite(path: str) -> None:
    filled(path)
    with_bytes(0, b"no database")(path)
    with pytest.raises(StoreTrouble, match="damaged or not an SQLite file"):
        RestingStore(path, lambda: SqliteStore(path))


def written(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.put_many(dict.fromkeys(NAMES, "new"))


def written_and_still_open(path: str) -> None:
    store = SqliteStore(path)
    OPEN.append(store)
    store.put_many(dict.fromkeys(NAMES, "new"))


def written_with_the_old_time(path: str) -> None:
    written(path)
    aged(path)


def read_by_another(path: str) -> None:
    store = SqliteStore(path)
    OPEN.append(store)
    store.get_many(["a"])


def replaced(path: str) -> None:
    filled(f"{path}.new", ["x"])
    os.replace(f"{path}.new", path)


NAMES = [f"tag:{number}" for number in range(300)]
OPEN: list[SqliteStore] = []


@pytest.mark.parametrize("page", range(4))
@pytest.mark.parametrize(
    "meanwhile", [written, written_and_still_open, written_with_the_old_time, read_by_another, replaced]
)
def test_a_change_between_two_pages_is_noticed(
    path: str, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[str], None], page: int
) -> None:
    """Whatever happens behind the first pages, the answer is all old or all new, and that of SQLite."""
    filled(path, NAMES)
    read, seen = os.pread, []

    def pread(descriptor: int, size: int, at: int) -> bytes:
        seen.append(at)
        if len(seen) == page + 1:
            meanwhile(path)
        return read(descriptor, size, at)

    monkeypatch.setattr(os, "pread", pread)
    keys = NAMES[::25]
    asked = []

    def connect() -> SqliteStore:
        asked.append(path)
        return SqliteStore(path)

    with closing(RestingStore(path, connect)) as store:
        found = store.get_many(keys)
    for other in OPEN:
        other.close()
    OPEN.clear()
    assert len(seen) > page
    assert asked
    assert found == asked_by_sqlite(path, keys)


def test_reading_ends_no_lock_of_a_connection_of_this_process(path: str) -> None:
    """If it did, the other process would think that nobody uses the log, and remove it."""
    filled(path)
    resting = RestingStore(path, refuse)
    assert resting.get_many(["a"]) == {"a": f"a {TEXT}"}
    with closing(SqliteStore(path)) as store:
        store.put_many({"c": "3"})
        resting.close()
        del resting
        subprocess.run([sys.executable, "-c", WRITER, path], check=True)
        assert os.path.exists(f"{path}-wal")
        store.put_many({"d": "4"})
        assert store.get_many(["other", "c", "d"]) == {"other": "1", "c": "3", "d": "4"}
    assert asked_by_sqlite(path, ["other", "d"]) == {"other": "1", "d": "4"}


def test_a_file_has_one_descriptor_however_often_it_is_read(path: str) -> None:
    filled(path)
    asked_without_sqlite(path, ["a"])
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        asked_without_sqlite(path, ["a"])
    assert len(os.listdir("/dev/fd")) == before


def test_nothing_is_written_beside_the_file(path: str) -> None:
    filled(path)
    before = Path(path).read_bytes(), os.stat(path)
    asked_without_sqlite(path, ["a", "b", "c"])
    assert (Path(path).read_bytes(), os.stat(path)) == before
    assert os.listdir(os.path.dirname(path)) == ["lookups.sqlite"]


def test_damage_is_no_error_of_its_own(tmp_path: Path) -> None:
    """One bit is wrong somewhere: SQLite is asked, or the answer is that of a file with this bit."""
    sound = Path(filled(str(tmp_path / "sound"), NAMES)).read_bytes()
    draw = random.Random(7)
    left = 0
    for number in range(400):
        at = draw.choice(
            (draw.randrange(len(sound)), 4096 * draw.randrange(len(sound) // 4096) + draw.randrange(120))
        )
        damaged = bytearray(sound)
        damaged[at] ^= 1 << draw.randrange(8)
        path = tmp_path / str(number)
        path.write_bytes(damaged)
        try:
            found = asked_without_sqlite(aged(str(path)), NAMES[::25])
        except Needed:
            left += 1
            continue
        try:
            expected = asked_by_sqlite(str(path), NAMES[::25])
        except StoreTrouble:
            pytest.fail(f"SQLite refuses the file with another byte at {at}")
        moved = {key for key in NAMES[::25] if found.get(key) != expected.get(key)}
        assert not moved or at > 4096, at
        assert len(moved) <= 2
    assert left > 20
    assert len(NAMES[::25]) <= resting_file._MOST_KEYS
