"""A pod that passes a policy more than once in one admission: tolerations and preferences whole or not at all."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from admission_reviews import NOT_REQUESTED, REQUESTED
from archfit.options.settings import Options
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from archfit.webhook.added_record import NAME, entry, record_text
from drawn_pods import any_pods, at_creation
from pod_decisions import GKE, PREFERRED
from policy_judge import PolicyJudge, decided

LOCKED = at_creation.platforms()
SIDECARS = ("quay.io/team/both:1", "quay.io/team/amd:1", "quay.io/team/arm:1", "quay.io/team/new:1")


def managed(pod: dict[str, Any]) -> dict[str, Any]:
    """The pod with managedFields of a request without a record."""
    entries = copy.deepcopy(pod["metadata"].get("managedFields", [NOT_REQUESTED]))
    for one in entries:
        one["fieldsV1"]["f:metadata"].get("f:annotations", {}).pop(f"f:{NAME}", None)
    return {**pod, "metadata": {**pod["metadata"], "managedFields": entries}}


def changed(pod: dict[str, Any], image: str, *, sidecar: bool) -> dict[str, Any]:
    first, *others = pod["spec"]["containers"]
    containers = (
        [first, *others, {"name": "side", "image": image}]
        if sidecar
        else [{**first, "image": image}, *others]
    )
    return {**pod, "spec": {**pod["spec"], "containers": containers}}


def added(pod: dict[str, Any]) -> list[Any]:
    """What archfit may take back."""
    preferred = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(PREFERRED, [])
    return sorted([*pod["spec"].get("tolerations", []), *preferred], key=repr)


@pytest.mark.parametrize("seed", range(12))
def test_the_last_pass_decides_for_the_pod_as_it_then_is(judge: PolicyJudge, seed: int):
    source = random.Random(seed)
    options = any_pods.held_options(source) if seed else Options()
    options = options.replace(image_platforms=(), exclude=())
    assert judge.compile(policy_objects(platform_table(LOCKED, options)[0], options, PolicySettings())) == []
    again = set()
    for number in range(150):
        namespace = source.choice(any_pods.NAMESPACES)
        pod = any_pods.usual(source, any_pods.pod(source, namespace), options.cluster_architectures)
        pod = managed(pod)
        first = judge.admit(pod, namespace)
        later = changed(first.pod, SIDECARS[number % len(SIDECARS)], sidecar=number % 8 < 4)
        last = judge.admit(later, namespace, "leftAlone")
        assert (first.error, last.error) == ("", ""), pod
        assert judge.admit(last.pod, namespace).pod == last.pod
        if last.shown["leftAlone"]:
            assert added(last.pod) == added(judge.normalised(pod))
            continue
        _, after = decided(later, LOCKED, options, namespace)
        assert last.pod == judge.normalised(after), (options, later)
        if NAME in first.pod["metadata"].get("annotations", {}):
            again.add(NAME in last.pod["metadata"].get("annotations", {}))
    assert seed or again == {True, False}


@pytest.mark.parametrize("image", ["both", "new"])
@pytest.mark.parametrize("requested", [True, False])
@pytest.mark.parametrize("writer", ["policy", "webhook"])
def test_a_record_takes_back_only_what_the_policy_added_in_the_same_request(
    judge: PolicyJudge, writer: Any, requested: bool, image: str
):
    text = record_text(writer, 1, [entry(("spec", "tolerations", "-"), GKE)])
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web",
            "annotations": {NAME: text},
            "managedFields": [REQUESTED if requested else NOT_REQUESTED],
        },
        "spec": {"containers": [{"name": "c", "image": f"quay.io/team/{image}:1"}], "tolerations": [GKE]},
    }
    judge.compile(policy_objects(platform_table(LOCKED, Options())[0], Options(), PolicySettings()))
    made = judge.admit(pod)
    assert made.error == ""
    taken = writer == "policy" and not requested and image == "new"
    assert ("tolerations" in made.pod["spec"]) is not taken
    assert (NAME in made.pod["metadata"].get("annotations", {})) is not taken
    _, after = decided(pod, LOCKED, Options())
    assert made.pod == judge.normalised(after)
