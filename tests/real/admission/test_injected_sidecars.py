"""Another webhook injects a container, and the real scheduler counts: a pod is decided whole or not at all.

door      policy, archfit's own webhook, or both
when      before: the injector is called before archfit's webhook
          after:  it is called after it, so that archfit sees the container in a second pass
          second: it injects only when it is called the second time

One node has amd64; the other, arm64, is tainted, and only a pod with archfit's toleration comes to it.
"""

from __future__ import annotations

import contextlib
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from admission_doors import LOCKED, admission_door
from archfit.options.settings import Options
from drawn_pods.drawing import ARCH
from mutating_webhooks import INJECT, injecting, webhook
from policy_runs import decided, policy_options, stripped

if TYPE_CHECKING:
    from pathlib import Path

    from policy_runs import Policies

TAINT = {"key": ARCH, "value": "arm64", "effect": "NoSchedule"}
RUN_BY = {
    "both:1": {"amd64", "arm64"},
    "amd:1": {"amd64"},
    "arm:1": {"arm64"},
    "new:1": set(),  # nobody knows
}
NODES = {"sidecar-amd": "amd64", "sidecar-arm": "arm64"}
ORDER = {"before": "aa-injector", "after": "zz-injector", "second": "aa-injector"}
NAMES = count()


def web(namespace: str, image: str, sidecar: str, node: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"p{next(NAMES)}",
            "namespace": namespace,
            "annotations": {INJECT: f"quay.io/team/{sidecar}"} if sidecar else {},
        },
        "spec": {
            "containers": [{"name": "c", "image": f"quay.io/team/{image}"}],
            **({"nodeSelector": {"kubernetes.io/hostname": node}} if node else {}),
        },
    }


@pytest.mark.parametrize("when", ["before", "after", "second"])
@pytest.mark.parametrize("kind", ["policy", "webhook", "both"])
def test_no_pod_is_on_the_arm_node_that_an_image_of_it_is_not_known_to_run_on(
    policies: Policies, tmp_path: Path, kind: str, when: str
):
    plane, name = policies.plane, f"sidecar-{kind}-{when}"
    for node, architecture in NODES.items():
        plane.node(node, architecture, taints=[TAINT] if architecture == "arm64" else [])
    pairs = [(image, sidecar) for image in ("both:1", "amd:1", "arm:1") for sidecar in RUN_BY]
    with contextlib.ExitStack() as stack:
        stack.enter_context(admission_door(policies, kind, name, tmp_path, name=f"mm-{name}", companion=True))
        url = stack.enter_context(injecting(second=when == "second"))
        stack.enter_context(webhook(plane, f"{ORDER[when]}-{name}", url, name))
        if when == "second":  # what makes the API server call the webhooks again
            other = stack.enter_context(injecting("quay.io/team/both:1", name="other"))
            stack.enter_context(webhook(plane, f"bb-{name}", other, name))
        plane.until(
            "a sidecar is injected",
            lambda: len(plane.dry(web(name, "both:1", "both:1"))["spec"]["containers"]) >= 2,
        )
        made = [
            (image, sidecar, node, plane.create(web(name, image, sidecar, node)))
            for image, sidecar in pairs
            for node in NODES
        ]
        warned = {
            (image, sidecar): [
                text for text in plane.warnings(web(name, image, sidecar)) if "archfit" in text
            ]
            for image, sidecar in pairs
        }
    assert all("side" in [one["name"] for one in pod["spec"]["containers"]] for *_, pod in made)
    with plane.scheduler():
        placed = plane.placed(name)
    plane.delete(f"/api/v1/namespaces/{name}/pods")
    for node in NODES:
        plane.delete(f"/api/v1/nodes/{node}")
    on_arm = {
        (image, sidecar)
        for image, sidecar, node, pod in made
        if placed[pod["metadata"]["name"]] == "sidecar-arm"
    }
    wrong = {pair for pair in on_arm if any("arm64" not in RUN_BY[image] for image in pair)}
    if (kind, when) == ("policy", "second"):  # the policy has no pass after this injection: it is warned of
        assert all(any("does not fit its images" in text for text in warned[pair]) for pair in wrong)
        return
    assert wrong == set()
    assert on_arm == {("both:1", "both:1"), ("both:1", "arm:1"), ("arm:1", "both:1"), ("arm:1", "arm:1")}
    for image, sidecar, node, pod in made:
        plain = {**web(name, image, sidecar, node), "metadata": pod["metadata"]}
        assert tolerations(pod) == tolerations(at_once(plain, pod, name)), (image, sidecar)
    assert all(warned[pair] for pair in pairs if "new:1" in pair)


def tolerations(pod: dict[str, Any]) -> list[Any]:
    return [one for one in pod["spec"].get("tolerations", []) if one.get("key") == ARCH] + [
        pod["spec"].get("affinity")
    ]


def at_once(plain: dict[str, Any], pod: dict[str, Any], name: str) -> dict[str, Any]:
    """What archfit decides for the pod with all its containers."""
    annotations = {INJECT: pod["metadata"]["annotations"][INJECT]}
    whole = {
        **plain,
        "metadata": {**stripped(pod)["metadata"], "annotations": annotations},
        "spec": {**plain["spec"], "containers": pod["spec"]["containers"]},
    }
    made: dict[str, Any] = decided(whole, name, LOCKED, OPTIONS)
    return made


OPTIONS = policy_options(Options())
