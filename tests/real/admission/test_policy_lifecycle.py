"""A policy that is made, changed, deleted and made again in a real API server, and one whose table is missing."""

import pytest

from archfit.options.settings import Options
from control_plane import ControlPlane
from pod_decisions import ARCH, found
from policy_pods import judged_by_server
from policy_runs import Policies

CARRIERS = ("literal", "crd")
AMD, ARM = (
    {"docker.io/library/app:1": found(architecture, origin="lock")} for architecture in ("amd64", "arm64")
)
APP = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "app:1"}]},
}
OWN = {
    "CustomResourceDefinition",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}


def architectures(policies, name):
    """What the node affinity of a pod with APP asks for, None where there is none."""
    (pod,) = policies.admitted(name, [APP])
    affinity = pod["spec"].get("affinity")
    if affinity is None:
        return None
    (term,) = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (one,) = term["matchExpressions"]
    assert (one["key"], one["operator"]) == (ARCH, "In")
    return one["values"]


def becomes(policies, name, wanted):
    policies.plane.until(f"pods of {name} get {wanted}", lambda: [architectures(policies, name)] == [wanted])


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_new_table_is_noticed_and_so_is_a_policy_that_goes_and_comes_back(policies, carrier):
    name = f"lifecycle-{carrier}"
    installed = policies.install(name, AMD, Options(), carrier=carrier)
    becomes(policies, name, ["amd64"])
    policies.install(name, ARM, Options(), carrier=carrier)
    becomes(policies, name, ["arm64"])
    policies.remove(installed)
    becomes(policies, name, None)
    policies.install(name, AMD, Options(), carrier=carrier)
    becomes(policies, name, ["amd64"])


def test_pods_pass_while_the_table_is_missing(policies):
    name = "without-table"
    installed = policies.install(name, AMD, Options(), carrier="crd")
    becomes(policies, name, ["amd64"])
    (table,) = (one for one in installed.objects if one["kind"] not in OWN)
    for _ in range(2):
        policies.remove(installed._replace(objects=[table]))
        becomes(policies, name, None)
        policies.apply([table])
        becomes(policies, name, ["amd64"])


@pytest.mark.load
def test_a_custom_resource_holds_15000_images(policies):
    name = "largest"
    locked = {
        f"registry.example.com/platform/team-{number % 40}/service-with-a-name-{number}:v1.27.3": found(
            "amd64"
        )
        for number in range(15_000)
    }
    installed = policies.install(name, {**AMD, **locked}, Options(), carrier="crd")
    becomes(policies, name, ["amd64"])
    policies.install(name, {**ARM, **locked}, Options(), carrier="crd")
    becomes(policies, name, ["arm64"])
    policies.remove(installed)


@pytest.fixture(scope="module")
def bare(real, tmp_path_factory):
    """An API server that serves v1beta1 too, and gives pods no tolerations of its own."""
    flags = (
        "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
        "--disable-admission-plugins=DefaultTolerationSeconds",
    )
    real.refuse_unmarked("a control plane")
    with ControlPlane(tmp_path_factory.mktemp("bare"), *flags) as plane:
        made = Policies(plane)
        made.runtime_classes()
        yield made


@pytest.mark.parametrize("seed", ["test/1", "test/5"])
def test_random_pods_are_changed_as_archfit_changes_them(policies, seed):
    outcomes, wrong = judged_by_server(policies, seed)
    assert wrong == []
    assert outcomes["Change"] > 20


def test_pods_without_tolerations_under_v1beta1(bare):
    outcomes, wrong = judged_by_server(bare, "test/4", api_version="v1beta1")
    assert wrong == []
    assert outcomes["Change"] > 20
