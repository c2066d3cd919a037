"""The companion policy: what it says, what it needs of the policy, and that its messages stay short."""

# ruff: noqa: E501 - a row of a table is a line

from __future__ import annotations

from typing import Any

import pytest

from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.cel.validating_policy import validating_policy_objects
from pod_decisions import found

IMAGES = {"docker.io/library/both:1": found("amd64 arm64")}


def companion(**settings: Any) -> list[dict[str, Any]]:
    chosen = PolicySettings(**settings)
    return validating_policy_objects(policy_objects(IMAGES, Options(), chosen), chosen)


SORTS = {
    "variables.unknownImages.size() == 0": "unknown",
    "!variables.conflict": "nowhere",
    "!('f:required": "own terms",
    "variables.newItems.size() ==": "late",
    "!(has(params.metadata": "old",
}


def sorts(policy: dict[str, Any]) -> list[str]:
    """What each validation is about."""
    return [
        next(sort for start, sort in SORTS.items() if one["expression"].startswith(start))
        for one in policy["spec"]["validations"]
    ]


@pytest.mark.parametrize(
    ("settings", "warned", "refused"),
    [
        pytest.param({}, ["unknown", "nowhere", "own terms", "late", "old"], [], id="none"),
        pytest.param({"deny": True}, ["unknown", "late", "old"], ["nowhere", "own terms"], id="nowhere"),
        pytest.param({"late_changes": "deny"}, ["unknown", "nowhere", "own terms", "old"], ["late"], id="late"),
        pytest.param({"deny": True, "late_changes": "deny"}, ["unknown", "old"], ["nowhere", "own terms", "late"], id="both"),
        pytest.param({"max_age": 0}, ["unknown", "nowhere", "own terms", "late"], [], id="no-age"),
    ],
)  # fmt: skip
def test_what_is_refused_is_not_warned_of_and_nothing_else_is_refused(
    settings: Any, warned: list[str], refused: list[str]
):
    objects = companion(**settings)
    policies = [one for one in objects if one["kind"] == "ValidatingAdmissionPolicy"]
    bindings = {one["metadata"]["name"]: one["spec"] for one in objects if one not in policies}
    assert {one["metadata"]["name"]: sorts(one) for one in policies} == {
        "archfit.dev": warned,
        **({"archfit.dev-deny": refused} if refused else {}),
    }
    assert bindings["archfit.dev"]["validationActions"] == ["Warn", "Audit"]
    assert {one["spec"]["failurePolicy"] for one in policies} == {"Ignore"}
    assert all(spec["policyName"] == name for name, spec in bindings.items())
    assert not refused or bindings["archfit.dev-deny"]["validationActions"] == ["Deny"]


def test_the_date_changes_bindings_and_the_table_alone_which_cost_no_compilation():
    for carrier in ("literal", "crd"):
        settings = PolicySettings(carrier=carrier, deny=True)
        plain = policy_objects(IMAGES, Options(), settings)
        plain += validating_policy_objects(plain, settings)
        settings = settings.replace(date="2026-11-23T06:17:00Z")
        made = policy_objects(IMAGES, Options(), settings)
        made += validating_policy_objects(made, settings)
        dated = {
            one["kind"]: one["metadata"]["annotations"] for one in made if "annotations" in one["metadata"]
        }
        assert all(one == {"archfit.dev/date": "2026-11-23T06:17:00Z"} for one in dated.values())
        expected = {"MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"}
        assert set(dated) == expected | ({"PlatformTable"} if carrier == "crd" else set())
        for one in made:
            one["metadata"].pop("annotations", None)
        assert made == plain
