"""What an update lacks of what archfit had added is put back, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from admission_reviews import body, decoded, review
from archfit.admission.added_record import NAME
from archfit.admission.updated_pod import put_back
from archfit.base.patch import apply
from archfit.webhook.server.admission_decision import updated
from archfit.webhook.server.review import read_review, response
from pod_updates import FORGED, GKE, OWN, UPDATES, Update, applied, manifest, only, record, required, stored


def after(update: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = apply(update, put_back(update, old))
    return made


@pytest.mark.parametrize("door", ["policy", "webhook"])
@pytest.mark.parametrize("case", UPDATES)
def test_an_update(case: Update, door: Any):
    own = manifest(case.image, case.spec)
    old = stored(own, door)
    update = case.change(own, old)
    before = copy.deepcopy((update, old))
    made = after(update, old)
    assert made == case.result(update, old)
    assert after(made, old) == made
    assert (update, old) == before


@pytest.mark.parametrize("case", UPDATES)
def test_the_response_makes_the_same(case: Update):
    own = manifest(case.image, case.spec)
    old = stored(own)
    update = case.change(own, old)
    read = read_review(body(review(update, operation="UPDATE", oldObject=old)))
    assert read.pod is not None
    assert read.old is not None
    verdict = updated(read.pod, read.old)
    answered = decoded(response("u", verdict.members))
    assert answered.allowed
    assert answered.warnings == []
    expected = case.result(update, old)
    assert (verdict.outcome, bool(answered.patch)) == (
        ("unchanged", False) if expected == update else ("changed", True)
    )


STORED = stored(manifest("arm:1", {"tolerations": [OWN]}))


def with_(old: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {**old, "metadata": {**old["metadata"], **metadata}}


RENDERED = record(STORED).replace('"by":"webhook","images":1,', "")


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(with_(STORED, deletionTimestamp="2026-01-01T00:00:00Z"), id="it is being deleted"),
        pytest.param(with_(STORED, annotations={}), id="no record"),
        pytest.param(with_(STORED, annotations=None), id="no annotations"),
        pytest.param(with_(STORED, annotations={NAME: ""}), id="an empty record"),
        pytest.param(with_(STORED, annotations={NAME: FORGED}), id="a record of what the pod does not have"),
        pytest.param(with_(STORED, annotations={NAME: RENDERED}), id="a record of a render"),
        pytest.param(with_(STORED, annotations={NAME: "[" * 90_000}), id="a deep record"),
        pytest.param(with_(STORED, annotations={NAME: record(STORED) + " " * 100_000}), id="a long record"),
        pytest.param(with_(STORED, annotations={NAME: record(STORED)[:-1]}), id="a record that is cut off"),
    ],
)
def test_nothing_is_put_back(old: dict[str, Any]):
    update = applied(manifest("arm:1", {"tolerations": [OWN]}), old)
    assert put_back(update, old) == ()
    assert put_back(update, STORED) != ()


@pytest.mark.parametrize(
    ("spec", "path", "value"),
    [
        pytest.param({"tolerations": [OWN]}, "/spec/tolerations/-", GKE, id="a toleration"),
        pytest.param({}, "/spec/nodeSelector", {"a": "b"}, id="a selector"),
        pytest.param({}, "/spec/containers/0/image", "evil:1", id="an image"),
    ],
)
def test_a_record_that_somebody_made_up_gives_nothing_that_the_pod_did_not_have(
    spec: dict[str, Any], path: str, value: Any
):
    text = f'[{{"by":"webhook","images":1,"path":"{path}","value":{value!r}}}]'.replace("'", '"')
    old = with_(manifest("both:1", spec), annotations={NAME: text})
    assert put_back(with_(manifest("both:1", {}), annotations={}), old) == ()


def test_an_expression_that_archfit_would_not_write_is_not_put_back():
    pool = {"key": "pool", "operator": "In", "values": ["a"]}
    line = (
        '{"by":"webhook","images":1,"path":"/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution'
        '/nodeSelectorTerms/0/matchExpressions/-","value":{"key":"KEY","operator":"In","values":["a"]}}'
    )
    for key, there in (("pool", pool), ("kubernetes.io/arch", only("a"))):
        old = with_(
            manifest("both:1", required([there, OWN])), annotations={NAME: f"[{line.replace('KEY', key)}]"}
        )
        update = with_(manifest("both:1", required([OWN])), annotations={})
        assert bool(put_back(update, old)) == (key != "pool")


def test_lists_of_any_size_are_put_back_in_linear_time():
    many = [{"key": f"k{number}", "operator": "Exists"} for number in range(20_000)]
    old = copy.deepcopy(STORED)
    old["spec"]["tolerations"] = [*many, *old["spec"]["tolerations"]]
    update = applied(manifest("arm:1", {"tolerations": [*many, OWN]}), old)
    assert after(update, old)["spec"] == old["spec"]
