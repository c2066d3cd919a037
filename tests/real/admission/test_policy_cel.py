"""A generated policy, by the API server's own CEL, decides pod by pod as archfit does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import machine
from archfit.admission.policy.carriers import MAX_CODE_POINTS
from archfit.admission.policy.objects import policy_objects
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.images.reference import parse
from archfit.options.settings import Options
from drawn_pods import drawing
from pod_decisions import found
from policy_judge import PolicyJudge, decided

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKED = {
    parse(name).normalised: found(" ".join(offers), origin="lock") for name, offers in drawing.IMAGES.items()
}
NAMES = ("amd64", "arm64", "s390x")
OPTIONS = {
    "defaults": Options(),
    "preferences": Options(prefer=(("arm64", 5), ("amd64", 2))),
    "affinity always": Options(affinity="always"),
    "affinity never": Options(affinity="never"),
    "windows nodes": Options(cluster_architectures=("amd64", "arm64", "s390x", "windows/amd64")),
    "strict": Options(strict=True),
    "more nodes without a label": Options(unlabelled_nodes=("dedicated",)),
    "no tolerations": Options(tolerate=()),
}


@pytest.fixture(scope="module")
def judge() -> Iterator[PolicyJudge]:
    with PolicyJudge(machine.go_build(machine.ROOT / "tests" / "judges" / "cel", "cel-judge")) as running:
        yield running


def drawn(source: random.Random, number: int) -> dict[str, Any]:
    """A Pod whose spec is that of a drawn object of any kind, some with annotations."""
    made = drawing.an_object(source, number, NAMES)
    holder = made
    while "containers" not in holder:
        holder = holder.get("spec") or holder.get("jobTemplate") or holder["template"]
    metadata = {**made["metadata"], "annotations": {**made["metadata"].get("annotations", {})}}
    for name, chance, values in (
        ("only", 0.3, ("amd64", "arm64, amd64", "AARCH64", "x", "s390x", "", "arm64/v8")),
        (
            "image-platforms",
            0.2,
            ("amd64", "arm64, linux/amd64", "linux/arm/v7", "x86_64", "linux/386", "linux/amd64/v3"),
        ),
        ("tolerate", 0.1, ("true", " false", "no")),
    ):
        if source.random() < chance:
            metadata["annotations"][f"archfit.dev/{name}"] = source.choice(values)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": holder}


@pytest.mark.parametrize("carrier", ["literal", "crd"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_policy_does_to_a_pod_what_archfit_does(judge: PolicyJudge, options: Options, carrier: Any):
    assert judge.compile(policy_objects(LOCKED, options, PolicySettings(carrier=carrier))) == []
    source = random.Random(f"{carrier}{options}")
    changed = 0
    for number in range(100):
        pod = drawn(source, number)
        decision, after = decided(pod, LOCKED, options)
        admitted = judge.admit(pod, "shop")
        assert admitted.error == ""
        assert admitted.pod == judge.normalised(after), pod
        changed += bool(decision.patch)
    assert changed > 10


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_every_expression_is_below_the_limit_of_the_parser(judge: PolicyJudge, carrier: Any):
    images = {
        f"registry.example.com/team/service-{n:06}/application:1.2.3": found("amd64") for n in range(5000)
    }
    objects = policy_objects(images, Options(), PolicySettings(carrier=carrier))
    policy = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
    expressions = [one["expression"] for one in policy["spec"]["variables"]]
    assert max(judge.read(one, [])[1] for one in expressions) < MAX_CODE_POINTS
    assert judge.compile(objects) == []
