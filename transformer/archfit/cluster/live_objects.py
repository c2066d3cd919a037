"""What runs and what makes it run: pods and the workloads of Kubernetes itself, read from a live cluster.

Lists are read page by page; a page leaves apiVersion and kind out of its items, and they are put in here. 410 Gone says
that the token is too old: what was read so far may be gone, so that the reader of the whole begins anew (`anew_once`).
Source: kubernetes.io/docs/reference/using-api/api-concepts, retrieving large results sets in chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlencode

from archfit.cluster.cluster_connection import ClusterConnection
from archfit.cluster.cluster_error import ClusterError
from archfit.startup.record import Record

LIMIT = 500
_MAX_PAGES = 4000
_Read = TypeVar("_Read")


def list_objects(connection: ClusterConnection, path: str, limit: int = LIMIT) -> Iterator[dict[str, Any]]:
    """Every object of a list. path: such as /apis/apps/v1/deployments. Raises ClusterError."""
    token = ""
    given: set[str] = set()
    while True:
        query = {"limit": str(limit), **({"continue": token} if token else {})}
        page = connection.get(f"{path}?{urlencode(query)}")
        items = page.get("items") if isinstance(page, dict) else None
        if not isinstance(items, list | None) or not isinstance(page, dict):
            raise ClusterError(f"{path} is no list of objects: is this the API server?")
        yield from (item for item in items or () if isinstance(item, dict))
        metadata = page.get("metadata")
        token = str(metadata.get("continue") or "") if isinstance(metadata, dict) else ""
        if not token:
            return
        if token in given:
            raise ClusterError(f"{path} gives the same page again and again: is this the API server?")
        given.add(token)
        if len(given) >= _MAX_PAGES:
            raise ClusterError(f"{path} has more than {_MAX_PAGES * limit} objects")


def anew_once(read: Callable[[], _Read]) -> _Read:
    """What `read` gives; it is called again, once, where a list changed too much while it was read."""
    try:
        return read()
    except ClusterError as error:
        if error.reason != "expired":
            raise
    return read()


class LiveKind(Record):
    """A kind that is read. resource: its plural, as RBAC names it. namespaced: its objects stand in namespaces."""

    resource: str
    api_version: str
    kind: str
    namespaced: bool = True

    def path(self, namespace: str = "") -> str:
        """Of its list, in one namespace or over all of them."""
        root = f"/{'apis' if '/' in self.api_version else 'api'}/{self.api_version}"
        inside = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{inside}/{self.resource}"

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
SERVICES = LiveKind("services", "v1", "Service")
_ADMISSION = "admissionregistration.k8s.io/v1"
MUTATING_WEBHOOKS = LiveKind(
    "mutatingwebhookconfigurations", _ADMISSION, "MutatingWebhookConfiguration", namespaced=False
)
VALIDATING_WEBHOOKS = LiveKind(
    "validatingwebhookconfigurations", _ADMISSION, "ValidatingWebhookConfiguration", namespaced=False
)


def live_objects(
    connection: ClusterConnection, kinds: Iterable[LiveKind], namespace: str = ""
) -> Iterator[dict[str, Any]]:
    """Every object of the kinds, in their order. namespace: "" is all. Raises ClusterError."""
    for kind in kinds:
        for item in list_objects(connection, kind.path(namespace)):
            yield {"apiVersion": kind.api_version, "kind": kind.kind, **item}
