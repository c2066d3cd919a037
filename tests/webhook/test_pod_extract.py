"""The extract of a Pod decides as the whole Pod does."""

import copy
from random import Random
from typing import Any

import pytest

from admission_reviews import REQUESTED, pod
from archfit.base.errors import UsageError
from archfit.base.results import Decision
from archfit.images.platforms import Unknown
from archfit.options.settings import Options
from archfit.webhook.added_record import NAME
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.webhook.request_fields import is_requested
from archfit.webhook.review import pod_extract
from drawn_pods import any_pods
from pod_decisions import answers

# What nobody else draws: fields that decide nothing, and the owner that leaves a pod alone.
MORE: list[dict[str, Any]] = [
    {"topologySpreadConstraints": [{"nodeAffinityPolicy": "Ignore", "topologyKey": "zone"}]},
    {"ephemeralContainers": [{"name": "debug", "image": "arm:1"}]},
    {"nodeName": "n1"},
    {"volumes": [{"name": "data", "image": {"reference": "both:1", "pullPolicy": "IfNotPresent"}}]},
]
OWNERS = [{"kind": kind, "name": "o", "controller": True} for kind in ("ReplicaSet", "DaemonSet")]


KNOWN = [
    *answers({"a": "amd64 arm64", "b": "amd64", "c": "arm64", "d": "windows/amd64"}).values(),
    Unknown("x"),
]


def decision(value: dict[str, Any], options: Options) -> Decision | str:
    """With an answer for each image that follows from its name."""
    try:
        admitted = admitted_pod(value, "shop", options)
        return admitted.decide({text: Random(text).choice(KNOWN) for text in admitted.questions}, options)
    except UsageError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(4))
def test_an_extract_decides_as_the_whole_pod(seed):
    random, outcomes = Random(seed), set()
    for _ in range(100):
        drawn = any_pods.options(random)
        options = at_admission(drawn.replace(on_unknown="leave", on_absent="leave", on_conflict="leave"))
        value = any_pods.pod(random, "shop")
        value["spec"].update(random.choice([{}, *MORE]))
        if random.random() < 0.2:
            value["metadata"]["ownerReferences"] = [random.choice(OWNERS)]
        before = copy.deepcopy(value)
        made = decision(value, options)
        assert decision(pod_extract(value), options) == made
        assert value == before
        outcomes.add(made if isinstance(made, str) else made.outcome)
    assert outcomes >= {"Change", "OptedOut", "Unresolved"}


@pytest.mark.parametrize("entries", [[], [{"manager": "kubectl"}], [{"manager": "kubectl"}, REQUESTED]])
def test_an_extract_says_whether_the_record_came_with_the_request(entries):
    value = {**pod(), "metadata": {"name": "web", "annotations": {NAME: "[]"}, "managedFields": entries}}
    assert is_requested(pod_extract(value)) == is_requested(value) == (REQUESTED in entries or not entries)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({**pod(), "spec": {"containers": {}, "volumes": "x", "initContainers": [None, "y"]}}, id="types"),
        pytest.param({**pod(), "metadata": None}, id="no metadata"),
        pytest.param({**pod(), "spec": {"volumes": [None, {"image": None}]}}, id="volumes"),
    ],
)  # fmt: skip
def test_odd_values_are_taken_as_they_are(value):
    assert pod_extract(value).keys() <= value.keys()
