"""An AdmissionReview is read strictly, and its response is one that the API server takes."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import json
from typing import Any

import pytest

from admission_reviews import body, decoded, pod, review
from archfit.webhook.server.review import BadReview, allowed, denied, read_review, response

GOOD = review(pod())


def without(path: str) -> dict[str, Any]:
    made = json.loads(json.dumps(GOOD))
    *above, last = path.split(".")
    holder = made
    for key in above:
        holder = holder[key]
    del holder[last]
    return made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"", "not JSON", id="empty"),
        pytest.param(b"{", "not JSON", id="cut off"),
        pytest.param(b"\xff\xfe{}", "not JSON", id="not UTF-8"),
        pytest.param(b"[" * 100_000, "not JSON", id="nested too deeply"),
        pytest.param(b"1" * 10_000, "not JSON", id="a number that is too long"),
        pytest.param(b"[]", "not a JSON object", id="a list"),
        pytest.param(b"null", "not a JSON object", id="null"),
        pytest.param(body({}), "not an AdmissionReview", id="an empty object"),
        pytest.param(body({**GOOD, "kind": "ConversionReview"}), "not an AdmissionReview", id="another kind"),
        pytest.param(body(without("apiVersion")), "not an AdmissionReview", id="no version"),
        pytest.param(body({**GOOD, "apiVersion": "admission.k8s.io/v1beta1"}), r"admissionReviewVersions: \[v1\]", id="another version"),
        pytest.param(body(without("request")), "has no request", id="no request"),
        pytest.param(body({**GOOD, "request": []}), "has no request", id="a request that is a list"),
        pytest.param(body(without("request.uid")), "has no uid", id="no uid"),
        pytest.param(body(review(pod(), uid="")), "has no uid", id="an empty uid"),
        pytest.param(body(review(pod(), uid=7)), "has no uid", id="a uid that is a number"),
        pytest.param(body(review(pod(), uid="u" * 1000)), "has no uid", id="a huge uid"),
        pytest.param(body(without("request.object")), "has no object", id="no object"),
        pytest.param(body(review(None)), "has no object", id="an object that is null"),
        pytest.param(body(review({**pod(), "kind": "Service"})), "not a v1 Pod", id="an object of another kind"),
        pytest.param(body(review({**pod(), "spec": None})), "not a v1 Pod", id="a Pod without spec"),
    ],
)  # fmt: skip
def test_what_is_no_review_is_refused(text: bytes, message: str):
    with pytest.raises(BadReview, match=message) as caught:
        read_review(text)
    assert caught.value.status == 400


def test_the_request_of_a_pods_creation_is_read():
    read = read_review(body(review(pod(name="web"), dryRun=True)))
    assert (read.uid, read.namespace, read.name, read.dry_run) == ("705ab4f5", "shop", "web", True)
    assert read.pod is not None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        pytest.param(review(pod(generateName="web-")), "web-", id="generateName"),
        pytest.param(review(pod(), name="given"), "given", id="of the request"),
        pytest.param(review(pod(labels={})), "", id="neither"),
        pytest.param(review(pod(name=7)), "", id="no text"),
    ],
)
def test_the_name_is_the_one_that_a_person_finds(value: dict[str, Any], name: str):
    assert read_review(body(value)).name == name


def test_a_missing_namespace_is_empty():
    assert read_review(body(without("request.namespace"))).namespace == ""


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(
            {"operation": "UPDATE", "subResource": "ephemeralcontainers"}, id="ephemeral containers"
        ),
        pytest.param({"operation": "UPDATE", "oldObject": pod()}, id="an update"),
        pytest.param({"operation": "UPDATE", "subResource": "status", "oldObject": pod()}, id="a status"),
        pytest.param({"operation": "UPDATE", "subResource": "resize", "oldObject": pod()}, id="a resize"),
        pytest.param({"operation": "CREATE", "subResource": "binding", "object": {}}, id="a binding"),
        pytest.param({"operation": "CREATE", "subResource": "eviction", "object": {}}, id="an eviction"),
        pytest.param({"operation": "DELETE", "object": None}, id="delete"),
        pytest.param({"operation": "CONNECT"}, id="connect"),
        pytest.param({"subResource": "ephemeralcontainers"}, id="a subresource"),
        pytest.param(
            {"resource": {"group": "apps", "version": "v1", "resource": "deployments"}}, id="a Deployment"
        ),
        pytest.param({"resource": None}, id="no resource"),
    ],
)
def test_anything_but_the_creation_of_a_pod_needs_no_decision(request_: dict[str, Any]):
    assert read_review(body(review(pod(), **request_))).pod is None


PATCH = [{"op": "add", "path": "/spec/tolerations", "value": [{"key": "ä"}]}]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        pytest.param(allowed(), (True, None, []), id="unchanged"),
        pytest.param(allowed(PATCH), (True, PATCH, []), id="changed"),
        pytest.param(allowed(PATCH, ["w"]), (True, PATCH, ["w"]), id="changed with a warning"),
        pytest.param(allowed((), ["w"]), (True, None, ["w"]), id="unchanged with a warning"),
        pytest.param(denied("no"), (False, None, []), id="denied"),
        pytest.param(denied("no", ["w"]), (False, None, ["w"]), id="denied with a warning"),
    ],
)
def test_patch_and_patch_type_come_together_or_not_at_all(members: str, expected: tuple[Any, ...]):
    answered = decoded(response('u"1', members))
    assert (answered.uid, answered.allowed, answered.patch, answered.warnings) == ('u"1', *expected)


def test_a_denial_says_why():
    assert decoded(response("u", denied("why")))[-1] == {"code": 403, "reason": "Forbidden", "message": "why"}
