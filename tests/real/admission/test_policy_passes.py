"""A pod that passes a policy more than once in one admission: it is decided whole or not at all."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from admission_reviews import NOT_REQUESTED, REQUESTED
from archfit.base.errors import UsageError
from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.webhook.added_record import NAME, TERMS, entry, text_of_lines
from drawn_pods import any_pods, at_creation
from drawn_pods.drawing import ARCH
from pod_decisions import REQUIRED
from policy_judge import PolicyJudge, decided

LOCKED = at_creation.platforms()
SIDECARS = ("quay.io/team/both:1", "quay.io/team/amd:1", "quay.io/team/arm:1", "quay.io/team/new:1")


def managed(pod: dict[str, Any]) -> dict[str, Any]:
    """The pod with managedFields of a request without a record."""
    entries = copy.deepcopy(pod["metadata"].get("managedFields", [NOT_REQUESTED]))
    for one in entries:
        one["fieldsV1"]["f:metadata"].get("f:annotations", {}).pop(f"f:{NAME}", None)
    return {**pod, "metadata": {**pod["metadata"], "managedFields": entries}}


def with_sidecar(pod: dict[str, Any], image: str) -> dict[str, Any]:
    spec = {**pod["spec"], "containers": [*pod["spec"]["containers"], {"name": "side", "image": image}]}
    return {**pod, "spec": spec}


def with_image(pod: dict[str, Any], image: str) -> dict[str, Any]:
    first, *others = pod["spec"]["containers"]
    return {**pod, "spec": {**pod["spec"], "containers": [{**first, "image": image}, *others]}}


def without_record(pod: dict[str, Any]) -> dict[str, Any]:
    annotations = {key: text for key, text in pod["metadata"].get("annotations", {}).items() if key != NAME}
    metadata = {key: member for key, member in pod["metadata"].items() if key != "annotations"}
    return {**pod, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}


# Seed 3 draws options under which no pod changes, so that there is nothing to decide anew.
@pytest.mark.parametrize("seed", [seed for seed in range(13) if seed != 3])
def test_the_last_pass_decides_for_the_pod_as_it_then_is(judge: PolicyJudge, seed: int):
    source = random.Random(seed)
    options = any_pods.options(source) if seed else Options()
    locked = LOCKED
    try:
        objects = policy_objects(locked, options, PolicySettings())
    except UsageError as error:
        pytest.fail(f"seed {seed} draws options that contradict each other: {error}")
    assert judge.compile(objects) == []
    outcomes = []
    for number in range(150):
        namespace = source.choice(any_pods.NAMESPACES)
        pod = managed(without_record(any_pods.pod(source, namespace)))
        image, changed = SIDECARS[number % len(SIDECARS)], (with_sidecar, with_image)[number // 4 % 2]
        first = judge.admit(pod, namespace)
        later = changed(first.pod, image)
        last = judge.admit(later, namespace, "leftAlone")
        assert (first.error, last.error) == ("", ""), pod
        fresh = judge.normalised(changed(pod, image))
        at_once = judge.admit(fresh, namespace)
        if first.pod != judge.normalised(pod):
            outcomes.append("taken back" if at_once.pod == fresh else "decided anew")
        assert unordered(last.pod) == unordered(at_once.pod), (options, pod, first.pod)
        if not last.shown["leftAlone"]:
            _, after = decided(later, locked, options, namespace)
            assert unordered(judge.normalised(after)) == unordered(last.pod), (options, later)
        assert judge.admit(last.pod, namespace).pod == last.pod
    assert outcomes


POOL = {"key": "pool", "operator": "Exists"}
PIN = {"key": ARCH, "operator": "In", "values": ["amd64"]}
SET_LINE = entry("policy", TERMS[:-1], {})
PIN_LINE = entry("policy", (*TERMS, 0, "matchExpressions", "-"), PIN)


@pytest.mark.parametrize(
    ("images", "expressions", "lines"),
    [
        pytest.param("amd new", [POOL, PIN], [PIN_LINE], id="an unknown image, and one that needs the pin"),
        pytest.param("amd arm", [POOL, PIN], [PIN_LINE], id="images that no node runs together"),
        pytest.param("amd new", [PIN], [SET_LINE, PIN_LINE], id="the whole set"),
        pytest.param("amd arm", [PIN], [SET_LINE, PIN_LINE], id="the whole set, and no node"),
        pytest.param("both", [POOL, PIN], [PIN_LINE], id="images that run everywhere"),
        pytest.param("amd", [POOL, PIN], [PIN_LINE], id="the same decision"),
    ],
)
def test_a_record_of_the_request_takes_no_expression_away(
    judge: PolicyJudge, images: str, expressions: list[Any], lines: list[str]
):
    text = text_of_lines(line.replace(",", ',"images":1,', 1) for line in lines)
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    containers = [{"name": word, "image": f"quay.io/team/{word}:1"} for word in images.split()]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "annotations": {NAME: text}, "managedFields": [REQUESTED]},
        "spec": {"containers": containers, "affinity": {"nodeAffinity": {REQUIRED: terms}}},
    }
    assert judge.compile(policy_objects(LOCKED, Options(), PolicySettings())) == []
    made = judge.admit(pod)
    assert made.error == ""
    assert made.pod["spec"]["affinity"] == judge.normalised(pod)["spec"]["affinity"]
    _, after = decided(pod, LOCKED, Options())
    assert made.pod == judge.normalised(after)
    genuine = {**pod, "metadata": {**pod["metadata"], "managedFields": [NOT_REQUESTED]}}
    taken = judge.admit(genuine).pod["spec"].get("affinity") != made.pod["spec"]["affinity"]
    assert taken == (images not in ("amd", "amd new"))


def unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unordered(member) for key, member in value.items()}
    if isinstance(value, list):
        return sorted((unordered(item) for item in value), key=repr)
    return value
