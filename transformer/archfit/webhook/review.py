"""An AdmissionReview as the API server sends it, read strictly, and its response.

    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
     "request": {"uid": .., "resource": {"group": "", "version": "v1", "resource": "pods"}, "operation": "CREATE",
                 "namespace": .., "dryRun": .., "object": {..}}}

Anything but the creation of a Pod is allowed as it is; what is wrong is answered with HTTP status 400. The namespace of
the request counts, as the Pod of a controller may not repeat it.
Source: k8s.io/api/admission/v1, types.go; k8s.io/apiserver, pkg/admission/plugin/webhook/request/admissionreview.go.

`pod_extract` is the part of a Pod that a decision can read, so that the rest is neither converted nor compared. Left
out is what differs from one replica to the next and never counts: uid, creationTimestamp, the times of managedFields,
the random name of the token's volume. So all replicas of a controller have the same extract. A test compares the
decisions for whole Pods with those for their extracts.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from archfit.base.errors import ArchfitError
from archfit.startup.record import Record
from archfit.webhook.memory_budget import weight
from archfit.webhook.request_fields import request_extract
from archfit.yaml.values import mapping_of

_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences")
_CONTAINER = ("name", "image", "imagePullPolicy")


def pod_extract(value: dict[str, Any]) -> dict[str, Any]:
    """The extract of a Pod that was decoded from JSON; parts of it are shared with `value`."""
    extract = {"apiVersion": value.get("apiVersion"), "kind": value.get("kind")}
    metadata, spec = value.get("metadata"), value.get("spec")
    if isinstance(metadata, dict):
        request = request_extract(value)
        source = {"managedFields": request} if request else {}
        extract["metadata"] = {**{key: metadata[key] for key in _METADATA if key in metadata}, **source}
    if isinstance(spec, dict):
        extract["spec"] = spec = {**spec}
        spec.pop("ephemeralContainers", None)
        for field in ("containers", "initContainers"):
            if isinstance(spec.get(field), list):
                spec[field] = [_members(container, _CONTAINER) for container in spec[field]]
        if isinstance(spec.get("volumes"), list):
            # Any other than an image volume is {}, so that indices stay.
            spec["volumes"] = [
                _members(volume, ("name", "image") if "image" in mapping_of(volume) else ())
                for volume in spec["volumes"]
            ]
    return extract


def _members(value: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in names if key in value}


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

NO_MEMORY = "the server has no memory for its review now (--memory-limit)"
NO_TIME = "too many large pods are decided now: create it again later"
_TOO_MANY_VALUES = f"it has more than {MOST_VALUES:,} values in what archfit reads"


class BadReview(ArchfitError):
    """The request is answered with an HTTP status of its own. status: that."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Undecided(ArchfitError):
    """The Pod is admitted as it is. uid: of the review, "" where it is not known. warning: for who creates the Pod."""

    def __init__(self, why: str, uid: str = "") -> None:
        super().__init__(why)
        self.uid = uid
        self.warning = f"archfit: the pod is admitted as it is: {why}"


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
    uid = _UID(beginning, 0, _UID_BYTES)
    return uid[1].decode() if uid else ""


def read_review(body: bytes) -> Review:
    """The request in the body of an HTTP request. Raises BadReview, Undecided."""
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
        raise Undecided(_TOO_MANY_VALUES, uid)
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
    patched = {"patchType": "JSONPatch", "patch": b64encode(_json(patch).encode()).decode()} if patch else {}
    return _members_of({"allowed": True, **patched}, warnings)


def denied(message: str, warnings: Sequence[str] = ()) -> str:
    """The members of a response after its uid, for a Pod that is refused."""
    status = {"code": 403, "reason": "Forbidden", "message": message}
    return _members_of({"allowed": False, "status": status}, warnings)


def _members_of(answer: dict[str, object], warnings: Sequence[str]) -> str:
    return _json({**answer, **({"warnings": list(warnings)} if warnings else {})})[1:-1]


def response(uid: str, members: str) -> bytes:
    """The whole response. members: of `allowed` or `denied`."""
    return f"{_HEAD}{json.dumps(uid)},{members}}}}}".encode()


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
