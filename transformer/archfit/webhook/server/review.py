"""An AdmissionReview as the API server sends it, read strictly, and its response.

    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
     "request": {"uid": .., "resource": {"group": "", "version": "v1", "resource": "pods"}, "operation": "CREATE",
                 "namespace": .., "dryRun": .., "object": {..}}}

    {"apiVersion": .., "kind": .., "response": {"uid": .., "allowed": true}}                         nothing changes
    .. "allowed": true, "patchType": "JSONPatch", "patch": BASE64 of an RFC 6902 patch               both or neither
    .. "allowed": true, "warnings": ["..", ..]
    .. "allowed": false, "status": {"code": 403, "reason": "Forbidden", "message": ".."}

    what is wrong                                          HTTP status
    no JSON, no object, no AdmissionReview of v1           400
    no request, no uid; no Pod where one is created        400
    anything but the creation of a Pod                     none: it is allowed as it is
    a subresource of a Pod                                 none: it is allowed as it is

The namespace of the request counts, as the Pod of a controller may not repeat it. The name of a Pod with generateName
is empty: the API server makes it after admission.
Source: k8s.io/api/admission/v1, types.go; k8s.io/apiserver, pkg/admission/plugin/webhook/request/admissionreview.go.

`pod_extract` is the part of a Pod that a decision can read, so that the rest is neither converted nor compared.

    metadata               name, generateName, namespace, labels, annotations, ownerReferences;
                           of managedFields what `admission.request_fields` reads, where that can count
    spec.containers[],     name, image, imagePullPolicy
      initContainers[]
    spec.volumes[]         name and image of an image volume; {} for any other, so that indices stay
    spec.*                 everything else

Left out is what differs from one replica to the next and never counts: uid, creationTimestamp, the times of
managedFields, the random name of the token's volume. So all replicas of a controller have the same extract. A test
compares the decisions for whole Pods with those for their extracts.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from archfit.admission.request_fields import request_extract
from archfit.base.errors import ArchfitError
from archfit.startup.record import Record
from archfit.webhook.server.memory_budget import weight
from archfit.yaml.values import mapping_of

_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences")
_CONTAINER = ("name", "image", "imagePullPolicy")


def pod_extract(value: dict[str, Any]) -> dict[str, Any]:
    """The extract of a Pod that was decoded from JSON; parts of it are shared with `value`."""
    made = {"apiVersion": value.get("apiVersion"), "kind": value.get("kind")}
    metadata, spec = value.get("metadata"), value.get("spec")
    if isinstance(metadata, dict):
        request = request_extract(value)
        source = {"managedFields": request} if request else {}
        made["metadata"] = {**{key: metadata[key] for key in _METADATA if key in metadata}, **source}
    if isinstance(spec, dict):
        made["spec"] = spec = {**spec}
        spec.pop("ephemeralContainers", None)
        for field in ("containers", "initContainers"):
            if isinstance(spec.get(field), list):
                spec[field] = [_container(one) for one in spec[field]]
        if isinstance(spec.get("volumes"), list):
            spec["volumes"] = [_volume(one) for one in spec["volumes"]]
    return made


def _container(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in _CONTAINER if key in value}


def _volume(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in ("name", "image") if key in value} if "image" in value else {}


VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
_PODS = ("", "v1", "pods")
_HEAD = f'{{"apiVersion":"{VERSION}","kind":"{KIND}","response":{{"uid":'
_LONGEST_UID = 256
MOST_VALUES = 5_000
_SMALL = 16 * 1024
"""Bytes of a body that cannot hold so many."""
# As Go writes a review: its request is the third member, and the uid the request's first.
_UID = re.compile(rb'"request"\s*:\s*\{\s*"uid"\s*:\s*"([!#-\[\]-~]{1,256})"').search
_UID_BYTES = 4096
# What one byte, one opening bracket and one comma or colon may become, in json.loads and in the decision.
_TEXT_COST, _WIDE_COST, _OBJECT_COST, _LIST_COST, _MEMBER_COST = 3, 6, 750, 250, 180


class BadReview(ArchfitError):
    """The request is answered with an HTTP status of its own. status: that."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class TooManyValues(ArchfitError):
    """The part of a Pod that a decision reads has more values than any Pod needs. uid: of the request."""

    def __init__(self, uid: str) -> None:
        super().__init__(f"the pod has more than {MOST_VALUES:,} values in what archfit reads")
        self.uid = uid


