"""`make test-all` runs pytest twice: first beside each other, then alone what bounds time and memory."""

import pytest

import run_tests


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The words of each run of pytest, which passes."""
    runs: list[tuple[str, ...]] = []
    monkeypatch.setattr(run_tests, "_pytest", lambda *words: runs.append(words) or 0)
    return runs


def test_tests_that_bound_time_or_memory_run_alone(runs: list[tuple[str, ...]]) -> None:
    assert run_tests.run(["tests/cli", "-x"]) == 0
    assert runs == [
        ("-m", "not load", *run_tests.TOGETHER, "tests/cli", "-x"),
        ("-m", "load", "tests/cli", "-x"),
    ]


def test_the_short_run_is_one_run(runs: list[tuple[str, ...]]) -> None:
    assert run_tests.run(["--quick", "-x"]) == 0
    assert runs == [(*run_tests.WORKERS, "--dist", "worksteal", "--quick", "-x")]


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        pytest.param([0, 0], 0, id="all passed"),
        pytest.param([1, 0], 1, id="the first failed"),
        pytest.param([0, 1], 1, id="the second failed"),
        pytest.param([1, 2], 1, id="both failed"),
        pytest.param([2], 2, id="the user ended the first"),
        pytest.param([4], 4, id="wrong options"),
        pytest.param([0, 5], 0, id="no test bounds anything"),
        pytest.param([5, 0], 0, id="every test bounds something"),
        pytest.param([5, 1], 1, id="one of those failed"),
        pytest.param([5, 5], 5, id="no test at all"),
    ],
)
def test_the_status_is_that_of_both_runs(
    monkeypatch: pytest.MonkeyPatch, statuses: list[int], status: int
) -> None:
    left = iter(statuses)
    monkeypatch.setattr(run_tests, "_pytest", lambda *_: next(left))
    assert run_tests.run([]) == status
    assert list(left) == []
