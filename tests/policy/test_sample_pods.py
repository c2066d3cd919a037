"""The pods that a dry run sends: as a controller makes them, without what may be secret or missing in the cluster."""

import json
from typing import Any

import pytest

from archfit.options.settings import Options
from archfit.pipeline import scan
from archfit.policy.installed.dry_run import SamplePod, sample_pods
from archfit.yaml import stream

SPEC = {
    "serviceAccountName": "web",
    "priorityClassName": "high",
    "nodeSelector": {"disk": "ssd"},
    "containers": [
        {
            "name": "a",
            "image": "app:1",
            "env": [{"name": "PASSWORD", "value": "secret"}],
            "command": ["secret"],
            "args": ["secret"],
            "ports": [{"containerPort": 80}],
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        }
    ],
    "initContainers": [{"name": "b", "image": "init:1", "envFrom": [{"secretRef": {"name": "secret"}}]}],
}
TEMPLATE = {
    "metadata": {"labels": {"app": "web"}, "annotations": {"archfit.dev/only": "amd64"}},
    "spec": SPEC,
}


def an_object(kind: str, spec: Any, version: str = "apps/v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "web", **metadata}, "spec": spec}


def pods(*values: dict[str, Any]) -> list[SamplePod]:
    data = "\n---\n".join(map(json.dumps, values)).encode()
    read = stream.read_stream(data, "fail")
    return sample_pods(scan(read.data, read.pieces, Options()).documents)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(an_object("Deployment", {"template": TEMPLATE}), id="Deployment"),
        pytest.param(an_object("StatefulSet", {"template": TEMPLATE}), id="StatefulSet"),
        pytest.param(an_object("ReplicaSet", {"template": TEMPLATE}), id="ReplicaSet"),
        pytest.param(an_object("Job", {"template": TEMPLATE}, "batch/v1"), id="Job"),
        pytest.param(an_object("CronJob", {"jobTemplate": {"spec": {"template": TEMPLATE}}}, "batch/v1"), id="CronJob"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", **TEMPLATE, "metadata": {**TEMPLATE["metadata"], "name": "x"}}, id="Pod"),
        pytest.param({"apiVersion": "v1", "kind": "List", "items": [an_object("Deployment", {"template": TEMPLATE})]}, id="in a list"),
    ],
)  # fmt: skip
def test_a_pod_is_its_template(value):
    (pod,) = pods(value)
    assert pod.value == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "archfit-check-0-", **TEMPLATE["metadata"]},
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "containers": [{"name": "a", "image": "app:1", "ports": [{"containerPort": 80}]}],
            "initContainers": [{"name": "b", "image": "init:1"}],
            "automountServiceAccountToken": False,
        },
    }


def test_the_copy_of_the_object_that_kubectl_keeps_is_not_sent():
    value = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": SPEC}
    value["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(value)}
    (pod,) = pods(value)
    assert "secret" not in json.dumps(pod.value)


def test_a_namespace_is_kept_and_names_are_numbered():
    one = an_object("Deployment", {"template": TEMPLATE}, namespace="shop")
    first, second = pods(one, one)
    assert first.value
    assert second.value
    assert first.value["metadata"]["namespace"] == "shop"
    assert second.value["metadata"]["generateName"] == "archfit-check-1-"


def test_a_daemon_set_controls_its_pod():
    (pod,) = pods(an_object("DaemonSet", {"template": TEMPLATE}))
    assert pod.value
    (owner,) = pod.value["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("DaemonSet", "web", True)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(an_object("Rollout", {"template": TEMPLATE}, "argoproj.io/v1alpha1"), id="an operator's"),
        pytest.param({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}, "template": TEMPLATE}, id="a template alone"),
    ],
)  # fmt: skip
def test_what_makes_no_pod_that_is_known_has_none(value):
    (pod,) = pods(value)
    assert pod.value is None
