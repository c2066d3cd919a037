"""One lookup for each image over all requests, answers kept for as long as they are fresh, and a deadline."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import asyncio
from typing import Any

import pytest

from archfit.images.platforms import Absent, Answer, Found, ImagePlatforms, Malformed, Unknown, parse_platform
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options
from archfit.webhook.circuit_breakers import FIRST_PAUSE_SECONDS, SLOW_SECONDS, CircuitBreakers
from archfit.webhook.lookup_queue import LookupQueue
from archfit.webhook.lookups.shared_answers import (
    PAUSE_SECONDS,
    SHORTEST_SECONDS,
    PendingLookup,
    PullSecret,
    SharedAnswers,
)
from archfit.webhook.memory_budget import Share
from archfit.webhook.waiting_reviews import WaitingReviews

DIGEST = "sha256:" + "a" * 64
AMD = Found((parse_platform("amd64"),), DIGEST)
TTL = 600
TIMEOUT = 30.0


class Site:
    """Answers whose lookups are written down, and land when the test says so."""

    def __init__(
        self,
        lock: Lock | None = None,
        options: Options | None = None,
        most_waiting: int = 10_000,
        **turns: int,
    ) -> None:
        self.now = 1000.0
        self.in_time = True
        self.share = Share(100_000)
        self.started: list[PendingLookup] = []
        self.evicted = self.cut_off = self.crowded_out = 0
        limits = {"workers": 32, "most": 6, "most_of_one": 4, **turns}
        self.breakers = CircuitBreakers(self.clock)
        self.answers = SharedAnswers(
            options or Options(),
            TTL,
            lock,
            LookupQueue(**limits, standing=self.breakers.standing, clock=self.clock),
            self.breakers,
            self.started.append,
            self.clock,
            timeout_seconds=TIMEOUT,
            evicted=lambda: self.count("evicted"),
            cut_off=lambda: self.count("cut_off"),
            share=self.share,
            waiting=WaitingReviews(most_waiting, lambda: self.count("crowded_out")),
        )

    def clock(self) -> float:
        return self.now

    def count(self, what: str) -> None:
        setattr(self, what, getattr(self, what) + 1)

    def land(self, answer: Answer = AMD, which: int = 0) -> None:
        pending = self.started.pop(which)
        pending.was_asked = not pending.paused
        self.answers.on_answer(pending, answer)

    def images(self) -> list[str]:
        """What is being looked up, each as namespace and image."""
        return [f"{one.turn.namespace} {one.reference.original}" for one in self.started]

    async def ask(self, *texts: str, seconds: float = 5, namespace: str = "shop", **more: Any) -> Any:
        found, self.in_time = await self.answers.asked(texts, namespace, seconds, **more)
        return [found[text] for text in texts]

    async def fail_to_reach(self, text: str) -> None:
        """Ask for an image whose registry does not answer, where nothing else is being looked up."""
        task = await self.soon(text)
        self.started[0].unreached = True
        self.land(Unknown("no"))
        await task

    async def soon(self, *texts: str, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(self.ask(*texts, **more))
        await asyncio.sleep(0)
        return task


async def test_a_thousand_requests_for_a_new_image_are_one_lookup():
    site = Site()
    tasks = [await site.soon("app:1", namespace=f"n{number % 7}") for number in range(1000)]
    assert [pending.reference.normalised for pending in site.started] == ["docker.io/library/app:1"]
    site.land()
    assert {tuple(found) for found in await asyncio.gather(*tasks)} == {(AMD,)}
    assert site.answers.known("app:1") is AMD


async def test_spellings_of_an_image_share_a_lookup():
    site = Site()
    tasks = [await site.soon(text) for text in ("app", "app:latest", "docker.io/library/app:latest")]
    assert len(site.started) == 1
    site.land()
    assert await asyncio.gather(*tasks) == [[AMD]] * 3


async def test_when_the_deadline_is_spent_the_lookup_goes_on():
    site = Site()
    (late,) = await site.ask("app:1", seconds=0.01)
    assert not site.in_time
    assert late == Unknown("docker.io gave no answer within 0.0 s, and the lookup goes on for the next pod")
    assert site.answers.known("app:1") is None
    site.land()
    assert site.answers.known("app:1") is AMD


async def test_when_the_deadline_is_spent_a_stale_answer_counts():
    site = Site()
    task = await site.soon("app:1", seconds=0.05)
    stale = AMD.replace(origin="stale", age_seconds=9)
    site.answers.stale_found(site.started[0], stale)
    assert await task == [stale]
    assert site.answers.known("app:1") is None
    site.land()
    assert site.answers.known("app:1") is AMD


async def test_answers_that_came_in_time_count_beside_one_that_did_not():
    site = Site()
    task = await site.soon("fast:1", "slow:1", seconds=0.05)
    site.land()
    fast, slow = await task
    assert fast is AMD
    assert isinstance(slow, Unknown)


@pytest.mark.parametrize(
    ("text", "answer", "seconds"),
    [
        pytest.param("app:1", AMD, TTL, id="a tag: --cache-ttl"),
        pytest.param("app:1", AMD.replace(origin="cache", age_seconds=500), 100, id="the rest of --cache-ttl"),
        pytest.param("app:1", AMD.replace(origin="cache", age_seconds=700), 0, id="none left"),
        pytest.param(f"app@{DIGEST}", AMD, float("inf"), id="a digest: for ever"),
        pytest.param("app:1", AMD.replace(origin="stale", age_seconds=9), PAUSE_SECONDS, id="stale: a pause"),
        pytest.param("app:1", Absent("no"), PAUSE_SECONDS, id="absent: a pause"),
        pytest.param("app:1", Unknown("no"), PAUSE_SECONDS, id="unknown: a pause"),
    ],
)  # fmt: skip
async def test_an_answer_is_kept_while_it_is_fresh(text: str, answer: Answer, seconds: float):
    site = Site()
    task = await site.soon(text)
    site.land(answer)
    await task
    site.now += max(0, min(seconds, 1e9) - 0.001)
    assert site.answers.known(text) == (answer if seconds else None)
    if seconds < 1e9:
        site.now += 0.002
        assert site.answers.known(text) is None


@pytest.mark.parametrize(
    ("platforms", "kept"),
    [
        pytest.param(["linux/arm64", "linux/amd64"], ["linux/amd64", "linux/arm64"], id="few"),
        pytest.param([f"linux/odd{n}" for n in range(32)], [f"linux/odd{n}" for n in range(32)], id="few odd"),
        pytest.param(["linux/amd64", "linux/riscv64", *(f"linux/odd{n}" for n in range(1022))], ["linux/amd64", "linux/riscv64"], id="many odd"),
        pytest.param(["linux/amd64", "linux/s390x", *(f"linux/amd64/v{n}" for n in range(2, 1000))], ["linux/amd64", "linux/s390x"], id="many variants: the baselines stay"),
    ],
)  # fmt: skip
async def test_of_an_answer_the_platforms_that_a_node_may_have_are_kept(
    platforms: list[str], kept: list[str]
):
    site = Site()
    task = await site.soon("app:1")
    found = Found(tuple(sorted(map(parse_platform, platforms), key=str)), "sha256:" + "a" * 64)
    site.land(found)
    (answer,) = await task
    assert isinstance(answer, Found)
    assert len(answer.platforms) <= 32
    assert set(kept) <= set(map(str, answer.platforms))
    assert {str(one) for one in answer.platforms if not one.variant} == set(kept)
    assert site.answers.known("app:1") is answer


async def test_an_index_of_invented_architectures_alone_is_not_known():
    site = Site()
    task = await site.soon("app:1")
    site.land(Found(tuple(parse_platform(f"linux/odd{n}") for n in range(1024)), "sha256:" + "a" * 64))
    assert await task == [Unknown("none of its 1024 platforms is one that a node may have")]


def test_a_text_that_is_longer_than_any_reference_is_neither_looked_up_nor_kept():
    site = Site()
    answer = site.answers.known(f"{'a' * 2_000_000}.example/app:1")
    assert isinstance(answer, Malformed)
    assert "1024 characters" in answer.reason
    assert site.share.held == 0


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


async def test_an_answer_had_with_a_secret_is_for_pods_with_that_secret():
    site = Site()
    mine = (PullSecret("shop", "hub"),)
    first = await site.soon("app:1", secrets=mine)
    second = await site.soon("app:1")
    assert [pending.secrets for pending in site.started] == [mine, ()]
    site.land(AMD)
    site.land(Unknown("401"))
    assert await first == [AMD]
    assert await second == [Unknown("401")]
    assert site.answers.known("app:1", mine) is AMD
    assert site.answers.known("app:1") == Unknown("401")


async def test_a_registry_that_could_not_be_reached_is_left_in_peace_for_a_moment():
    site = Site(workers=1)
    tasks = [await site.soon(text) for text in ("quay.io/a:1", "quay.io/b:1", "ghcr.io/c:1")]
    paused = []
    for answer in (Unknown("refused"), AMD, AMD):
        pending = site.started[0]
        paused.append((pending.reference.registry, pending.paused))
        pending.unreached = isinstance(answer, Unknown)
        site.land(answer)
    await asyncio.gather(*tasks)
    why = "quay.io could not be reached, and is asked again in 5 s"
    assert sorted(paused) == [("ghcr.io", ""), ("quay.io", ""), ("quay.io", why)]
    site.now += FIRST_PAUSE_SECONDS
    task = await site.soon("quay.io/d:1")
    assert (site.started[0].paused, site.started[0].trial) == ("", True)
    site.land()
    await task


class TestSlowRegistries:
    """Nobody waits for a registry that is known to be slow."""

    async def test_once_three_lookups_are_slow_nobody_waits_for_them(self):
        site = Site()
        tasks = [await site.soon(f"slow.example/{name}:1", seconds=60) for name in "abc"]
        stale = AMD.replace(origin="stale", age_seconds=9)
        site.answers.stale_found(site.started[0], stale)
        site.now += SLOW_SECONDS
        for pending in list(site.started):
            assert not pending.answer.done()
            site.answers.overdue(pending)
        why = Unknown("slow.example is slow, and is asked again in 5 s")
        assert await asyncio.gather(*tasks) == [[stale], [why], [why]]
        assert await site.ask("slow.example/b:1", seconds=60) == [why]  # its lookup goes on
        for _ in range(3):
            site.land()
        assert site.answers.known("slow.example/b:1") is AMD

    async def test_images_that_wait_are_looked_up_in_the_cache_at_once(self):
        site = Site(most=100, most_of_one=100)
        tasks = [await site.soon(f"slow.example/a:{number}", seconds=60) for number in range(20)]
        assert len(site.started) == 8
        for pending in site.started[:3]:
            site.answers.overdue(pending)
        assert len(site.started) == 20
        assert all(pending.paused for pending in site.started[8:])
        while site.started:
            site.land(which=-1)
        await asyncio.gather(*tasks)

    async def test_a_trial_that_finds_its_answer_in_the_cache_leaves_the_trial_to_the_next(self):
        site = Site()
        await site.fail_to_reach("slow.example/a:1")
        site.now += FIRST_PAUSE_SECONDS
        task = await site.soon("slow.example/b:1")
        pending = site.started.pop()
        site.answers.on_answer(pending, AMD.replace(origin="cache"))
        await task
        task = await site.soon("slow.example/c:1")
        assert site.started[0].trial
        site.land()
        await task


class TestLimits:
    """A lookup's time: a quarter of --timeout, less where few workers are free."""

    async def test_the_fewer_lanes_are_free_the_shorter_a_new_registry_may_take(self):
        site = Site(most=100)
        tasks = [await site.soon(f"r{number}.example/a:1", namespace=f"n{number}") for number in range(30)]
        seconds = [pending.seconds for pending in site.started]
        assert len(seconds) == 24
        assert seconds[:8] == [TIMEOUT / 4] * 8
        assert seconds[8:] == sorted(seconds[8:], reverse=True)
        assert seconds[-1] == SHORTEST_SECONDS
        while site.started:
            site.land()
        await asyncio.gather(*tasks)

    async def test_a_known_registry_has_the_time_in_which_it_is_not_slow(self):
        site = Site(most=100)
        for number in range(40):
            site.breakers.answered(f"r{number}.example", trial=False)
        tasks = [await site.soon(f"r{number}.example/a:1", namespace=f"n{number}") for number in range(40)]
        seconds = [pending.seconds for pending in site.started]
        assert (len(seconds), seconds[0], seconds[-1]) == (32, TIMEOUT / 4, SLOW_SECONDS)
        while site.started:
            site.land()
        await asyncio.gather(*tasks)

    @pytest.mark.parametrize(
        ("took", "cut_off"), [pytest.param(7.4, 0, id="in time"), pytest.param(7.5, 1, id="at its limit")]
    )
    async def test_a_lookup_that_took_all_of_its_time_is_counted(self, took: float, cut_off: int):
        site = Site()
        task = await site.soon("app:1")
        site.now += took
        site.land(Unknown("late"))
        await task
        assert site.cut_off == cut_off

    async def test_a_registry_that_is_cut_off_early_is_slow_and_not_down(self):
        site = Site(most=100)
        tasks = [await site.soon(f"r{number}.example/a:1", namespace=f"n{number}") for number in range(24)]
        site.now += SHORTEST_SECONDS
        site.started[-1].unreached = True
        site.land(Unknown("late"), which=-1)
        assert site.breakers.states() == {}
        while site.started:
            site.land()
        await asyncio.gather(*tasks)


