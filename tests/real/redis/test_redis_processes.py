"""Real processes on one cold cache, in a file and on a server: one request for each image."""

import subprocess
import threading
import time
from collections.abc import Callable

import pytest

from program import PROGRAM
from redis_server import RedisServer

BOTH = ["linux/amd64", "linux/arm64"]
PATIENCE_SECONDS = 60.0


@pytest.fixture(params=["sqlite", "redis"])
def cache(request, tmp_path):
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


def test_processes_at_once_on_a_cold_cache_ask_once_for_each_image(fake, cache, tmp_path):
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
