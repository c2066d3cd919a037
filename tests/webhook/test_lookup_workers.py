"""Workers keep a Lookup while it works, and a lookup always gets an answer."""

# ruff: noqa: E501 - a row of a table is a line

from __future__ import annotations

import asyncio
import queue
from typing import Any

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Absent, Answer, Found, Unknown, parse_platform
from archfit.images.reference import parse
from archfit.webhook.lookups.lookup_workers import LIFE_SECONDS, LookupWorkers
from archfit.webhook.lookups.shared_answers import PendingLookup, PullSecret

AMD = Found((parse_platform("amd64"),), "sha256:" + "a" * 64)
WAIT_SECONDS = 20
SECONDS = 7.5
PAUSED = "quay.io is slow, and is asked again in 5 s"


class Scripted:
    """Stands for a Lookup: it gives the answers in turn, or raises."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.messages: list[str] = []

    def resolve(self, texts: list[str], *, seconds: float) -> dict[str, Answer]:
        self._site.seconds.append(seconds)
        found = self._site.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        self.messages.append(f"asked for {texts[0]}")
        return {texts[0]: found}

    def take_replies(self) -> dict[tuple[str, int], int]:
        return self._site.statuses

    def close(self) -> None:
        self._site.closed += 1


class Site:
    """Workers whose answers go into a queue."""

    def __init__(self, *answers: Answer | Exception, workers: int = 1, **more: Any) -> None:
        self.answers = list(answers)
        self.statuses = {("quay.io", 200): 1}
        self.opened = 0
        self.closed = 0
        self.now = 0.0
        self.seconds: list[float] = []
        self.said: list[str] = []
        self.replies: list[Any] = []
        self.answered: queue.SimpleQueue[tuple[PendingLookup, Answer]] = queue.SimpleQueue()
        self.workers = LookupWorkers(
            workers,
            self._open,
            lambda pending, answer: self.answered.put((pending, answer)),
            self.said.append,
            self.replies.append,
            lambda: self.now,
            **more,
        )

    def ask(self, *secrets: PullSecret, paused: str = "") -> Answer:
        return self.flown(*secrets, paused=paused)[1]

    def flown(self, *secrets: PullSecret, paused: str = "") -> tuple[PendingLookup, Answer]:
        async def pending() -> PendingLookup:
            return PendingLookup(parse("quay.io/app:1"), secrets, asyncio.get_running_loop().create_future())

        made = asyncio.run(pending())
        made.paused, made.seconds = paused, SECONDS
        self.workers.start(made)
        return self.answered.get(timeout=WAIT_SECONDS)

    def _open(self) -> Any:
        self.opened += 1
        return Scripted(self)


@pytest.mark.parametrize(
    ("first", "opened", "asked"),
    [
        pytest.param(AMD, 1, True, id="found: it is kept"),
        pytest.param(AMD.replace(origin="cache"), 1, False, id="found in the cache alone"),
        pytest.param(Absent("no"), 1, True, id="absent: it is kept"),
        pytest.param(Unknown("no"), 2, True, id="unknown: a new one"),
        pytest.param(AMD.replace(origin="stale"), 2, True, id="stale: a new one"),
        pytest.param(UsageError("the file is gone"), 2, False, id="an error: a new one"),
        pytest.param(ZeroDivisionError("a bug"), 2, False, id="a bug: a new one"),
    ],
)
def test_a_lookup_is_kept_while_it_works(first: Answer | Exception, opened: int, asked: bool):
    """And it says whether the registry was asked."""
    site = Site(first, AMD)
    pending, answer = site.flown()
    assert pending.was_asked is asked
    assert answer == first if not isinstance(first, Exception) else isinstance(answer, Unknown)
    assert site.ask() == AMD
    assert (site.opened, site.closed) == (opened, opened - 1)
    site.workers.close()


def test_a_lookup_is_replaced_after_five_minutes():
    site = Site(AMD, AMD, AMD)
    for now, opened in ((0, 1), (LIFE_SECONDS - 1, 1), (LIFE_SECONDS, 2)):
        site.now = now
        site.ask()
        assert site.opened == opened
    site.workers.close()


def test_each_warning_is_told_once():
    site = Site(AMD, AMD)
    site.ask()
    site.ask()
    assert site.said == ["asked for quay.io/app:1"] * 2
    assert site.replies == [{("quay.io", 200): 1}] * 2
    site.workers.close()


@pytest.mark.parametrize(
    ("given", "opened"),
    [pytest.param(AMD, 0, id="the secret opens it"), pytest.param(None, 1, id="the secret does not help")],
)
def test_a_pull_secret_is_tried_first(given: Answer | None, opened: int):
    site = Site(AMD, with_secrets=lambda _: (given, ["a warning"], {}))
    assert site.ask(PullSecret("shop", "hub")) == AMD
    assert (site.opened, site.said[0]) == (opened, "a warning")
    site.workers.close()


def test_a_lookup_gets_the_time_that_a_pull_secret_has_left():
    def with_secrets(_: PendingLookup) -> Any:
        site.now += 3
        return None, [], {}

    site = Site(AMD, AMD, with_secrets=with_secrets)
    site.ask()
    site.ask(PullSecret("shop", "hub"))
    assert site.seconds == [SECONDS, SECONDS - 3]
    site.workers.close()


@pytest.mark.parametrize(
    ("answer", "counts", "waits"),
    [
        pytest.param(Unknown("late"), [257, 257, 256], 2, id="until some threads have ended"),
        pytest.param(Unknown("late"), [256], 0, id="there are few"),
        pytest.param(AMD, [], 0, id="a lookup that worked leaves none behind"),
    ],
)
def test_a_lane_is_not_free_while_cut_off_lookups_leave_too_many_threads(
    answer: Answer, counts: list[int], waits: int
):
    waited: list[float] = []
    site = Site(answer, threads=lambda: counts.pop(0), wait=waited.append)
    assert site.ask() == answer
    assert (len(waited), counts) == (waits, [])
    site.workers.close()


@pytest.mark.parametrize(
    ("kept", "opened", "stale"),
    [
        pytest.param(AMD.replace(origin="cache"), 0, 0, id="fresh: no registry is asked"),
        pytest.param(AMD.replace(origin="stale", age_seconds=9), 1, 1, id="stale: it is told, and one is asked"),
        pytest.param(Unknown("not in the cache"), 1, 0, id="nothing: one is asked"),
        pytest.param(UsageError("the cache is broken"), 1, 0, id="trouble: one is asked"),
    ],
)  # fmt: skip
def test_the_cache_is_read_first(kept: Answer | Exception, opened: int, stale: int):
    cache = Site(kept)
    told: list[Answer] = []
    site = Site(AMD, open_cached=cache._open, stale_found=lambda _, found: told.append(found))
    answer = site.ask()
    assert answer == (AMD if opened else kept)
    assert (site.opened, len(told)) == (opened, stale)
    site.workers.close()


@pytest.mark.parametrize(
    ("answer", "statuses", "unreached"),
    [
        pytest.param(Unknown("refused"), {("quay.io", 0): 3}, True, id="no answer"),
        pytest.param(Unknown("deadline"), {}, True, id="it still waits"),
        pytest.param(AMD.replace(origin="stale"), {("quay.io", 0): 3}, True, id="no answer, but a stale one"),
        pytest.param(Unknown("401"), {("quay.io", 401): 1}, False, id="refused"),
        pytest.param(Unknown("x"), {("quay.io", 307): 1, ("cdn", 0): 1}, False, id="another server did not answer"),
        pytest.param(Absent("404"), {("quay.io", 404): 1}, False, id="absent"),
        pytest.param(AMD, {}, False, id="found in the cache"),
    ],
)  # fmt: skip
def test_a_registry_that_gave_no_answer_at_all_is_unreached(answer: Answer, statuses: Any, unreached: bool):
    site = Site(answer)
    site.statuses = statuses
    assert site.flown()[0].unreached is unreached
    site.workers.close()


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        pytest.param(AMD.replace(origin="stale", age_seconds=9), AMD.replace(origin="stale", age_seconds=9), id="stale"),
        pytest.param(AMD.replace(origin="cache"), AMD.replace(origin="cache"), id="fresh"),
        pytest.param(Unknown("not in the cache"), Unknown(PAUSED), id="nothing"),
    ],
)  # fmt: skip
def test_while_a_registry_is_paused_only_the_cache_answers(kept: Answer, expected: Answer):
    cache = Site(kept)
    site = Site(open_cached=cache._open)
    assert site.ask(paused=PAUSED) == expected
    assert site.opened == 0
    site.workers.close()
