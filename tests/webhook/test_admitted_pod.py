"""A Pod at admission differs from a Pod in a stream: it is new, and its owner does not decide for it."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

from typing import Any

import pytest

from archfit.base.errors import InvalidInput
from archfit.options.settings import Options
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from pod_decisions import answers

OPTIONS = at_admission(Options())
KNOWN = answers({"app:1": "amd64", "both:1": "amd64 arm64"})


def pod(image: str = "app:1", spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    made = {"containers": [{"name": "app", "image": image, "ports": [{"containerPort": 80}]}], **(spec or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": made}


def owner(kind: str, *, controller: bool = True) -> list[dict[str, Any]]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "1", "controller": controller}]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        pytest.param(pod(generateName="web-"), "Change", id="generated name"),
        pytest.param(pod(name="web"), "Change", id="a name does not make it immutable"),
        pytest.param(pod("both:1", name="web"), "Change", id="so that it gets all that it can use"),
        pytest.param(pod(ownerReferences=owner("ReplicaSet")), "Change", id="a ReplicaSet's pod is decided"),
        pytest.param(pod(ownerReferences=owner("Job")), "Change", id="a Job's pod is decided"),
        pytest.param(pod(ownerReferences=owner("DaemonSet")), "OptedOut", id="a DaemonSet's pod is left alone"),
        pytest.param(pod(ownerReferences=owner("DaemonSet", controller=False)), "Change", id="an owner that controls nothing"),
        pytest.param(pod(annotations={"kubernetes.io/config.mirror": "5d0"}), "OptedOut", id="a mirror pod is left alone"),
        pytest.param(pod(annotations={"archfit.dev/skip": "true"}), "OptedOut", id="skip"),
        pytest.param(pod(spec={"nodeName": "n1"}), "OptedOut", id="bound already"),
    ],
)  # fmt: skip
def test_the_decision_at_admission(value: dict[str, Any], outcome: str):
    admitted = admitted_pod(value, "shop", OPTIONS)
    assert admitted.decide(KNOWN, OPTIONS).outcome == outcome


def test_the_namespace_is_that_of_the_request():
    assert admitted_pod(pod(), "shop", OPTIONS).pod.ref.namespace == "shop"


def test_a_pod_that_is_left_alone_asks_nothing():
    assert admitted_pod(pod(spec={"nodeName": "n1"}), "shop", OPTIONS).questions == ()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({}, id="empty"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, id="no spec"),
        pytest.param({**pod(), "kind": "Service"}, id="another kind"),
        pytest.param({**pod(), "apiVersion": "example.com/v1"}, id="another group"),
        pytest.param({"apiVersion": "v1", "kind": "PodList", "items": [pod()]}, id="a list"),
    ],
)
def test_what_is_no_pod_is_refused(value: dict[str, Any]):
    with pytest.raises(InvalidInput, match="not a v1 Pod"):
        admitted_pod(value, "shop", OPTIONS)
