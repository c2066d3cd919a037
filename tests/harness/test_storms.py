"""Storms see what they are there to see: the judge of good pods, the invariants, and scripts from a seed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

import pytest

from admission_reviews import Answered, pod
from campaign.webhook import tenants
from campaign.webhook.good_tenant import Tally
from campaign.webhook.served import LIMIT_MIB
from campaign.webhook.storms import Outcome, Storm, broken

AMD, ARM, TAINTED = tenants.NODES
TOLERATION = {"key": tenants.ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
RECORD = {"path": "/metadata/annotations", "value": {tenants.ADDED: "[..]"}}


def terms(*architectures: str, operator: str = "In") -> dict[str, Any]:
    expression = {"key": tenants.ARCH, "operator": operator, "values": list(architectures)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        pytest.param({}, {AMD, ARM}, id="anywhere"),
        pytest.param({"tolerations": [TOLERATION]}, {AMD, ARM, TAINTED}, id="toleration"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, {AMD, ARM, TAINTED}, id="tolerates-all"),
        pytest.param({"tolerations": [{**TOLERATION, "value": "amd64"}]}, {AMD, ARM}, id="another-value"),
        pytest.param(
            {"tolerations": [{**TOLERATION, "effect": "NoExecute"}]}, {AMD, ARM}, id="another-effect"
        ),
        pytest.param({"affinity": terms("amd64")}, {AMD}, id="in"),
        pytest.param({"affinity": terms("amd64", operator="NotIn")}, {ARM}, id="not-in"),
        pytest.param({"affinity": terms("amd64"), "tolerations": [TOLERATION]}, {AMD}, id="both"),
    ],
)
def test_what_a_pod_reaches(spec: dict[str, Any], nodes: set[tuple[str, bool]]) -> None:
    assert tenants.reach(pod(spec=spec)) == nodes


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
def test_the_judgement_of_a_good_pod(
    images: list[str], patch: list[dict[str, Any]], warnings: list[str], verdict: str
) -> None:
    value = pod(*[f"good.invalid/team/{image}:1" for image in images], name="a")
    answered = Answered("u", True, [{"op": "add", **step} for step in patch] or None, warnings, {})
    assert tenants.judged(answered, tenants.patched(value, answered), value)[0] == verdict


def test_a_forged_record_that_widened_a_pod_is_seen() -> None:
    drawn = random.Random(1)
    pods = [tenants.forged(drawn, number) for number in range(50)]
    for value in pods:
        assert tenants.narrowed(value, value)
        wider = {**value, "spec": {**value["spec"], "affinity": {}}}
        assert not tenants.narrowed(value, wider)
    assert any(len(value["metadata"]["annotations"][tenants.ADDED]) > 100 for value in pods)


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
def test_what_breaks_an_invariant_of_a_storm(outcome: Outcome, says: str) -> None:
    found = list(broken(Storm(1, 1, []), outcome))
    assert len(found) == bool(says)
    assert all(says in one for one in found)


def test_a_vector_that_reaches_nobody_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    words = [sys.executable, "-m", "campaign.webhook.vectors", "odd requests", "1", "3", "30", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    told = json.loads(done.stdout)
    assert (told["sent"], told["answered"], told["lost"]) == (3, {}, 3)
