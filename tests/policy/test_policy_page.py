"""docs/policy.md says what the code does: pods left alone, limits, namespaces, rights, messages."""

import re

from archfit.policy import table
from archfit.policy.images import KINDS
from archfit.policy.objects import left_alone
from archfit.policy.settings import ALWAYS_LEFT_OUT
from machine import ROOT

PAGE = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")


def test_the_pods_that_the_policy_leaves_alone_are_listed_in_these_words():
    rows = PAGE.partition("| It says | The pod |\n| --- | --- |\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(.*?)` \| ", rows, re.MULTILINE) == left_alone()


def test_limits_and_namespaces_are_those_of_the_code():
    assert f"up to {table.MAX_LITERAL_IMAGES:,} |" in PAGE
    assert f"{table.MAX_BYTES / 1_000_000:g} MB" in PAGE
    assert f"the namespaces `{'` and `'.join(ALWAYS_LEFT_OUT)}`" in PAGE


def test_what_the_job_may_list_is_what_is_read():
    for group in {kind.group for kind in KINDS}:
        resources = ", ".join(kind.resource for kind in KINDS if kind.group == group)
        assert f"| {group or 'core'} | {resources} | list |" in PAGE
