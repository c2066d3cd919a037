"""Random pods that two other webhooks change while archfit decides them (lab/policy_injections.py)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mutating_webhooks import SCRIPT
from policy_injections import DOORS, FIRST, LAST, door, judged

if TYPE_CHECKING:
    from pathlib import Path

    from policy_runs import Policies


@pytest.mark.parametrize("kind", DOORS)
def test_a_pod_is_as_archfit_decides_for_all_its_containers_or_was_warned_of(
    policies: Policies, tmp_path: Path, kind: str
):
    found = judged(policies, kind, f"injections-{kind}", "test/3", range(50), tmp_path)
    assert [str(one) for one in found.wrong] == []
    assert found.counts["equal, with additions"] >= 5
    assert kind == "webhook" or any(what.startswith("late") for what in found.counts)


def test_a_late_change_that_leaves_the_placement_too_narrow_is_warned_of(policies: Policies, tmp_path: Path):
    """The webhook `aa` is called again because `zz` changed the pod, and `zz` because `aa` did."""
    name, pool = "injections-late", {"key": "pool", "operator": "Exists"}
    script = {
        "id": "late",
        LAST: [[1, {"toleration": pool}], [2, {"image": "quay.io/team/both:1"}]],
        FIRST: [[2, {"toleration": {**pool, "key": "other"}}]],
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "late", "namespace": name, "annotations": {SCRIPT: json.dumps(script)}},
        "spec": {"containers": [{"name": "c", "image": "quay.io/team/amd:1"}]},
    }
    with door(policies, "policy", name, {}, tmp_path) as scripted:
        made, warnings = policies.plane.warned(pod, dryRun="All")
    assert [(one.webhook, one.call, bool(one.steps)) for one in scripted.events["late"]] == [
        (FIRST, 1, False),
        (LAST, 1, True),
        (FIRST, 2, True),
        (LAST, 2, True),
    ]
    assert made["spec"]["containers"][0]["image"] == "quay.io/team/both:1"
    assert any("does not fit its images" in text for text in warnings)
