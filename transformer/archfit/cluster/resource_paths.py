"""Where an object stands in the API: group and version from its apiVersion, the plural from its definition.

    MutatingAdmissionPolicy archfit.dev    /apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/archfit.dev
    a kind with a definition beside it     /apis/GROUP/VERSION/[namespaces/NAMESPACE/]PLURAL/NAME

Source: kubernetes.io/docs/reference/using-api/api-concepts, resource URIs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from archfit.cluster.cluster_error import ClusterError

DEFINITION = "CustomResourceDefinition"
_PLURALS = {
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    DEFINITION: "customresourcedefinitions",
}


def plural(value: Mapping[str, Any], beside: Iterable[Mapping[str, Any]]) -> str:
    """The plural of an object's kind. beside: objects among which its definition may be. Raises ClusterError."""
    kind = value["kind"]
    if kind in _PLURALS:
        return _PLURALS[kind]
    for other in beside:
        if other["kind"] == DEFINITION and other["spec"]["names"]["kind"] == kind:
            return str(other["spec"]["names"]["plural"])
    raise ClusterError(f"{kind} has no definition beside it, so its place in the API is not known")


def resource_path(value: Mapping[str, Any], beside: Iterable[Mapping[str, Any]]) -> str:
    """The path of an object. Raises ClusterError."""
    metadata = value["metadata"]
    inside = f"/namespaces/{quote(metadata['namespace'])}" if metadata.get("namespace") else ""
    group = "/api" if "/" not in value["apiVersion"] else "/apis"
    return f"{group}/{value['apiVersion']}{inside}/{plural(value, beside)}/{quote(metadata['name'])}"
