"""AdmissionReviews as the API server sends them, and what comes back, decoded.

review(pod("app:1"))                          the review, as a value
review(pod(), operation="UPDATE", uid="u2")   members of the request
decoded(body)                                 Answered(uid, allowed, patch, warnings, status)
"""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple

PODS = {"group": "", "version": "v1", "resource": "pods"}


def pod(*images: str, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """A Pod of these images, with what an API server has added to it."""
    containers = [
        {
            "name": f"c{number}",
            "image": image,
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "env": [{"name": "TOKEN", "value": "hush-4711"}],
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "imagePullPolicy": "IfNotPresent",
        }
        for number, image in enumerate(images or ("app:1",))
    ]
    made = {
        "containers": containers,
        "volumes": [{"name": "kube-api-access-x7", "projected": {"sources": [], "defaultMode": 420}}],
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        **(spec or {}),
    }
    metadata = metadata or {"generateName": "web-5d4f-"}
    extra = {"uid": "0b1c", "creationTimestamp": None, "managedFields": [{"manager": "kubectl"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**extra, **metadata}, "spec": made, "status": {}}


def review(value: dict[str, Any] | None, **request: Any) -> dict[str, Any]:
    """The review of a Pod's creation in the namespace `shop`."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": PODS,
            "namespace": "shop",
            "operation": "CREATE",
            "userInfo": {"username": "kubernetes-admin", "groups": ["system:authenticated"]},
            "object": value,
            "oldObject": None,
            "dryRun": False,
            **request,
        },
    }


def body(value: object) -> bytes:
    return json.dumps(value).encode()


class Answered(NamedTuple):
    """A response. patch: the operations, None where the response has none."""

    uid: str
    allowed: bool
    patch: list[dict[str, Any]] | None
    warnings: list[str]
    status: dict[str, Any]


def decoded(text: bytes) -> Answered:
    """What the API server reads. Raises AssertionError for a response that it refuses."""
    value = json.loads(text)
    assert (value["apiVersion"], value["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    found = value["response"]
    assert ("patch" in found) == ("patchType" in found)
    assert found.get("patchType", "JSONPatch") == "JSONPatch"
    patch = json.loads(base64.b64decode(found["patch"], validate=True)) if "patch" in found else None
    return Answered(found["uid"], found["allowed"], patch, found.get("warnings", []), found.get("status", {}))
