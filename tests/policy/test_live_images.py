"""The images that a cluster uses, without those of pods that the policy leaves alone."""

from typing import Any

import pytest

from archfit.policy.images import live_images


def pod(image: str, name: str = "web", **metadata: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "a", "image": image}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def owned(kind: str) -> list[dict[str, Any]]:
    return [{"kind": kind, "name": "x", "controller": True}]


def test_each_image_comes_once_with_the_first_that_names_it():
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop", "namespace": "prod"},
        "spec": {
            "template": {
                "spec": {**pod("app:1")["spec"], "initContainers": [{"name": "i", "image": "init:1"}]}
            }
        },
    }
    found = live_images([deployment, pod("app:1"), pod("other:1"), pod("init:1")])
    assert [(one.text, one.owner, one.field) for one in found] == [
        ("app:1", ("apps/v1", "Deployment", "prod", "shop"), "spec.template.spec.containers[0].image"),
        ("init:1", ("apps/v1", "Deployment", "prod", "shop"), "spec.template.spec.initContainers[0].image"),
        ("other:1", ("v1", "Pod", "", "web"), "spec.containers[0].image"),
    ]


def never(image: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "a", "image": image, "imagePullPolicy": "Never"}]}
    return {**pod(image), "spec": spec}


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        pytest.param(pod("a:1", ownerReferences=owned("ReplicaSet")), True, id="of a controller"),
        pytest.param(pod("a:1", ownerReferences=owned("Kafka")), True, id="of an operator"),
        pytest.param(pod("a:1", ownerReferences=owned("DaemonSet")), False, id="of a DaemonSet"),
        pytest.param(pod("a:1", annotations={"kubernetes.io/config.mirror": "1"}), False, id="of a kubelet"),
        pytest.param(pod("a:1", annotations={"archfit.dev/skip": "true"}), True, id="skipped here, used elsewhere"),
        pytest.param({**pod("a:1"), "status": {"phase": "Running"}}, True, id="it runs"),
        pytest.param({**pod("a:1"), "status": {"phase": "Pending"}}, True, id="it waits"),
        pytest.param({**pod("a:1"), "status": {"phase": "Succeeded"}}, False, id="it has ended"),
        pytest.param({**pod("a:1"), "status": {"phase": "Failed"}}, False, id="it has failed"),
        pytest.param(never("a:1"), False, id="never pulled"),
        pytest.param(pod("$(image)"), False, id="a placeholder"),
        pytest.param(pod(""), False, id="empty"),
        pytest.param(pod("Upper/Case:1"), False, id="no reference"),
    ],
)  # fmt: skip
def test_an_image_counts_where_the_policy_may_meet_it(value, counts):
    assert bool(live_images([value])) is counts


def deployment(image: str, namespace: str) -> dict[str, Any]:
    metadata = {"name": image.partition(":")[0], "namespace": namespace}
    template = {"spec": pod(image)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"template": template},
    }


def running(image: str, namespace: str) -> dict[str, Any]:
    return {**pod(image, namespace=namespace), "status": {"phase": "Running"}}


def test_what_runs_comes_before_what_is_only_named_and_each_namespace_has_its_turn():
    flood = [deployment(f"a{n:04}:1", "hostile") for n in range(1_000)]
    twice = [running(f"b{n}:1", "hostile") for n in range(3)] + [
        running("y:1", "shop"),
        running("z:1", "shop"),
    ]
    objects = [*flood, *twice, running("top:1", "shop"), running("top:1", "web"), deployment("x:1", "shop")]
    names = [one.text for one in live_images(objects)]
    assert names[:6] == ["top:1", "b0:1", "y:1", "b1:1", "z:1", "b2:1"]
    assert names[6:8] == ["a0000:1", "x:1"]
    assert [one.text for one in live_images(reversed(objects))] == names
