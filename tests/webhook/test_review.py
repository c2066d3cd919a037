"""An AdmissionReview is read strictly, and its response is one that the API server takes."""

import json
from typing import Any

import pytest

from admission_reviews import body, decoded, pod, review
from archfit.webhook.review import BadReview, denied, read_review, response

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
def test_what_is_no_review_is_refused(text, message):
    with pytest.raises(BadReview, match=message) as caught:
        read_review(text)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("value", "name"),
    [
        pytest.param(review(pod(generateName="web-")), "web-", id="generateName"),
        pytest.param(review(pod(), name="given"), "given", id="of the request"),
        pytest.param(review(pod(labels={})), "", id="neither"),
        pytest.param(review(pod(name=7)), "", id="no text"),
    ],
)
def test_the_name_is_the_one_that_a_person_finds(value, name):
    assert read_review(body(value)).name == name


def test_a_missing_namespace_is_empty():
    assert read_review(body(without("request.namespace"))).namespace == ""


def test_a_denial_says_why():
    answered = decoded(response('u"1', denied("why", ["w"])))
    assert (answered.uid, answered.allowed, answered.patch, answered.warnings) == ('u"1', False, None, ["w"])
    assert answered.status == {"code": 403, "reason": "Forbidden", "message": "why"}
