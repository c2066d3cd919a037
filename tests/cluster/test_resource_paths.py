"""An object's place in the API."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import pytest

from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.service_account import resource_path

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {"names": {"kind": "Thing", "plural": "things"}},
}
THING = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param(
            {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "archfit.dev"}},
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/archfit.dev",
            id="a kind that is known",
        ),
        pytest.param(THING, "/apis/example.com/v1/things/a", id="a kind with its definition beside it"),
        pytest.param({**THING, "metadata": {"name": "a", "namespace": "shop"}}, "/apis/example.com/v1/namespaces/shop/things/a", id="in a namespace"),
    ],
)  # fmt: skip
def test_the_path(value: dict[str, object], path: str):
    assert resource_path(value, [DEFINITION, value]) == path


def test_a_kind_without_definition_is_refused():
    with pytest.raises(ClusterError, match="Thing has no definition beside it"):
        resource_path(THING, [THING])
