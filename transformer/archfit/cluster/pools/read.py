"""The pools among the objects of a cluster, whatever order they come in.

A management cluster of Cluster API holds the machines of many clusters. The nodes say to which one they belong: their
annotation cluster.x-k8s.io/cluster-name. So a MachineDeployment counts where a node names its cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from archfit.cluster.nodes import ascii_text
from archfit.cluster.pools import karpenter, node_groups
from archfit.cluster.pools.pool import Pool, group_of, kind_of

PREFER = """\
Karpenter takes `prefer` as required, the heaviest term first, as long as it can make such a node; with
PREFERENCE_POLICY=Ignore it does not look at it."""
"""Source: karpenter v1.14.0, pkg/controllers/provisioning/scheduling/preferences.go; pkg/operator/options."""


def is_pool(value: Mapping[str, Any]) -> bool:
    """Whether an object is one that `pools` reads."""
    return (
        karpenter.is_node_pool(value) or node_groups.is_machines(value) or node_groups.is_compute_class(value)
    )


def is_beside(value: Mapping[str, Any]) -> bool:
    """Whether an object says more about pools: a node class, a machine template."""
    group, kind = group_of(value), kind_of(value)
    return (group, kind) in karpenter.CLASSES or (
        group == node_groups.INFRASTRUCTURE and kind.endswith("Template")
    )


def pools(values: Iterable[Mapping[str, Any]]) -> list[Pool]:
    """Every pool of these objects, by kind and name; other objects are passed over."""
    objects = list(values)
    beside = [value for value in objects if is_beside(value)]
    read: list[Pool] = []
    for value in objects:
        if karpenter.is_node_pool(value):
            read.append(karpenter.node_pool(value, beside))
        elif node_groups.is_machines(value):
            read.append(node_groups.machines(value, beside))
        elif node_groups.is_compute_class(value):
            read += node_groups.compute_class(value)
    return sorted(read, key=lambda pool: (pool.kind, pool.name, pool.architectures))


def of_this_cluster(read: Sequence[Pool], clusters: Collection[str]) -> list[Pool]:
    """The pools, with a problem for those of another cluster. clusters: that the nodes name (`Node.cluster`)."""
    those = ascii_text(", ".join(sorted(clusters)))
    whose = f"the nodes are of {those}" if those else "no node says that it belongs to it"
    return [
        pool.replace(
            architectures=(), problem=f"it is of the cluster {ascii_text(pool.cluster)}, and {whose}"
        )
        if pool.cluster and pool.cluster not in clusters
        else pool
        for pool in read
    ]
