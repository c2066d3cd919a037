"""Pools among the objects of a cluster, as facts: what makes nodes, read by `cluster.pools`.

    NodePool, MachineDeployment, ComputeClass, ..    a PoolFacts for each pool; of a ComputeClass for each architecture
    node class, machine template                     kept until the end, as it may come before the pool or after it
    anything else                                    not taken

A pool of another cluster than the nodes', in a management cluster of Cluster API, brings nothing here, and says so.
Objects are kept whole until the end; a cluster has few of these kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archfit.audit.facts import PoolFacts
from archfit.audit.running.object_fields import mapping, text
from archfit.cluster.nodes import CLUSTER_NAME
from archfit.cluster.pools.pool import Pool
from archfit.cluster.pools.read import is_beside, is_pool, of_this_cluster, pools


class Pools:
    """What was read so far of pools, and of the clusters that nodes say to be of."""

    def __init__(self) -> None:
        self._objects: list[Mapping[str, Any]] = []
        self._clusters: set[str] = set()

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is a pool, or says more about one."""
        return is_pool(value) or is_beside(value)

    def add(self, value: Mapping[str, Any]) -> None:
        """One that `takes` took."""
        self._objects.append(value)

    def add_node(self, metadata: Mapping[str, Any]) -> None:
        """The metadata of a Node."""
        name = text(mapping(metadata.get("annotations")).get(CLUSTER_NAME))
        if name:
            self._clusters.add(name)

    def facts(self, snapshot: str) -> tuple[PoolFacts, ...]:
        """All pools, without an order."""
        return tuple(_facts(snapshot, pool) for pool in of_this_cluster(pools(self._objects), self._clusters))


def _facts(snapshot: str, pool: Pool) -> PoolFacts:
    return PoolFacts(
        snapshot,
        pool.kind,
        pool.name,
        pool.architectures,
        pool.basis,
        pool.problem,
        tuple(sorted(map(str, pool.taints))),
        max(0, pool.weight),
        pool.limits,
        pool.scales,
    )
