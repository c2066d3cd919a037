"""The policy in force: which namespaces it is about, what it knows, and what is missing where it is not there."""

from typing import Any

import pytest

from archfit.base.errors import UsageError
from archfit.cluster.cluster_error import ClusterError, Reason
from archfit.options.settings import Options
from archfit.policy.installed.installed_policy import Installed, check_version, selected, table_in_force
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings

BASE = "/apis/admissionregistration.k8s.io"
POLICY = f"{BASE}/v1/mutatingadmissionpolicies/archfit.dev"
TABLE = "/apis/archfit.dev/v1alpha1/platformtables/archfit.dev"
IMAGES = {"docker.io/library/app:1": ["amd64"]}


class Api:
    """Answers by path; the reason of an error is one, too."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers

    def get(self, path: str) -> Any:
        answer = self.answers.get(path, "not-found")
        if isinstance(answer, str):
            reason: Reason = answer
            raise ClusterError(path, reason)
        return answer


def objects(carrier: Any) -> dict[str, Any]:
    every = policy_objects(IMAGES, Options(), PolicySettings(carrier=carrier))
    return {one["kind"]: one for one in every}


def test_a_missing_table_is_empty_and_other_errors_stay_errors():
    policy = objects("crd")["MutatingAdmissionPolicy"]
    assert Installed(Api({}), policy).table() == {}
    with pytest.raises(ClusterError):
        Installed(Api({TABLE: "timeout"}), policy).table()


@pytest.mark.parametrize(
    ("answer", "known"),
    [("not-found", True), ("forbidden", True), ("unreachable", False), ("timeout", False)],
)
def test_a_renewal_needs_no_installed_policy_but_a_cluster_that_answers(answer, known):
    api = Api({POLICY: answer})
    if known:
        assert table_in_force(api, PolicySettings()) == {}
    else:
        with pytest.raises(ClusterError):
            table_in_force(api, PolicySettings())


@pytest.mark.parametrize(
    "answer",
    ["not-found", {"resources": []}, {"resources": [{"name": "validatingadmissionpolicies"}]}],
    ids=repr,
)
def test_a_cluster_without_the_api_is_told_which_kubernetes_has_it(answer):
    api = Api({f"{BASE}/v1": answer, "/version": {"gitVersion": "v1.33.4"}})
    with pytest.raises(UsageError, match=r"\(v1\.33\.4\) .* 1\.36, or 1\.34 with --api-version v1beta1"):
        check_version(api, PolicySettings())


def requirement(operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "team", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "labels", "meant"),
    [
        pytest.param({}, {}, True, id="empty"),
        pytest.param({"matchLabels": {"team": "web"}}, {"team": "web"}, True, id="a label"),
        pytest.param({"matchLabels": {"team": "web"}}, {"team": "shop"}, False, id="another value"),
        pytest.param(requirement("In", "web"), {"team": "web"}, True, id="In"),
        pytest.param(requirement("In", "web"), {}, False, id="In, missing"),
        pytest.param(requirement("NotIn", "web"), {}, True, id="NotIn, missing"),
        pytest.param(requirement("NotIn", "web"), {"team": "web"}, False, id="NotIn"),
        pytest.param(requirement("Exists"), {"team": ""}, True, id="Exists"),
        pytest.param(requirement("DoesNotExist"), {}, True, id="DoesNotExist"),
        pytest.param(requirement("DoesNotExist"), {"team": ""}, False, id="DoesNotExist, there"),
        pytest.param(requirement("Near"), {"team": ""}, False, id="an unknown operator"),
    ],
)
def test_a_selector_means_labels(selector, labels, meant):
    assert selected(selector, labels) is meant


def test_a_namespace_is_read_once():
    path = "/api/v1/namespaces/shop"
    api = Api({path: {"metadata": {"labels": {"team": "web"}}}})
    policy = objects("literal")["MutatingAdmissionPolicy"]
    one = Installed(api, policy)
    assert one.leaves_out("shop", {}) == ""
    del api.answers[path]
    assert one.leaves_out("shop", {"archfit.dev/webhook": "on"}) == ""
    left_out = "the policy leaves pods with these labels out (objectSelector)"
    assert one.leaves_out("shop", {"archfit.dev/webhook": "ignore"}) == left_out
    labels = {"kubernetes.io/metadata.name": "kube-system"}
    api.answers["/api/v1/namespaces/kube-system"] = {"metadata": {"labels": labels}}
    assert (
        one.leaves_out("kube-system", {})
        == "the policy leaves the namespace kube-system out (namespaceSelector)"
    )
