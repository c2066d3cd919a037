"""docs/policy.md says what the code does: pods left alone, limits, namespaces, rights, messages."""

from __future__ import annotations

from archfit.options.settings import Options
from archfit.policy.cel import table_storage, validating_policy
from archfit.policy.cel.left_alone import LEFT_ALONE
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import ALWAYS_LEFT_OUT, PolicySettings
from archfit.policy.images import KINDS
from archfit.policy.stats import policy_stats, stats_text
from machine import ROOT
from pod_decisions import found

PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")


def test_the_pods_that_the_policy_leaves_alone_are_listed_in_these_words():
    listed = PAGE.partition("what CEL cannot decide")[2].partition("\n\n")[2].partition("\n\n")[0]
    assert listed.splitlines() == [f"- {one.sentence}" for one in LEFT_ALONE]


def test_limits_and_namespaces_are_those_of_the_code():
    assert f"up to {table_storage.MAX_LITERAL_IMAGES:,} |" in PAGE
    assert f"{table_storage.MAX_BYTES / 1_000_000:g} MB" in PAGE
    assert f"the namespaces `{'` and `'.join(ALWAYS_LEFT_OUT)}`" in PAGE


def test_what_the_job_may_list_is_what_is_read():
    for group in {kind.group for kind in KINDS}:
        resources = ", ".join(kind.resource for kind in KINDS if kind.group == group)
        assert f"| {group or 'core'} | {resources} | list |" in PAGE


def test_the_warning_is_shown_as_it_is():
    before, after = validating_policy._UNKNOWN
    assert f"{before}quay.io/team/new:1{after}\n" in PAGE


def test_the_figures_are_shown_under_their_names():
    settings = PolicySettings()
    policy = policy_objects({"docker.io/library/both:1": found("amd64 arm64")}, Options(), settings)
    images = {"docker.io/library/both:1": found("amd64 arm64")}
    daemon_sets = validating_policy.daemon_set_objects(images, Options(), settings, policy)
    objects = [*policy, *validating_policy.validating_policy_objects(policy, settings), *daemon_sets]
    lines = stats_text(policy_stats(objects, 3, 3, Options())).decode().splitlines()
    shown = (
        PAGE.partition("$ archfit policy --lock-file archfit.lock --stats\n")[2]
        .partition("```")[0]
        .splitlines()
    )
    assert [line[:22] for line in shown] == [line[:22] for line in lines]
    assert [line.partition(":")[2] for line in shown] == [line.partition(":")[2] for line in lines]
    assert shown[-1] == lines[-1]
