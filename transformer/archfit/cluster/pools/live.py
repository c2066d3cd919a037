"""The pools of a live cluster, and what says more about them: read as far as the user may.

    the group is not there, or the kind is not     there are no such pools
    403                                            not read: nobody may say that there are none

Machine templates of Cluster API are not read: their kinds are the providers' own, and a MachineDeployment that says
its architecture nowhere else is named as one of which nothing is known.
"""

from __future__ import annotations

from typing import Any

from archfit.cluster.cluster_connection import ClusterConnection
from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.live_objects import NODES, LiveKind, anew_once, live_objects
from archfit.cluster.pools import karpenter, node_groups
from archfit.startup.record import Record

KINDS = (
    (karpenter.GROUP, "nodepools", karpenter.KIND),
    ("karpenter.k8s.aws", "ec2nodeclasses", "EC2NodeClass"),
    ("karpenter.azure.com", "aksnodeclasses", "AKSNodeClass"),
    (node_groups.CLUSTER_API, "machinedeployments", "MachineDeployment"),
    (node_groups.CLUSTER_API, "machinepools", "MachinePool"),
    (node_groups.CLUSTER_API, "machinesets", "MachineSet"),
    (node_groups.OPENSHIFT, "machinesets", "MachineSet"),
    (node_groups.GKE, "computeclasses", "ComputeClass"),
)
_GROUPS = "/apis"
NOT_READ = "whether a pool brings nodes of other architectures is not known"


class PoolObjects(Record):
    """values: the objects. unread: (what, why) of each list that the user may not read, `nodepools.karpenter.sh`."""

    values: tuple[dict[str, Any], ...]
    unread: tuple[tuple[str, str], ...] = ()


def nodes_and_pools(connection: ClusterConnection) -> PoolObjects:
    """The nodes of the cluster, and what `pool_objects` gives. Raises ClusterError."""

    def read() -> PoolObjects:
        nodes = tuple(live_objects(connection, (NODES,)))
        makers = pool_objects(connection)
        return makers.replace(values=(*nodes, *makers.values))

    return anew_once(read)


def pool_objects(connection: ClusterConnection) -> PoolObjects:
    """Everything about pools that the cluster has and the user may read.

    Raises ClusterError for anything but a refusal.
    """
    try:
        versions = _versions(connection.get(_GROUPS))
    except ClusterError as error:
        if error.reason not in ("forbidden", "not-found"):
            raise
        return PoolObjects((), (("node pools", str(error)),))
    values: list[dict[str, Any]] = []
    unread = []
    for group, resource, kind in KINDS:
        if group not in versions:
            continue
        listed = LiveKind(resource, f"{group}/{versions[group]}", kind)
        try:
            values += list(live_objects(connection, (listed,)))
        except ClusterError as error:
            if error.reason == "forbidden":
                unread.append((f"{resource}.{group}", str(error)))
            elif error.reason != "not-found":
                raise
    return PoolObjects(tuple(values), tuple(unread))


def _versions(answer: Any) -> dict[str, str]:
    """The preferred version of each group of an APIGroupList (meta/v1). Raises ClusterError."""
    groups = answer.get("groups") if isinstance(answer, dict) else None
    if not isinstance(groups, list):
        raise ClusterError(f"{_GROUPS} is no list of API groups: is this the API server?")
    versions = {}
    for group in groups:
        preferred = group.get("preferredVersion") if isinstance(group, dict) else None
        if isinstance(preferred, dict) and preferred.get("version"):
            versions[str(group.get("name"))] = str(preferred["version"])
    return versions
