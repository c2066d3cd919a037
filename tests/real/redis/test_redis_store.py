"""The store on a server: what is sent, what expires, and what becomes of a server that is not well."""

import socket
import sys
import threading
import time
import tracemalloc
from typing import Any

import pytest

import machine
from archfit.base.packages import install_command
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store import redis as redis_store
from archfit.lookup.store.open import cache_location, open_store
from archfit.lookup.store.redis import KEEP_SECONDS, PREFIX, RedisStore
from archfit.options.hosts import cache_path
from archfit.options.settings import Operator
from redis_server import RedisServer
from socket_server import SocketServer
from tls_files import tls_files

HUSH = "hush-hush-4711"


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """A busy machine is no trouble of the server's; tests of patience state their own."""
    monkeypatch.setattr(redis_store, "_PATIENCE_SECONDS", 60.0)


def opened(server: RedisServer, **options: Any) -> RedisStore:
    return RedisStore(cache_path(server.url()), **{"patience_seconds": 60.0, **options})


def test_entries_expire_by_their_kind(server):
    store, began = opened(server, tag_seconds=7 * 86400), time.monotonic()
    store.put_many({"tag:a": "1", "digest:a": "1", "host:a": "1"})
    store.claim(["tag:a"], "me", 900.0)
    with server.client(decode_responses=True) as client:
        lives = {key.removeprefix(PREFIX): client.ttl(key) for key in client.scan_iter()}
    wanted = {"tag:a": 7 * 86400, "digest:a": KEEP_SECONDS, "host:a": KEEP_SECONDS, "claim:tag:a": 900}
    since = time.monotonic() - began + 1
    assert {key: wanted[key] - since <= life <= wanted[key] for key, life in lives.items()} == dict.fromkeys(
        wanted, True
    )
    store.close()


def test_one_of_two_gets_a_claim_until_it_is_released(server):
    one, two = opened(server), opened(server)
    assert one.claim(["a", "b"], "one", 30) == {"a", "b"}
    assert two.claim(["b", "c"], "two", 30) == {"c"}
    one.release(["a", "b"], "one")
    assert two.claim(["b"], "two", 30) == {"b"}
    assert one.claim([], "one", 30) == set()
    one.close()
    two.close()


def test_a_claim_that_has_ended_is_not_released_as_it_may_be_anothers(server):
    now = [0.0]
    one, two = opened(server, monotonic=lambda: now[0]), opened(server)
    assert one.claim(["a"], "one", 30) == {"a"}
    with server.client() as client:
        client.delete(f"{PREFIX}claim:a")  # as the server does when it expires
    now[0] = 31
    assert two.claim(["a"], "two", 30) == {"a"}
    one.release(["a"], "one")
    assert one.claim(["a"], "one", 30) == set()
    one.close()
    two.close()


def test_the_server_ends_a_claim_by_itself(server):
    one = opened(server)
    assert one.claim(["a"], "dead", 0.02) == {"a"}
    with server.client() as client:
        while client.exists(f"{PREFIX}claim:a"):
            pass
    assert one.claim(["a"], "one", 30) == {"a"}
    one.close()


def test_a_long_value_is_not_read_whole(server):
    with server.client() as client:
        client.set(PREFIX + "tag:long", b"x" * 2**25)
    store = opened(server)
    tracemalloc.start()
    try:
        assert store.get_many(["tag:long"]) == {}
        assert store.items() == [("tag:long", "")]
        assert tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()
        store.close()


def test_only_keys_of_this_format_are_seen_or_removed(server):
    theirs = {b"archfit": b"1", b"archfit:v0:tag:a": b"2", b"session:1": b"3", b"tag:a": b"4"}
    with server.client() as client:
        client.mset(theirs)
        store = opened(server)
        store.put_many({f"tag:{number}": "x" for number in range(1200)})
        client.set(PREFIX.encode() + b"tag:\xff", "x")
        client.rpush(f"{PREFIX}tag:list", "x")
        items = store.items()
        assert len(items) == 1202
        assert ("tag:list", "") in items
        assert store.size() > 1200 * len(PREFIX)
        assert store.remove([key for key, _ in items]) == 1202
        assert {key: client.get(key) for key in client.scan_iter()} == theirs
        store.close()


def test_what_archfit_has_not_written_is_not_read(server):
    with server.client() as client:
        client.rpush(f"{PREFIX}list", "x")
        client.hset(f"{PREFIX}hash", "x", "y")
        client.set(f"{PREFIX}binary", b"\xff\xfe")
        client.set(f"{PREFIX}long", "x" * 100_000)
        client.set(f"{PREFIX}empty", "")
    store = opened(server)
    assert store.get_many(["list", "hash", "binary", "long", "empty"]) == {}
    store.close()


