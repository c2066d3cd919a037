"""One lookup for each image over all requests, answers kept for as long as they are fresh, and a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from archfit.admission.server.lookup_turns import LookupTurns
from archfit.admission.server.shared_answers import PAUSE_SECONDS, Flight, PullSecret, SharedAnswers
from archfit.images.platforms import Absent, Answer, Found, ImagePlatforms, Unknown, parse_platform
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options

DIGEST = "sha256:" + "a" * 64
AMD = Found((parse_platform("amd64"),), DIGEST)
TTL = 600


class Site:
    """Answers whose lookups are written down, and land when the test says so."""

    def __init__(self, lock: Lock | None = None, options: Options | None = None, **turns: int) -> None:
        self.now = 1000.0
        self.in_time = True
        self.started: list[Flight] = []
        limits = {"lanes": 4, "share": 2, "most": 6, "most_of_one": 4, **turns}
        self.answers = SharedAnswers(
            options or Options(),
            TTL,
            lock,
            LookupTurns(**limits),
            self.started.append,
            lambda: self.now,
            kept=100,
        )

    def land(self, answer: Answer = AMD, which: int = 0) -> None:
        self.answers.landed(self.started.pop(which), answer)

    async def ask(self, *texts: str, seconds: float = 5, namespace: str = "shop", **more: Any) -> Any:
        found, self.in_time = await self.answers.asked(texts, namespace, seconds, **more)
        return [found[text] for text in texts]

    async def soon(self, *texts: str, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(self.ask(*texts, **more))
        await asyncio.sleep(0)
        return task


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def test_a_thousand_requests_for_a_new_image_are_one_lookup():
    async def test() -> None:
        site = Site()
        tasks = [await site.soon("app:1", namespace=f"n{number % 7}") for number in range(1000)]
        assert [flight.reference.normalised for flight in site.started] == ["docker.io/library/app:1"]
        site.land()
        assert {tuple(found) for found in await asyncio.gather(*tasks)} == {(AMD,)}
        assert site.answers.known("app:1") is AMD

    run(test())


def test_spellings_of_an_image_share_a_lookup():
    async def test() -> None:
        site = Site()
        tasks = [await site.soon(text) for text in ("app", "app:latest", "docker.io/library/app:latest")]
        assert len(site.started) == 1
        site.land()
        assert await asyncio.gather(*tasks) == [[AMD]] * 3

    run(test())


def test_when_the_deadline_is_spent_the_lookup_goes_on():
    async def test() -> None:
        site = Site()
        (late,) = await site.ask("app:1", seconds=0.01)
        assert not site.in_time
        assert late == Unknown(
            "docker.io gave no answer within 0.0 s, and the lookup goes on for the next pod"
        )
        assert site.answers.known("app:1") is None
        site.land()
        assert site.answers.known("app:1") is AMD

    run(test())


def test_when_the_deadline_is_spent_a_stale_answer_counts():
    async def test() -> None:
        site = Site()
        task = await site.soon("app:1", seconds=0.05)
        stale = AMD.replace(origin="stale", age_seconds=9)
        site.answers.stale_found(site.started[0], stale)
        assert await task == [stale]
        assert site.answers.known("app:1") is None
        site.land()
        assert site.answers.known("app:1") is AMD

    run(test())


def test_answers_that_came_in_time_count_beside_one_that_did_not():
    async def test() -> None:
        site = Site()
        task = await site.soon("fast:1", "slow:1", seconds=0.05)
        site.land()
        fast, slow = await task
        assert fast is AMD
        assert isinstance(slow, Unknown)

    run(test())


@pytest.mark.parametrize(
    ("text", "answer", "seconds"),
    [
        pytest.param("app:1", AMD, TTL, id="a tag: --cache-ttl"),
        pytest.param(
            "app:1", AMD.replace(origin="cache", age_seconds=500), 100, id="the rest of --cache-ttl"
        ),
        pytest.param("app:1", AMD.replace(origin="cache", age_seconds=700), 0, id="none left"),
        pytest.param(f"app@{DIGEST}", AMD, float("inf"), id="a digest: for ever"),
        pytest.param("app:1", AMD.replace(origin="stale", age_seconds=9), PAUSE_SECONDS, id="stale: a pause"),
        pytest.param("app:1", Absent("no"), PAUSE_SECONDS, id="absent: a pause"),
        pytest.param("app:1", Unknown("no"), PAUSE_SECONDS, id="unknown: a pause"),
    ],
)
def test_an_answer_is_kept_while_it_is_fresh(text: str, answer: Answer, seconds: float):
    async def test() -> None:
        site = Site()
        task = await site.soon(text)
        site.land(answer)
        await task
        site.now += max(0, min(seconds, 1e9) - 0.001)
        assert site.answers.known(text) == (answer if seconds else None)
        if seconds < 1e9:
            site.now += 0.002
            assert site.answers.known(text) is None

    run(test())


def test_memory_is_bounded():
    async def test() -> None:
        site = Site(lanes=1)
        for number in range(101):
            task = await site.soon(f"app:{number}")
            site.land()
            await task
        assert site.answers.known("app:0") is None
        assert site.answers.known("app:100") is AMD

    run(test())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("app:1", AMD.replace(origin="lock"), id="locked"),
        pytest.param("other:1", None, id="not locked"),
        pytest.param("mine:1", Found((parse_platform("arm64"),), origin="override"), id="an override"),
    ],
)
def test_what_lock_file_and_overrides_say_needs_no_lookup(text: str, expected: Answer | None):
    lock = Lock("archfit.lock", {"docker.io/library/app:1": AMD.replace(origin="lock")})
    overrides = (ImagePlatforms("docker.io/library/mine:*", (parse_platform("arm64"),)),)
    assert Site(lock, Options(image_platforms=overrides)).answers.known(text) == expected


def test_a_locked_server_asks_nobody():
    answer = Site(Lock("archfit.lock", {}, only=True)).answers.known("app:1")
    assert isinstance(answer, Unknown)
    assert answer.final


def test_a_new_lock_file_counts_at_once():
    name = "docker.io/library/app:1"
    site = Site(Lock("archfit.lock", {name: AMD}))
    assert site.answers.known("app:1") is AMD
    other = AMD.replace(digest="sha256:" + "b" * 64)
    site.answers.use_lock(Lock("archfit.lock", {name: other}))
    assert site.answers.known("app:1") is other


def test_an_answer_had_with_a_secret_is_for_pods_with_that_secret():
    async def test() -> None:
        site = Site()
        mine = (PullSecret("shop", "hub"),)
        first = await site.soon("app:1", secrets=mine)
        second = await site.soon("app:1")
        assert [flight.secrets for flight in site.started] == [mine, ()]
        site.land(AMD)
        site.land(Unknown("401"))
        assert await first == [AMD]
        assert await second == [Unknown("401")]
        assert site.answers.known("app:1", mine) is AMD
        assert site.answers.known("app:1") == Unknown("401")

    run(test())


def test_a_registry_that_could_not_be_reached_is_left_in_peace_for_a_moment():
    async def test() -> None:
        site = Site(lanes=1)
        tasks = [await site.soon(text) for text in ("quay.io/a:1", "quay.io/b:1", "ghcr.io/c:1")]
        downs = []
        for answer in (Unknown("refused"), AMD, AMD):
            flight = site.started[0]
            downs.append((flight.reference.registry, flight.down))
            flight.unreached = isinstance(answer, Unknown)
            site.land(answer)
        await asyncio.gather(*tasks)
        assert sorted(downs) == [("ghcr.io", False), ("quay.io", False), ("quay.io", True)]
        site.now += PAUSE_SECONDS
        task = await site.soon("quay.io/d:1")
        assert not site.started[0].down
        site.land()
        await task

    run(test())


class TestTurns:
    def test_one_namespace_cannot_take_all_lanes(self):
        async def test() -> None:
            site = Site()
            tasks = [await site.soon(f"r{number}.example/app:1", namespace="greedy") for number in range(5)]
            tasks.append(await site.soon("app:1", namespace="modest"))
            assert [flight.namespace for flight in site.started] == ["greedy", "greedy", "modest"]
            while site.started:
                site.land()
            await asyncio.gather(*tasks)

        run(test())

    def test_one_registry_cannot_take_all_lanes(self):
        async def test() -> None:
            site = Site()
            tasks = [
                await site.soon(f"slow.example/app:{number}", namespace=f"n{number}") for number in range(4)
            ]
            tasks.append(await site.soon("app:1", namespace="n9"))
            hosts = [flight.reference.registry for flight in site.started]
            assert hosts == ["slow.example", "slow.example", "docker.io"]
            while site.started:
                site.land()
            await asyncio.gather(*tasks)

        run(test())

    def test_where_too_many_wait_an_image_is_unknown_at_once(self):
        async def test() -> None:
            site = Site(lanes=1, most_of_one=2)
            tasks = [await site.soon(f"app:{number}") for number in range(3)]
            (refused,) = await site.ask("app:3")
            assert isinstance(refused, Unknown)
            assert "too many other images" in refused.cause
            other = await site.soon("app:4", namespace="other")
            while site.started:
                site.land()
            await asyncio.gather(*tasks, other)
            assert site.answers.known("app:3") is None

        run(test())

    def test_namespaces_take_turns(self):
        turns: LookupTurns[str] = LookupTurns(lanes=1, share=1, most=10, most_of_one=10)
        for item in ("a1", "a2", "a3", "b1"):
            turns.add(item[0], "r", item)
        order = []
        while item := turns.take():
            order.append(item)
            turns.give_back(item[0], "r")
        assert order == ["a1", "b1", "a2", "a3"]
        assert (turns.waiting, turns.running) == (0, 0)
