"""A pod that passes a policy more than once in one admission: it is decided whole or not at all."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from archfit.admission.added_record import NAME
from archfit.admission.policy.objects import policy_objects
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.errors import UsageError
from archfit.options.settings import Options
from drawn_pods import any_pods, at_creation
from policy_judge import PolicyJudge, decided, judge_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKED = at_creation.platforms()
SIDECARS = ("quay.io/team/both:1", "quay.io/team/amd:1", "quay.io/team/arm:1", "quay.io/team/new:1")


@pytest.fixture(scope="module")
def judge() -> Iterator[PolicyJudge]:
    with PolicyJudge(judge_binary()) as running:
        yield running


def with_sidecar(pod: dict[str, Any], image: str) -> dict[str, Any]:
    spec = {**pod["spec"], "containers": [*pod["spec"]["containers"], {"name": "side", "image": image}]}
    return {**pod, "spec": spec}


def without_record(pod: dict[str, Any]) -> dict[str, Any]:
    annotations = {key: text for key, text in pod["metadata"].get("annotations", {}).items() if key != NAME}
    metadata = {key: member for key, member in pod["metadata"].items() if key != "annotations"}
    return {**pod, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}


@pytest.mark.parametrize("seed", range(12))
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
        pod = without_record(any_pods.pod(source, namespace))
        sidecar = SIDECARS[number % len(SIDECARS)]
        first = judge.admit(pod, namespace)
        later = with_sidecar(first.pod, sidecar)
        last = judge.admit(later, namespace, "leftAlone")
        assert (first.error, last.error) == ("", ""), pod
        fresh = judge.normalised(with_sidecar(pod, sidecar))
        at_once = judge.admit(fresh, namespace)
        if first.pod != judge.normalised(pod):
            outcomes.append("taken back" if at_once.pod == fresh else "decided anew")
        assert unordered(last.pod) == unordered(at_once.pod), (options, pod, first.pod)
        if not last.shown["leftAlone"]:
            _, after = decided(later, locked, options, namespace)
            assert unordered(judge.normalised(after)) == unordered(last.pod), (options, later)
        assert judge.admit(last.pod, namespace).pod == last.pod
    assert outcomes


def unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unordered(member) for key, member in value.items()}
    if isinstance(value, list):
        return sorted((unordered(item) for item in value), key=repr)
    return value
