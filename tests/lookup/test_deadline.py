"""Everything that a lookup waits for ends with its deadline: helpers, the cache's server, registries."""

import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from archfit.images.platforms import Unknown
from archfit.lookup.lookup import open_lookup
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.sqlite import SqliteStore
from archfit.registry.credentials.keychain import Keychain
from fake_registry import Answer, FakeRegistry
from lookup_runs import Runs
from redis_server import RedisServer

SECONDS = 3.0
LATEST = 14.0  # below the 15 s that one helper may take, and far above what a busy machine adds


@pytest.fixture
def registries():
    """Three servers that want a token, each with an image `a:1` and `b:1`."""
    running = [FakeRegistry() for _ in range(3)]
    for fake in running:
        fake.index("a", "1", ["linux/amd64"])
        fake.index("b", "1", ["linux/amd64"])
        fake.bearer()
    yield running
    for fake in running:
        fake.close()


def runs_of(folder: Path, registries: list[FakeRegistry]) -> Runs:
    runs = Runs(folder, registries[0].url)
    runs.set(mirrors=(), timeout_seconds=SECONDS)
    for number, fake in enumerate(registries):
        runs.also(f"r{number}.example", fake.url)
    return runs


def hanging_helper(runs: Runs, *hosts: str) -> Path:
    """A helper that starts a program and waits for it for ever; the file that gets the pids of both."""
    folder, pids = runs.folder / "bin", runs.folder / "pids"
    folder.mkdir()
    path = folder / "docker-credential-slow"
    path.write_text(f"#!/bin/sh\necho $$ >> {pids}\ntail -f /dev/null &\necho $! >> {pids}\nwait\n")
    path.chmod(0o700)
    authfile = runs.folder / "helpers.json"
    authfile.write_text(json.dumps({"credHelpers": dict.fromkeys(hosts, "slow")}))
    runs.set(authfile=str(authfile))
    runs.environ["PATH"] = f"{folder}:{runs.environ['PATH']}"
    return pids


def alive(pid: str) -> bool:
    """The process runs; one that has ended and waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def gone(pids: Path) -> bool:
    until = time.monotonic() + 30
    while any(alive(pid) for pid in pids.read_text().split()):
        if time.monotonic() > until:
            return False
        os.sched_yield()
    return True


def took(began: float) -> float:
    return time.monotonic() - began


def hang_side_by_side(runs: Runs, image: str, pids: Path) -> None:
    """The helpers of three servers hang; the run ends in time, and none of them stays."""
    began = time.monotonic()
    answers = runs.ask(*(f"r{number}.example/{image}:1" for number in range(3)))
    assert took(began) < LATEST
    assert all(isinstance(answer, Unknown) for answer in answers.values())
    assert len(pids.read_text().split()) == 6
    assert gone(pids)


def test_helpers_run_side_by_side_within_the_deadline_and_none_stays(tmp_path, registries):
    runs = runs_of(tmp_path, registries)
    pids = hanging_helper(runs, *(fake.host for fake in registries))
    hang_side_by_side(runs, "a", pids)


@pytest.mark.real
def test_the_helpers_that_a_shared_cache_wants_run_side_by_side_too(tmp_path, registries):
    with RedisServer(tmp_path) as server:
        first = runs_of(tmp_path / "first", registries)
        first.folder.mkdir()
        first.set(cache=server.url(), timeout_seconds=30.0)
        first.ask(*(f"r{number}.example/a:1" for number in range(3)))
        second = runs_of(tmp_path / "second", registries)
        second.folder.mkdir()
        second.set(cache=server.url())
        pids = hanging_helper(second, *(fake.host for fake in registries))
        hang_side_by_side(second, "b", pids)


def test_a_cache_that_never_answers_takes_its_share_once(tmp_path, registries):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        runs = runs_of(tmp_path, registries)
        runs.set(cache=f"redis://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        assert runs.names("r0.example/a:1") == ["linux/amd64"]
        assert took(began) < LATEST
        assert len(runs.messages) == 1
        assert "this run goes on without it" in runs.messages[0]


def test_no_command_is_sent_to_a_cache_after_the_end():
    from archfit.lookup.store.redis import RedisStore
    from archfit.options.hosts import cache_path

    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(0)
        store = RedisStore(cache_path(f"redis://127.0.0.1:{silent.getsockname()[1]}"), left=lambda: 0.0)
        with pytest.raises(StoreTrouble, match="allow more with --timeout"):
            store.get_many(["tag:a"])
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_a_locked_file_is_waited_for_no_longer_than_there_is_time(tmp_path):
    path = str(tmp_path / "lookups.sqlite")
    store, other = SqliteStore(path, left=lambda: 0.05), SqliteStore(path)
    other._file.execute("BEGIN IMMEDIATE")
    statements: list[str] = []
    store._file.set_trace_callback(statements.append)
    with pytest.raises(StoreTrouble, match="locked"):
        store.put_many({"tag:a": "{}"})
    assert [text for text in statements if "busy_timeout" in text] == ["PRAGMA busy_timeout = 50"]
    other._file.execute("ROLLBACK")
    store.put_many({"tag:a": "{}"})
    for one in (store, other):
        one.close()


def test_a_helper_is_not_asked_after_the_deadline(tmp_path):
    from archfit.registry.registry_errors import RegistryError

    runs = Runs(tmp_path, "http://127.0.0.1:9")
    pids = hanging_helper(runs, "h.io")
    keychain = Keychain(runs.operator.authfile, runs.environ)
    keychain.left = lambda: 0.0
    with pytest.raises(RegistryError, match="no time was left: allow more with --timeout"):
        keychain.find("h.io", "a")
    assert not pids.exists()


def test_a_lookup_may_be_given_less_time_than_a_run(tmp_path, registries):
    registries[0].always(Answer(hold=threading.Event()))
    runs = runs_of(tmp_path, registries)
    runs.set(timeout_seconds=300.0)
    lookup = open_lookup(runs.operator, environ=runs.environ)
    began = time.monotonic()
    (answer,) = lookup.resolve(["r0.example/a:1"], seconds=0.2).values()
    lookup.close()
    assert isinstance(answer, Unknown)
    assert took(began) < 150
