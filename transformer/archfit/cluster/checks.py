"""What the `--check`s of policy, webhook and fleet ask a cluster, through the user's kubectl."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from archfit.cli.setup.check_lines import Wrong
from archfit.cluster.cluster_connection import SECONDS
from archfit.cluster.kubectl import Kubectl
from archfit.yaml.values import mapping_of


def kubectl_of(flags: Namespace, environ: Mapping[str, str]) -> Kubectl:
    """Kubectl for the cluster that --context and --kubeconfig name. Raises ClusterError."""
    return Kubectl(environ, context=flags.context or "", kubeconfig=flags.kubeconfig or "", seconds=SECONDS)


def answering(kubectl: Kubectl) -> str:
    """That the API server answers, and its version. Raises ClusterError."""
    version = mapping_of(kubectl.get("/version")).get("gitVersion")
    return f"the API server answers ({version})"


def may_list(kubectl: Kubectl, account: str, resources: Mapping[str, str], remedy: str) -> str:
    """That a service account may list resources in all namespaces. Raises Wrong and ClusterError.

    account: `namespace/name`. resources: as `kubectl auth can-i` takes each, and how it is shown.
    """
    user = f"--as=system:serviceaccount:{account.replace('/', ':')}"
    refused = [
        shown
        for resource, shown in resources.items()
        if kubectl.run("auth", "can-i", "list", resource, "-A", user).output.strip() != b"yes"
    ]
    if refused:
        raise Wrong(f"the service account {account} may not list {', '.join(refused)}: {remedy}")
    return f"the service account {account} may list {', '.join(resources.values())}"
