"""What runs and what makes it run: pods and the workloads of Kubernetes itself, read from a live cluster.

    pods           /api/v1/pods                      nodes likewise
    deployments    /apis/apps/v1/deployments      statefulsets, daemonsets, replicasets likewise
    jobs           /apis/batch/v1/jobs            cronjobs likewise

A page of a list leaves apiVersion and kind out of its items; they are put in here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from archfit.cluster_api.cluster_connection import Connection
from archfit.cluster_api.paged_list import listed
from archfit.record import Record


class LiveKind(Record):
    """A kind that is read. resource: its plural, as RBAC names it. namespaced: its objects stand in namespaces."""

    resource: str
    api_version: str
    kind: str
    namespaced: bool = True

    def path(self, namespace: str = "") -> str:
        """Of its list, in one namespace or over all of them."""
        root = f"/{'apis' if '/' in self.api_version else 'api'}/{self.api_version}"
        return (
            f"{root}/namespaces/{namespace}/{self.resource}"
            if namespace and self.namespaced
            else f"{root}/{self.resource}"
        )

    @property
    def group(self) -> str:
        """Its API group, "" for core."""
        return self.api_version.rpartition("/")[0]


PODS = LiveKind("pods", "v1", "Pod")
NODES = LiveKind("nodes", "v1", "Node", namespaced=False)
DEPLOYMENTS = LiveKind("deployments", "apps/v1", "Deployment")
STATEFUL_SETS = LiveKind("statefulsets", "apps/v1", "StatefulSet")
DAEMON_SETS = LiveKind("daemonsets", "apps/v1", "DaemonSet")
REPLICA_SETS = LiveKind("replicasets", "apps/v1", "ReplicaSet")
JOBS = LiveKind("jobs", "batch/v1", "Job")
CRON_JOBS = LiveKind("cronjobs", "batch/v1", "CronJob")


def live_objects(
    connection: Connection, kinds: Iterable[LiveKind], namespace: str = ""
) -> Iterator[dict[str, Any]]:
    """Every object of the kinds, in their order. namespace: "" is all. Raises ClusterError."""
    for kind in kinds:
        for item in listed(connection, kind.path(namespace)):
            yield {"apiVersion": kind.api_version, "kind": kind.kind, **item}
