"""Two ways to the cluster's API: a pod's service account, and kubectl with the user's own login."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.kubectl import Kubectl
from archfit.cluster.service_account import FOLDER, HOST, ServiceAccount

SECONDS = 300.0
"""For everything that one command does in the cluster."""


class ClusterConnection(Protocol):
    """The API of one cluster. Every method raises ClusterError."""

    def get(self, path: str) -> Any:
        """The object at a path such as /api/v1/pods?limit=500, decoded."""

    def text(self, path: str) -> str:
        """What is at a path that has no object, as a log."""

    def context(self) -> str:
        """The name by which the user knows this cluster, "" where there is none."""

    def apply(self, objects: Sequence[Mapping[str, Any]]) -> list[str]:
        """Applies objects in this order, as `kubectl apply --server-side` does. A line about each."""

    def close(self) -> None:
        """Ends what is open."""


def get_if_there(connection: ClusterConnection, path: str) -> Any:
    """The object at a path, None where there is none. Raises ClusterError."""
    try:
        return connection.get(path)
    except ClusterError as error:
        if error.reason != "not-found":
            raise
        return None


def connect(
    environ: Mapping[str, str], *, context: str = "", kubeconfig: str = "", seconds: float = SECONDS
) -> ClusterConnection:
    """The connection for this machine. context, kubeconfig: as the user's flags name them. Raises ClusterError."""
    named = context or kubeconfig or environ.get("KUBECONFIG")
    if not named and environ.get(HOST) and os.path.exists(os.path.join(FOLDER, "token")):
        return ServiceAccount(environ, seconds=seconds, folder=FOLDER)
    return Kubectl(environ, context=context, kubeconfig=kubeconfig, seconds=seconds)
