"""Which kinds hold pods, and where: one row for each.

Both tables go by group and kind, because Knative's Service and Volcano's Job hold pods. The rows of custom resources
are in `custom_rows`, those of the user in the configuration.
"""

from __future__ import annotations

from archfit.options.settings import Workload as Row
from archfit.yaml.values import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeAlias

UserRows: TypeAlias = "Mapping[tuple[str, str], tuple[Row, ...]]"
"""The rows of `workloads:` in the configuration, by group and kind; they replace those of archfit."""

_TEMPLATE = ("spec", "template", "spec")
ROWS = (
    Row("", "Pod", ("spec",), immutable=True),
    Row("", "PodTemplate", ("template", "spec")),
    Row("", "ReplicationController", _TEMPLATE),
    Row("apps", "ReplicaSet", _TEMPLATE),
    Row("apps", "Deployment", _TEMPLATE),
    Row("apps", "StatefulSet", _TEMPLATE),
    Row("apps", "DaemonSet", _TEMPLATE),
    Row("batch", "Job", _TEMPLATE, immutable=True),
    Row("batch", "CronJob", ("spec", "jobTemplate", *_TEMPLATE)),
    # Charts for clusters before 1.16 still write these.
    Row("extensions", "Deployment", _TEMPLATE),
    Row("extensions", "DaemonSet", _TEMPLATE),
    Row("extensions", "ReplicaSet", _TEMPLATE),
)
WORKLOADS = {(row.group, row.kind): row for row in ROWS}
_DELETED, _MADE = "their pods are deleted", "they make their next pods"
_NEVER_ROLL = {
    "ReplicaSet": _DELETED,
    "ReplicationController": _DELETED,
    "CronJob": _MADE,
    "PodTemplate": _MADE,
}
LISTS = frozenset(
    {
        ("", "List"),
        ("config.kubernetes.io", "ResourceList"),
        *((row.group, row.kind + "List") for row in ROWS),
    }
)

PODLESS = frozenset(
    (group, kind + listed)
    for group, kinds in {
        "": "ConfigMap Secret Service ServiceAccount Namespace PersistentVolume PersistentVolumeClaim Endpoints "
        "Event LimitRange ResourceQuota Node Binding",
        "admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration "
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy "
        "MutatingAdmissionPolicyBinding",
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "autoscaling": "HorizontalPodAutoscaler",
        # An image that nodes may pull ahead; nothing runs it (knative/caching).
        "caching.internal.knative.dev": "Image",
        "certificates.k8s.io": "CertificateSigningRequest",
        "coordination.k8s.io": "Lease",
        "discovery.k8s.io": "EndpointSlice",
        "events.k8s.io": "Event",
        "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
        "gateway.networking.k8s.io": "Gateway GatewayClass HTTPRoute GRPCRoute TLSRoute TCPRoute UDPRoute "
        "ReferenceGrant",
        "monitoring.coreos.com": "PodMonitor Probe PrometheusRule ServiceMonitor",
        "networking.k8s.io": "Ingress IngressClass NetworkPolicy",
        "node.k8s.io": "RuntimeClass",
        "policy": "PodDisruptionBudget PodSecurityPolicy",
        "rbac.authorization.k8s.io": "Role RoleBinding ClusterRole ClusterRoleBinding",
        "scheduling.k8s.io": "PriorityClass",
        "snapshot.storage.k8s.io": "VolumeSnapshot VolumeSnapshotClass VolumeSnapshotContent",
        "storage.k8s.io": "StorageClass CSIDriver CSINode VolumeAttachment CSIStorageCapacity",
    }.items()
    for kind in kinds.split()
    for listed in ("", "List")
)


OWN_GROUPS = frozenset(group for group, _ in (*WORKLOADS, *PODLESS) if group != "monitoring.coreos.com")


def rows_of(api_version: str, kind: str, user_rows: UserRows) -> tuple[Row, ...]:
    """The rows of a kind: the user's, where there are some, else ours; () for a kind that has none.

    In a version for which none was read, those of the other versions that place pods, and none of them was seen.
    """
    group, _, version = api_version.rpartition("/")
    rows = every_row(group, kind, user_rows)
    fitting = tuple(row for row in rows if is_for(row, version))
    if fitting:
        return fitting
    return tuple(row.replace(seen="") for row in rows if not row.reason)


def every_row(group: str, kind: str, user_rows: UserRows) -> tuple[Row, ...]:
    """The rows of a kind for all versions: the user's, where there are some, else ours."""
    rows = user_rows.get((group, kind))
    return own_rows(group, kind) if rows is None else rows


def is_for(row: Row, version: str) -> bool:
    """Whether the row was read for the version."""
    return not row.versions or any(
        version == pattern or (pattern[-1] == "*" and version.startswith(pattern[:-1]))
        for pattern in row.versions
    )


def other_versions(api_version: str, kind: str, user_rows: UserRows) -> str:
    """For which versions the rows of a kind were read, "" where this is one of them: `v1beta2, v1`."""
    group, _, version = api_version.rpartition("/")
    rows = every_row(group, kind, user_rows)
    if any(is_for(row, version) for row in rows):
        return ""
    return ", ".join(dict.fromkeys(known for row in rows for known in row.versions))


def waits_for(kind: str, spec: Mapping[str, Any]) -> str:
    """What has to happen before a change of the template reaches the pods of a kind of ROWS; see `Pod.waits_for`.

    Source: apps/v1 (DeploymentSpec.paused, updateStrategy OnDelete); a ReplicaSet has no rollout.
    """
    paused = spec.get("paused")
    if paused and kind == "Deployment" and paused == resolve("true"):
        return "they are resumed"
    strategy = spec.get("updateStrategy")
    if isinstance(strategy, dict) and strategy.get("type") == "OnDelete":
        return _DELETED
    return _NEVER_ROLL.get(kind, "")


def own_rows(group: str, kind: str) -> tuple[Row, ...]:
    """The rows of archfit for all versions of a kind, () for a kind that has none."""
    row = WORKLOADS.get((group, kind))
    if row is not None:
        return (row,)
    if group in OWN_GROUPS:
        return ()
    from archfit.workloads.custom_rows import custom_rows  # most streams hold none of these

    return custom_rows(group, kind)


def by_kind(rows: Iterable[Row]) -> dict[tuple[str, str], tuple[Row, ...]]:
    """Rows by group and kind, in order."""
    grouped: dict[tuple[str, str], tuple[Row, ...]] = {}
    for row in rows:
        grouped[row.group, row.kind] = (*grouped.get((row.group, row.kind), ()), row)
    return grouped


def group_of(api_version: str) -> str:
    """`apps` of `apps/v1`; "" of `v1` (API conventions: the core group has no name)."""
    return api_version.rpartition("/")[0]
