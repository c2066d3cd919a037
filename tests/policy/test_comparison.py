"""The policy's answer beside archfit's own: placement alone, whatever else admission adds."""

from typing import Any

import pytest

from archfit.base.patch import apply
from archfit.base.results import Decision, Location, ObjectRef
from archfit.options.settings import Options
from archfit.policy.check import OPERATOR, Compared, as_text, compared, exit_code, placement
from archfit.policy.installed.dry_run import SamplePod
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.yaml.values import plain, typed
from pod_decisions import answers

OPTIONS = at_admission(Options())
DEFAULT = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "web-", "namespace": "shop"},
    "spec": {"containers": [{"name": "a", "image": "app:1"}], "tolerations": [DEFAULT]},
}


def decision(platforms: str) -> Decision:
    return admitted_pod(POD, "shop", OPTIONS).decide(answers({"app:1": platforms}), OPTIONS)


def placed(platforms: str) -> dict[str, Any]:
    return plain(apply(typed(POD), decision(platforms).patch))


def test_the_order_of_tolerations_and_what_else_admission_adds_are_no_difference():
    both = placed("amd64 arm64")
    both["spec"]["tolerations"].reverse()
    both["spec"]["containers"].append({"name": "sidecar", "image": "proxy:1"})
    assert compared(both, POD, decision("amd64 arm64"), "").outcome == "same"


UNKNOWN = decision("amd64").replace(outcome="Unresolved", patch=(), reason="app:1 is not known")


@pytest.mark.parametrize(
    ("made", "decided", "why", "outcome", "reason"),
    [
        pytest.param(placed("amd64"), decision("amd64"), "", "same", "", id="the same"),
        pytest.param(POD, decision("amd64"), "", "different", "archfit adds requiredDuringScheduling", id="nothing"),
        pytest.param(POD, decision("amd64"), "its namespace", "left-alone", "its namespace", id="nothing, for a reason"),
        pytest.param(placed("amd64"), decision("amd64").replace(patch=()), "", "different", "archfit adds nothing, and the policy adds requiredDuring", id="too much"),
        pytest.param(placed("amd64 arm64"), decision("amd64"), "its namespace", "different", "the policy adds the toleration", id="something else, even for a reason"),
        pytest.param(placed("amd64"), UNKNOWN, "", "not-compared", "archfit cannot decide: app:1 is not known", id="what archfit cannot decide"),
        pytest.param(POD, UNKNOWN, "", "same", "", id="both do nothing"),
    ],
)  # fmt: skip
def test_what_the_policy_made_beside_what_archfit_decides(made, decided, why, outcome, reason):
    found = compared(made, POD, decided, why)
    assert found.outcome == outcome
    assert reason in found.reason
    if outcome == "different":
        assert (found.expected, found.actual) == (
            placement(plain(apply(typed(POD), decided.patch))),
            placement(made),
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"key": "a", "operator": "Equal", "value": "b"}, {"key": "a", "value": "b"}, id="operator"),
        pytest.param({"operator": "Exists", "key": ""}, {"operator": "Exists"}, id="an empty key"),
        pytest.param({"key": "a", "effect": ""}, {"key": "a"}, id="an empty effect"),
    ],
)  # fmt: skip
def test_spellings_of_a_toleration_mean_the_same(one, other):
    assert placement({"spec": {"tolerations": [one]}}) == placement({"spec": {"tolerations": [other]}})


def test_nothing_and_an_empty_list_are_the_same():
    assert placement({"spec": {"tolerations": [], "nodeSelector": {}}}) == placement({"spec": {}}) == {}


@pytest.mark.parametrize(
    ("outcomes", "line"),
    [
        pytest.param([], "policy p: the input has no pod, so nothing was compared", id="no pod"),
        pytest.param(["not-compared"], "policy p: 1 pod: 0 as archfit would place them, 1 not compared", id="none"),
        pytest.param(
            ["same", "different", "left-alone", "not-compared"],
            "policy p: 4 pods: 1 as archfit would place it, 1 different, 1 left alone, 1 not compared",
            id="each",
        ),
    ],
)  # fmt: skip
def test_the_last_line_counts_each_pod_once(outcomes, line):
    ref = ObjectRef("v1", "Pod", "shop", "web")
    pods = [(SamplePod(ref, Location(1, 1), None), Compared(outcome, "why")) for outcome in outcomes]
    assert as_text("p", pods).decode().splitlines()[-1] == line


_OUTCOMES = {"operator": ("not-compared", OPERATOR), "refused": ("not-compared", "a quota is full")}


@pytest.mark.parametrize(
    ("pods", "status"),
    [
        pytest.param([], 1, id="no pod"),
        pytest.param(["operator", "operator"], 1, id="pods of operators alone"),
        pytest.param(["operator", "same"], 0, id="one of an operator beside another"),
        pytest.param(["left-alone"], 0, id="left alone"),
        pytest.param(["same", "refused"], 1, id="one was refused"),
        pytest.param(["refused", "different"], 3, id="one differs"),
    ],
)
def test_nothing_compared_is_no_success(pods, status):
    ref, at = ObjectRef("v1", "Pod", "shop", "web"), Location(1, 1)
    made = [(SamplePod(ref, at, None), Compared(*_OUTCOMES.get(one, (one, "why")))) for one in pods]
    assert exit_code(made) == status