class TestTurns:
    async def test_where_too_many_wait_the_greediest_loses_one(self):
        site = Site(workers=1)
        tasks = [await site.soon("first:1", namespace="first")]
        tasks += [await site.soon(f"app:{number}", namespace="greedy") for number in range(4)]
        tasks += [await site.soon(f"tool:{number}", namespace="other") for number in range(2)]
        assert site.evicted == 0
        tasks.append(await site.soon("good:1", namespace="good"))
        assert site.evicted == 1
        (lost,) = await tasks[4]
        assert isinstance(lost, Unknown)
        assert "too many other images" in lost.cause
        while site.started:
            site.land()
        answers = await asyncio.gather(*tasks)
        assert [one for one in answers if one != [lost]] == [[AMD]] * 7
        assert site.answers.known("app:3") is None

    async def test_who_needs_an_image_of_a_crowded_namespace_does_not_wait_with_it(self):
        site = Site(workers=1, most=100, most_of_one=100)
        tasks = [await site.soon(f"app:{number}", namespace="crowd") for number in range(9)]
        tasks.append(await site.soon("app:8", namespace="good"))
        site.land()
        assert site.images() == ["good app:8"]
        while site.started:
            site.land()
        assert await asyncio.gather(*tasks) == [[AMD]] * 10

    async def test_an_image_that_one_namespace_loses_is_still_looked_up_for_another(self):
        site = Site(workers=1, most=3)
        tasks = [await site.soon("first:1", namespace="first")]
        tasks += [await site.soon(f"app:{number}", namespace="crowd") for number in range(2)]
        tasks.append(await site.soon("app:1", namespace="good"))
        tasks.append(await site.soon("new:1", namespace="new"))
        assert site.evicted == 0
        while site.started:
            site.land()
        assert await asyncio.gather(*tasks) == [[AMD]] * 5


async def test_the_oldest_review_of_the_greediest_namespace_stops_waiting_for_one_more():
    site = Site(most_waiting=4, most=100, most_of_one=100)
    evil = [await site.soon(f"evil{number}.example/x:1", namespace="evil") for number in range(3)]
    shop = await site.soon("shop.example/x:1", namespace="shop")
    more = await site.soon("shop.example/y:1", namespace="shop")
    (found,) = await evil[0]
    assert found == Unknown(
        "evil0.example gave no answer before too many pods of its namespace waited, and the lookup goes on for "
        "the next pod"
    )
    assert (site.in_time, site.crowded_out) == (False, 1)
    assert not any(task.done() for task in (*evil[1:], shop, more))
    again = await site.soon("evil9.example/x:1", namespace="evil")
    while site.started:
        site.land()
    assert await asyncio.gather(*evil[2:], shop, more, again) == [[AMD]] * 4
    assert site.crowded_out == 2
    # The lookup went on, so that the next pod finds its answer.
    assert site.answers.known("evil0.example/x:1") is AMD
