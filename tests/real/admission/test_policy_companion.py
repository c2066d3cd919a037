"""The companion of a policy warns of late changes and of its age, refuses what it is told to, and heeds the opt-out.

What it says of drawn pods that nobody changes late, test_policy_cel.py compares with archfit's own decision.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

import pytest

from archfit.options.settings import Options
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from archfit.webhook.added_record import NAME, entry, record_text
from control_plane import Refused
from drawn_pods import any_pods, at_creation
from mutating_webhooks import INJECT, injecting, webhook
from pod_decisions import GKE, found
from policy_judge import ALONE, UNFIT, UNKNOWN

OLD = "archfit wrote its policy on "
LOCK = {
    f"quay.io/team/{name}:1": found(offers, origin="lock")
    for name, offers in (("both", "amd64 arm64"), ("amd", "amd64"), ("arm", "arm64"))
}


def objects(locked=LOCK, **settings):
    return policy_objects(platform_table(locked, Options())[0], Options(), PolicySettings(**settings))


def web(namespace, *images, labels=None, annotations=None, **spec):
    containers = [{"name": f"c{n}", "image": f"quay.io/team/{image}:1"} for n, image in enumerate(images)]
    metadata = {"generateName": "web-", "namespace": namespace}
    metadata |= {"labels": labels or {}, "annotations": annotations or {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
    }


def words(plane, pod):
    """What is said of a pod, or why it is refused."""
    try:
        return [text.partition("': ")[2] for text in plane.warnings(pod) if "archfit" in text]
    except Refused as refused:
        return [f"refused {refused.status}: {refused}"]


def in_force(policies, name, **settings):
    """The policy and its companion, once both act."""
    plane = policies.plane
    installed = policies.install(name, LOCK, Options(), companion=True, **settings)
    plane.until("the policy acts", lambda: "affinity" in plane.dry(web(name, "amd"))["spec"])
    plane.until("the companion warns", lambda: words(plane, web(name, "new")))
    return installed


LATE = {
    ("both", "amd"): True,
    ("both", "arm"): True,
    ("amd", "arm"): True,
    ("both", "new"): False,
    ("both", "both"): False,
    ("amd", "both"): False,
    ("amd", "amd"): False,
    ("new", "amd"): True,
    ("new", "both"): False,
}
"""(image, sidecar): whether the pod may then go where one of them does not run."""


@pytest.mark.parametrize("deny", [False, True], ids=["warn", "deny"])
def test_a_pod_that_is_changed_after_the_last_pass_is_warned_of_or_refused(policies, deny):
    plane, name, numbers = policies.plane, f"late-{deny}".lower(), count()
    installed = in_force(policies, name)
    if deny:
        policies.install(name, LOCK, Options(), companion=True, deny=True)

    def said(image, sidecar):
        pod = web(name, image, annotations={INJECT: f"quay.io/team/{sidecar}:1"})
        pod["metadata"]["name"] = f"p{next(numbers)}"  # the injector counts by names
        return " ".join(words(plane, pod))

    with contextlib.ExitStack() as stack:
        # The first makes the API server evaluate the policy again; the second injects after that.
        late, other = (
            stack.enter_context(injecting(second=True)),
            stack.enter_context(injecting("quay.io/team/both:1", name="other")),
        )
        stack.enter_context(webhook(plane, f"aa-{name}", late, name))
        stack.enter_context(webhook(plane, f"bb-{name}", other, name))
        wanted = "refused 422" if deny else UNFIT
        plane.until("late changes are told", lambda: wanted in said("both", "amd"))
        outcomes = {pair: said(*pair) for pair in LATE}
    policies.remove(installed)
    assert {pair: wanted in text and UNFIT in text for pair, text in outcomes.items()} == LATE
    assert UNKNOWN in outcomes["both", "new"]


def test_what_refuses_refuses_pods_that_may_go_where_they_do_not_run_and_no_other(judge):
    made = objects(at_creation.platforms(), deny=True, date="2026-11-01T06:17:00Z")
    source = Random(1)
    pods = [any_pods.usual(source, any_pods.pod(source, "shop"), ("amd64", "arm64")) for _ in range(300)]
    assert judge.compile(made) == []
    warned = [judge.admit(pod).warnings for pod in pods]
    assert judge.compile(made, denying=True) == []
    refused = [list(judge.admit(pod).warnings) for pod in pods]
    assert refused == [[text for text in texts if UNFIT in text] for texts in warned]
    assert all(
        any(kind in text for texts in warned for text in texts) for kind in (ALONE, UNFIT, UNKNOWN, OLD)
    )


@pytest.mark.parametrize(
    ("images", "pull", "recorded", "named"),
    [
        pytest.param(["both"], "Always", False, False, id="all known"),
        pytest.param(["new"], "Always", False, True, id="one unknown"),
        pytest.param(["new"], "Never", False, False, id="one that nobody can know"),
        pytest.param(["new"], "Never", True, True, id="one that nobody can know, after archfit's last pass"),
    ],
)  # fmt: skip
def test_an_image_that_nobody_knows_is_named(judge, images, pull, recorded, named):
    judge.compile(objects())
    record = record_text("webhook", 1, [entry(("spec", "tolerations", "-"), GKE)])
    pod = web("shop", *images, annotations={NAME: record} if recorded else {})
    pod["spec"]["containers"][0]["imagePullPolicy"] = pull
    assert any(text.startswith(UNKNOWN) for text in judge.admit(pod).warnings) is named


def test_the_label_that_opts_out_of_the_webhook_opts_out_of_the_policy(policies):
    plane, name = policies.plane, "opted-out"
    installed = in_force(policies, name)
    for labels, opted_out in (
        ({"archfit.dev/webhook": "ignore"}, True),
        ({"archfit.dev/webhook": "disabled"}, True),
        ({"archfit.dev/webhook": "on"}, False),
    ):
        assert ("affinity" in plane.dry(web(name, "amd", labels=labels))["spec"]) != opted_out
        assert bool(words(plane, web(name, "new", labels=labels))) != opted_out
    plane.kubectl("label", "namespace", name, "archfit.dev/webhook=ignore")
    plane.until(
        "nothing is placed",
        lambda: "affinity" not in plane.dry(web(name, "amd"))["spec"] and not words(plane, web(name, "new")),
    )
    policies.remove(installed)


@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_a_policy_that_is_too_old_is_warned_of(judge, carrier):
    today = datetime.now(UTC)
    moments = {days: (today - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ") for days in (6, 8)}
    for settings, old in (
        ({"date": moments[8]}, True),
        ({"date": moments[6]}, False),
        ({"date": ""}, False),
        ({"date": moments[8], "max_age": 0}, False),
    ):
        assert judge.compile(objects(carrier=carrier, **settings)) == []
        said = [f"{OLD}{moments[8]}, too long ago: run archfit policy again"] if old else []
        assert list(judge.admit(web("shop", "both")).warnings) == said
