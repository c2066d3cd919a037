"""Excludes and rules about kinds that are never admitted as such are named; those that pods can meet are not."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import pytest

from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options
from archfit.policy.cel.other_kinds import about_daemon_sets, of_template, without_effect


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param(Options(exclude=(Exclude("Deployment", "shop"),)), ["exclude Deployment/shop"], id="a kind"),
        pytest.param(Options(rules=(Rule(Match(kind="job"), skip=True),)), ["the rule for kind job"], id="kind of a rule"),
        pytest.param(Options(exclude=(Exclude("*", "shop"), Exclude("pod"), Exclude("P*"))), [], id="pods"),
        pytest.param(Options(rules=(Rule(Match(namespace="shop"), skip=True),)), [], id="no kind"),
        pytest.param(Options(exclude=(Exclude("DaemonSet"),)), [], id="pods that are left alone in any case"),
        pytest.param(
            Options(rules=(Rule(Match(kind="Job"), skip=True), Rule(Match(kind="Job"), tolerate=False))), ["the rule for kind Job"], id="once for each kind"
        ),
        pytest.param(Options(), [], id="nothing"),
    ],
)  # fmt: skip
def test_what_no_pod_meets_is_named(options: Options, named: list[str]):
    assert [text.partition(" has no effect")[0] for text in without_effect(options)] == named


def test_filters_about_daemon_sets_become_filters_about_pods_and_others_go():
    kept = (Rule(Match(namespace="shop"), skip=True), Rule(Match(name="agent"), only=("amd64",)))
    options = Options(
        exclude=(
            Exclude("ds", "kube-system"),
            Exclude("*Set", "shop"),
            Exclude("", "web"),
            Exclude("Pod", "a"),
        ),
        rules=(
            Rule(Match(kind="Deployment"), skip=True),
            kept[0],
            Rule(Match(kind="daemonset", name="agent"), only=("amd64",)),
        ),
    )
    about = about_daemon_sets(options)
    assert about.exclude == (Exclude("Pod", "kube-system"), Exclude("*", "shop"), Exclude("", "web"))
    assert about.rules == kept
    assert about_daemon_sets(Options()) == Options()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param(
            "has(object.spec.os) && object.spec.os.name == 'linux'",
            "has(object.spec.template.spec.os) && object.spec.template.spec.os.name == 'linux'",
            id="the-spec",
        ),
        pytest.param("object.spec.template.spec.os", "object.spec.template.spec.os", id="the-template-stays"),
        pytest.param("object.metadata.name == 'a'", "object.metadata.name == 'a'", id="the-name-stays"),
        pytest.param(
            "has(object.metadata.labels) && 'team' in object.metadata.labels "
            "&& object.metadata.labels['team'] == 'web'",
            "[object.spec.template.metadata, object.metadata].exists(m, has(m.labels) && 'team' in m.labels "
            "&& m.labels['team'] == 'web')",
            id="a-label-of-either",
        ),
    ],
)
def test_what_is_asked_of_a_pod_is_asked_of_the_template(expression: str, expected: str):
    assert of_template(expression) == expected
