"""Questions side by side: how many at once, which comes next, and what ends the wait."""

import os
import signal
import threading

import pytest

from archfit.lookup.registry_lookup import NoThread, side_by_side
from fake_registry import Answer, Asked, FakeRegistry
from lookup_runs import Runs


def test_an_answer_for_each_question():
    assert side_by_side(["a", "b", "a"], lambda index: index * 2, lambda: 30.0) == {0: 0, 1: 2, 2: 4}
    assert side_by_side([], lambda index: index, lambda: 30.0) == {}


def test_a_slow_server_holds_32_threads_and_keeps_no_other_waiting():
    servers = ["slow"] * 200 + ["fast"] * 200
    released = threading.Event()
    lock = threading.Lock()
    running = most = fast = 0

    def ask(index: int) -> str:
        nonlocal running, most, fast
        if servers[index] == "slow":
            with lock:
                running += 1
                most = max(most, running)
            released.wait(30)
            with lock:
                running -= 1
        else:
            with lock:
                fast += 1
            if fast == 200:
                released.set()
        return servers[index]

    answers = side_by_side(servers, ask, lambda: 30.0)
    assert [answers[index] for index in range(400)] == servers
    assert most <= 32
    assert fast == 200


def test_what_a_question_raises_is_raised():
    def broken(_: int) -> int:
        raise MemoryError

    with pytest.raises(MemoryError):
        side_by_side(["a"] * 3, broken, lambda: 30.0)


def test_the_wait_ends_at_the_deadline():
    never = threading.Event()
    times = iter([0.2, 0.2, 0.0])
    answers = side_by_side(["a", "b"], lambda index: index or never.wait(30), lambda: next(times, 0.0))
    never.set()
    assert answers.get(1, 1) == 1
    assert 0 not in answers


def servers_that_refuse(runs: Runs, count: int) -> list[str]:
    """Images of as many registries, none of which accepts connections."""
    for number in range(count):
        runs.also(f"r{number}.example", f"http://127.0.{1 + number // 250}.{1 + number % 250}:9")
    return [f"r{number}.example/app:1" for number in range(count)]


def started_threads(monkeypatch: pytest.MonkeyPatch, most: int) -> list[threading.Thread]:
    """Those that start from now on; the machine allows no more than `most`."""
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", counted)
    return started


def test_300_registries_are_asked_by_64_threads(tmp_path, monkeypatch):
    runs = Runs(tmp_path, "http://127.0.0.1:9")
    started = started_threads(monkeypatch, 1000)
    answers = runs.ask(*servers_that_refuse(runs, 300))
    assert len(answers) == 300
    assert all("cannot be connected to" in answer.cause for answer in answers.values())
    assert len(started) <= 64


@pytest.mark.parametrize("allowed", [0, 1, 5])
def test_a_machine_that_allows_few_threads(tmp_path, monkeypatch, allowed):
    runs = Runs(tmp_path, "http://127.0.0.1:9")
    started_threads(monkeypatch, allowed)
    answers = runs.ask(*servers_that_refuse(runs, 20))
    wanted = "cannot be connected to" if allowed else "this machine does not allow"
    assert [wanted in answer.cause for answer in answers.values()] == [True] * 20
    if not allowed:
        with pytest.raises(NoThread):
            side_by_side(["a"], lambda index: index, lambda: 30.0)


def test_a_signal_is_handled_while_answers_are_waited_for_whichever_thread_gets_it(tmp_path):
    """Python handles signals in the main thread, which another thread's signal does not wake."""
    handled = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: handled.set())
    main = threading.main_thread()

    def script(asked: Asked) -> Answer:
        assert threading.current_thread() is not main
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        return fake.stored(asked).held(handled)

    with FakeRegistry() as fake:
        fake.index("a", "1", ["linux/arm64"])
        fake.on(script)
        try:
            assert Runs(tmp_path, fake.url).names("x.io/a:1") == ["linux/arm64"]
        finally:
            signal.signal(signal.SIGUSR1, before)
    assert handled.is_set(), os.getpid()
