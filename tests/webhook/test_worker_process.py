"""Lookup processes: known images are answered whatever happens to them, and each is replaced alone."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archfit.base.errors import ArchfitError
from archfit.images.platforms import Found, Unknown
from archfit.options.hosts import mirror_pair
from archfit.options.settings import Operator
from archfit.webhook.lookups import worker_process
from archfit.webhook.lookups.messages import WORKERS, Answered, Noted, WorkerOptions
from archfit.webhook.lookups.worker_process import LookupWorkers, WorkerProcess
from fake_registry import Answer, FakeRegistry

PATIENCE = 60


class Site:
    """Two processes that ask a registry on loopback. ended: why one was replaced."""

    def __init__(self, fake: FakeRegistry, folder: Path, memory_mib: int = 80) -> None:
        self.told: list[Any] = []
        self.ended: list[str] = []
        operator = Operator(cache=str(folder / "lookups.sqlite"), mirrors=(mirror_pair(f"*={fake.url}"),))
        environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        options = WorkerOptions(operator, (), environ, frozenset({"amd64"}), memory_mib << 20)
        self.workers = LookupWorkers(
            [WorkerProcess(options, 7.5, self.told.append, self.ended.append) for _ in range(WORKERS)]
        )

    async def __aenter__(self) -> Site:
        await self.workers.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.workers.close()

    def namespaces(self) -> list[str]:
        """One for each worker."""
        of = {self.workers.of(f"n{number}"): f"n{number}" for number in range(20)}
        assert len(of) == WORKERS
        return list(of.values())

    async def ask(self, namespace: str, text: str, stale: Any = print) -> Answered:
        return await self.workers.of(namespace).look_up(text, (), 7.5, 0, stale)

    async def until_answered(self, namespace: str, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not isinstance((await self.ask(namespace, text)).answer, Found):  # noqa: ASYNC110 - no event tells it
                await asyncio.sleep(0.02)


async def until(probe: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 50):
        if probe():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE} s in vain")


async def test_a_process_that_ends_is_replaced_alone(tmp_path):
    with FakeRegistry() as fake:
        held = threading.Event()
        for name in ("a", "b"):
            fake.index(name, "1", ["linux/amd64"])
        fake.on(lambda asked: fake.stored(asked).held(held) if asked.kind == "manifest" else None)
        async with Site(fake, tmp_path) as site:
            one, two = site.namespaces()
            asking = [
                asyncio.ensure_future(site.ask(namespace, f"x.io/{name}:1"))
                for namespace, name in ((one, "a"), (two, "b"))
            ]
            await until(lambda: fake.count("manifest") == 2)
            victim = site.workers.of(one)
            before = victim.process.pid
            os.kill(before, signal.SIGKILL)
            lost = (await asking[0]).answer
            assert lost == Unknown("the process that asked for it has ended: create the pod again later")
            held.set()
            assert isinstance((await asking[1]).answer, Found)
            await site.until_answered(one, "x.io/a:1")
            assert victim.process.pid != before
            assert site.ended == ["exit code -9"]
            assert Noted([], {(fake.host, 200): 1}) in site.told


async def test_a_process_that_answers_no_more_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_process, "_GRACE_SECONDS", -7.0)  # half a second
    with FakeRegistry() as fake:
        fake.index("a", "1", ["linux/amd64"])
        async with Site(fake, tmp_path) as site:
            namespace = site.namespaces()[0]
            victim = site.workers.of(namespace)
            before = victim.process.pid
            os.kill(before, signal.SIGSTOP)
            asking = asyncio.ensure_future(site.ask(namespace, "x.io/a:1"))
            await until(lambda: bool(site.ended))
            victim._patience = PATIENCE
            assert isinstance((await asking).answer, Unknown)
            await site.until_answered(namespace, "x.io/a:1")
            assert site.ended == ["it answers no more"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_for_the_whole_group_ends_none(tmp_path, number):
    with FakeRegistry() as fake:
        fake.index("a", "1", ["linux/amd64"])
        async with Site(fake, tmp_path) as site:
            for worker in site.workers.workers:
                os.kill(worker.process.pid, number)
            for namespace in site.namespaces():
                assert isinstance((await site.ask(namespace, "x.io/a:1")).answer, Found)
            assert site.ended == []


async def test_a_lookup_costs_no_more_than_its_processor_time_and_memory(tmp_path):
    parts = [b"400\r\n" + b" " * 1024 + b"\r\n"] * 4000
    with FakeRegistry() as fake:
        fake.index("a", "1", ["linux/amd64"])
        fake.on(
            lambda asked: (
                Answer(headers={"Transfer-Encoding": "chunked"}, chunks=parts)
                if "bad" in asked.path
                else None
            )
        )
        async with Site(fake, tmp_path, memory_mib=1) as site:
            namespace = site.namespaces()[0]
            answers = await asyncio.gather(
                *(site.ask(namespace, f"x.io/bad:{number}") for number in range(4))
            )
            assert all(isinstance(answered.answer, Unknown) for answered in answers)
    assert len(site.ended) <= 1


@pytest.mark.parametrize(
    ("executable", "why"),
    [
        pytest.param(sys.executable, r"--pull-secret: archfit reads Secrets in a cluster only.*", id="it says why"),
        pytest.param(shutil.which("false"), "exit code 1", id="it ends before it can say anything"),
        pytest.param("/nowhere/python", "exit code 255", id="there is no program"),
    ],
)  # fmt: skip
async def test_a_process_that_cannot_start_is_an_error_at_once(tmp_path, executable, why):
    with FakeRegistry() as fake:
        site = Site(fake, tmp_path)
        site.workers.workers[1].options = site.workers.workers[1].options.replace(reads_secrets=True)
        multiprocessing.set_executable(executable)
        try:
            with pytest.raises(
                ArchfitError, match=rf"a lookup process has not started \({why}\): give the server"
            ):
                async with asyncio.timeout(PATIENCE / 2), site:
                    pass
        finally:
            multiprocessing.set_executable(sys.executable)
            await site.workers.close()
        assert site.ended == []
