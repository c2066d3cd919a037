"""Redis, Dragonfly and ZooKeeper operators.

The operators of spotahome and Pravega write a soft anti-affinity of their own only while there is no
  affinity; both are
constants but for the object's name (redis-operator generator.go, zookeeper-operator zookeepercluster_types.go).
"""

from __future__ import annotations

from archfit.base.typing_names import Any, Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import parts

_SPOTAHOME = (
    "databases.spotahome.com RedisFailover spec.{0} @.image @.exporter.image @.extraContainers[*].image"
)
_OPSTREE = """
redis.redis.opstreelabs.in Redis,RedisReplication,RedisSentinel spec IMAGES
redis.redis.opstreelabs.in RedisReplication spec.sentinel @.image
redis.redis.opstreelabs.in RedisCluster spec.redisLeader IMAGES
redis.redis.opstreelabs.in RedisCluster spec.redisFollower IMAGES
""".replace(
    "IMAGES",
    "spec.kubernetesConfig.image spec.redisExporter.image spec.initContainer.image spec.sidecars[*].image",
)
_DRAGONFLY = """
dragonflydb.io Dragonfly spec @.image @.additionalContainers[*].image @.additionalVolumes[*].image.reference
"""
_ZOOKEEPER = """
zookeeper.pravega.io ZookeeperCluster spec.pod spec.image.repository+tag spec.containers[*].image
  spec.initContainers[*].image spec.volumes[*].image.reference <spec
"""


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for role in ("redis", "sentinel"):
        labels = {"component": role, "name": "{metadata.name}", "part-of": "redis-failover"}
        yield from parts(
            _SPOTAHOME.format(role), "the Redis operator chooses it",
            default_affinity=apart(
                100, {"matchLabels": {f"app.kubernetes.io/{name}": value for name, value in labels.items()}}
            ),
        )  # fmt: skip
    yield from parts(_OPSTREE, "the Redis operator chooses it")
    yield from parts(_DRAGONFLY, "the Dragonfly operator chooses it")
    app = {"key": "app", "operator": "In", "values": ["{metadata.name}"]}
    yield from parts(
        _ZOOKEEPER, "the ZooKeeper operator chooses it, or a part of it",
        default_affinity=apart(20, {"matchExpressions": [app]}),
    )  # fmt: skip


def apart(weight: int, selector: dict[str, Any]) -> dict[str, Any]:
    """An affinity that prefers hosts without another pod of the selector."""
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    preferred = [{"podAffinityTerm": term, "weight": weight}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