class Review(Record):
    """One request.

    name: of the Pod as a person finds it in a log, generateName where it has no name yet. pod: the part of the Pod that
    a decision reads (`pod_extract`); None where nothing has to be decided.
    """

    uid: str
    namespace: str
    name: str
    dry_run: bool
    pod: dict[str, Any] | None


def decoded_bytes(body: bytes) -> int:
    """How much memory a body takes while it is decoded and decided, at most, counted without decoding it.

    What stands in strings is counted, too. 4 MiB of `{},{},..` take a gigabyte.
    """
    members = body.count(b",") + body.count(b":")
    return (
        len(body) * (_TEXT_COST if body.isascii() else _WIDE_COST)
        + body.count(b"{") * _OBJECT_COST
        + body.count(b"[") * _LIST_COST
        + members * _MEMBER_COST
    )


def uid_of(beginning: bytes) -> str:
    """The uid of a review that is not decoded, from its first bytes; "" where it does not stand where Go writes it."""
    found = _UID(beginning, 0, _UID_BYTES)
    return found[1].decode() if found else ""


def read_review(body: bytes) -> Review:
    """The request in the body of an HTTP request. Raises BadReview, TooManyValues."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise BadReview("the body is not JSON") from None
    if not isinstance(document, dict):
        raise BadReview("the body is not a JSON object")
    version, kind = document.get("apiVersion"), document.get("kind")
    if kind != KIND or not isinstance(version, str):
        raise BadReview(f"the body is not an {KIND} of {VERSION}")
    if version != VERSION:
        raise BadReview(
            f"this is not {VERSION}: set admissionReviewVersions: [v1] in the webhook configuration"
        )
    request = document.get("request")
    if not isinstance(request, dict):
        raise BadReview(f"the {KIND} has no request")
    uid = request.get("uid")
    if not isinstance(uid, str) or not 0 < len(uid) <= _LONGEST_UID:
        raise BadReview("the request has no uid")
    pod = _pod(request)
    if len(body) > _SMALL and weight(pod)[0] > MOST_VALUES:
        raise TooManyValues(uid)
    namespace = request.get("namespace")
    metadata = mapping_of((pod or {}).get("metadata"))
    names = (request.get("name"), metadata.get("name"), metadata.get("generateName"))
    return Review(
        uid,
        namespace if isinstance(namespace, str) else "",
        next((name for name in names if isinstance(name, str) and name), ""),
        request.get("dryRun") is True,
        pod,
    )


def _pod(request: Mapping[str, Any]) -> dict[str, Any] | None:
    resource = mapping_of(request.get("resource"))
    named = tuple(resource.get(part) for part in ("group", "version", "resource"))
    if named != _PODS or request.get("subResource") or request.get("operation") != "CREATE":
        return None
    value = request.get("object")
    if not isinstance(value, dict):
        raise BadReview("the request has no object")
    if (value.get("apiVersion"), value.get("kind")) != ("v1", "Pod") or not isinstance(
        value.get("spec"), dict
    ):
        raise BadReview("the object is not a v1 Pod with a spec")
    return pod_extract(value)


def allowed(patch: Sequence[Mapping[str, Any]] = (), warnings: Sequence[str] = ()) -> str:
    """The members of a response after its uid, for a Pod that is admitted. patch: RFC 6902."""
    members: dict[str, object] = {"allowed": True}
    if patch:
        members["patchType"] = "JSONPatch"
        members["patch"] = b64encode(_json(patch).encode()).decode()
    if warnings:
        members["warnings"] = list(warnings)
    return _json(members)[1:-1]


def denied(message: str, warnings: Sequence[str] = ()) -> str:
    """The members of a response after its uid, for a Pod that is refused."""
    status = {"code": 403, "reason": "Forbidden", "message": message}
    members: dict[str, object] = {"allowed": False, "status": status}
    if warnings:
        members["warnings"] = list(warnings)
    return _json(members)[1:-1]


def response(uid: str, members: str) -> bytes:
    """The whole response. members: of `allowed` or `denied`."""
    return f"{_HEAD}{json.dumps(uid)},{members}}}}}".encode()


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
