"""The companion policy: what it says, what it needs of the policy, and that its messages stay short."""

from __future__ import annotations

import re
from typing import Any

import pytest

from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.cel.validating_policy import LONGEST_WARNING, needed, validating_policy_objects
from pod_decisions import found

IMAGES = {"docker.io/library/both:1": found("amd64 arm64")}


def companion(**settings: Any) -> list[dict[str, Any]]:
    chosen = PolicySettings(**settings)
    return validating_policy_objects(policy_objects(IMAGES, Options(), chosen), chosen)


def test_it_warns_and_audits_and_is_bound():
    policy, binding = companion()
    assert (policy["kind"], binding["kind"]) == (
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    )
    assert policy["metadata"]["name"] == binding["metadata"]["name"] == binding["spec"]["policyName"]
    assert binding["spec"]["validationActions"] == ["Warn", "Audit"]
    assert policy["spec"]["failurePolicy"] == "Ignore"
    assert sorts(policy) == ["unknown", "nowhere", "own terms", "late", "old"]


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
        pytest.param(
            {"late_changes": "deny"}, ["unknown", "nowhere", "own terms", "old"], ["late"], id="late"
        ),
        pytest.param(
            {"deny": True, "late_changes": "deny"},
            ["unknown", "old"],
            ["nowhere", "own terms", "late"],
            id="both",
        ),
        pytest.param({"max_age": 0}, ["unknown", "nowhere", "own terms", "late"], [], id="no-age"),
    ],
)
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


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_it_is_about_the_same_pods_and_reads_the_same_table(carrier: Any):
    settings = PolicySettings(
        carrier=carrier, namespace_selector=({"key": "team", "operator": "Exists"},), api_version="v1beta1"
    )
    objects = policy_objects(IMAGES, Options(), settings)
    mutating = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
    bound = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicyBinding")
    policy, binding = validating_policy_objects(objects, settings)
    for key in ("namespaceSelector", "objectSelector"):
        assert policy["spec"]["matchConstraints"][key] == mutating["spec"]["matchConstraints"][key]
    assert policy["spec"]["matchConditions"] == mutating["spec"]["matchConditions"]
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert (rule["resources"], rule["operations"]) == (["pods"], ["CREATE"])
    assert {policy["apiVersion"], binding["apiVersion"]} == {"admissionregistration.k8s.io/v1"}
    # Without its parameter it says nothing.
    assert binding["spec"]["paramRef"] == {"name": "archfit.dev", "parameterNotFoundAction": "Allow"}
    if carrier == "crd":
        assert policy["spec"]["paramKind"] == mutating["spec"]["paramKind"]
        assert binding["spec"]["paramRef"] == bound["spec"]["paramRef"]
    else:
        assert policy["spec"]["paramKind"] == {key: bound[key] for key in ("apiVersion", "kind")}


def test_only_variables_that_it_needs_are_there_in_their_order():
    policy, _ = companion()
    mutating = policy_objects(IMAGES, Options(), PolicySettings())[0]
    names = [one["name"] for one in policy["spec"]["variables"]]
    every = [one["name"] for one in mutating["spec"]["variables"]]
    assert names == [name for name in every if name in names]
    assert len(names) < len(every)
    text = " ".join(
        [
            *(one["expression"] for one in policy["spec"]["variables"]),
            *(value for one in policy["spec"]["validations"] for value in one.values()),
        ]
    )
    assert set(re.findall(r"variables\.(\w+)", text)) == set(names)
    assert "JSONPatch" not in text


def test_variables_that_others_need_are_kept():
    variables = [
        {"name": name, "expression": text} for name, text in (("a", "1"), ("b", "variables.a"), ("c", "2"))
    ]
    assert [one["name"] for one in needed(variables, [{"expression": "variables.b > 0"}])] == ["a", "b"]


@pytest.mark.parametrize("name", ["archfit.dev", "a" * 60, "a" * 200], ids=["usual", "long", "longest"])
def test_a_message_has_room_for_an_image(name: str):
    policy, _ = companion(name=name)
    for one in policy["spec"]["validations"]:
        if "size() > " not in one["messageExpression"]:
            continue
        longest = max(map(int, re.findall(r"size\(\) > (\d+)", one["messageExpression"])))
        texts = re.findall(r"'([^']*)'", one["messageExpression"])
        fixed = sum(len(text) for text in texts if text not in {"..", ", "})  # those are part of the image
        prefix = f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}': "
        assert longest >= 24
        assert len(prefix) + fixed + longest <= LONGEST_WARNING or longest == 24
