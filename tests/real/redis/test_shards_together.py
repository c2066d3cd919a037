"""The shards of an audit at the same time, in processes of their own, with one cache server and one registry."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from registry import Registry

from program import PROGRAM
from redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARDS = 8
BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
IMAGES = {f"quay.io/team{n % 5}/app{n}:{tag}": BOTH if n % 3 else AMD for n in range(40) for tag in (1, 2)}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as running:
        yield running


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry(IMAGES) as served:
        yield served


def _cluster() -> bytes:
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{n}", "namespace": "shop", "uid": f"u{n}"},
            "spec": {"containers": [{"name": "app", "image": image}]},
            "status": {"phase": "Running"},
        }
        for n, image in enumerate(IMAGES)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}).encode()


class Fleet:
    """Audits of one snapshot in a folder."""

    def __init__(self, folder: Path, registry: Registry, server: RedisServer) -> None:
        self.folder = folder
        self._words = ("--cache", server.url(), *registry.mirrors())
        self._environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        (folder / "cluster.json").write_bytes(_cluster())
        self.done(self.start("cluster.json", "--offline", "--no-cache", "-o", "snapshot.json"))

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """An audit that runs now."""
        words = (*words, "--format", "json")
        if "--merge" not in words and "--offline" not in words:
            words += self._words
        return subprocess.Popen(
            [PROGRAM, "audit", *words], cwd=self.folder, env=self._environ, stderr=subprocess.PIPE
        )

    def done(self, *audits: subprocess.Popen[bytes]) -> None:
        """Waits for all of them."""
        for audit in audits:
            _, stderr = audit.communicate(timeout=120)
            assert audit.returncode == 0, stderr

    def shard(self, index: int, into: str = "shard") -> subprocess.Popen[bytes]:
        return self.start(
            *("snapshot.json", "--shards", str(SHARDS), "--shard", str(index), "-o", f"{into}-{index}.json")
        )

    def report(self, name: str) -> Any:
        return json.loads((self.folder / name).read_bytes())


def _requests(registry: Registry) -> Counter[str]:
    found = Counter(map(str, registry.asked))
    registry.forget()
    return found


def test_eight_shards_make_the_requests_of_one_process_and_find_the_same(
    server: RedisServer, registry: Registry, tmp_path: Path
):
    fleet = Fleet(tmp_path, registry, server)
    fleet.done(fleet.start("snapshot.json", "-o", "whole.json"))
    wanted = _requests(registry)
    with server.client() as client:
        client.flushall()
    fleet.done(*[fleet.shard(index) for index in range(SHARDS)])
    assert sum(wanted.values()) >= len(IMAGES)
    assert _requests(registry) == wanted
    fleet.done(fleet.start("-o", "merged.json", "--merge", *(f"shard-{n}.json" for n in range(SHARDS))))
    assert fleet.report("merged.json")["findings"] == fleet.report("whole.json")["findings"]


def test_a_shard_that_was_killed_runs_again_and_asks_for_nothing_twice(
    server: RedisServer, registry: Registry, tmp_path: Path
):
    fleet = Fleet(tmp_path, registry, server)
    killed = fleet.shard(3)
    killed.kill()
    killed.communicate()
    assert not (tmp_path / "shard-3.json").exists()
    fleet.done(fleet.shard(3))
    _requests(registry)
    fleet.done(fleet.shard(3, into="again"))
    assert not _requests(registry)
    first, again = fleet.report("shard-3.json"), fleet.report("again-3.json")
    for one in (*first["facts"]["images"], *again["facts"]["images"]):
        one["origin"] = ""
    assert first == again
