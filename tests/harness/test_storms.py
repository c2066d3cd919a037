"""Storms see what they are there to see: the judge of good pods, and the invariants."""

from typing import Any

import pytest

from admission_reviews import Answered, pod
from campaign.webhook import tenants
from campaign.webhook.good_tenant import Tally
from campaign.webhook.served import LIMIT_MIB
from campaign.webhook.storms import Outcome, Storm, broken

TOLERATION = {"key": tenants.ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
RECORD = {"path": "/metadata/annotations", "value": {tenants.ADDED: "[..]"}}


def terms(*architectures: str, operator: str = "In") -> dict[str, Any]:
    expression = {"key": tenants.ARCH, "operator": operator, "values": list(architectures)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


@pytest.mark.parametrize(
    ("images", "patch", "warnings", "verdict"),
    [
        pytest.param(
            ["amd"], [{"path": "/spec/affinity", "value": terms("amd64")}], [], "right", id="narrowed"
        ),
        pytest.param(
            ["both"], [{"path": "/spec/tolerations", "value": [TOLERATION]}], [], "right", id="tolerated"
        ),
        pytest.param(["amd"], [], ["not known"], "left", id="left-with-a-warning"),
        pytest.param(["amd"], [], [], "wrong", id="left-without-a-word"),
        pytest.param(["amd"], [RECORD], ["not known"], "wrong", id="left-with-a-trace"),
        pytest.param(
            ["amd"], [{"path": "/spec/affinity", "value": terms("arm64")}], [], "wrong", id="another"
        ),
        pytest.param(
            ["amd"], [{"path": "/spec/tolerations", "value": [TOLERATION]}], [], "wrong", id="widened"
        ),
        pytest.param(["amd", "arm"], [], ["no node"], "right", id="no-node"),
        pytest.param(["both", "none"], [], ["absent"], "right", id="absent"),
        pytest.param(
            ["both"], [{"path": "/spec/affinity", "value": terms("amd64")}], [], "wrong", id="too-narrow"
        ),
    ],
)
def test_the_judgement_of_a_good_pod(images, patch, warnings, verdict):
    value = pod(*[f"good.invalid/team/{image}:1" for image in images], name="a")
    answered = Answered("u", True, [{"op": "add", **step} for step in patch] or None, warnings, {})
    assert tenants.judged(answered, tenants.patched(value, answered), value)[0] == verdict


GOOD = Tally(seconds={"known": [0.01] * 9, "new": [0.02] * 9})


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        pytest.param(Outcome(1, tally=GOOD), "", id="well"),
        pytest.param(Outcome(1, tally=GOOD, seen=3, counted=3), "", id="counted"),
        pytest.param(Outcome(1, tally=GOOD, seen=3, lost=2, counted=5), "", id="lost-were-503"),
        pytest.param(Outcome(1, tally=GOOD, seen=3, counted=2), "503", id="too-few-counted"),
        pytest.param(Outcome(1, tally=GOOD, seen=3, lost=2, counted=6), "503", id="too-many-counted"),
        pytest.param(Outcome(1, tally=GOOD, peak=LIMIT_MIB + 1), "memory", id="memory"),
        pytest.param(Outcome(1, tally=Tally(seconds={"known": [0.5] * 9})), "late", id="late"),
        pytest.param(
            Outcome(1, tally=Tally(seconds={"known": [0.5] * 9}), processor=0.5),
            "",
            id="late-on-a-busy-machine",
        ),
        pytest.param(Outcome(1, tally=Tally()), "late", id="nobody-was-answered"),
        pytest.param(Outcome(1, tally=Tally(GOOD.seconds, refused=1)), "refused", id="refused"),
        pytest.param(Outcome(1, tally=Tally(GOOD.seconds, lost=1)), "no answer", id="lost"),
        pytest.param(Outcome(1, tally=Tally(GOOD.seconds, wrong=["it"])), "good tenant: it", id="wrong"),
        pytest.param(
            Outcome(1, tally=Tally({**GOOD.seconds, "lied": [11]})), "late", id="after-the-deadline"
        ),
    ],
)
def test_what_breaks_an_invariant_of_a_storm(outcome, says):
    found = list(broken(Storm(1, 1, []), outcome))
    assert len(found) == bool(says)
    assert all(says in one for one in found)
