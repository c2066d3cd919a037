"""The policy decides as archfit does: random pods through the API server, beside archfit's own patch, pod by pod."""

from __future__ import annotations

import pytest

from archfit.options.settings import Options
from archfit.policy.cel.left_alone import MAX_IMAGES, MAX_TERMS, MAX_VALUES
from drawn_pods import at_creation
from drawn_pods.drawing import ARCH, REQUIRED
from pod_decisions import found

LOCKED = at_creation.platforms()
# test_policy_cel.py draws options; the API server's own CEL decides there, too.
SETS = {"default": Options(), "s390x": Options(cluster_architectures=("amd64", "arm64", "s390x"))}


@pytest.fixture(scope="module")
def installed(policies):
    """The policy of each set of options, for a namespace of its own."""
    return {name: policies.install(name, LOCKED, options) for name, options in SETS.items()}


@pytest.mark.parametrize("name", SETS)
def test_random_pods_are_changed_as_archfit_changes_them(name, installed, policies, drawn):
    plain = drawn(1, 1000)[: 1000 if name == "default" else 300]
    policies.await_change(installed[name], plain)
    judged = policies.judged(installed[name], plain)
    assert not judged.wrong, str(judged)
    assert judged.left_alone.total() < 20, judged.left_alone
    assert policies.errors(installed[name]) == 0


@pytest.mark.parametrize("name", SETS)
def test_a_pod_that_was_changed_passes_unchanged(name, installed, policies, drawn):
    plain = drawn(1, 1000)[:300]
    policies.await_change(installed[name], plain)
    once = policies.admitted(name, plain)
    assert sum(pod["spec"] != after["spec"] for pod, after in zip(plain, once, strict=True)) > 100
    assert [pod for pod, after in zip(once, policies.admitted(name, once), strict=True) if pod != after] == []


def large_pod(images, terms, values):
    """A pod with that many images (each of 255 characters, the longest), terms, and architectures in all terms."""
    some, more = divmod(values, terms) if terms else (0, 0)
    named = [["amd64", "arm64", *(f"cpu-{n}" for n in range(some + (k < more) - 2))] for k in range(terms)]
    made = [
        {"matchExpressions": [{"key": ARCH, "operator": "In", "values": names} if names[2:] else POOL_ONLY]}
        for names in named
    ]
    spec = {
        "containers": [{"name": f"c{number}", "image": LONG.format(number)} for number in range(images)],
        "tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(50)],
    }
    if terms:
        spec["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": made}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}


LONG = f"registry.example.com/{'a' * 225}/app-{{:03}}:1"
POOL_ONLY = {"key": "pool", "operator": "Exists"}
LARGEST = [
    (MAX_IMAGES, 0, 0),
    (1, MAX_TERMS, 0),
    (MAX_IMAGES, MAX_TERMS, 0),
    (MAX_IMAGES, 1, MAX_VALUES),
    (MAX_IMAGES, 100, MAX_VALUES * 10),
]
TOO_LARGE = [(MAX_IMAGES + 1, 0, 0), (1, MAX_TERMS + 1, 0), (1, 1, MAX_VALUES + 3)]


@pytest.mark.load
@pytest.mark.parametrize("carrier", ["literal", "crd"])
def test_the_largest_pods_are_within_the_cost_that_an_api_server_allows(carrier, policies):
    locked = {
        LONG.format(number): found("amd64 arm64" if number % 3 else "amd64", origin="lock")
        for number in range(4000)
    }
    options = Options(prefer=(("amd64", 1), ("arm64", 9)))
    installed = policies.install(f"large-{carrier}", locked, options, carrier=carrier)
    plain = policies.plain([large_pod(*size) for size in (*LARGEST, *TOO_LARGE)])
    policies.await_change(installed, plain)
    judged = policies.judged(installed, plain)
    errors = policies.errors(installed)
    policies.remove(installed)
    assert (judged.wrong, judged.left_alone, errors) == ([], {"too-large": len(TOO_LARGE)}, 0), str(judged)
