"""`--requests-per-second`: when a request leaves, alone and beside other processes; and what an image may cost."""

from contextlib import closing

import pytest

from archfit.images.platforms import Found, Unknown
from archfit.options.hosts import mirror
from archfit.options.settings import Operator, RequestRate
from archfit.registry.http.limits import RequestBudget
from archfit.registry.registry_errors import RegistryError
from lookup_runs import lookup_with

HOST = "r.example"


class Time:
    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(round(seconds, 6))


def test_requests_leave_one_after_the_other():
    time = Time()
    budget = RequestBudget([RequestRate(HOST, 4)], time.clock, time.wait)
    for _ in range(4):
        budget.take(HOST, 30.0)
    assert time.waits == [0.25, 0.5, 0.75]
    time.now += 10
    budget.take(HOST, 30.0)
    assert time.waits == [0.25, 0.5, 0.75]


def test_a_pause_saves_nothing_up():
    time = Time()
    budget = RequestBudget([RequestRate(HOST, 4)], time.clock, time.wait)
    budget.take(HOST, 30.0)
    time.now += 60
    for _ in range(3):
        budget.take(HOST, 30.0)
    assert time.waits == [0.25, 0.5]


@pytest.mark.parametrize(
    ("rates", "host", "waits"),
    [
        pytest.param([RequestRate("docker.io", 2)], "registry-1.docker.io", [0.5], id="docker-hub"),
        pytest.param([RequestRate("*", 2)], "other.example:5000", [0.5], id="any-server"),
        pytest.param([RequestRate("*", 2), RequestRate(HOST, 10)], HOST, [0.1], id="its-own-row-counts"),
        pytest.param([RequestRate(HOST, 2)], "other.example", [], id="another-server-is-not-bounded"),
        pytest.param([RequestRate(HOST, 2)], f"{HOST}:5000", [], id="another-port-is-another-server"),
    ],
)
def test_whose_requests_count(rates, host, waits):
    time = Time()
    budget = RequestBudget(rates, time.clock, time.wait)
    for _ in range(2):
        budget.take(host, 30.0)
    assert time.waits == waits


def test_each_server_has_a_budget_of_its_own_under_a_star():
    time = Time()
    budget = RequestBudget([RequestRate("*", 1)], time.clock, time.wait)
    budget.take("a.example", 30.0)
    budget.take("b.example", 30.0)
    assert time.waits == []


def test_a_turn_after_the_deadline_is_an_error_that_names_the_option_and_is_not_reserved():
    time = Time()
    budget = RequestBudget([RequestRate(HOST, 0.5)], time.clock, time.wait)
    budget.take(HOST, 1.0)
    for _ in range(2):
        with pytest.raises(RegistryError, match=r"0\.5 times a second \(--requests-per-second\).*--timeout"):
            budget.take(HOST, 1.0)
    budget.take(HOST, 30.0)
    assert time.waits == [2.0]


def test_the_shared_server_decides_and_its_loss_makes_this_process_slower():
    time, answers = Time(), [(0.0, 4), (0.7, 4), None, None, None]
    asked: list[tuple[str, float]] = []

    def reserve(host: str, interval: float, _longest: float) -> tuple[float | None, int] | None:
        asked.append((host, interval))
        return answers.pop(0)

    budget = RequestBudget([RequestRate(HOST, 10)], time.clock, time.wait, reserve)
    for _ in range(5):
        budget.take(HOST, 30.0)
    assert asked == [(HOST, 0.1)] * 5
    assert time.waits == [0.7, 0.4, 0.8]


def test_the_requests_of_a_run_keep_to_it(fake, runs):
    runs.set(requests_per_second=(RequestRate(fake.host, 4),))
    fake.index("a", "1", ["linux/amd64"])
    fake.index("b", "1", ["linux/amd64"])
    assert all(isinstance(answer, Found) for answer in runs.ask("x.io/a:1", "x.io/b:1").values())
    assert runs.waits


@pytest.mark.parametrize(
    ("seconds", "kind"), [pytest.param(0.0, Unknown, id="none"), pytest.param(9.0, Found, id="noop: enough")]
)
def test_what_an_image_costs_in_processor_time_is_bounded(fake, seconds, kind):
    """Whatever a stranger's registry sends, for `archfit serve`."""
    fake.index("a", "1", ["linux/amd64"])
    operator = Operator(no_cache=True, mirrors=(mirror("*", fake.url),))
    with closing(lookup_with(operator, processor_seconds=seconds)) as lookup:
        answer = lookup.resolve(["x.io/a:1"])["x.io/a:1"]
    assert isinstance(answer, kind)
    assert isinstance(answer, Found) or "more than 0 s of processor time: refused" in answer.cause
