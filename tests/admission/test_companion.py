"""The companion policy: what it says, what it needs of the policy, and that its messages stay short."""

from __future__ import annotations

import re
from typing import Any

import pytest

from archfit.admission.policy.companion import LONGEST_WARNING, companion_objects, needed
from archfit.admission.policy.objects import policy_objects
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.options.settings import Options
from pod_decisions import found

IMAGES = {"docker.io/library/both:1": found("amd64 arm64")}


def companion(**settings: Any) -> list[dict[str, Any]]:
    chosen = PolicySettings(**settings)
    return companion_objects(policy_objects(IMAGES, Options(), chosen), chosen)


def test_it_warns_and_audits_and_is_bound():
    policy, binding = companion()
    assert (policy["kind"], binding["kind"]) == (
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    )
    assert policy["metadata"]["name"] == binding["metadata"]["name"] == binding["spec"]["policyName"]
    assert binding["spec"]["validationActions"] == ["Warn", "Audit"]
    assert policy["spec"]["failurePolicy"] == "Ignore"
    unknown, nowhere, late = (one["expression"] for one in policy["spec"]["validations"])
    assert unknown == "variables.unknownImages.size() == 0 || variables.recordedItems.size() > 0"
    assert nowhere == "!variables.conflict"
    assert set(re.findall(r"variables\.(\w+)", late)) == {"foreignRecord", "newItems", "recordedItems"}


def test_deny_is_for_pods_that_no_node_can_run_alone():
    warning, warned, denying, denied = companion(deny=True)
    assert [one["expression"][:25] for one in warning["spec"]["validations"]] == [
        "variables.unknownImages.s",
        "!variables.foreignRecord ",
    ]
    assert warned["spec"]["validationActions"] == ["Warn", "Audit"]
    assert [one["expression"] for one in denying["spec"]["validations"]] == ["!variables.conflict"]
    assert denied["spec"] == {"policyName": "archfit.dev-deny", "validationActions": ["Deny"]}


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_it_is_about_the_same_pods_and_reads_the_same_table(carrier: Any):
    settings = PolicySettings(
        carrier=carrier, namespace_selector=({"key": "team", "operator": "Exists"},), api_version="v1beta1"
    )
    objects = policy_objects(IMAGES, Options(), settings)
    mutating = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
    bound = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicyBinding")
    policy, binding = companion_objects(objects, settings)
    for key in ("matchConditions", "paramKind"):
        assert policy["spec"].get(key) == mutating["spec"].get(key)
    own, theirs = policy["spec"]["matchConstraints"], mutating["spec"]["matchConstraints"]
    assert own["namespaceSelector"] == theirs["namespaceSelector"]
    assert [rule["operations"] for rule in own["resourceRules"]] == [["CREATE"]]
    assert binding["spec"].get("paramRef") == bound["spec"].get("paramRef")
    assert ("paramKind" in policy["spec"]) == (carrier == "crd")
    assert {policy["apiVersion"], binding["apiVersion"]} == {"admissionregistration.k8s.io/v1"}


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
        longest = max(map(int, re.findall(r"size\(\) > (\d+)", one["messageExpression"])))
        texts = re.findall(r"'([^']*)'", one["messageExpression"])
        fixed = sum(len(text) for text in texts if text not in {"..", ", "})  # those are part of the image
        prefix = f"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}': "
        assert longest >= 24
        assert len(prefix) + fixed + longest <= LONGEST_WARNING or longest == 24
