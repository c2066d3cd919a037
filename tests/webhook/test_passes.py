"""What a later pass of the same admission makes of what an earlier one added: decided whole or not at all."""

import copy
import json
from typing import Any

import pytest

from admission_reviews import REQUESTED, pod
from archfit.base.patch import apply
from archfit.base.results import Decision
from archfit.edit.stamp.annotation import read_stamp
from archfit.images.platforms import Absent, ImagePlatforms, Unknown, parse_platform
from archfit.options.settings import Options
from archfit.webhook.added_record import NAME, entry, record_text
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


def injected(value: dict[str, Any], image: str, field: str = "containers") -> dict[str, Any]:
    made = copy.deepcopy(value)
    content = {"reference": image} if field == "volumes" else image
    made["spec"].setdefault(field, []).append({"name": "side", "image": content})
    return made


def added(value: dict[str, Any]) -> dict[str, Any]:
    """The lists whose items archfit takes back, and whether they are recorded."""
    spec = value["spec"]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity", {})
    return {
        "tolerations": spec.get("tolerations") or [],
        "preferred": affinity.get(PREFERRED) or [],
        "recorded": NAME in (value["metadata"].get("annotations") or {}),
    }


def reach(value: dict[str, Any]) -> list[set[str]]:
    """The architectures that each required term lets through."""
    terms = (
        (value["spec"].get("affinity") or {})
        .get("nodeAffinity", {})
        .get(REQUIRED, {})
        .get("nodeSelectorTerms", [{}])
    )
    named = [
        [one["values"] for one in term.get("matchExpressions", ()) if one["key"] == ARCH] for term in terms
    ]
    return [{"amd64", "arm64"}.intersection(*values) for values in named]


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
def test_the_last_pass_decides_for_the_pod_as_it_then_is(door, spec, image, sidecar, options):
    value = pod(image, spec=spec)
    first, _ = passed(value, options, door)
    last, _ = passed(injected(first, sidecar), options, door)
    at_once, fresh = passed(injected(value, sidecar), options, door)
    assert added(last) == added(at_once)
    assert passed(last, options, door)[0] == last
    if fresh.outcome == "Conflict":
        assert added(last) == added(value)
    else:
        assert reach(last) == reach(at_once)


@pytest.mark.parametrize("image", ["both:1", "arm:1", "new:1", "none:1"])
@pytest.mark.parametrize("own", [None, [POOL]], ids=["nothing of its own", "a term of its own"])
@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_a_narrowing_stays_whatever_becomes_of_the_image(door, own, image):
    first, _ = passed(pod("amd:1", spec=required(own) if own else {}), door=door)
    later = copy.deepcopy(first)
    later["spec"]["containers"][0]["image"] = image
    last, _ = passed(later, door=door)
    assert listed(last) == listed(first) == [*(own or []), only("amd64")]
    assert added(last) == added(first)


def listed(value: dict[str, Any]) -> list[Any]:
    """The expressions of the first required term."""
    terms = value["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    found: list[Any] = terms[0]["matchExpressions"]
    return found


def test_what_a_pass_added_is_recorded_as_stamps_are():
    made, _ = passed(pod("arm:1"), PREFER)
    text = made["metadata"]["annotations"][NAME]
    entries, holder = read_stamp(text, made)
    assert holder is None
    assert [(entry.path, plain(entry.value)) for entry in entries] == [(("spec", "tolerations", "-"), GKE)]


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
    assert passed(first, door="webhook")[0] == first
    known_there, _ = passed(injected(first, "new:1"), NEW_IS_BOTH, "policy")
    assert passed(known_there, door="webhook")[0] == known_there
    by_webhook, _ = passed(pod("new:1"), NEW_IS_BOTH, "webhook")
    assert passed(by_webhook, door="policy")[0] == by_webhook


@pytest.mark.parametrize("sidecar", ["both:1", "amd:1", "new:1"])
@pytest.mark.parametrize("field", ["containers", "initContainers", "volumes"])
def test_the_webhook_takes_over_what_the_policy_added_before_the_last_injection(field, sidecar):
    first, _ = passed(pod("both:1"), door="policy")
    last, _ = passed(injected(first, sidecar, field), door="webhook")
    assert added(last) == added(passed(injected(pod("both:1"), sidecar, field), door="webhook")[0])


def line_of(path: Any, value: Any) -> str:
    return record_text("webhook", 1, [entry(path, value)])[1:-1]


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
def test_a_record_that_somebody_made_up_takes_nothing_of_the_pod(spec, line, image, managed):
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
def test_a_record_of_the_request_takes_no_expression_away(images, expressions, line):
    value = pod(*images, spec=required(expressions), annotations={NAME: f"[{line}]"})
    value["metadata"]["managedFields"] = [{"manager": "kubectl"}, REQUESTED]
    made, decision = passed(value)
    honest, as_honest = passed(pod(*images, spec=required(expressions)))
    assert made["spec"] == honest["spec"] == value["spec"]
    assert decision.outcome == as_honest.outcome


@pytest.mark.parametrize("requested", [False, True])
def test_a_record_of_the_request_takes_nothing_away_and_stays(requested):
    text = f"[{PIN},\n{TOLERATION}]"
    spec = {**required([POOL, only("amd64")]), "tolerations": [OWN, GKE]}
    value = pod("amd:1", "new:1", spec=spec, annotations={NAME: text})
    value["metadata"]["managedFields"] = [REQUESTED] if requested else [{"manager": "kubectl"}]
    made, _ = passed(value)
    assert made["spec"]["tolerations"] == ([OWN, GKE] if requested else [OWN])
    assert listed(made) == [POOL, only("amd64")]
    assert made["metadata"]["annotations"] == ({NAME: text} if requested else {})


@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_a_pod_with_a_record_of_the_request_gets_the_node_affinity_that_it_needs_and_nothing_else(door):
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
