"""Threads of a lookup process keep a Lookup while it works, and a lookup always gets an answer."""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import Any

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import ARCHITECTURES, Absent, Answer, Found, Unknown, parse_platform
from archfit.options.hosts import mirror_pair
from archfit.options.settings import Operator, RequestRate
from archfit.webhook.lookups.lookup_worker import LIFE_SECONDS, LookupThreads, lookup_threads
from archfit.webhook.lookups.messages import (
    Answered,
    Ask,
    HasStale,
    Noted,
    WorkerOptions,
)
from fake_registry import FakeRegistry

AMD = Found((parse_platform("amd64"),), "sha256:" + "a" * 64)
WAIT_SECONDS = 20
SECONDS = 7.5


class Scripted:
    """Stands for a Lookup: it gives the answers in turn, or raises."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.warnings: list[str] = []

    def resolve(self, texts: list[str], *, seconds: float) -> dict[str, Answer]:
        self._site.seconds.append(seconds)
        found = self._site.answers.pop(0)
        if isinstance(found, BaseException):
            raise found
        self.warnings.append(f"asked for {texts[0]}")
        return {texts[0]: found}

    def take_replies(self) -> dict[tuple[str, int], int]:
        return self._site.statuses

    def close(self) -> None:
        self._site.closed += 1


class Site:
    """Workers whose answers go into a queue."""

    def __init__(self, *answers: Answer | BaseException, **more: Any) -> None:
        self.answers = list(answers)
        self.statuses = {("quay.io", 200): 1}
        self.opened = 0
        self.closed = 0
        self.now = 0.0
        self.seconds: list[float] = []
        self.told: list[Any] = []
        self.answered: queue.SimpleQueue[Answered] = queue.SimpleQueue()
        self.threads = LookupThreads(
            self._open,
            self._tell,
            clock=lambda: self.now,
            **{"threads": 1, **more},
        )

    def ask(self, *secrets: str) -> Answer:
        return self.question(*secrets).answer

    def question(self, *secrets: str, rank: int = 0) -> Answered:
        self.threads.start(Ask(7, "quay.io/app:1", secrets, SECONDS, rank))
        return self.answered.get(timeout=WAIT_SECONDS)

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.told if isinstance(message, kind)]

    def _tell(self, message: Any) -> None:
        (self.answered.put if isinstance(message, Answered) else self.told.append)(message)

    def _open(self) -> Any:
        self.opened += 1
        return Scripted(self)


@pytest.mark.parametrize(
    ("first", "opened"),
    [
        pytest.param(AMD, 1, id="found: it is kept"),
        pytest.param(Absent("no"), 1, id="absent: it is kept"),
        pytest.param(Unknown("no"), 2, id="unknown: a new one"),
        pytest.param(AMD.replace(origin="stale"), 2, id="stale: a new one"),
        pytest.param(UsageError("the file is gone"), 2, id="an error: a new one"),
        pytest.param(ZeroDivisionError("a bug"), 2, id="a bug: a new one"),
        pytest.param(MemoryError(), 2, id="no memory: a new one"),
    ],
)
def test_a_lookup_is_kept_while_it_works(first, opened):
    site = Site(first, AMD)
    answer = site.ask()
    assert answer == first if not isinstance(first, Exception) else isinstance(answer, Unknown)
    assert site.ask() == AMD
    assert (site.opened, site.closed) == (opened, opened - 1)


def test_a_lookup_that_needs_too_much_memory_says_what_to_do():
    answer = Site(MemoryError()).ask()
    assert isinstance(answer, Unknown)
    assert "give the server more (--memory-limit)" in answer.cause


@pytest.mark.parametrize("seconds", [SECONDS - 0.1, SECONDS])
def test_a_lookup_that_took_all_of_its_time_says_so(seconds):
    def late(_: Ask) -> Any:
        site.now += seconds
        return Unknown("late"), [], {}

    site = Site(with_secrets=late)
    assert site.question("shop/hub").cut_off is (seconds >= SECONDS)


def test_the_lowest_rank_comes_first():
    goes_on, order = threading.Event(), list[int]()

    def held(ask: Ask) -> Any:
        goes_on.wait(WAIT_SECONDS)
        order.append(ask.rank)
        return AMD, [], {}

    site = Site(with_secrets=held)
    for number, rank in enumerate((0, 2, 1, 0)):
        site.threads.start(Ask(number, "quay.io/app:1", ("shop/hub",), SECONDS, rank))
    goes_on.set()
    for _ in range(4):
        site.answered.get(timeout=WAIT_SECONDS)
    assert order[1:] == [0, 1, 2]


def test_the_first_of_a_namespace_does_not_wait_for_others_of_many_namespaces():
    goes_on, begun = threading.Event(), threading.Semaphore(0)

    def held(ask: Ask) -> Any:
        if ask.rank:
            begun.release()
            goes_on.wait(WAIT_SECONDS)
        return AMD, [], {}

    site = Site(with_secrets=held, threads=4)
    for number, rank in enumerate((1, 1, 1, 1, 2, 2, 0)):
        while not rank and begun.acquire(timeout=0.2):
            pass
        site.threads.start(Ask(number, "quay.io/app:1", ("shop/hub",), SECONDS, rank))
    assert site.answered.get(timeout=WAIT_SECONDS).number == 6
    goes_on.set()
    assert {site.answered.get(timeout=WAIT_SECONDS).number for _ in range(6)} == set(range(6))


def test_a_lookup_is_replaced_after_five_minutes():
    site = Site(AMD, AMD, AMD)
    for now, opened in ((0, 1), (LIFE_SECONDS - 1, 1), (LIFE_SECONDS, 2)):
        site.now = now
        site.ask()
        assert site.opened == opened


def test_each_warning_is_told_once():
    site = Site(AMD, AMD)
    site.ask()
    site.ask()
    assert site.of(Noted) == [Noted(["asked for quay.io/app:1"], {("quay.io", 200): 1})] * 2


@pytest.mark.parametrize(
    ("given", "opened"),
    [pytest.param(AMD, 0, id="the secret opens it"), pytest.param(None, 1, id="the secret does not help")],
)
def test_a_pull_secret_is_tried_first(given, opened):
    site = Site(AMD, with_secrets=lambda _: (given, ["a warning"], {}))
    assert site.ask("shop/hub") == AMD
    assert (site.opened, site.told[0]) == (opened, Noted(["a warning"], {}))


def test_a_lookup_gets_the_time_that_a_pull_secret_has_left():
    def with_secrets(_: Ask) -> Any:
        site.now += 3
        return None, [], {}

    site = Site(AMD, AMD, with_secrets=with_secrets)
    site.ask()
    site.ask("shop/hub")
    assert site.seconds == [SECONDS, SECONDS - 3]


@pytest.mark.parametrize(
    ("answer", "counts", "waits"),
    [
        pytest.param(Unknown("late"), [129, 129, 128], 2, id="until some threads have ended"),
        pytest.param(Unknown("late"), [128], 0, id="there are few"),
        pytest.param(AMD, [], 0, id="a lookup that worked leaves none behind"),
    ],
)
def test_a_thread_is_not_free_while_cut_off_lookups_leave_too_many_threads(answer, counts, waits):
    waited: list[float] = []
    site = Site(answer, count=lambda: counts.pop(0), wait=waited.append)
    assert site.ask() == answer
    assert (len(waited), counts) == (waits, [])


@pytest.mark.parametrize(
    ("ttl", "max_stale", "told"),
    [
        pytest.param(600, 3600, [Answered], id="fresh: no registry is asked"),
        pytest.param(0, 3600, [HasStale, Noted, Answered], id="stale: it is told, and one is asked"),
        pytest.param(0, 0, [Noted, Answered], id="too old: one is asked"),
    ],
)
def test_what_the_cache_has_comes_first(tmp_path, ttl, max_stale, told):
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with FakeRegistry() as fake:
        fake.index("app", "1", ["linux/amd64"])
        operator = Operator(
            cache=str(tmp_path / "lookups.sqlite"),
            cache_ttl_seconds=ttl,
            max_stale_seconds=max_stale,
            mirrors=(mirror_pair(f"*={fake.url}"),),
        )
        environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        threads = lookup_threads(WorkerOptions(operator, (), environ, frozenset(), 0), messages.put)
        seen: list[type] = []
        for number in range(2):
            seen.clear()
            threads.start(Ask(number, "x.io/app:1", (), SECONDS, 0))
            while Answered not in seen:
                seen.append(type(messages.get(timeout=WAIT_SECONDS)))
    assert seen == told


@pytest.mark.parametrize(
    ("platforms", "kept"),
    [
        pytest.param(["linux/arm64", "linux/amd64"], ["linux/amd64", "linux/arm64"], id="few"),
        pytest.param([f"linux/odd{n}" for n in range(32)], [f"linux/odd{n}" for n in range(32)], id="few odd"),
        pytest.param(["linux/amd64", "linux/riscv64", *(f"linux/odd{n}" for n in range(1022))], ["linux/amd64", "linux/riscv64"], id="many odd"),
        pytest.param(["linux/amd64", "linux/s390x", *(f"linux/amd64/v{n}" for n in range(2, 1000))], ["linux/amd64", "linux/s390x"], id="many variants: the baselines stay"),
    ],
)  # fmt: skip
def test_of_an_answer_the_platforms_that_a_node_may_have_are_told(platforms, kept):
    found = Found(tuple(sorted(map(parse_platform, platforms), key=str)), "sha256:" + "a" * 64)
    answer = Site(found, architectures=frozenset(ARCHITECTURES)).ask()
    assert isinstance(answer, Found)
    assert len(answer.platforms) <= 32
    assert {str(one) for one in answer.platforms if not one.variant} == set(kept)


def test_an_index_of_invented_architectures_alone_is_not_known():
    found = Found(tuple(parse_platform(f"linux/odd{n}") for n in range(1024)), "sha256:" + "a" * 64)
    assert Site(found).ask() == Unknown("none of its 1024 platforms is one that a node may have")


def test_all_threads_keep_to_the_rate_of_a_server(tmp_path):
    """Half of it, as each of two processes does."""
    answered: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with FakeRegistry() as fake:
        mirrors, rates = (mirror_pair(f"*={fake.url}"),), (RequestRate("*", 10),)
        operator = Operator(no_cache=True, mirrors=mirrors, requests_per_second=rates)
        environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        threads = lookup_threads(WorkerOptions(operator, (), environ, frozenset(), 0), answered.put)
        began = time.monotonic()
        for number in range(4):
            fake.index(f"a{number}", "1", ["linux/amd64"])
            threads.start(Ask(number, f"x.io/a{number}:1", (), SECONDS, 0))
        while fake.count("manifest") < 4 or not answered.empty():
            answered.get(timeout=WAIT_SECONDS)
    assert time.monotonic() - began >= 3 / (10 / 2)
