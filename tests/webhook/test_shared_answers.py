"""One lookup for each image over all requests, answers kept for as long as they are fresh, and a deadline."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from archfit.images.platforms import Absent, Answer, Found, ImagePlatforms, Malformed, Unknown, parse_platform
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options
from archfit.webhook.lookups.fair_places import FairPlaces
from archfit.webhook.lookups.lookup_worker import THREADS
from archfit.webhook.lookups.messages import Answered, Secrets
from archfit.webhook.lookups.shared_answers import OF_NAMESPACE, PAUSE_SECONDS, SharedAnswers
from archfit.webhook.memory_budget import Share
from archfit.webhook.server_metrics import ServerMetrics

DIGEST = "sha256:" + "a" * 64
AMD = Found((parse_platform("amd64"),), DIGEST)
TTL = 600
TIMEOUT = 30.0


class Started(NamedTuple):
    """A question that a worker got. answered: its answer."""

    namespace: str
    text: str
    secrets: Secrets
    seconds: float
    rank: int
    has_stale: Callable[[Found], None]
    answered: asyncio.Future[Answered]


class WrittenDown:
    """Stands for the worker of a namespace."""

    def __init__(self, namespace: str, started: list[Started]) -> None:
        self._namespace = namespace
        self._started = started

    async def look_up(self, *question: Any) -> Answered:
        future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._started.append(Started(self._namespace, *question, future))
        return await future


class Site:
    """Answers whose lookups are written down, and land when the test says so."""

    def __init__(
        self, lock: Lock | None = None, options: Options | None = None, reviews: int = 10_000
    ) -> None:
        self.now = 1000.0
        self.in_time = True
        self.share = Share(100_000)
        self.started: list[Started] = []
        self._metrics = ServerMetrics()
        self.answers = SharedAnswers(
            options or Options(),
            TTL,
            lock,
            lambda namespace: WrittenDown(namespace, self.started),
            self._metrics,
            self.share,
            FairPlaces(reviews),
            TIMEOUT,
            lambda: self.now,
        )

    def count(self, name: str) -> float | None:
        return self._metrics.registry.get_sample_value(f"archfit_{name}_total")

    async def land(self, answer: Answer = AMD, which: int = 0, *, cut_off: bool = False) -> None:
        self.started.pop(which).answered.set_result(Answered(1, answer, cut_off))
        await settled()

    async def land_all(self) -> None:
        while self.started:
            await self.land()

    def images(self) -> list[str]:
        """What is being looked up, each as namespace and image."""
        return [f"{one.namespace} {one.text}" for one in self.started]

    async def ask(self, *texts: str, seconds: float = 5, namespace: str = "shop", **more: Any) -> Any:
        found, self.in_time = await self.answers.look_up(texts, namespace, seconds, **more)
        return [found[text] for text in texts]

    async def soon(self, *texts: str, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(self.ask(*texts, **more))
        await settled()
        return task


async def settled() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


async def test_a_thousand_requests_for_a_new_image_are_one_lookup():
    site = Site()
    tasks = [await site.soon("app:1", namespace=f"n{number % 7}") for number in range(1000)]
    assert site.images() == ["n0 app:1"]
    await site.land()
    assert {tuple(found) for found in await asyncio.gather(*tasks)} == {(AMD,)}
    assert site.answers.known("app:1") is AMD


async def test_spellings_of_an_image_share_a_lookup():
    site = Site()
    tasks = [await site.soon(text) for text in ("app", "app:latest", "docker.io/library/app:latest")]
    assert len(site.started) == 1
    await site.land()
    assert await asyncio.gather(*tasks) == [[AMD]] * 3


async def test_when_the_deadline_is_spent_the_lookup_goes_on():
    site = Site()
    (late,) = await site.ask("app:1", seconds=0.01)
    assert not site.in_time
    assert late == Unknown("docker.io gave no answer within 0.0 s, and the lookup goes on for the next pod")
    assert site.answers.known("app:1") is None
    await site.land()
    assert site.answers.known("app:1") is AMD


async def test_when_the_deadline_is_spent_a_stale_answer_counts():
    site = Site()
    task = await site.soon("app:1", seconds=0.05)
    stale = AMD.replace(origin="stale", age_seconds=9)
    site.started[0].has_stale(stale)
    assert await task == [stale]
    assert site.answers.known("app:1") is None
    await site.land()
    assert site.answers.known("app:1") is AMD


async def test_answers_that_came_in_time_count_beside_one_that_did_not():
    site = Site()
    task = await site.soon("fast:1", "slow:1", seconds=0.05)
    await site.land()
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
async def test_an_answer_is_kept_while_it_is_fresh(text, answer, seconds):
    site = Site()
    task = await site.soon(text)
    await site.land(answer)
    await task
    site.now += max(0, min(seconds, 1e9) - 0.001)
    assert site.answers.known(text) == (answer if seconds else None)
    if seconds < 1e9:
        site.now += 0.002
        assert site.answers.known(text) is None


def test_a_text_that_is_longer_than_any_reference_is_neither_looked_up_nor_kept():
    site = Site()
    answer = site.answers.known(f"{'a' * 2_000_000}.example/app:1")
    assert isinstance(answer, Malformed)
    assert "1024 characters" in answer.cause
    assert site.share.held == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("app:1", AMD.replace(origin="lock"), id="locked"),
        pytest.param("other:1", None, id="not locked"),
        pytest.param("mine:1", Found((parse_platform("arm64"),), origin="override"), id="an override"),
    ],
)
def test_what_lock_file_and_overrides_say_needs_no_lookup(text, expected):
    lock = Lock("archfit.lock", {"docker.io/library/app:1": AMD.replace(origin="lock")})
    overrides = (ImagePlatforms("docker.io/library/mine:*", (parse_platform("arm64"),)),)
    assert Site(lock, Options(image_platforms=overrides)).answers.known(text) == expected


def test_a_locked_server_asks_nobody():
    answer = Site(Lock("archfit.lock", {}, only=True)).answers.known("app:1")
    assert isinstance(answer, Unknown)
    assert answer.final


async def test_an_answer_had_with_a_secret_is_for_pods_with_that_secret():
    site = Site()
    mine = ("shop/hub",)
    first = await site.soon("app:1", secrets=mine)
    second = await site.soon("app:1")
    assert [one.secrets for one in site.started] == [mine, ()]
    await site.land(AMD)
    await site.land(Unknown("401"))
    assert await first == [AMD]
    assert await second == [Unknown("401")]
    assert site.answers.known("app:1", mine) is AMD
    assert site.answers.known("app:1") == Unknown("401")


@pytest.mark.parametrize("cut_off", [False, True])
async def test_a_lookup_may_take_a_quarter_of_the_timeout_and_one_that_takes_it_is_counted(cut_off):
    site = Site()
    task = await site.soon("app:1")
    assert site.started[0].seconds == TIMEOUT / 4
    await site.land(Unknown("late"), cut_off=cut_off)
    await task
    assert site.count("lookups_cut_off") == cut_off


class TestTurns:
    """One namespace and one registry have some lookups at once, and the others wait for their own."""

    @pytest.mark.parametrize(
        ("registry", "namespace", "most"),
        [
            pytest.param("r{0}.example", "evil", OF_NAMESPACE, id="one namespace"),
            pytest.param("r.example", "n{0}", THREADS // 2, id="one registry: half of a process"),
        ],
    )
    async def test_others_are_looked_up_beside_them(self, registry, namespace, most):
        site = Site()
        tasks = [
            await site.soon(f"{registry.format(n)}/a:{n}", namespace=namespace.format(n)) for n in range(40)
        ]
        assert (len(site.started), site.answers.running, site.answers.waiting) == (most, most, 40 - most)
        tasks.append(await site.soon("good.example/a:1", namespace="good"))
        assert site.images()[-1] == "good good.example/a:1"
        await site.land(which=-1)
        assert tasks[-1].done()
        await site.land_all()
        assert await asyncio.gather(*tasks) == [[AMD]] * 41
        assert (site.answers.running, site.answers.waiting) == (0, 0)

    async def test_the_fewer_a_namespace_has_under_way_the_sooner_its_next_one_is_looked_up(self):
        site = Site()
        tasks = [await site.soon(f"a:{number}", namespace=name) for number, name in enumerate("aaab")]
        assert [one.rank for one in site.started] == [0, 1, 2, 0]
        await site.land_all()
        await asyncio.gather(*tasks)

    async def test_who_needs_an_image_of_a_crowded_namespace_does_not_wait_with_it(self):
        site = Site()
        tasks = [await site.soon(f"app:{number}", namespace="crowd") for number in range(9)]
        tasks.append(await site.soon("app:8", namespace="good"))
        assert site.images()[-1] == "good app:8"
        await site.land_all()
        assert await asyncio.gather(*tasks) == [[AMD]] * 10

    async def test_an_image_that_has_no_place_among_those_that_wait_is_not_known_and_others_have_one(
        self, monkeypatch
    ):
        monkeypatch.setattr("archfit.webhook.lookups.shared_answers.MOST_WAITING", 60)
        site = Site()
        tasks = [await site.soon(f"app:{number}", namespace="evil") for number in range(41)]
        (lost,) = await tasks.pop()
        assert lost == Unknown("too many other images are being looked up: create the pod again later")
        assert site.count("lookups_refused") == 1
        tasks.append(await site.soon("good:1", namespace="good"))
        await site.land_all()
        assert await asyncio.gather(*tasks) == [[AMD]] * 41
        tasks = [await site.soon("app:40", namespace="evil")]
        await site.land_all()
        assert await tasks[0] == [AMD]


async def test_a_namespace_with_two_thirds_of_all_reviews_that_wait_gets_what_is_known_at_once():
    site = Site(reviews=6)
    evil = [await site.soon(f"evil{number}.example/x:1", namespace="evil") for number in range(5)]
    (answer,) = await evil.pop()
    assert answer == Unknown(
        "too many pods of its namespace wait for answers of registries, and the lookup goes on for the next pod"
    )
    assert (site.in_time, site.count("admission_crowded_out")) == (False, 1)
    shop = await site.soon("shop.example/x:1", namespace="shop")
    await site.land_all()
    assert await asyncio.gather(*evil, shop) == [[AMD]] * 5
    # The lookup went on, so that the next pod finds its answer.
    assert site.answers.known("evil4.example/x:1") is AMD
