"""Pods with lists of their own, at admission: applied again, replaced, upgraded and compared by real programs.

`make -C lab applies` does the same to hundreds (lab/applies).
"""

from random import Random

import pytest

from admission_doors import applying
from applies.operations import Site
from archfit.webhook.added_record import NAME
from drawn_pods.at_creation import applied_pod

SOME = 3
PODS = {"policy": 12, "webhook": 12, "both": 12}


@pytest.mark.parametrize("kind", PODS)
def test_no_operation_is_refused_but_those_of_the_page_and_no_comparison_shows_a_difference(
    policies, tmp_path, kind
):
    name = f"applied-{kind}"
    pods = [applied_pod(Random(f"1/{number}"), f"p{number}") for number in range(PODS[kind])]
    with applying(policies, kind, name, tmp_path):
        site = Site(policies.plane, name, pods, tmp_path / "site")
        found = dict(site.run())
    stored = policies.plane.get(f"/api/v1/namespaces/{name}/pods")["items"]
    policies.plane.delete(f"/api/v1/namespaces/{name}/pods")
    changed = [one for one in stored if NAME in one["metadata"].get("annotations", {})]
    assert len(changed) >= len(stored) / 10
    assert any(one["spec"].get("nodeName") for one in changed)
    assert found["apply without the gate"].pods
    assert found["apply with narrower terms, gated"].pods
    assert found["apply with a toleration"].foretold
    assert found["replace"].foretold
    assert {operation: outcome.first() for operation, outcome in found.items() if outcome.wrong} == {}


def test_each_comparison_shows_what_is_not_applied(policies, tmp_path):
    name = "unapplied"
    policies.plane.namespace(name)
    pods = [applied_pod(Random(f"1/{number}"), f"p{number}") for number in range(SOME)]
    found = dict(Site(policies.plane, name, pods, tmp_path / "site").unapplied())
    policies.plane.delete(f"/api/v1/namespaces/{name}/pods")
    assert {
        operation: (len(one.different), dict(one.refused)) for operation, one in found.items()
    } == dict.fromkeys(found, (SOME, {}))
