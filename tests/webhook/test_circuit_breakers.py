"""Closed, open, half-open: when a registry is asked, and for whom it is not."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import pytest

from archfit.webhook.circuit_breakers import (
    FAILURES,
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    MOST_REGISTRIES,
    CircuitBreakers,
)

HUB = "hub.example"


class Site:
    """Breakers with a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.breakers = CircuitBreakers(lambda: self.now)

    def asks(self, namespace: str = "shop", registry: str = HUB) -> str:
        """`yes`, `trial`, or why not."""
        why = self.breakers.paused(registry, namespace)
        return why or ("trial" if self.breakers.begin(registry, namespace) else "yes")

    def does(self, step: str, namespace: str = "shop") -> None:
        kind, _, trial = step.partition(" ")
        if kind == "asks":
            self.asks(namespace)
        elif kind == "untried":
            self.breakers.untried(HUB)
        elif kind == "answered":
            self.breakers.answered(HUB, trial=bool(trial))
        elif kind in {"slow", "unreached"}:
            getattr(self.breakers, kind)(HUB, namespace, trial=bool(trial))
        else:
            self.now += float(kind)


SLOW = f"{HUB} is slow, and is asked again in "
DOWN = f"{HUB} could not be reached, and is asked again in "
TRIED = f"{HUB} is slow, and is being tried again"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([], "yes", id="closed"),
        pytest.param(["slow"] * (FAILURES - 1), "yes", id="two slow lookups"),
        pytest.param(["slow"] * FAILURES, f"{SLOW}5 s", id="three"),
        pytest.param(["slow", "slow", "answered", "slow"], "yes", id="not in a row"),
        pytest.param(["unreached"], f"{DOWN}5 s", id="no answer at all"),
        pytest.param(["slow"] * FAILURES + ["4.5"], f"{SLOW}1 s", id="the pause goes by"),
        pytest.param(["slow"] * FAILURES + ["5"], "trial", id="half-open"),
        pytest.param(["slow"] * FAILURES + ["5", "asks"], TRIED, id="one trial at a time"),
        pytest.param(["slow"] * FAILURES + ["5", "asks", "answered trial"], "yes", id="it answers again"),
        pytest.param(["slow"] * FAILURES + ["5", "asks", "untried"], "trial", id="a trial that was none"),
        pytest.param(["slow"] * FAILURES + ["5", "asks", "slow trial"], f"{SLOW}10 s", id="twice as long"),
        pytest.param(["slow"] * FAILURES + ["5", "asks", "unreached trial"], f"{DOWN}10 s", id="down after slow"),
        pytest.param(["slow"] * (FAILURES + 9), f"{SLOW}5 s", id="lookups of before do not count again"),
        pytest.param(["slow"] * FAILURES + ["5", "asks", "slow"], TRIED, id="nor do they end the trial"),
        pytest.param(["slow"] * FAILURES + ["answered"], f"{SLOW}5 s", id="an answer of before does not close it"),
        pytest.param(["unreached"] + ["60", "asks", "unreached trial"] * 9, f"{DOWN}{LONGEST_PAUSE_SECONDS:.0f} s", id="a minute at most"),
        pytest.param(["unreached", "5", "asks", "answered trial", "unreached"], f"{DOWN}5 s", id="it begins anew"),
    ],
)  # fmt: skip
def test_a_registry_is_asked_or_not(steps: list[str], expected: str):
    site = Site()
    for step in steps:
        site.does(step)
    assert site.asks() == expected


@pytest.mark.parametrize(
    ("failed", "expected"),
    [
        pytest.param(["a"], "yes", id="one namespace"),
        pytest.param(["a", "b"], "yes", id="two"),
        pytest.param(["a", "b", "c"], f"{DOWN}5 s", id="three"),
        pytest.param(["a", "b", "good"], f"{DOWN}5 s", id="its own too"),
    ],
)
def test_few_namespaces_do_not_stop_the_others(failed: list[str], expected: str):
    site = Site()
    for namespace in failed:
        site.does("unreached", namespace)
    assert site.asks("good") == expected
    assert site.asks("a") == f"{DOWN}5 s"


def test_states_are_counted():
    site = Site()
    site.breakers.slow("once.example", "shop", trial=False)
    site.breakers.unreached("a.example", "shop", trial=False)
    site.now += 1
    site.breakers.unreached("b.example", "shop", trial=False)
    site.now += FIRST_PAUSE_SECONDS - 1
    assert site.breakers.states() == {"open": 1, "half_open": 1}


def test_memory_is_bounded():
    site = Site()
    site.does("answered")
    for number in range(2 * MOST_REGISTRIES):
        site.breakers.unreached(f"r{number}.example", "bad", trial=False)
    assert site.breakers.states() == {"open": MOST_REGISTRIES}
    assert site.breakers.standing(HUB, "shop") == "known"
