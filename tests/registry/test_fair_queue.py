"""Threads of the lookups: how many there are, and what each takes next."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from archfit.images.platforms import Unknown
from archfit.registry.fetcher import FairQueue
from lookup_runs import Runs

if TYPE_CHECKING:
    from pathlib import Path


def taken(fair: FairQueue) -> list[int]:
    return list(iter(fair.take, None))


def test_servers_take_turns() -> None:
    assert taken(FairQueue(["a", "b", "c", "a", "a", "b", "c", "a"])) == [0, 1, 2, 3, 5, 6, 4, 7]


def test_at_most_32_of_one_server_at_once_and_then_one_for_each_that_is_done() -> None:
    fair = FairQueue(["a"] * 40 + ["b"])
    first = taken(fair)
    assert sorted(first) == [*range(32), 40]
    fair.give_back(40)
    assert taken(fair) == []
    fair.give_back(5)
    fair.give_back(6)
    assert taken(fair) == [32, 33]


@pytest.mark.parametrize(
    ("servers", "threads"),
    [
        pytest.param([], 0, id="nothing-to-ask"),
        pytest.param(["a"], 1, id="one"),
        pytest.param(["a"] * 500, 32, id="one-server"),
        pytest.param(["a"] * 40 + ["b"] * 3, 35, id="two-servers"),
        pytest.param([str(number) for number in range(1500)], 64, id="1500-servers"),
    ],
)
def test_at_most_64_threads(servers: list[str], threads: int) -> None:
    assert FairQueue(servers).threads == threads


def servers_that_refuse(runs: Runs, count: int) -> list[str]:
    """Images of as many registries, none of which accepts connections."""
    for number in range(count):
        runs.also(f"r{number}.example", f"http://127.0.{1 + number // 250}.{1 + number % 250}:9")
    return [f"r{number}.example/app:1" for number in range(count)]


def test_300_registries_are_asked_by_64_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(tmp_path, "http://127.0.0.1:9")
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", counted)
    answers = runs.ask(*servers_that_refuse(runs, 300))
    assert len(answers) == 300
    assert all(
        isinstance(answer, Unknown) and "cannot be connected to" in answer.cause
        for answer in answers.values()
    )
    assert len(started) <= 64


@pytest.mark.parametrize("allowed", [0, 1, 5])
def test_a_machine_that_allows_few_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    runs = Runs(tmp_path, "http://127.0.0.1:9")
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        if len(started) == allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    answers = runs.ask(*servers_that_refuse(runs, 20))
    wanted = "cannot be connected to" if allowed else "this machine does not allow"
    assert [isinstance(answer, Unknown) and wanted in answer.cause for answer in answers.values()] == [
        True
    ] * 20
