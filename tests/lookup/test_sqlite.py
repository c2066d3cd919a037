"""The cache file: shared, killed, damaged, foreign, unwritable, newer."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

import machine
from archfit.images.platforms import Found, parse_platform
from archfit.lookup.cache_contents import prune_pages
from archfit.lookup.entries import to_json
from archfit.lookup.store import MemoryStore, StoreTrouble
from archfit.lookup.store.open import default_path
from archfit.lookup.store.sqlite import APPLICATION_ID, SCHEMA, SqliteStore

WRITER = """
import sys
from archfit.lookup.store.sqlite import SqliteStore
path, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("started", flush=True)
for number in range(rounds):
    store = SqliteStore(path)
    store.put_many({f"{name}-{number}-{part}": "x" * 200 for part in range(20)})
    store.close()
"""


def test_a_python_without_sqlite_has_no_cache_and_says_so(tmp_path):
    program = (
        "import sys; sys.modules['sqlite3'] = sys.modules['_sqlite3'] = None\n"
        "from archfit.lookup.lookup import open_lookup\n"
        "from archfit.options.settings import Operator\n"
        "print(open_lookup(Operator(cache=sys.argv[1]), environ={}).warnings)"
    )
    done = machine.run([sys.executable, "-c", program, str(tmp_path / "cache")])
    assert done.stderr == ""
    assert "this Python has no sqlite3" in done.stdout


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "deep" / "er" / "lookups.sqlite")


def filled(path: str) -> SqliteStore:
    store = SqliteStore(path)
    store.put_many({"a": "1", "b": "2"})
    return store


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
def test_what_is_put_can_be_got(path, kind):
    store = SqliteStore(path) if kind == "sqlite" else MemoryStore()
    store.put_many({"a": "1", "b": "2"})
    store.put_many({"b": "3", "c": "4"})
    assert store.get_many(["a", "b", "x", "a"]) == {"a": "1", "b": "3"}
    assert store.get_many([]) == {}
    store.close()


def test_more_keys_than_sqlite_takes_at_once(path):
    store = SqliteStore(path)
    entries = {f"key {number}": str(number) for number in range(2000)}
    store.put_many(entries)
    assert store.get_many(list(entries)) == entries
    store.close()


def test_directory_and_file_are_the_users_alone(path):
    store = filled(path)
    file = Path(path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    for beside in file.parent.iterdir():
        assert stat.S_IMODE(beside.stat().st_mode) == 0o600, beside
    store.close()


def test_reading_does_not_change_the_file(path):
    filled(path).close()
    before = (Path(path).read_bytes(), Path(path).stat().st_mtime_ns)
    store = SqliteStore(path)
    store.get_many(["a"])
    store.close()
    assert (Path(path).read_bytes(), Path(path).stat().st_mtime_ns) == before
    assert os.listdir(Path(path).parent) == ["lookups.sqlite"]


def test_an_empty_file_becomes_a_cache(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    filled(str(path)).close()
    with closing(SqliteStore(str(path))) as store:
        assert store.get_many(["a"]) == {"a": "1"}


def set_version(path: str | Path, version: int) -> None:
    filled(str(path)).close()
    with closing(sqlite3.connect(path)) as ours, ours:
        ours.execute(f"PRAGMA user_version = {version}")


def torn(path: Path) -> None:
    filled(str(path)).close()
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 5000)


ENDLESS = (
    "CREATE VIEW entries AS WITH RECURSIVE more(key, value) AS "
    "(SELECT 'a', '1' UNION ALL SELECT key, value FROM more) SELECT * FROM more"
)
TRIGGER = "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END"


def made_by(*scripts: str, like_ours: int = 0) -> Callable[[Path], None]:
    """A file of these statements. like_ours: the version that it says it has."""

    def make(path: Path) -> None:
        ours = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {like_ours};"
        with closing(sqlite3.connect(path)) as file:
            file.executescript(";".join((ours if like_ours else "", *scripts)))

    return make


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda path: path.write_bytes(b"not a database at all" * 99), "damaged or not an SQLite file", id="text"),
        pytest.param(torn, "damaged", id="torn"),
        pytest.param(made_by("CREATE TABLE theirs (x)"), "not a cache of archfit", id="foreign"),
        pytest.param(lambda path: set_version(path, 99), "another version of archfit", id="newer"),
        pytest.param(made_by("CREATE TABLE x (y)", like_ours=1), "not a cache of archfit", id="no-table"),
        pytest.param(made_by(ENDLESS, like_ours=SCHEMA), "not a cache of archfit", id="a-view-without-end"),
        pytest.param(lambda path: (filled(str(path)).close(), made_by(TRIGGER)(path)), "not a cache of archfit", id="a-trigger"),
        pytest.param(os.mkfifo, "not a regular file", id="a-named-pipe"),
        pytest.param(lambda path: path.mkdir(), "not a regular file", id="a-directory"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_trouble_and_is_left_alone(tmp_path, make, says):
    path = tmp_path / "lookups.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreTrouble) as caught:
        SqliteStore(str(path)).get_many(["a"])
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_file_of_another_user_is_not_used(path, monkeypatch):
    filled(path).close()
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    with pytest.raises(
        StoreTrouble, match="belongs to another user and is not used: name another file in --cache"
    ):
        SqliteStore(path)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o2777, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used_and_one_made_in_it_is(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.raises(
        StoreTrouble, match=r"may be written by others: name a file in a folder of your own in --cache"
    ):
        SqliteStore(str(tmp_path / "shared" / "lookups.sqlite"))
    assert not list((tmp_path / "shared").iterdir())
    filled(str(tmp_path / "shared" / "archfit" / "lookups.sqlite")).close()


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o2750])
def test_a_folder_that_others_may_read_is_used(tmp_path, mode):
    tmp_path.chmod(mode)
    filled(str(tmp_path / "lookups.sqlite")).close()


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_what_lies_beside_the_file_is_judged_like_it(path, ending):
    filled(path).close()
    os.symlink("/dev/null", path + ending)
    with pytest.raises(StoreTrouble, match=f"{ending} is not a regular file"):
        SqliteStore(path)


def test_what_an_older_version_learned_is_forgotten_once(path):
    set_version(path, 1)
    first, second = SqliteStore(path), SqliteStore(path)
    assert first.get_many(["a"]) == {}
    first.put_many({"b": "2"})
    third = SqliteStore(path)
    assert second.get_many(["b"]) == third.get_many(["b"]) == {"b": "2"}
    for store in (first, second, third):
        store.close()


def test_another_run_that_starts_anew_at_the_same_time_forgets_nothing_twice(path):
    set_version(path, 1)
    slow = SqliteStore(path)
    slow.put_many({"b": "2"})
    slow._write(slow._empty)  # it had read the old version before the other one emptied the file
    assert slow.get_many(["b"]) == {"b": "2"}
    slow.close()


@pytest.mark.parametrize("until", ["1" + "0" * 400, "1e400", "-1e400", "NaN"])
def test_a_claim_that_never_ends_is_none(path, until):
    store = SqliteStore(path)
    store.put_many({"claim:a": f'{{"owner": "other", "until": {until}}}'})
    assert store.claim(["a"], "me", 9) == {"a"}
    store.close()


def test_a_place_that_cannot_be_made_is_trouble(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreTrouble, match="cannot be used"):
        SqliteStore(str(tmp_path / "file" / "lookups.sqlite"))


def test_a_file_locked_by_another_is_trouble_only_for_writers(path, monkeypatch):
    monkeypatch.setattr("archfit.lookup.store.sqlite._WAIT_SECONDS", 0.0)
    filled(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store = SqliteStore(path)
    assert store.get_many(["a"]) == {"a": "1"}
    with pytest.raises(StoreTrouble, match="locked"):
        store.put_many({"c": "3"})
    other.execute("ROLLBACK")
    store.put_many({"c": "3"})
    assert store.get_many(["c"]) == {"c": "3"}
    store.close()
    other.close()


def test_two_processes_at_once_lose_nothing(path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name, "10"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for name in ("one", "two", "three")
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors
    store = SqliteStore(path)
    keys = [
        f"{name}-{number}-{part}"
        for name in ("one", "two", "three")
        for number in range(10)
        for part in range(20)
    ]
    assert len(store.get_many(keys)) == len(keys)
    store.close()
    assert os.listdir(Path(path).parent) == ["lookups.sqlite"]


@pytest.mark.parametrize("attempt", range(5))
def test_killed_while_writing_leaves_a_sound_file(path, attempt):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path, "one", "100000"], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    writer.stdout.readline()
    while not os.path.exists(path) or os.path.getsize(path) < 4096 * (3 + attempt):
        assert writer.poll() is None
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    store = filled(path)
    assert store.get_many(["a"]) == {"a": "1"}
    store.close()
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    check.close()


@pytest.mark.parametrize(
    ("environ", "platform", "path"),
    [
        pytest.param({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/x/archfit/lookups.sqlite", id="xdg"),
        pytest.param({"XDG_CACHE_HOME": "rel", "HOME": "/h"}, "linux", "/h/.cache/archfit/lookups.sqlite", id="relative-xdg-is-ignored"),
        pytest.param({"HOME": "/h"}, "linux", "/h/.cache/archfit/lookups.sqlite", id="home"),
        pytest.param({"HOME": "/h"}, "darwin", "/h/Library/Caches/archfit/lookups.sqlite", id="macos"),
        pytest.param({"HOME": "rel"}, "linux", "", id="a-relative-home-is-none"),
    ],
)  # fmt: skip
def test_the_cache_directory(environ, platform, path):
    assert default_path(environ, platform) == path


class TestPruning:
    NOW = 1_800_000_000

    def entry(self, number: int, age: int) -> tuple[str, str]:
        digest = f"sha256:{number:064x}"
        found = Found((parse_platform("amd64"),), digest)
        return f"tag:docker.io/library/app:{number}", to_json(found, self.NOW - age)["tag"]

    def filled(self, path: str, ages: Sequence[int]) -> SqliteStore:
        store = SqliteStore(path)
        store.put_many(dict(self.entry(number, age) for number, age in enumerate(ages)))
        return store

    def test_pages_are_everything_though_entries_go_meanwhile(self, path):
        with closing(self.filled(path, range(1200))) as store:
            seen = []
            for page in store.pages():
                seen += page
                store.discard(key for key, _ in page)
            assert len(seen) == len(set(seen)) == 1200
            assert store.items() == []

    def test_what_has_expired_goes_and_the_rest_stays(self, path):
        with closing(self.filled(path, [10, 20, 8 * 86400, -86400])) as store:
            assert prune_pages(store, self.NOW, 7 * 86400, 1 << 30) == 2
            assert [key.rpartition(":")[2] for key, _ in store.items()] == ["0", "1"]

    def test_a_file_that_is_too_large_loses_its_oldest(self, path):
        ages = [60 * (number % 100) for number in range(3000)]
        with closing(self.filled(path, ages)) as store:
            paused: list[None] = []
            before = store.used()
            prune_pages(store, self.NOW, 7 * 86400, before // 2, lambda: paused.append(None))
            assert before // 5 < store.used() < before // 2
            left = [int(key.rpartition(":")[2]) % 100 for key, _ in store.items()]
            assert sorted(set(left)) == list(range(max(left) + 1)), "the youngest minutes, all of them"
            assert len(paused) > 6

    def test_the_file_does_not_grow_while_it_is_filled_and_pruned(self, path):
        most = 200_000
        with closing(SqliteStore(path)) as store:
            sizes = []
            for turn in range(20):
                texts = dict(self.entry(turn * 500 + number, 600 * (20 - turn)) for number in range(500))
                store.put_many(texts)
                prune_pages(store, self.NOW, 7 * 86400, most)
                sizes.append(store.used())
            assert max(sizes) <= most
            with closing(sqlite3.connect(path)) as file:
                file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert store.size() < 3 * most
