"""examples/kopf_operator.py, run by kopf against a real API server."""

import json
from typing import Any

import pytest

from machine import ROOT

NAMESPACE = "example-kopf"


def deployment(name: str, image: str, **labels: str) -> dict[str, Any]:
    pods = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": pods},
            "template": {
                "metadata": {"labels": pods},
                "spec": {"containers": [{"name": "a", "image": image, "env": [{"name": "A", "value": "1"}]}]},
            },
        },
    }


@pytest.mark.real
def test_labelled_deployments_are_placed_and_others_are_not(control_plane, started):
    control_plane.namespace(NAMESPACE)
    words = ["--standalone", "--namespace", NAMESPACE, ROOT / "examples" / "kopf_operator.py"]
    said = started("kopf", "-m", "kopf", "run", *words, KUBECONFIG=str(control_plane.kubeconfig))
    label = {"place": "by-architecture"}
    objects = [
        deployment("amd", "amd.example/app:1", **label),
        deployment("every", "nginx:1.27", **label),
        deployment("other", "amd.example/app:1"),
        deployment("wrong", "amd.example/APP:1", **label),
    ]
    control_plane.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def spec(name: str) -> dict[str, Any]:
        found = control_plane.get(f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{name}")
        inner: dict[str, Any] = found["spec"]["template"]["spec"]
        return inner

    control_plane.until("amd has its affinity", lambda: "affinity" in spec("amd"))
    control_plane.until("every has its toleration", lambda: "tolerations" in spec("every"))
    control_plane.until("the error is said", lambda: "APP:1" in said.read_text(encoding="utf-8"))
    assert [
        sorted({"affinity", "tolerations"} & set(spec(name))) for name in ("amd", "every", "other", "wrong")
    ] == [["affinity"], ["tolerations"], [], []]
    assert spec("amd")["containers"][0]["env"] == [{"name": "A", "value": "1"}]
    assert "Traceback" not in said.read_text(encoding="utf-8")
