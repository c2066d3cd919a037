"""`import archfit` in somebody else's process: threads, forks, signals, streams, start-up."""

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest

import archfit
import machine
from fake_registry import Answer, FakeRegistry

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'IMAGE'}]}\n"
THREADS = 8


def pods(*images: str) -> str:
    return "---\n".join(POD.replace("IMAGE", image) for image in images)


def run(program: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own, without what the tests have loaded."""
    return machine.run([sys.executable, "-c", program, *words], env={**os.environ, **environ}, timeout=300)


def test_threads_share_the_cache_and_get_the_same(tmp_path):
    """The threads begin together, with other images in another order; each image is read from the registry once."""
    images = [f"app:{number}" for number in range(12)]
    start = threading.Barrier(THREADS)
    with FakeRegistry() as server:
        for prefix in ("", "docker.io/"):
            for number, image in enumerate(images):
                platforms = ["linux/amd64"] if number % 2 else ["linux/amd64", "linux/arm64"]
                server.index(f"{prefix}library/app", image.partition(":")[2], platforms)

        def call(number: int) -> tuple[str, list[str]]:
            start.wait(60)
            result = archfit.transform(
                pods(*images[number:], *images[:number]),
                mirror={"*": server.url},
                cache=tmp_path / "cache.sqlite",
                timeout="120s",
            )
            return result.manifests, [decision.outcome for decision in result.decisions]

        with ThreadPoolExecutor(THREADS) as pool:
            made = list(pool.map(call, range(THREADS)))
        manifests = [asked.reference for asked in server.asked if asked.kind == "manifest"]
    assert sorted(manifests) == sorted(image.partition(":")[2] for image in images)
    whole = sorted(made[0][0].split("---\n"))
    assert [sorted(text.split("---\n")) for text, _ in made] == [whole] * THREADS


def test_decide_is_the_same_in_many_threads():
    """More images than what archfit remembers, so that it forgets meanwhile."""

    def call(number: int) -> list[Any]:
        made = []
        for index in range(300):
            image = f"app:{(index * 7 + number) % 300}"
            spec = {"containers": [{"name": "a", "image": image}]}
            wanted = ["amd64"] if image.endswith(("1", "3")) else ["arm64"]
            decision = archfit.decide(spec, {image: wanted}, tolerate="none")
            made.append((image, decision.reachable == tuple(wanted)))
        return made

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(right for made in pool.map(call, range(THREADS)) for _, right in made)


FORKED = """
import os, sys, threading, archfit
url, cache, text = sys.argv[1:]
options = {"mirror": {"*": url}, "cache": cache, "timeout": "60s"}
before = archfit.transform(text, **options).manifests
stop = threading.Event()
def busy():
    while not stop.is_set():
        archfit.platforms([f"app:{number}" for number in range(5)], noCache=True, mirror={"*": url})
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
right = True
for number in range(12):
    child = os.fork()
    if not child:
        code = 3
        try:
            code = archfit.transform(text.replace("app:1", f"app:{number % 5}"), **options, tolerate="none").changed
            archfit.platforms([f"app:{number % 5}"], noCache=True, mirror={"*": url})
        finally:
            os._exit(int(code))
    right = right and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
stop.set()
for thread in threads:
    thread.join()
right = right and archfit.transform(text, **options).manifests == before
print(right)
"""


def test_a_child_of_a_fork_calls_as_its_parent_did(tmp_path):
    """The parent forks while its other threads read answers of a registry."""
    with FakeRegistry() as server:
        for prefix in ("", "docker.io/"):
            for number in range(5):
                server.index(f"{prefix}library/app", str(number), ["linux/amd64"])
        done = run(FORKED, server.url, str(tmp_path / "cache.sqlite"), pods("app:1"))
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


class Cancelled(Exception):
    """Of the caller."""


def test_a_signal_handler_ends_a_call_with_its_own_exception_and_the_next_call_works(tmp_path):
    release = threading.Event()

    def cancel(_number: int, _frame: FrameType | None) -> None:
        raise Cancelled

    with FakeRegistry() as server:
        server.index("library/app", "1", ["linux/amd64"])
        server.index("docker.io/library/app", "1", ["linux/amd64"])
        server.on(lambda _: Answer(200, hold=release) if not release.is_set() else None)
        options: Any = {"mirror": {"*": server.url}, "cache": tmp_path / "cache.sqlite"}
        before = signal.signal(signal.SIGALRM, cancel)
        try:
            signal.setitimer(signal.ITIMER_REAL, 1)
            started = time.monotonic()
            with pytest.raises(Cancelled):
                archfit.transform(pods("app:1"), **options, timeout="500s")
            assert time.monotonic() - started < 250
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        release.set()
        assert archfit.transform(pods("app:1"), **options, timeout="120s").changed


def test_a_timeout_is_an_answer_that_is_not_known(tmp_path):
    never = threading.Event()
    with FakeRegistry() as server:
        server.on(lambda _: Answer(200, hold=never))
        options: Any = {"mirror": {"*": server.url}, "cache": tmp_path / "cache.sqlite", "timeout": "300ms"}
        with pytest.raises(archfit.ArchfitError) as caught:
            archfit.transform(pods("app:1"), **options)
        assert archfit.platforms(["app:1"], **options)["app:1"]["answer"] == "Unknown"
        never.set()
    assert caught.value.kind == "unknown"


QUIET = """
import archfit, json, sys
text = sys.argv[1]
archfit.transform(text, imagePlatforms={"*": ["linux/amd64"]})
archfit.platforms(["app:1"], offline=True)
archfit.decide({"containers": [{"image": "app:1"}]}, {"app:1": ["amd64"]})
for wrong in (None, "a: [", "Error: x"):
    try:
        archfit.transform(wrong)
    except archfit.ArchfitError:
        pass
"""


def test_calls_write_to_no_stream_and_leave_no_report(tmp_path):
    done = run(
        QUIET, pods("app:1"), HOME=str(tmp_path), XDG_CACHE_HOME="", XDG_STATE_HOME="", PYTHONWARNINGS="error"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} <= {
        "lookups.sqlite",
        "lookups.sqlite-wal",
        "lookups.sqlite-shm",
    }


def test_calls_leave_the_process_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCHFIT_CACHE", "redis://nowhere.invalid")
    monkeypatch.setenv("ARCHFIT_TIMEOUT", "nonsense")

    def state() -> tuple[object, ...]:
        handlers = tuple(
            signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)
        )
        return (
            dict(os.environ),
            handlers,
            sys.getrecursionlimit(),
            os.getcwd(),
            logging.getLogger().handlers,
            logging.getLogger().level,
        )

    options: Any = {"offline": True, "cache": tmp_path / "cache.sqlite"}
    archfit.platforms(["app:1"], **options)
    before, threads, descriptors = state(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    archfit.platforms(["app:1"], **options)
    archfit.transform(pods("app:1"), **options, onUnknown="leave")
    archfit.decide({"containers": [{"image": "app:1"}]}, {"app:1": ["amd64"]})
    assert state() == before
    # What an earlier test left behind may end meanwhile.
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= descriptors


START = """
import json, sys, time
before = set(sys.modules)
started = time.process_time()
import archfit
spent = time.process_time() - started
loaded = sorted(set(sys.modules) - before)
archfit.__version__
try:
    archfit.transfrom
except AttributeError:
    pass
print(json.dumps([spent, loaded, sorted(set(sys.modules) - before)]))
"""


def test_import_loads_one_module_in_three_milliseconds():
    runs = [json.loads(run(START).stdout) for _ in range(5)]
    assert [loaded for _, loaded, _ in runs] == [["archfit"]] * 5
    assert [after for _, _, after in runs] == [["archfit"]] * 5
    assert min(spent for spent, _, _ in runs) < 0.003


def test_decide_loads_nothing_of_the_network():
    program = (
        "import archfit, sys\n"
        "archfit.decide({'containers': [{'image': 'app:1'}]}, {'app:1': ['amd64']})\n"
        "archfit.transform('', onBlank='pass')\n"
        "print({'ssl', 'h11', 'sqlite3', '_sqlite3', 'asyncio', 'argparse'} & set(sys.modules))\n"
    )
    assert run(program).stdout == "set()\n"


ERRORS = [
    pytest.param(lambda _: archfit.transform("a: ["), id="input"),
    pytest.param(lambda _: archfit.transform(None), id="usage"),
    pytest.param(lambda _: archfit.decide({"containers": [{"image": "A:1"}]}, {}), id="a-decision"),
    pytest.param(lambda path: archfit.platforms("app:1", lockFile=path), id="a-lock-file"),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_pass_between_processes(call, tmp_path):
    (tmp_path / "lock").write_text("{")
    with pytest.raises(archfit.ArchfitError) as caught:
        call(tmp_path / "lock")
    error, other = caught.value, pickle.loads(pickle.dumps(caught.value))
    assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))


def test_results_pass_between_processes():
    result = archfit.transform(pods("app:1"), imagePlatforms={"*": ["linux/amd64"]})
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.changed


LOCKED = """
import os, signal
from archfit.registry import untrusted_json
untrusted_json._one_at_a_time.acquire()  # as a thread that parses an answer
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(untrusted_json.load(b'{"a": 1}')["a"])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have():
    assert run(LOCKED).stdout == "1\n"
