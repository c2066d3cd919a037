"""How the part `argocd` of `make -C lab whole` judges what Argo CD said, the order of a sync, and pods."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

from typing import Any

import pytest

from whole.argocd.judges import order_faults, placement_faults
from whole.argocd.watch import Cause, Event, State, faults

CAUSE = Cause("shop", "a new image", 10.0, 20.0, 1)
FAULT = Cause("shop", "Redis is lost", 30.0, 40.0, 0, unknown=True)


def said(
    moment: float,
    sync: str = "Synced",
    health: str = "Healthy",
    operation: str = "",
    phase: str = "Succeeded",
    condition: str = "",
) -> State:
    differing = ("Deployment/web",) if sync == "OutOfSync" else ()
    return State(
        moment, "shop", sync, health, "r", operation, phase, differing, (condition,) if condition else ()
    )


BEFORE = said(5.0)
SYNCED_ONCE = [
    BEFORE,
    said(11, "OutOfSync"),
    said(12, "OutOfSync", "Progressing", "b", "Running"),
    said(14, operation="b"),
]
FOUND = [
    pytest.param([*SYNCED_ONCE], (1, 1, 0), [], id="one cause, one sync"),
    pytest.param([BEFORE, said(11)], (0, 0, 0), ["shop: a new image: 0 syncs in place of 1"], id="no sync"),
    pytest.param(
        [*SYNCED_ONCE, said(15, "OutOfSync", operation="b"), said(16, operation="b")], (1, 2, 0), ["shop: a new image: OutOfSync 2 times"], id="flapping"
    ),
    pytest.param(
        [*SYNCED_ONCE, said(15, operation="c")], (2, 1, 0), ["shop: a new image: 2 syncs in place of 1"], id="synced twice"
    ),
    pytest.param(
        [*SYNCED_ONCE, said(25, "OutOfSync", operation="b")], (1, 1, 1), ["shop: OutOfSync without a cause: Deployment/web"], id="a difference that nobody made"
    ),
    pytest.param([*SYNCED_ONCE, said(25, operation="c")], (2, 1, 0), ["shop: a sync without a cause"], id="a sync that nobody asked for"),
    pytest.param(
        [*SYNCED_ONCE, said(31, "OutOfSync", operation="b")], (1, 1, 1), ["shop: OutOfSync without a cause: Deployment/web"], id="a fault is no cause of a difference"
    ),
    pytest.param([*SYNCED_ONCE, said(25, health="Progressing", operation="b")], (1, 1, 0), ["shop: Progressing without a cause"], id="restless"),
    pytest.param([BEFORE, said(11, health="Degraded"), *SYNCED_ONCE[1:]], (1, 1, 0), ["shop: Degraded"], id="degraded"),
    pytest.param([*SYNCED_ONCE[:3], said(14, operation="b", phase="Failed")], (1, 1, 0), ["shop: a sync ended as Failed"], id="a sync that failed"),
    pytest.param([*SYNCED_ONCE, said(31, "Unknown", operation="b", condition="ComparisonError: x"), said(35, operation="b")], (1, 1, 0), [], id="a fault explains an error"),
    pytest.param(
        [*SYNCED_ONCE, said(25, "Unknown", operation="b", condition="ComparisonError: x")], (1, 1, 0), ["shop: ComparisonError: x"], id="an error that nothing explains"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("states", "counts", "wrong"), FOUND)
def test_what_was_said_is_held_against_what_was_done(states: Any, counts: Any, wrong: list[str]) -> None:
    found = faults(states, [CAUSE, FAULT])
    assert ((found.syncs, found.real, found.unreal), list(found.wrong)) == (counts, wrong)


AGAIN = said(13, "OutOfSync", operation="c")


@pytest.mark.parametrize(
    ("cause", "states", "repeated", "wrong"),
    [
        pytest.param(CAUSE._replace(heals=True), [*SYNCED_ONCE[:3], AGAIN, said(14, operation="c")], 1, [], id="before it sees the first one"),
        pytest.param(CAUSE._replace(heals=True), [*SYNCED_ONCE, said(15, operation="c")], 0, ["shop: a new image: 2 syncs in place of 1"], id="after it was Synced"),
        pytest.param(CAUSE, [*SYNCED_ONCE[:3], AGAIN, said(14, operation="c")], 0, ["shop: a new image: 2 syncs in place of 1"], id="what is not healed"),
    ],
)  # fmt: skip
def test_a_heal_may_be_synced_again_while_it_is_out_of_sync(
    cause: Cause, states: Any, repeated: int, wrong: list[str]
) -> None:
    found = faults(states, [cause])
    assert (found.syncs, found.repeated, list(found.wrong)) == (2, repeated, wrong)


def test_each_application_has_causes_of_its_own() -> None:
    other = [one._replace(application="other") for one in SYNCED_ONCE]
    found = faults([*SYNCED_ONCE, *other], [CAUSE])
    assert (found.real, found.unreal) == (1, 1)


def job(revision: int, uid: str = "j", *, done: bool = False) -> Event:
    value = {
        "metadata": {"uid": uid, "generation": 1},
        "spec": {"completions": 1, "template": {}},
        "status": {"succeeded": 1} if done else {},
    }
    return Event(0.0, "MODIFIED", revision, value)


def deployment(revision: int, generation: int, *, ready: bool = False) -> Event:
    status = {"observedGeneration": generation, "availableReplicas": 2, "updatedReplicas": 2} if ready else {}
    return Event(
        0.0,
        "MODIFIED",
        revision,
        {
            "metadata": {"uid": "d", "generation": generation},
            "spec": {"replicas": 2, "template": {}},
            "status": status,
        },
    )


ORDERS = [
    pytest.param([("before", [job(1), job(2, done=True)]), ("web", [deployment(3, 1), deployment(4, 1, ready=True)]), ("after", [job(5), job(6, done=True)])], 0, [], id="in order"),
    pytest.param([("before", [job(1), job(4, done=True)]), ("web", [deployment(3, 1), deployment(5, 1, ready=True)])], 0, ["shop: web began before before was ready"], id="a wave that did not wait for a hook"),
    pytest.param([("web", [deployment(1, 1), deployment(4, 1, ready=True)]), ("after", [job(3), job(6, done=True)])], 0, ["shop: after began before web was ready"], id="a hook that did not wait for a wave"),
    pytest.param([("web", [deployment(1, 1)])], 0, ["shop: web was never ready"], id="never ready"),
    pytest.param([("web", [deployment(1, 1, ready=True)]), ("after", [job(9), job(10, done=True)])], 5, [], id="what was left alone has no part"),
    pytest.param([("before", [job(1, done=True), job(6, "k"), job(8, "k", done=True)]), ("web", [deployment(2, 1, ready=True), deployment(7, 2), deployment(9, 2, ready=True)])], 5, ["shop: web began before before was ready"], id="the hook of this sync counts, not that of the last one"),
    pytest.param([("web", [deployment(2, 1, ready=True), deployment(7, 2), deployment(9, 2, ready=True)]), ("after", [job(8, "k"), job(10, "k", done=True)])], 5, ["shop: after began before web was ready"], id="the status of the last generation does not count"),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "since", "wrong"), ORDERS)
def test_hooks_and_waves_are_judged_by_the_revisions_of_the_store(
    steps: Any, since: int, wrong: list[str]
) -> None:
    assert order_faults("shop", steps, since) == wrong


def pod(image: str, at: str = "", *, init: str = "") -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": [{"image": f"img.test/{image}/x:1"}],
        **({"nodeName": at} if at else {}),
    }
    if init:
        spec["initContainers"] = [{"image": f"img.test/{init}/x:1"}]
    return {"metadata": {"namespace": "shop", "name": "web"}, "spec": spec}


PODS = [
    pytest.param(pod("multi", "y"), [], id="both"),
    pytest.param(pod("amd", "x"), [], id="fits"),
    pytest.param(pod("amd", "y"), ["shop/web is on arm64, for which an image of it has no build"], id="does not fit"),
    pytest.param(pod("multi", "y", init="amd"), ["shop/web is on arm64, for which an image of it has no build"], id="an init container counts"),
    pytest.param(pod("multi"), ["shop/web has no node"], id="waits"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "wrong"), PODS)
def test_a_pod_is_judged_by_the_names_of_its_images(one: Any, wrong: list[str]) -> None:
    assert placement_faults([one], {"x": "amd64", "y": "arm64"}) == wrong
