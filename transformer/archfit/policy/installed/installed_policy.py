"""The policy that is in force in a cluster: whether it is there, and which namespaces it leaves out.

Without its binding it is not in force.
Source: admissionregistration.k8s.io MutatingAdmissionPolicy; apimachinery, metav1.LabelSelector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from archfit.base.errors import UsageError
from archfit.cluster.cluster_connection import ClusterConnection, get_if_there
from archfit.cluster.cluster_error import ClusterError
from archfit.policy.settings import PolicySettings
from archfit.policy.table import GROUP, PLURAL, VERSION, Table, installed_table
from archfit.yaml.values import mapping_of

_TABLES = f"/apis/{GROUP}/{VERSION}/{PLURAL}"
_POLICIES = "mutatingadmissionpolicies"


class Installed:
    """An installed policy. Its methods raise ClusterError."""

    def __init__(self, connection: ClusterConnection, policy: Mapping[str, Any]) -> None:
        self._connection, self._policy = connection, policy
        constraints = mapping_of(mapping_of(policy.get("spec")).get("matchConstraints"))
        self._selector = mapping_of(constraints.get("namespaceSelector"))
        self._pods = mapping_of(constraints.get("objectSelector"))
        self._labels: dict[str, dict[str, str]] = {}

    def table(self) -> Table:
        """What it knows about images; nothing where its PlatformTable is missing."""
        if not mapping_of(self._policy.get("spec")).get("paramKind"):
            return installed_table(self._policy, None)
        name = quote(str(mapping_of(self._policy.get("metadata")).get("name")))
        return installed_table(self._policy, mapping_of(get_if_there(self._connection, f"{_TABLES}/{name}")))

    def leaves_out(self, namespace: str, labels: Mapping[str, str]) -> str:
        """Why a pod of a namespace, with these labels, is not the policy's business, "" if it is."""
        if not selected(self._pods, labels):
            return "the policy leaves pods with these labels out (objectSelector)"
        if namespace not in self._labels:
            value = self._connection.get(f"/api/v1/namespaces/{quote(namespace)}")
            self._labels[namespace] = mapping_of(mapping_of(value.get("metadata")).get("labels"))
        if selected(self._selector, self._labels[namespace]):
            return ""
        return f"the policy leaves the namespace {namespace} out (namespaceSelector)"


def installed(connection: ClusterConnection, settings: PolicySettings) -> Installed:
    """The policy of that name. Raises ClusterError where it, its binding or its API is not there."""
    base = f"/apis/admissionregistration.k8s.io/{settings.api_version}"
    renew = (
        "write it with archfit policy, and apply it: archfit policy --lock-file archfit.lock "
        "| kubectl apply --server-side -f -"
    )
    check_version(connection, settings)
    values = []
    for kind, plural in (
        ("MutatingAdmissionPolicy", _POLICIES),
        ("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
    ):
        value = get_if_there(connection, f"{base}/{plural}/{quote(settings.name)}")
        if value is None:
            raise ClusterError(
                f"the cluster has no {kind} {settings.name}, so there is nothing to check: name it with --name, or "
                f"{renew}"
            )
        values.append(mapping_of(value))
    return Installed(connection, values[0])


def check_version(connection: ClusterConnection, settings: PolicySettings) -> None:
    """Raises UsageError where the API server has no MutatingAdmissionPolicy of this version, and ClusterError."""
    group = f"admissionregistration.k8s.io/{settings.api_version}"
    api = mapping_of(get_if_there(connection, f"/apis/{group}"))
    if not any(resource.get("name") == _POLICIES for resource in api.get("resources") or ()):
        version = mapping_of(get_if_there(connection, "/version")).get("gitVersion")
        raise UsageError(
            f"the API server{f' ({version})' if version else ''} has no MutatingAdmissionPolicy of {group}: it needs "
            "Kubernetes 1.36, or 1.34 with --api-version v1beta1 and the feature gate; install archfit serve on older "
            "ones (archfit setup chart)"
        )


def table_in_force(connection: ClusterConnection, settings: PolicySettings) -> Table:
    """What the installed policy of that name knows about images; {} where there is none, or where it may not be read.

    Raises ClusterError where the cluster does not answer.
    """
    path = f"/apis/admissionregistration.k8s.io/{settings.api_version}/{_POLICIES}/{quote(settings.name)}"
    try:
        return Installed(connection, mapping_of(connection.get(path))).table()
    except ClusterError as error:
        if error.reason not in {"not-found", "forbidden"}:
            raise
        return {}


def selected(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a metav1.LabelSelector selects labels. An empty one selects all."""
    if any(labels.get(key) != value for key, value in mapping_of(selector.get("matchLabels")).items()):
        return False
    return all(_met(requirement, labels) for requirement in selector.get("matchExpressions") or ())


def _met(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = requirement.get("key"), requirement.get("values") or ()
    match requirement.get("operator"):
        case "In":
            return labels.get(str(key)) in values
        case "NotIn":
            return labels.get(str(key)) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False
