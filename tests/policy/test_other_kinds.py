"""Excludes and rules about kinds that are never admitted as such are named; those that pods can meet are not."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import pytest

from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options
from archfit.policy.cel.other_kinds import without_effect


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param(Options(exclude=(Exclude("Deployment", "shop"),)), ["exclude Deployment/shop"], id="a kind"),
        pytest.param(Options(rules=(Rule(Match(kind="job"), skip=True),)), ["the rule for kind job"], id="kind of a rule"),
        pytest.param(Options(exclude=(Exclude("*", "shop"), Exclude("pod"), Exclude("P*"))), [], id="pods"),
        pytest.param(Options(rules=(Rule(Match(namespace="shop"), skip=True),)), [], id="no kind"),
        pytest.param(Options(exclude=(Exclude("DaemonSet"),)), [], id="pods that are left alone in any case"),
        pytest.param(Options(rules=(Rule(Match(kind="Job"), skip=True), Rule(Match(kind="Job"), tolerate=False))), ["the rule for kind Job"], id="once for each kind"),
        pytest.param(Options(), [], id="nothing"),
    ],
)  # fmt: skip
def test_what_no_pod_meets_is_named(options: Options, named: list[str]):
    assert [text.partition(" has no effect")[0] for text in without_effect(options)] == named
