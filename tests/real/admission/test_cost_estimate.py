"""The estimated cost of a policy is near what the API server's own evaluator counts."""

from __future__ import annotations

from typing import Any

import pytest

from archfit.images.platforms import ImagePlatforms, parse_platform
from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.stats import estimated_cost
from pod_decisions import found
from policy_judge import PolicyJudge

OVERRIDES = tuple(
    ImagePlatforms(f"registry.example.com/x{n}/*", (parse_platform("amd64"),)) for n in range(5)
)


def pod(containers: int) -> dict[str, Any]:
    image = "registry.example.com/team/app-00000:1"
    spec = {"containers": [{"name": f"c{n}", "image": image} for n in range(containers)]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


@pytest.mark.parametrize(
    "options", [Options(), Options(image_platforms=OVERRIDES)], ids=["none", "overrides"]
)
@pytest.mark.parametrize("images", [3, 3000])
def test_the_estimate_is_near_the_cost_whatever_the_size_of_the_table(
    judge: PolicyJudge, options: Options, images: int
):
    table = {f"registry.example.com/team/app-{n:05}:1": found("amd64") for n in range(images)}
    assert judge.compile(policy_objects(table, options, PolicySettings())) == []
    for containers in (1, 2, 10, 30):
        cost = judge.admit(pod(containers), "shop").cost
        assert 0.7 < estimated_cost(options, containers) / cost < 1.4, containers
