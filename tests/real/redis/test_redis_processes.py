"""Real processes on one cold cache, in a file and on a server: one request per image, and kill -9 at any moment."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

from fake_registry import Answer, Asked, FakeRegistry
from program import PROGRAM
from redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOTH = ["linux/amd64", "linux/arm64"]
PATIENCE_SECONDS = 60.0
# Everything is imported once; each job is then a process of its own, made by fork, as fast as that.
NURSERY = """
import json, os, sys
from archfit.cli import main as cli
from archfit.rewrite import command as transform
from archfit.lookup import cache, entries, lookup, registry_lookup
from archfit.lookup.store import open as opening, redis, sqlite
for line in sys.stdin:
    job = json.loads(line)
    if isinstance(job, int):
        print(os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]), flush=True)
        continue
    child = os.fork()
    if child == 0:
        for number, (path, flags) in enumerate(job["files"]):
            os.dup2(os.open(path, flags, 0o600), number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        code = cli.main(job["argv"])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(child, flush=True)
"""


class Nursery:
    """Starts processes of archfit quickly."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def start(self, stream: str, *argv: str) -> int:
        """The process' id."""
        self._started += 1
        source = self._folder / f"{self._started}.yaml"
        source.write_text(stream, encoding="utf-8")
        write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        files = [(str(source), os.O_RDONLY), (self._out("out"), write), (self._out("err"), write)]
        return self._tell({"argv": argv, "files": files})

    def end(self, process: int) -> int:
        """Its exit code, negative for a signal."""
        return self._tell(process)

    def written(self) -> tuple[str, str]:
        """Standard output and error of the process that was started last."""
        out, err = (self._folder / os.path.basename(self._out(name)) for name in ("out", "err"))
        return out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")

    def _out(self, name: str) -> str:
        return str(self._folder / f"{self._started}.{name}")

    def _tell(self, job: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@pytest.fixture(params=["sqlite", "redis"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "cache" / "lookups.sqlite")
        return
    with RedisServer(tmp_path) as server:
        yield server.url()


def pods(images: list[str]) -> str:
    return "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\nspec:\n  containers:\n"
        f"  - {{name: a, image: {image}}}\n"
        for number, image in enumerate(images)
    )


def until(true: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.001)


def over(process: int) -> bool:
    """It has ended, and nobody has asked for its exit code yet."""
    return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "Z"


def test_processes_at_once_on_a_cold_cache_ask_once_for_each_image(
    fake: FakeRegistry, cache: str, tmp_path: Path
) -> None:
    images = [f"x.io/i{number}:1" for number in range(12)]
    for number in range(12):
        fake.index(f"i{number}", "1", BOTH[number % 2 :])
    go = threading.Event()
    fake.on(lambda asked: fake.stored(asked).held(go))
    (tmp_path / "in.yaml").write_text(pods(images), encoding="utf-8")
    running = []
    for number in range(4):
        with (tmp_path / "in.yaml").open("rb") as source, (tmp_path / f"{number}.out").open("wb") as out:
            running.append(
                subprocess.Popen(
                    [PROGRAM, "--cache", cache, "--mirror", f"*={fake.url}"],
                    stdin=source,
                    stdout=out,
                    stderr=subprocess.PIPE,
                )
            )
    until(lambda: fake.count() >= 12 or any(process.poll() is not None for process in running))
    go.set()
    said = [process.communicate(timeout=PATIENCE_SECONDS)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    outputs = [(tmp_path / f"{number}.out").read_text(encoding="utf-8") for number in range(4)]
    assert outputs == [outputs[0]] * 4
    assert outputs[0].count("kubernetes.io/arch") >= 6
    assert sorted(asked.path for asked in fake.asked) == sorted(
        f"/v2/i{number}/manifests/1" for number in range(12)
    )


def test_kill_9_fifty_times_leaves_no_damage_and_no_run_stuck(
    fake: FakeRegistry, cache: str, tmp_path: Path
) -> None:
    options = ("--cache", cache, "--mirror", f"*={fake.url}")
    brief = (*options, "--timeout", "4s")  # so that its claims do not last long
    go = threading.Event()

    def held(asked: Asked) -> Answer:
        return fake.stored(asked).held(go)

    fake.on(held)
    rounds = [[f"x.io/r{number}-{part}:1" for part in range(4)] for number in range(50)]
    for images in rounds:
        for image in images:
            fake.index(image[5:-2], "1", BOTH)
    killed = 0
    with Nursery(tmp_path) as nursery:
        for number, images in enumerate(rounds):
            fake.forget()
            go.clear()
            process = nursery.start(pods(images), *brief)
            # On a busy machine its deadline may come first; then there is nothing to kill.
            until(lambda wanted=number % 5, process=process: fake.count() >= wanted or over(process))  # type: ignore[misc]
            if number % 5 == 4:
                go.set()
            os.kill(process, signal.SIGKILL)
            go.set()
            killed += nursery.end(process) == -signal.SIGKILL
            if number in {13, 33}:
                assert nursery.end(nursery.start(pods(images), *options)) == 0, nursery.written()[1]
        assert killed >= 40
        everything = [image for images in rounds for image in images]
        go.set()
        assert nursery.end(nursery.start(pods(everything), *options)) == 0, nursery.written()[1]
        assert "warning" not in nursery.written()[1]
        fake.forget()
        assert nursery.end(nursery.start(pods(everything), *options)) == 0
        assert fake.asked == []
    if "://" not in cache:
        file = sqlite3.connect(cache)
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        file.close()
