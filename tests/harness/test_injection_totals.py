"""`make -C lab injections` prints its totals whatever becomes of a round (lab/policy_injections.py)."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from typing import TYPE_CHECKING

from policy_injections import Judged, judged_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = {0: [0, 1], 1: [0, 1], 2: [0, 1]}


def _equal(_number: int, pods: Sequence[int]) -> Judged:
    return Judged(Counter({"equal": len(pods)}), [])


def test_the_rounds_beside_one_that_fails_are_counted():
    def judge(number: int, pods: Sequence[int]) -> Judged:
        if number == 1:
            raise AssertionError("the API server did not answer")
        return _equal(number, pods)

    output = StringIO()
    assert judged_rounds(ROUNDS, judge, output) == 1
    text = output.getvalue()
    assert "round 1 failed:\nTraceback" in text
    assert "AssertionError: the API server did not answer" in text
    assert "policy         2 equal\nboth           2 equal\n4 pods in 0 s, 0 wrong\n" in text
    assert text.endswith("1 of 3 rounds failed: 1\n")


def test_an_interrupted_run_says_what_it_has_counted():
    def judge(number: int, pods: Sequence[int]) -> Judged:
        if number == 1:
            raise KeyboardInterrupt
        return _equal(number, pods)

    output = StringIO()
    assert judged_rounds(ROUNDS, judge, output) == 0
    assert output.getvalue() == "interrupted\npolicy         2 equal\n2 pods in 0 s, 0 wrong\n"
