"""Which kinds hold pods, and where: one row for each.

    group   kind                    pod spec                             once applied
    ""      Pod                     spec                                 immutable
    ""      PodTemplate             template.spec
    ""      ReplicationController   spec.template.spec
    apps    Deployment, ...         spec.template.spec
    batch   Job                     spec.template.spec                   immutable
    batch   CronJob                 spec.jobTemplate.spec.template.spec

and which kinds certainly hold none, so that their text need not be parsed. Kind alone says nothing: Knative's
Service and Volcano's Job carry pods.
"""

from __future__ import annotations

from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.patch import Path


class Row(Record):
    """One kind that holds a pod spec. The pod's metadata stands beside its spec."""

    group: str
    kind: str
    pod_spec: Path
    immutable: bool = False


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
LISTS = frozenset(
    {
        ("", "List"),
        ("config.kubernetes.io", "ResourceList"),
        *((row.group, row.kind + "List") for row in ROWS),
    }
)

PODLESS = frozenset(
    (group, kind)
    for group, kinds in {
        "": "ConfigMap Secret Service ServiceAccount Namespace PersistentVolume PersistentVolumeClaim Endpoints "
        "Event LimitRange ResourceQuota Node Binding",
        "admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration "
        "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy "
        "MutatingAdmissionPolicyBinding",
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "autoscaling": "HorizontalPodAutoscaler",
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
)


def group_of(api_version: str) -> str:
    """`apps` of `apps/v1`; "" of `v1` (API conventions: the core group has no name)."""
    return api_version.rpartition("/")[0]
