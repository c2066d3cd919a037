"""The user's kubectl, for what asks a cluster."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from archfit.cluster.cluster_connection import SECONDS
from archfit.cluster.kubectl import Kubectl


def kubectl_of(flags: Namespace, environ: Mapping[str, str]) -> Kubectl:
    """Kubectl for the cluster that --context and --kubeconfig name. Raises ClusterError."""
    return Kubectl(environ, context=flags.context or "", kubeconfig=flags.kubeconfig or "", seconds=SECONDS)
