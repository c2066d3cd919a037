"""`--requests-per-second` over real processes, a real Redis, and a registry that notes when it is asked."""

import subprocess
import threading
import time
from itertools import pairwise

import pytest

from archfit.lookup.store.redis import RedisStore
from archfit.options.hosts import cache_path
from fake_registry import FakeRegistry
from program import PROGRAM
from redis_server import RedisServer

BOTH = ["linux/amd64", "linux/arm64"]


@pytest.fixture
def server(tmp_path):
    with RedisServer(tmp_path) as running_server:
        yield running_server


def stream(fake: FakeRegistry, repositories: range) -> str:
    """One pod for each image."""
    documents = []
    for number in repositories:
        fake.index(f"app{number}", "1", BOTH)
        documents.append(
            f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
            f"spec: {{containers: [{{name: c, image: 'r.example/app{number}:1'}}]}}\n"
        )
    return "---\n".join(documents)


def test_processes_together_keep_to_the_budget(server, fake, tmp_path):
    rate, each = 20, 12
    times: list[float] = []
    fake.on(lambda _: times.append(time.monotonic()))
    host = fake.url.partition("://")[2]
    flags = ["--cache", server.url(), "--mirror", f"*={fake.url}", "--requests-per-second", f"{host}={rate}"]
    started = []
    for number in range(4):
        process = subprocess.Popen(
            [PROGRAM, *flags, "--timeout", "60s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"HOME": str(tmp_path)},
            text=True,
        )
        started.append((process, stream(fake, range(number * each, (number + 1) * each))))
    talks = [threading.Thread(target=process.communicate, args=(text,)) for process, text in started]
    for talk in talks:
        talk.start()
    for talk in talks:
        talk.join()
    assert [process.returncode for process, _ in started] == [0] * 4
    assert len(times) == 4 * each
    # A process that wakes late sends late, so that requests may be closer on a busy machine. Budgets of their own would
    # send all 48 within 0.6 s; together they take 2.35 s.
    assert times[-1] - times[0] >= (len(times) - 1) / rate - 1
    assert max(sum(first <= other < first + 1 for other in times) for first in times) <= 1.75 * rate


def test_reservations_of_several_connections_never_overlap(server):
    place = cache_path(server.url())
    stores = [RedisStore(place) for _ in range(4)]
    waits: list[float] = []

    def reserve(number: int) -> None:
        for _ in range(10):
            wait, _ = stores[number].reserve("r.example", str(number), 30.0, 3600.0)
            assert wait is not None
            waits.append(wait + time.monotonic())

    threads = [threading.Thread(target=reserve, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waits.sort()
    assert len(waits) == 40
    assert all(15 < later - earlier < 45 for earlier, later in pairwise(waits))
    late, owners = stores[0].reserve("r.example", "0", 1.0, 0.5)
    assert (late, owners) == (None, 4)
    assert stores[0].reserve("other.example", "0", 1.0, 0.5) == (0.0, 1)
    for store in stores:
        store.close()


def test_what_is_kept_of_a_budget_ends_by_itself_and_is_not_part_of_the_cache(server):
    store = RedisStore(cache_path(server.url()))
    store.reserve("r.example", "a", 0.1, 10.0)
    with server.client() as client:
        keys = sorted(client.scan_iter())
        assert keys == [b"archfit:budget:{r.example}:free", b"archfit:budget:{r.example}:owners"]
        assert all(0 < client.ttl(key) <= 60 for key in keys)
    assert store.items() == []
    store.close()


def test_the_documented_permissions_are_enough(server):
    rights = (
        "~archfit:budget:* +eval +time +get +set +zadd +zcard +zremrangebyscore +pexpire".split()  # noqa: SIM905
    )
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "archfit", "on", ">hush", *rights)
    place = cache_path(server.url().replace("//", "//archfit@"))
    store = RedisStore(place, password="hush")
    assert store.reserve("r.example", "a", 0.1, 10.0) == (0.0, 1)
    store.close()
