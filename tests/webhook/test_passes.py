"""What a later pass of the same admission makes of what an earlier one added: decided whole or not at all."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from admission_reviews import REQUESTED, pod
from archfit.base.patch import apply
from archfit.base.results import Decision
from archfit.edit.stamp.annotation import read
from archfit.images.platforms import Absent, ImagePlatforms, Unknown, parse_platform
from archfit.options.settings import Options
from archfit.webhook.added_record import NAME, entry
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.yaml.values import plain, typed
from pod_decisions import ARCH, GKE, PREFERRED, REQUIRED, answers

OPTIONS = at_admission(Options(on_absent="leave", on_unknown="leave", on_conflict="leave"))
PREFER = OPTIONS.replace(prefer=(("arm64", 5),))
UNKNOWN = Unknown("quay.io gave no answer in time")
TERMS = ("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
POOL = {"key": "pool", "operator": "Exists"}
OWN = {"key": "own", "operator": "Exists"}


def only(*architectures: str) -> dict[str, Any]:
    return {"key": ARCH, "operator": "In", "values": list(architectures)}


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    made = [{"matchExpressions": expressions} for expressions in terms]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": made}}}}


KNOWN = answers(
    {
        "both:1": "amd64 arm64",
        "amd:1": "amd64",
        "arm:1": "arm64",
        "new:1": UNKNOWN,
        "none:1": Absent("manifest unknown"),
    }
)


def passed(
    value: dict[str, Any], options: Options = OPTIONS, door: Any = "webhook"
) -> tuple[dict[str, Any], Decision]:
    admitted = admitted_pod(value, "shop", options, door)
    known = {**KNOWN, "new:1": KNOWN["both:1"]} if options.image_platforms else KNOWN
    decision = admitted.decide({text: known[text] for text in admitted.questions}, options)
    return plain(apply(typed(value), decision.patch)), decision


def injected(value: dict[str, Any], image: str) -> dict[str, Any]:
    made = copy.deepcopy(value)
    made["spec"]["containers"].append({"name": "side", "image": image})
    return made


def placed(value: dict[str, Any]) -> dict[str, Any]:
    """What counts of a pod: an empty list or mapping is none to the API server."""
    spec = {
        field: full(value["spec"][field]) for field in ("affinity", "tolerations") if value["spec"].get(field)
    }
    return {"spec": spec, "annotations": value["metadata"].get("annotations") or {}}


def full(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: full(member) for key, member in value.items() if member != []}
    return value


SPECS = [
    pytest.param({}, id="nothing of its own"),
    pytest.param({"tolerations": [OWN]}, id="tolerations of its own"),
    pytest.param(required([POOL], [OWN]), id="terms of its own"),
    pytest.param({"affinity": {"podAffinity": {}}}, id="another affinity"),
    pytest.param({"affinity": {}}, id="an empty affinity"),
]


@pytest.mark.parametrize("options", [OPTIONS, PREFER], ids=["default", "prefer"])
@pytest.mark.parametrize("sidecar", ["both:1", "amd:1", "arm:1", "new:1", "none:1"])
@pytest.mark.parametrize("image", ["both:1", "amd:1", "arm:1"])
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_the_last_pass_decides_for_the_pod_as_it_then_is(
    door: str, spec: dict[str, Any], image: str, sidecar: str, options: Options
):
    value = pod(image, spec=spec)
    first, _ = passed(value, options, door)
    last, decision = passed(injected(first, sidecar), options, door)
    at_once, fresh = passed(injected(value, sidecar), options, door)
    assert placed(last) == placed(at_once)
    assert decision.outcome in (fresh.outcome, "AlreadySet", "Change")
    assert passed(last, options, door)[0] == last
    if fresh.outcome in ("Unresolved", "Conflict"):
        assert placed(last) == placed(value)


@pytest.mark.parametrize(
    ("image", "term", "asked"),
    [
        pytest.param(
            "arm:1", [only("arm64", "s390x")], only("amd64", "arm64"), id="one is left of both lists"
        ),
        pytest.param("both:1", [only("arm64", "s390x")], only("amd64", "arm64"), id="with a toleration"),
    ],
)
@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_an_expression_goes_where_another_one_that_came_later_is_no_wider(
    door: str, image: str, term: list[dict[str, Any]], asked: dict[str, Any]
):
    value = pod(image, spec=required(term))
    first, _ = passed(value, door=door)
    later, fresh = copy.deepcopy(first), copy.deepcopy(value)
    for one in (later, fresh):
        one["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"][0]["matchExpressions"].append(
            asked
        )
    assert placed(passed(later, door=door)[0]) == placed(passed(fresh, door=door)[0])


@pytest.mark.parametrize("image", ["both:1", "arm:1", "new:1", "none:1"])
@pytest.mark.parametrize(
    ("own", "asked"),
    [
        pytest.param(None, None, id="nothing of its own"),
        pytest.param([POOL], None, id="a term of its own"),
        pytest.param([POOL], only("amd64", "arm64"), id="another webhook asks for more architectures"),
    ],
)
@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_an_expression_of_an_earlier_pass_goes_where_the_image_is_replaced_by_one_that_does_not_need_it(
    door: str, own: list[Any] | None, asked: dict[str, Any] | None, image: str
):
    value = pod("amd:1", spec=required(own) if own else {})
    first, _ = passed(value, door=door)
    later, fresh = copy.deepcopy(first), copy.deepcopy(value)
    for one in (later, fresh):
        one["spec"]["containers"][0]["image"] = image
        if asked:
            listed(one).append(asked)
    assert placed(passed(later, door=door)[0]) == placed(passed(fresh, door=door)[0])


@pytest.mark.parametrize("image", ["both:1", "amd:1", "new:1"])
@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_an_expression_that_another_webhook_adds_once_more_stays(door: str, image: str):
    value = pod("amd:1", spec=required([POOL]))
    first, _ = passed(value, door=door)
    later, fresh = copy.deepcopy(first), copy.deepcopy(value)
    for one in (later, fresh):
        one["spec"]["containers"][0]["image"] = image
        listed(one).append(only("amd64"))
    last, _ = passed(later, door=door)
    assert listed(last) == listed(fresh) == [POOL, only("amd64")]
    assert placed(last) == placed(passed(fresh, door=door)[0])


def listed(value: dict[str, Any]) -> list[Any]:
    """The expressions of the first required term."""
    terms = value["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    found: list[Any] = terms[0]["matchExpressions"]
    return found


def test_what_a_pass_added_is_recorded_as_stamps_are():
    made, _ = passed(pod("arm:1"), PREFER)
    text = made["metadata"]["annotations"][NAME]
    entries, holder = read(text, made)
    assert holder is None
    assert [(entry.path[-2:], plain(entry.value)) for entry in entries] == [
        (("spec", "affinity"), {}),
        (("affinity", "nodeAffinity"), {}),
        (("nodeAffinity", REQUIRED), {}),
        (("matchExpressions", "-"), only("arm64")),
        (("tolerations", "-"), GKE),
    ]


def test_a_pod_that_is_not_changed_gets_no_annotation():
    value = pod("new:1")
    assert passed(value) == (value, passed(value)[1])
    rendered = pod("amd:1", spec=required([only("amd64")]))
    assert passed(rendered)[0] == rendered
    assert passed(injected(rendered, "new:1"))[0] == injected(rendered, "new:1")


NEW_IS_BOTH = OPTIONS.replace(
    image_platforms=(
        ImagePlatforms("docker.io/library/new", (parse_platform("amd64"), parse_platform("arm64"))),
    )
)


def test_each_door_takes_back_its_own():
    first, _ = passed(pod("both:1"), door="policy")
    second, decision = passed(first, door="webhook")
    assert (second, decision.outcome) == (first, "AlreadySet")
    known_there, _ = passed(injected(first, "new:1"), NEW_IS_BOTH, "policy")
    unknown_here, decision = passed(known_there, door="webhook")
    assert (unknown_here, decision.outcome) == (known_there, "Unresolved")
    by_webhook, _ = passed(pod("new:1"), NEW_IS_BOTH, "webhook")
    assert passed(by_webhook, door="policy")[0] == by_webhook


@pytest.mark.parametrize("sidecar", ["both:1", "amd:1", "new:1"])
def test_the_webhook_takes_over_what_the_policy_added_before_the_last_injection(sidecar: str):
    first, _ = passed(pod("both:1"), door="policy")
    last, _ = passed(injected(first, sidecar), door="webhook")
    assert placed(last) == placed(passed(injected(pod("both:1"), sidecar), door="webhook")[0])


def line_of(path: Any, value: Any) -> str:
    return entry("webhook", path, value).replace(",", ',"images":1,', 1)


RECORD = ("spec", "tolerations", "-")
FORGED = [
    pytest.param({"tolerations": [OWN]}, line_of(RECORD, OWN), id="a toleration of no rule"),
    pytest.param({"tolerations": [OWN]}, line_of(RECORD, GKE), id="a toleration that is not there"),
    pytest.param(required([POOL]), line_of((*TERMS, 0, "matchExpressions", "-"), POOL), id="another label"),
    pytest.param(required([only("amd64")]), line_of((*TERMS, 0, "matchExpressions", "-"), only("amd64")), id="a pin"),
    pytest.param(required([only("amd64")]), line_of(TERMS[:-1], {}), id="the whole set"),
    pytest.param(required([POOL]), line_of(("spec", "affinity"), {}), id="the whole affinity"),
    pytest.param({"tolerations": [OWN]}, line_of(("spec", "containers"), {}), id="containers"),
    pytest.param({"tolerations": [OWN]}, "[", id="no JSON"),
    pytest.param({"tolerations": [OWN]}, '{"by":"webhook","images":1,"path":7}', id="no path"),
    pytest.param({"tolerations": [OWN]}, '{"by":"webhook","images":1,"path":' + "[" * 90_000, id="deep"),
]  # fmt: skip


@pytest.mark.parametrize("managed", [[REQUESTED], [], None], ids=["requested", "nothing managed", "null"])
@pytest.mark.parametrize("image", ["both:1", "new:1"])
@pytest.mark.parametrize(("spec", "line"), FORGED)
def test_a_record_that_somebody_made_up_takes_nothing_of_the_pod(
    spec: dict[str, Any], line: str, image: str, managed: list[Any] | None
):
    value = pod(image, spec=spec, annotations={NAME: f"[{line}]"})
    value["metadata"]["managedFields"] = managed
    made, _ = passed(value)
    honest, _ = passed(pod(image, spec=spec))
    assert made["spec"].get("affinity") == spec.get("affinity")
    assert [
        one for one in made["spec"].get("tolerations", []) if one not in honest["spec"].get("tolerations", [])
    ] == []
    assert [one for one in spec.get("tolerations", []) if one not in made["spec"]["tolerations"]] == []


PIN = line_of((*TERMS, 0, "matchExpressions", "-"), only("amd64"))
SET = line_of(TERMS[:-1], {})
TOLERATION = line_of(RECORD, GKE)
FORGED_PINS = [
    pytest.param(("amd:1", "new:1"), [POOL, only("amd64")], PIN, id="an unknown image, and one that needs the pin"),
    pytest.param(("amd:1", "arm:1"), [POOL, only("amd64")], PIN, id="images that no node runs together"),
    pytest.param(("amd:1", "new:1"), [only("amd64")], f"{SET},\n{PIN}", id="the whole set"),
    pytest.param(("amd:1", "arm:1"), [only("amd64")], f"{SET},\n{PIN}", id="the whole set, and no node"),
    pytest.param(("both:1",), [POOL, only("amd64")], PIN, id="images that run everywhere"),
]  # fmt: skip


@pytest.mark.parametrize(("images", "expressions", "line"), FORGED_PINS)
def test_a_record_of_the_request_takes_no_expression_away(
    images: tuple[str, ...], expressions: list[Any], line: str
):
    value = pod(*images, spec=required(expressions), annotations={NAME: f"[{line}]"})
    value["metadata"]["managedFields"] = [{"manager": "kubectl"}, REQUESTED]
    made, decision = passed(value)
    honest, as_honest = passed(pod(*images, spec=required(expressions)))
    assert made["spec"] == honest["spec"] == value["spec"]
    assert decision.outcome == as_honest.outcome


@pytest.mark.parametrize("requested", [False, True])
def test_a_record_of_the_request_takes_nothing_away_and_stays(requested: bool):
    text = f"[{PIN},\n{TOLERATION}]"
    spec = {**required([POOL, only("amd64")]), "tolerations": [OWN, GKE]}
    value = pod("amd:1", "new:1", spec=spec, annotations={NAME: text})
    value["metadata"]["managedFields"] = [REQUESTED] if requested else [{"manager": "kubectl"}]
    made, _ = passed(value)
    assert made["spec"]["tolerations"] == ([OWN, GKE] if requested else [OWN])
    assert listed(made) == [POOL, only("amd64")]
    record = made["metadata"]["annotations"][NAME]
    assert (record == text) == requested
    assert ("tolerations" in record) == requested


@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_a_pod_with_a_record_of_the_request_gets_the_node_affinity_that_it_needs_and_nothing_else(door: str):
    value = pod("arm:1", annotations={NAME: f"[{TOLERATION}]"})
    value["metadata"]["managedFields"] = [REQUESTED]
    made, _ = passed(value, PREFER, door)
    assert "tolerations" not in made["spec"]
    assert listed(made) == [only("arm64")]
    assert made["metadata"]["annotations"] == value["metadata"]["annotations"]
    assert passed(made, PREFER, door)[0] == made


def test_preferred_terms_are_taken_back_by_one():
    own = {"weight": 9, "preference": {"matchExpressions": [POOL]}}
    value = pod("both:1", spec={"affinity": {"nodeAffinity": {PREFERRED: [own]}}})
    first, _ = passed(value, PREFER)
    assert len(first["spec"]["affinity"]["nodeAffinity"][PREFERRED]) == 2
    last, _ = passed(injected(first, "new:1"), PREFER)
    assert last["spec"]["affinity"]["nodeAffinity"][PREFERRED] == [own]
    assert json.dumps(last).count(NAME) == 0
