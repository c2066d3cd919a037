"""The pools among the objects of a cluster, whatever order they come in.

    NodePool             read with the node class that it names
    MachineDeployment    read with the machine template that it names; those of other clusters are left out
    ComputeClass         by itself

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
    found: list[Pool] = []
    for value in objects:
        if karpenter.is_node_pool(value):
            found.append(karpenter.node_pool(value, beside))
        elif node_groups.is_machines(value):
            found.append(node_groups.machines(value, beside))
        elif node_groups.is_compute_class(value):
            found += node_groups.compute_class(value)
    return sorted(found, key=lambda one: (one.kind, one.name, one.architectures))


def of_this_cluster(found: Sequence[Pool], clusters: Collection[str]) -> list[Pool]:
    """The pools, with a problem for those of another cluster. clusters: that the nodes name (`Node.cluster`)."""
    return [_judged(pool, clusters) for pool in found]


def _judged(pool: Pool, clusters: Collection[str]) -> Pool:
    if not pool.cluster or pool.cluster in clusters:
        return pool
    name = ascii_text(pool.cluster)
    those = ascii_text(", ".join(sorted(clusters)))
    whose = f"the nodes are of {those}" if those else "no node says that it belongs to it"
    return pool.replace(architectures=(), problem=f"it is of the cluster {name}, and {whose}")
