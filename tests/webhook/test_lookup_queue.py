"""Who has the next worker: shares that follow what is free, and a queue that few pods cannot fill."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from archfit.webhook.lookup_queue import STRIKE_SECONDS, LookupQueue, Standing, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

WORKERS = 64


class Site:
    """Turns for items named `NAMESPACE REGISTRY NUMBER`, whose workers are given back when the test says so."""

    def __init__(self, workers: int = WORKERS, most: int = 10_000, most_of_one: int = 10_000) -> None:
        self.workers = workers
        self.now = 0.0
        self.standings: dict[str, Standing] = {}
        self.turns: LookupQueue[str] = LookupQueue(
            workers,
            most,
            most_of_one,
            lambda registry, _: self.standings.get(registry, "new"),
            lambda: self.now,
        )
        self.running: dict[str, Turn] = {}
        self.lost: list[str] = []

    def add(self, namespace: str, registry: str, numbers: Iterable[int] = (0,)) -> None:
        for number in numbers:
            lost = self.turns.add(namespace, registry, f"{namespace} {registry} {number}")
            if lost:
                self.lost.append(lost[1])

    def take(self) -> list[str]:
        """Everything that may have a worker now, in order."""
        taken = []
        while found := self.turns.take():
            turn, item = found
            self.running[item] = turn
            taken.append(item)
        return taken

    def give_back(self, item: str) -> None:
        self.turns.give_back(self.running.pop(item))

    def held(self, namespace: str) -> int:
        return sum(turn.namespace == namespace for turn in self.running.values())


def flood(site: Site, namespaces: int, images: int = 256) -> None:
    """Each namespace wants many images of registries of its own."""
    for number in range(namespaces):
        for image in range(images):
            site.add(f"bad{number}", f"r{number}-{image}.example")


@pytest.mark.parametrize(
    ("namespaces", "each", "all_of_them"),
    [
        pytest.param(1, {16}, 16, id="a quarter of the workers"),
        pytest.param(2, {13}, 26, id="two"),
        pytest.param(10, {4, 5}, 48, id="ten"),
        pytest.param(100, {0, 1}, 48, id="a hundred"),
    ],
)
def test_the_more_want_lanes_the_fewer_each_has(namespaces: int, each: set[int], all_of_them: int):
    site = Site()
    flood(site, namespaces, 20)
    site.take()
    assert {site.held(f"bad{number}") for number in range(namespaces)} == each
    assert len(site.running) == all_of_them


@pytest.mark.parametrize("namespaces", [2, 10, 100])
def test_a_known_registry_is_asked_at_once_whatever_others_want(namespaces: int):
    site = Site()
    site.standings["docker.io"] = "known"
    flood(site, namespaces, 10)
    site.take()
    site.add("good", "docker.io")
    assert site.take() == ["good docker.io 0"]


@pytest.mark.parametrize("namespaces", [2, 10])
def test_a_new_registry_is_asked_at_once_whatever_a_few_want(namespaces: int):
    site = Site()
    flood(site, namespaces, 10)
    site.take()
    while len(site.running) == WORKERS * 3 // 4:
        site.give_back(next(iter(site.running)))
    site.add("good", "new.example")
    assert site.take()[0] == "good new.example 0"


def test_where_all_lanes_are_taken_who_had_no_slow_lookup_comes_next():
    site = Site()
    flood(site, 100, 10)
    site.take()
    for _ in range(80):
        item = next(iter(site.running))
        site.turns.strike(site.running[item].namespace)
        site.give_back(item)
        site.take()
    site.add("good", "new.example")
    ahead = 0
    while "good new.example 0" not in site.running:
        item = next(iter(site.running))
        site.turns.strike(site.running[item].namespace)
        site.give_back(item)
        site.take()
        ahead += 1
    assert ahead == 1


def test_slow_lookups_are_forgiven_after_a_minute():
    site = Site(workers=1)
    site.add("a", "r", range(3))
    site.take()
    site.turns.strike("a")
    site.add("b", "r", range(9))
    order = []
    for now in (0, 1, STRIKE_SECONDS, STRIKE_SECONDS):
        site.now = now
        (item,) = site.running
        site.give_back(item)
        order += site.take()
    assert order == ["b r 0", "b r 1", "b r 2", "a r 1"]


def test_namespaces_take_turns_and_so_do_registries_of_one():
    site = Site(workers=1)
    site.add("a", "x", range(3))
    site.add("a", "y", range(2))
    site.add("b", "x", range(1))
    order = site.take()
    while site.running:
        site.give_back(next(iter(site.running)))
        order += site.take()
    assert order == ["a x 0", "b x 0", "a y 0", "a x 1", "a y 1", "a x 2"]
    assert (site.turns.waiting, site.turns.running) == (0, 0)


def test_a_registry_has_a_quarter_of_the_lanes_at_most():
    site = Site()
    for number in range(40):
        site.add(f"n{number}", "slow.example")
    assert len(site.take()) == WORKERS // 4
    site.add("n0", "other.example")
    assert site.take() == ["n0 other.example 0"]
    site.give_back("n0 slow.example 0")
    assert site.take() == ["n16 slow.example 0"]


def test_what_needs_no_registry_waits_for_nobody():
    site = Site()
    site.add("n", "slow.example", range(30))
    assert len(site.take()) == 16
    site.standings["slow.example"] = "paused"
    site.turns.reconsider("slow.example")
    assert len(site.take()) == 14


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param([("bad0", 256), ("bad1", 256), ("bad2", 256), ("bad3", 256)], 1, id="four pods of 256"),
        pytest.param([("bad", 256)] * 9, 0, id="one namespace, which has its own limit"),
    ],
)
def test_few_pods_do_not_fill_the_queue(pods: list[tuple[str, int]], expected: int):
    site = Site(workers=1, most=1024, most_of_one=256)
    for index, (namespace, images) in enumerate(pods):
        for number in range(images):
            site.add(namespace, f"r{index}-{number}.example")
    before = len(site.lost)
    site.add("good", "docker.io")
    assert len(site.lost) - before == expected
    assert all(item.startswith("bad") for item in site.lost)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_comes_and_goes_each_item_is_taken_lost_or_removed_once(seed: int):
    """Drawn steps: nothing is stuck, no bound is passed."""
    random = Random(seed)
    workers = random.choice([1, 2, 4, 8, 32])
    site = Site(workers, most=20, most_of_one=9)
    waiting: dict[str, tuple[str, str]] = {}
    seen: list[str] = []
    standings: list[Standing] = ["new", "known", "paused"]
    for number in range(600):
        namespace, registry = f"n{random.randrange(6)}", f"r{random.randrange(4)}"
        step = random.randrange(10)
        if step < 5:
            item = f"{namespace} {registry} {number}"
            waiting[item] = namespace, registry
            lost = site.turns.add(namespace, registry, item)
            if lost:
                seen.append(lost[1])
                del waiting[lost[1]]
        elif step == 5 and waiting:
            item = random.choice(sorted(waiting))
            site.turns.remove(*waiting.pop(item), item)
            seen.append(item)
        elif step == 6:
            site.standings[registry] = random.choice(standings)
            site.turns.reconsider(registry)
        elif step == 7 and site.running:
            site.turns.strike(random.choice(sorted(site.running.values())).namespace)
            site.now += random.choice([0, 30])
        elif site.running:
            site.give_back(random.choice(sorted(site.running)))
        for item in site.take():
            assert (site.running[item].namespace, site.running[item].registry) == waiting.pop(item)
            seen.append(item)
        assert site.turns.waiting == len(waiting) <= 20
        assert site.turns.running == len(site.running) <= workers
    while site.running:
        site.give_back(next(iter(site.running)))
        seen += [item for item in site.take() if waiting.pop(item)]
    assert waiting == {}
    assert len(seen) == len(set(seen))
