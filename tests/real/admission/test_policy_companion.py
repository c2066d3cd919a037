"""The companion of a policy warns of its age, and refuses what it is told to.

What it says of drawn pods, test_policy_cel.py compares with archfit's own decision, and test_injections.py where
another webhook changes them late.
"""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from archfit.options.settings import Options
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from archfit.webhook.added_record import NAME, entry, record_text
from control_plane import Refused, pod_in
from drawn_pods import any_pods, at_creation
from pod_decisions import ARCH, GKE, found
from policy_judge import ALONE, UNFIT, UNKNOWN

OLD = "archfit policy ran on "
LOCK = {
    f"quay.io/team/{name}:1": found(offers, origin="lock")
    for name, offers in (("both", "amd64 arm64"), ("amd", "amd64"), ("arm", "arm64"))
}


def objects(locked=LOCK, **settings):
    return policy_objects(platform_table(locked, Options())[0], Options(), PolicySettings(**settings))


def test_a_pod_that_may_go_where_it_does_not_run_is_refused_and_one_that_is_not_known_is_not(policies):
    plane, name = policies.plane, "refusing"
    installed = policies.install(name, LOCK, Options(), companion=True, deny=True)
    unfit = pod_in(name, "quay.io/team/amd:1", nodeSelector={ARCH: "arm64"})

    def answer():
        try:
            return plane.dry(unfit) and None
        except Refused as refused:
            return refused

    refused = plane.until("the companion refuses", answer)
    assert refused.status == 422
    assert UNFIT in str(refused)
    assert UNKNOWN in " ".join(plane.warnings(pod_in(name, "quay.io/team/new:1")))
    policies.remove(installed)


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
    "recorded", [False, True], ids=["of its owner", "injected after archfit's last pass"]
)
def test_an_image_that_nobody_can_know_is_named_where_it_came_late(judge, recorded):
    judge.compile(objects())
    record = record_text("webhook", 1, [entry(("spec", "tolerations", "-"), GKE)])
    notes = {"name": "web", "annotations": {NAME: record} if recorded else {}}
    pod = pod_in("shop", "quay.io/team/new:1", metadata=notes)
    pod["spec"]["containers"][0]["imagePullPolicy"] = "Never"
    assert any(text.startswith(UNKNOWN) for text in judge.admit(pod).warnings) is recorded


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
        assert list(judge.admit(pod_in("shop", "quay.io/team/both:1")).warnings) == said
