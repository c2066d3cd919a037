"""Every command that a page shows is run by a test, or tests/support/page_plans.py says why not."""

from __future__ import annotations

import pytest

from page_plans import NOT_FOLLOWED, PLANS
from page_walk import blocks, pages, text_of

SHOWN = {page: [command for block in blocks(page) for command in block.commands] for page in pages()}


@pytest.mark.parametrize("page", [page for page, commands in SHOWN.items() if commands])
def test_the_commands_of_a_page_are_run_or_named_with_a_reason(page: str) -> None:
    assert (page in PLANS) != (page in NOT_FOLLOWED), (
        f"docs/{page}.md shows commands: add a Plan to tests/support/page_plans.py, or a reason to NOT_FOLLOWED"
    )


def test_no_row_is_left_of_a_page_without_commands() -> None:
    assert [page for page in (*PLANS, *NOT_FOLLOWED) if not SHOWN.get(page)] == []


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_what_a_plan_changes_is_in_its_page_and_has_a_reason(plan) -> None:
    commands, text = SHOWN[plan.page], text_of(plan.page)
    for prefixes in (plan.left_out, plan.ends, plan.says, plan.before):
        assert [one for one in prefixes if not any(command.startswith(one) for command in commands)] == []
    assert [one for one in plan.replaced if not any(one in command for command in commands)] == []
    assert [one for one in plan.stand_ins if one not in text] == []
    assert [heading for heading in plan.under if f"# {heading}\n" not in text] == []
    changed = [*plan.stand_ins.values(), *plan.replaced.values(), *plan.before.values()]
    reasons = [
        *(one.reason for one in changed),
        *plan.left_out.values(),
        *(why for _, why in plan.ends.values()),
    ]
    assert all(len(reason.split()) > 3 for reason in reasons), reasons


def test_the_entry_points_are_followed() -> None:
    named = "helm kustomize kpt argocd flux patch check lock cache credentials registries audit fleet policy serve"
    assert {*named.split(), "admission", "configuration"} <= set(PLANS)