def wrong_password(server: RedisServer) -> str:
    with server.client() as client:
        client.acl_setuser("default", enabled=True, passwords=["+right"], commands=["+@all"], keys=["*"])
    return "set ARCHFIT_CACHE_PASSWORD"


def replica(server: RedisServer) -> str:
    with server.client() as client:
        client.replicaof("127.0.0.1", 1)
    return "name a server in --cache that may be written to"


def full(server: RedisServer) -> str:
    with server.client() as client:
        client.config_set("maxmemory", "1")
    return "used memory"


def forbidden(server: RedisServer) -> str:
    may = ["-@all", "+@read", "+@connection", "+@transaction"]
    with server.client() as client:
        client.acl_setuser("default", enabled=True, nopass=True, reset=True, categories=may, keys=["*"])
    return "name a server in --cache that may be written to"


def paused(server: RedisServer) -> str:
    with server.client() as client:
        client.client_pause(60_000)
    return "no answer in time"


@pytest.mark.parametrize(
    "spoil", [wrong_password, replica, full, forbidden, paused], ids=lambda row: row.__name__
)
def test_a_real_server_that_cannot_be_written_to_is_trouble(tmp_path, spoil):
    with RedisServer(tmp_path) as server:
        says = spoil(server)
        seconds = 0.3 if spoil is paused else 60.0
        store = opened(server, password=HUSH if spoil is wrong_password else "", patience_seconds=seconds)
        with pytest.raises(StoreTrouble) as caught:
            store.put_many({"tag:a": "1"})
        assert says in str(caught.value)
        assert f"the cache {server.url()}/0 cannot be used (" in str(caught.value)
        assert HUSH not in str(caught.value)
        store.close()


def test_the_permissions_that_the_page_names_are_enough(tmp_path):
    page = (machine.ROOT / "docs" / "cache.md").read_text(encoding="utf-8")
    needed = page.split("needs these permissions: `")[1].split("`")[0].split()
    with RedisServer(tmp_path) as server:
        with server.client() as client:
            client.execute_command("ACL", "SETUSER", "archfit", "on", f">{HUSH}", "-@all", *needed)
        named = cache_path(server.url().replace("//", "//archfit@"))
        store = RedisStore(named, password=HUSH, patience_seconds=60.0)
        assert store.claim(["tag:a"], "me", 9) == {"tag:a"}
        store.put_many({"tag:a": "1"})
        store.release(["tag:a"], "me")
        assert store.get_many(["tag:a"]) == {"tag:a": "1"}
        assert store.items() == [("tag:a", "1")]
        assert store.remove(["tag:a"]) == 1
        store.close()


class Oddity(SocketServer):
    """A server that answers every connection with the same bytes, and never closes."""

    def __init__(self, answer: bytes, *, drip: bytes = b"") -> None:
        self._answer = answer
        self._drip, self.dripped = drip, 0
        self.over = threading.Event()
        super().__init__(self._odd)
        self.url = f"redis://127.0.0.1:{self.port}"

    def _odd(self, client: socket.socket) -> None:
        try:
            client.recv(1)
            client.sendall(self._answer)
            while self._drip and not self.over.wait(0.01):
                client.sendall(self._drip)
                self.dripped += len(self._drip)
        except OSError:
            self.over.set()
        self.over.wait()

    def close(self) -> None:
        self.over.set()
        super().close()


