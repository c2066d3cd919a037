"""The tests' control plane does what the other tests of this folder build on: policies act, and pods are placed."""

from __future__ import annotations

import json

import pytest

from control_plane import Refused, pod_in

NAME = "first.tests.archfit.dev"
POLICY = [
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "first"}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ],
            },
            "variables": [{"name": "table", "expression": '{"quay.io/team/arm:1": "arm64"}'}],
            "mutations": [
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {
                        "expression": "object.spec.containers.all(c, c.image in variables.table)"
                        ' ? [JSONPatch{op: "add", path: "/spec/nodeSelector", value: '
                        '{"kubernetes.io/arch": variables.table[object.spec.containers[0].image]}}] : []'
                    },
                }
            ],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME},
    },
]


def pod(name, image, namespace="first"):
    return pod_in(namespace, image, metadata={"name": name})


@pytest.fixture
def policy(control_plane):
    plane = control_plane
    plane.namespace("first")
    plane.apply("\n---\n".join(map(json.dumps, POLICY)))
    probe = pod("probe", "quay.io/team/arm:1")
    plane.until("the policy acts", lambda: "nodeSelector" in plane.dry(probe)["spec"])
    yield plane
    for kind in ("mutatingadmissionpolicybindings", "mutatingadmissionpolicies"):
        plane.delete(f"/apis/admissionregistration.k8s.io/v1/{kind}/{NAME}")
    plane.until("the policy is gone", lambda: "nodeSelector" not in plane.dry(probe)["spec"])


def test_a_policy_changes_a_pod_and_the_scheduler_obeys(policy):
    for node, architecture in (("first-amd", "amd64"), ("first-arm", "arm64")):
        policy.node(node, architecture)
    for name, image in (("arm", "quay.io/team/arm:1"), ("other", "quay.io/team/other:1")):
        made = policy.create(pod(name, image))
        assert made["spec"].get("nodeSelector") == (
            {"kubernetes.io/arch": "arm64"} if name == "arm" else None
        )
    with policy.scheduler():
        placed = policy.placed("first")
    assert placed["arm"] == "first-arm"
    assert placed["other"] in {"first-amd", "first-arm"}
    for name in placed:
        policy.delete(f"/api/v1/namespaces/first/pods/{name}")
    for node in ("first-amd", "first-arm"):
        policy.delete(f"/api/v1/nodes/{node}")


def test_a_refusal_has_the_words_of_the_api_server(control_plane):
    control_plane.namespace("first")
    values = [pod("good", "nginx"), pod("Bad_Name", "nginx")]
    good, bad = control_plane.dry_all(values)
    assert good["spec"]["schedulerName"] == "default-scheduler"
    assert isinstance(bad, Refused)
    assert (bad.status, "Bad_Name" in str(bad)) == (422, True)
    assert control_plane.get("/api/v1/namespaces/first/pods")["items"] == []
