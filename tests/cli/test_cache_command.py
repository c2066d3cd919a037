"""`archfit cache`: what it says and removes, for a file and for a server."""

import io
import json
import os
import sqlite3

import pytest

from archfit.base.errors import ArchfitError, UsageError
from archfit.cli.cache import manage_cache as run
from archfit.images.platforms import Found, Platform
from archfit.lookup.entries import to_json
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.open import open_store
from archfit.options.hosts import cache_path
from archfit.options.settings import Operator
from archfit.yaml.json_output import document_head
from program import archfit
from redis_server import RedisServer

HEAD = document_head("cache")
NOW = 1_767_225_600
DAY = 86400
HOST = '{"scheme": "", "realm": "", "service": "", "head": true}'


def found(letter: str) -> Found:
    return Found((Platform("linux", "amd64"),), "sha256:" + letter * 64)


def filled(place: str) -> None:
    """Two tags and three digests of different ages, a server, claims, rubbish."""
    store = open_store(Operator(cache=cache_path(place)), {}, lambda: NOW)
    young, old = to_json(found("a"), NOW - DAY), to_json(found("b"), NOW - 40 * DAY)
    store.put_many(
        {
            "tag:x.io/young:1": young["tag"],
            "tag:x.io/old:1": old["tag"],
            f"digest:x.io/young@{found('a').digest}": old["digest"],
            f"digest:{found('b').digest}": old["digest"],
            f"digest:x.io/own@{found('c').digest}#0123": young["digest"],
            "host:https://x.io": HOST,
            "claim:tag:x.io/now:1": json.dumps({"owner": "x", "until": NOW + 5}),
            "claim:tag:x.io/then:1": json.dumps({"owner": "x", "until": NOW - 5}),
            "tag:x.io/rubbish:1": "rubbish",
            "something": "else",
        }
    )
    store.close()


@pytest.fixture(scope="module")
def server(real, tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.real)])
def place(request, tmp_path):
    if request.param == "file":
        return str(tmp_path / "lookups.sqlite")
    server = request.getfixturevalue("server")
    with server.client() as client:
        client.flushall()
    return f"{server.url()}/0"


def told(*argv: str, **environ: str) -> str:
    out = io.BytesIO()
    assert run(argv, out, environ, lambda: NOW) == 0
    return out.getvalue().decode()


def test_path_is_where_the_cache_is(tmp_path):
    assert told("path", XDG_CACHE_HOME=str(tmp_path)) == f"{tmp_path}/archfit/lookups.sqlite\n"
    assert told("path", "--cache", "/x/y") == "/x/y\n"
    assert told("path", ARCHFIT_CACHE="rediss://robot@c.example") == "rediss://c.example:6379/0\n"
    config = tmp_path / "archfit.yaml"
    config.write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\noperator: {cache: /from/file}\n")
    assert told("path", "--config", str(config)) == "/from/file\n"
    assert json.loads(told("path", "--json", "--cache", "/x")) == {**HEAD, "place": "/x"}


def test_info(place):
    filled(place)
    known = json.loads(told("info", "--cache", place, "--json"))
    assert known.pop("size") > 500
    assert known == {
        **HEAD,
        "place": place, "format": 2, "tags": 3, "digests": 3, "builds": 0, "lists": 0, "servers": 1, "claims": 2,
        "others": 1, "unreadable": 2, "oldest": "2025-11-22T00:00:00Z", "newest": "2025-12-31T00:00:00Z",
    }  # fmt: skip
    lines = told("info", "--cache", place).splitlines()
    assert lines[2].endswith(" bytes")
    shown = [
        f"{name}:".ljust(12) + f"{value}" for name, value in known.items() if name not in {*HEAD, "format"}
    ]
    assert [lines[0], *lines[3:]] == shown


def test_prune_removes_what_no_run_would_use(place):
    filled(place)
    assert told("prune", "--cache", place) == (
        f"removed 5 of 10 entries: 2 tags, 1 digest, 1 claim, 1 other ({place})\n"
    )
    store = open_store(Operator(cache=cache_path(place)), {}, lambda: NOW)
    assert [key for key, _ in store.items()] == sorted(
        [
            "claim:tag:x.io/now:1",
            f"digest:x.io/own@{found('c').digest}#0123",
            f"digest:x.io/young@{found('a').digest}",
            "host:https://x.io",
            "tag:x.io/young:1",
        ]
    )
    store.close()
    assert told("prune", "--cache", place) == f"removed 0 of 5 entries ({place})\n"