@pytest.mark.parametrize(
    ("answer", "drip"),
    [
        pytest.param(b"", False, id="silent"),
        pytest.param(b"", True, id="drips"),
        pytest.param(b"*1\r\n$100\r\n", True, id="drips within a text"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", False, id="speaks HTTP"),
        pytest.param(b"*1\r\n$999999999999\r\n", False, id="promises a terabyte"),
        pytest.param(b"*1\r\n$x\r\n", False, id="no number"),
        pytest.param(b"*-5\r\n", False, id="a negative number"),
        pytest.param(b"*1\r\n" * 5000, False, id="nests"),
        pytest.param(b"$5\r\nhello\r\n", False, id="a text for a list"),
        pytest.param(b"*7\r\n" + b"$1\r\n1\r\n" * 7, False, id="more than was asked for"),
        pytest.param(b":1\r\n", False, id="a number for a list"),
        pytest.param(b"-ERR \x1b[31mred\r\n", False, id="an error with control characters"),
        pytest.param(b"\x00" * 4000, False, id="zeros"),
    ],
)
def test_whatever_a_server_says_it_is_trouble_and_in_time(answer, drip):
    oddity = Oddity(answer, drip=b"1" * drip)
    store = RedisStore(cache_path(oddity.url), patience_seconds=0.3)
    with pytest.raises(StoreTrouble) as caught:
        store.get_many(["tag:a", "tag:b"])
    assert str(caught.value).isprintable()
    store.close()
    oddity.close()


def test_an_answer_is_read_no_further_than_entries_are_long():
    """Also behind the run, which waits no longer than its patience."""
    oddity = Oddity(b"*1\r\n$999999999999\r\n", drip=b"1" * (1 << 20))
    store = RedisStore(cache_path(oddity.url))
    with pytest.raises(StoreTrouble):
        store.get_many(["tag:a"])
    assert oddity.over.wait(60)
    assert oddity.dripped < 48 << 20
    store.close()
    oddity.close()


def test_a_server_that_is_not_there_is_trouble(tmp_path):
    server = RedisServer(tmp_path)
    server.start()
    server.stop()
    with pytest.raises(StoreTrouble, match=r"start it, or name another in --cache$"):
        opened(server).get_many(["tag:a"])


def test_a_server_that_comes_back_is_used_again(tmp_path):
    with RedisServer(tmp_path) as server:
        store = opened(server)
        store.put_many({"tag:a": "1"})
        server.stop()
        with pytest.raises(StoreTrouble):
            store.get_many(["tag:a"])
        server.start()
        assert store.get_many(["tag:a"]) == {}
        store.close()


def test_a_password_from_the_environment_or_a_file(tmp_path):
    file = tmp_path / "password"
    file.write_text(f"{HUSH}\nmore\n", encoding="utf-8")
    with RedisServer(tmp_path, requirepass=HUSH) as server:
        for operator, environ in (
            (Operator(cache=cache_path(server.url())), {"ARCHFIT_CACHE_PASSWORD": HUSH}),
            (Operator(cache=cache_path(server.url()), cache_password_file=str(file)), {}),
            (
                Operator(cache=cache_path(server.url()), cache_password_file=str(file)),
                {"ARCHFIT_CACHE_PASSWORD": "wrong"},
            ),
            (
                Operator(
                    cache=cache_path(server.url().replace("//", "//default@")), cache_password_file=str(file)
                ),
                {},
            ),
        ):
            store = open_store(operator, environ, lambda: 0.0)
            store.put_many({"tag:a": "1"})
            assert store.get_many(["tag:a"]) == {"tag:a": "1"}
            store.close()
        with pytest.raises(StoreTrouble, match=r"Authentication required.*ARCHFIT_CACHE_PASSWORD"):
            opened(server).get_many(["tag:a"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(None, "No such file", id="missing"),
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"\nlater\n", "is empty", id="first line empty"),
        pytest.param(b"\xff\xff", "not UTF-8", id="binary"),
    ],
)
def test_a_password_file_that_has_none_is_trouble(tmp_path, content, says):
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    operator = Operator(cache=cache_path("redis://c"), cache_password_file=str(file))
    with pytest.raises(StoreTrouble, match=says):
        open_store(operator, {}, lambda: 0.0)


def test_tls_with_the_operators_ca_and_not_without(tmp_path):
    with RedisServer(tmp_path, tls_files()) as server:
        operator = Operator(cache=cache_path(server.url()), cache_ca_file=str(tls_files().ca))
        store = open_store(operator, {}, lambda: 0.0)
        store.put_many({"tag:a": "1"})
        assert store.get_many(["tag:a"]) == {"tag:a": "1"}
        store.close()
        with pytest.raises(StoreTrouble, match="--cache-ca-file"):
            opened(server).get_many(["tag:a"])
        missing = RedisStore(cache_path(server.url()), ca_file=str(tmp_path / "none.pem"))
        with pytest.raises(StoreTrouble, match="cannot be used"):
            missing.get_many(["tag:a"])


def test_a_missing_package_is_one_clear_sentence(monkeypatch):
    monkeypatch.delitem(sys.modules, "archfit.lookup.store.redis")
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreTrouble) as caught:
        open_store(Operator(cache=cache_path("redis://user@c:1/2")), {}, lambda: 0.0)
    assert str(caught.value) == (
        "a cache at redis://c:1/2 needs packages that are not installed (redis): "
        f"{install_command('redis>=7.2')}"
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        pytest.param("redis://c", "redis://c:6379/0", id="defaults"),
        pytest.param("rediss://user@c.example:1/15/"[:-1], "rediss://c.example:1/15", id="all"),
        pytest.param("redis://[::1]:7/", "redis://[::1]:7/0", id="ipv6"),
    ],
)
def test_a_place_is_shown_without_its_user(url, shown):
    assert cache_location(Operator(cache=cache_path(url)), {}) == shown
