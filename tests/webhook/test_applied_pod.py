"""A list that a Pod states which somebody applies is not extended; the others are written."""

from typing import Any

import pytest

from admission_reviews import APPLYING, applied, pod
from archfit.base.patch import apply
from archfit.base.results import Decision
from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.webhook.added_record import NAME
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.yaml.values import plain, typed
from pod_decisions import ARCH, GKE, PREFERRED, REQUIRED, answers

KNOWN = answers({"both:1": "amd64 arm64", "amd:1": "amd64", "arm:1": "arm64"})
# On each architecture's nodes a taint of its own, so that a pod of either one needs a toleration.
TAINTED = TolerationRule(("amd64", "arm64"), Toleration("arch", "Exists"))
OPTIONS = at_admission(Options(prefer=(("arm64", 5),), on_conflict="leave"))
# What the API server's own plugin adds to each Pod, which no request states (DefaultTolerationSeconds).
DEFAULTS = [
    {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for state in ("not-ready", "unreachable")
]  # fmt: skip
OWN = {"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}
POOL = {"key": "pool", "operator": "Exists"}
TOLERATIONS = {"tolerations": [OWN]}
TERMS = {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [POOL]}]}}}}
PREFERENCES = {
    "affinity": {"nodeAffinity": {PREFERRED: [{"weight": 9, "preference": {"matchExpressions": [POOL]}}]}}
}
OWNED = {"ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}]}


def only(*architectures: str) -> dict[str, Any]:
    return {"key": ARCH, "operator": "In", "values": list(architectures)}


def completed(value: dict[str, Any]) -> dict[str, Any]:
    """The Pod after the API server's own plugins."""
    spec = {**value["spec"], "tolerations": [*value["spec"].get("tolerations", ()), *DEFAULTS]}
    return {**value, "spec": spec}


def decided(
    value: dict[str, Any], options: Options = OPTIONS, door: Any = "webhook"
) -> tuple[dict[str, Any], Decision]:
    admitted = admitted_pod(value, "shop", options, door)
    decision = admitted.decide({text: KNOWN[text] for text in admitted.questions}, options)
    return plain(apply(typed(value), decision.patch)), decision


def tolerations(made: dict[str, Any]) -> list[Any]:
    return [one for one in made["spec"].get("tolerations", []) if one not in DEFAULTS]


def node_affinity(made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = made["spec"].get("affinity", {}).get("nodeAffinity", {})
    return found


@pytest.mark.parametrize("door", ["policy", "webhook"])
@pytest.mark.parametrize("way", APPLYING)
def test_tolerations_that_it_states_are_not_extended(way, door):
    made, decision = decided(completed(applied(pod("arm:1", spec=TOLERATIONS), way)), door=door)
    assert tolerations(made) == [OWN]
    (term,) = node_affinity(made)[REQUIRED]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [only("arm64")]}
    assert decision.messages == ()


@pytest.mark.parametrize("door", ["policy", "webhook"])
@pytest.mark.parametrize("way", APPLYING)
def test_required_terms_that_it_states_are_not_extended_and_a_warning_says_so(way, door):
    value = completed(applied(pod("arm:1", spec=TERMS), way))
    made, decision = decided(value, door=door)
    assert node_affinity(made)[REQUIRED] == TERMS["affinity"]["nodeAffinity"][REQUIRED]
    (warning,) = decision.messages
    assert warning.severity == "warning"
    assert warning.text.startswith(
        "it is applied with its own required node affinity, to which archfit adds nothing: add kubernetes.io/arch In "
        "arm64 to it (amd64 is not offered by arm:1)"
    )
    assert "never" not in decision.reason


@pytest.mark.parametrize("door", ["policy", "webhook"])
@pytest.mark.parametrize("way", APPLYING)
def test_preferred_terms_that_it_states_are_not_extended(way, door):
    made, _ = decided(completed(applied(pod("both:1", spec=PREFERENCES), way)), door=door)
    assert node_affinity(made) == PREFERENCES["affinity"]["nodeAffinity"]
    assert tolerations(made) == [GKE]


@pytest.mark.parametrize("way", APPLYING)
def test_what_it_does_not_state_is_written(way):
    value = completed(applied(pod("arm:1"), way))
    assert decided(value)[0]["spec"] == decided(completed(pod("arm:1")))[0]["spec"]
    assert len(tolerations(decided(value)[0])) == 1


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(pod("arm:1", spec={**TOLERATIONS, **TERMS}), id="nobody applies it"),
        pytest.param(
            applied(pod("arm:1", spec={**TOLERATIONS, **TERMS}, **OWNED), "server-side apply"), id="a controller"
        ),
    ],
)  # fmt: skip
def test_lists_of_other_pods_are_extended(value):
    made, _ = decided(completed(value))
    assert tolerations(made) == [OWN, GKE]
    (term,) = node_affinity(made)[REQUIRED]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [POOL, only("arm64")]}


def test_terms_that_fit_already_need_no_warning():
    own = {
        "affinity": {
            "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [only("arm64")]}]}}
        }
    }
    made, decision = decided(completed(applied(pod("arm:1", spec=own), "kubectl apply")))
    assert (node_affinity(made), decision.messages) == (own["affinity"]["nodeAffinity"], ())  # fmt: skip


def test_a_pod_that_is_not_kept_off_other_nodes_gets_no_toleration_for_them():
    """As with `affinity: never`: the image does not run behind every taint that the rule speaks of."""
    options = OPTIONS.replace(tolerate=(TAINTED,))
    assert tolerations(decided(pod("arm:1", spec=TERMS), options)[0]) != []
    assert tolerations(decided(applied(pod("arm:1", spec=TERMS), "helm"), options)[0]) == []


def test_a_conflict_stays_one():
    own = {
        "affinity": {
            "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [only("amd64")]}]}}
        }
    }
    _, decision = decided(applied(pod("arm:1", spec=own), "helm"))
    assert decision.outcome == "Conflict"  # fmt: skip


@pytest.mark.parametrize("door", ["policy", "webhook"])
def test_a_later_pass_takes_back_what_an_earlier_one_added_beside_its_lists(door):
    value = completed(applied(pod("both:1", spec=TERMS), "server-side apply"))
    first, _ = decided(value, door=door)
    assert tolerations(first) == [GKE]
    first["spec"]["containers"].append({"name": "side", "image": "amd:1"})
    last, decision = decided(first, door=door)
    assert tolerations(last) == []
    assert node_affinity(last)[REQUIRED] == TERMS["affinity"]["nodeAffinity"][REQUIRED]
    assert NAME not in last["metadata"].get("annotations", {})
    assert [result.severity for result in decision.messages] == ["warning"]
