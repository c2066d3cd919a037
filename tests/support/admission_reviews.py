"""AdmissionReviews as the API server sends them, and what comes back, decoded.

review(pod("app:1"))                          the review, as a value
review(pod(), operation="DELETE", uid="u2")   members of the request
applied(pod("app:1"), "kubectl apply")        a Pod that somebody applies, by one of APPLYING
decoded(body)                                 Answered(uid, allowed, patch, warnings, status)
"""

import base64
import copy
import json
from typing import Any, NamedTuple

from archfit.options.settings import REQUIRED
from archfit.webhook.added_record import NAME

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


REQUESTED: dict[str, Any] = {"fieldsV1": {"f:metadata": {"f:annotations": {f"f:{NAME}": {}}}}}
"""An entry of managedFields: the record came with the request."""
NOT_REQUESTED: dict[str, Any] = {"fieldsV1": {"f:metadata": {}}}
APPLYING = {
    "server-side apply": ("Apply", ""),
    "kubectl apply": ("Update", "kubectl.kubernetes.io/last-applied-configuration"),
    "helm": ("Update", "meta.helm.sh/release-name"),
}


def applied(value: dict[str, Any], way: str) -> dict[str, Any]:
    """The Pod as the API server has it before admission: the mark of the way, and managedFields of what it states."""
    operation, mark = APPLYING[way]
    made = copy.deepcopy(value)
    if mark:
        made["metadata"].setdefault("annotations", {})[mark] = "x"
    fields = {f"f:{part}": _fields(made[part]) for part in ("metadata", "spec")}
    made["metadata"]["managedFields"] = [
        {"manager": "kubectl", "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    ]  # fmt: skip
    return made


def _fields(value: Any) -> dict[str, Any]:
    """Of lists and of the required set, which is atomic too, that it is there."""
    if not isinstance(value, dict):
        return {}
    return {f"f:{key}": {} if key == REQUIRED else _fields(member) for key, member in value.items()}


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