def test_prune_goes_by_the_operators_times(place):
    filled(place)
    assert json.loads(told("prune", "--cache", place, "--max-stale", "60d", "--json")) == {
        **HEAD,
        "place": place, "removed": 3, "left": 7, "tags": 1, "digests": 0, "builds": 0, "lists": 0, "servers": 0,
        "claims": 1, "others": 1,
    }  # fmt: skip
    assert json.loads(told("prune", "--cache", place, "--max-stale", "0", "--json"))["tags"] == 2


def test_clear_removes_everything_of_archfit(place):
    filled(place)
    assert told("clear", "--cache", place) == (
        f"removed 10 of 10 entries: 3 tags, 3 digests, 1 server, 2 claims, 1 other ({place})\n"
    )
    assert json.loads(told("info", "--cache", place, "--json"))["tags"] == 0
    assert told("clear", "--cache", place) == f"removed 0 of 0 entries ({place})\n"


def test_clear_leaves_what_is_not_archfits_on_a_server(server):
    theirs = {"archfit": "1", "archfit:v1:tag:x": "2", "session": "3", "xarchfit:v2:tag:x": "4"}
    with server.client(decode_responses=True) as client:
        client.flushall()
        client.mset(theirs)
        filled(server.url())
        told("clear", "--cache", server.url())
        assert {key: client.get(key) for key in client.scan_iter()} == theirs


def test_clear_makes_the_file_small_again(tmp_path):
    place = str(tmp_path / "lookups.sqlite")
    store = open_store(Operator(cache=cache_path(place)), {}, lambda: NOW)
    store.put_many({f"tag:{number}": "x" * 1000 for number in range(1000)})
    store.close()
    before = os.path.getsize(place)
    told("clear", "--cache", place)
    assert os.path.getsize(place) < before / 10


@pytest.mark.parametrize("word", ["info", "prune", "clear"])
def test_nothing_is_made_where_there_is_no_cache(tmp_path, word):
    place = str(tmp_path / "none" / "lookups.sqlite")
    told(word, "--cache", place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("word", ["info", "prune", "clear"])
def test_a_foreign_or_broken_file_is_left_alone(tmp_path, word):
    foreign, broken = tmp_path / "foreign", tmp_path / "broken"
    made = sqlite3.connect(foreign)
    made.execute("CREATE TABLE theirs (x)")
    made.close()
    broken.write_bytes(b"not a database" * 100)
    for path in (foreign, broken):
        before = path.read_bytes()
        with pytest.raises(StoreTrouble, match=str(path)):
            told(word, "--cache", str(path))
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param((), id="no word"),
        pytest.param(("purge",), id="another word"),
        pytest.param(("info", "more"), id="a word too many"),
        pytest.param(("info", "--strict"), id="an option of another command"),
        pytest.param(("--json",), id="an option instead of a word"),
    ],
)
def test_wrong_usage(argv):
    with pytest.raises(UsageError):
        told(*argv)


def test_the_real_program(server, tmp_path):
    """Exit codes, and no password anywhere."""
    ran = archfit(b"", "cache", "info", "--cache", server.url().replace("//", "//:hush-4711@"))
    assert (ran.status, ran.stdout) == (2, b"")
    assert "ARCHFIT_CACHE_PASSWORD" in ran.stderr
    assert "hush-4711" not in ran.stderr
    gone = archfit(
        b"", "cache", "info", "--cache", "redis://robot@127.0.0.1:1", ARCHFIT_CACHE_PASSWORD="hush-4711"
    )
    assert (gone.status, gone.stdout) == (1, b"")
    assert gone.stderr.startswith("archfit: error: the cache redis://127.0.0.1:1/0 cannot be used (")
    assert "hush-4711" not in gone.stderr
    assert "robot" not in gone.stderr
    assert "usage: archfit cache" in archfit(b"", "cache", "--help").ok().decode()
    assert (
        archfit(b"", "cache", "path", XDG_CACHE_HOME=str(tmp_path)).ok().decode().endswith("lookups.sqlite\n")
    )


def test_without_a_home_there_is_no_place():
    with pytest.raises(ArchfitError, match="--cache"):
        told("path", HOME="relative")
