"""Random pods that two other webhooks change while archfit decides them (lab/policy_injections.py)."""

import pytest

from policy_injections import DOORS, judged


@pytest.mark.parametrize("kind", DOORS)
def test_a_pod_is_as_archfit_decides_for_all_its_containers_or_was_warned_of(policies, tmp_path, kind):
    found = judged(policies, kind, f"injections-{kind}", "test/3", range(50), tmp_path)
    assert [str(one) for one in found.wrong] == []
    assert found.counts["equal, with additions"] >= 5
    assert kind == "webhook" or any(what.startswith("late") for what in found.counts)
