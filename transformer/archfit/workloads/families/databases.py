"""Relational databases, their Percona operators, RabbitMQ, MinIO, and caches.

Zalando's operator takes `spec.nodeAffinity` for database and pooler; the logical backup has none, and runs an image of
the configuration (k8sres.go generateLogicalBackupJob). Crunchy's copies each part's affinity and
tolerations; Percona's pgv2 has the same parts. A repository host and backup jobs are placed though nothing says so.

Percona's operators for MongoDB, XtraDB and MySQL: the affinity of a part is `affinity.advanced`.

    spec.pxc
      affinity:
        antiAffinityTopologyKey: kubernetes.io/hostname      the operator's anti-affinity, required
        advanced: {nodeAffinity: ..}                         replaces it (psmdb statefulset.go, pxc statefulset.go)
      tolerations:
      nodeSelector:                                          leaves it as it is
      enabled: false                                         there is no such part

An init container of each of their parts runs the operator's own image, unless initContainer.image or initImage names
another (pxc, ps, pgv2 InitImage, psmdb init.go).

The Redis operator of spotahome and the ZooKeeper operator of Pravega write a soft anti-affinity of their own only while
there is no affinity; both are constants but for the object's name (redis-operator generator.go, zookeeper-operator
zookeepercluster_types.go). That of spotahome names the object's own labels too, which all pods that it selects have.
"""

from __future__ import annotations

from archfit.workloads.families.notation import Draft, apart, left, parts, row
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CNPG = "postgresql.cnpg.io"
_CNPG_MANAGER = "CloudNativePG adds its manager, bootstrap-controller" + ANNOTATE
_POOLER = (
    "it has no spec.template.spec, which the API accepts only with a list of containers: write spec.template.spec with "
    "containers: [], then archfit adds the placement there"
)
_MINIO = "the MinIO operator chooses it"
_MINIO_SIDECAR = "the MinIO operator adds a sidecar and an init container of its own choice" + ANNOTATE
_ZALANDO = "the Zalando operator's configuration names it"
_TOLERATION = (
    "tolerations here replace `toleration` of the Zalando operator's configuration: "
    "what it tolerates, write here, too"
)
_CRUNCHY = """
postgres-operator.crunchydata.com PGAdmin spec @.image @.instrumentation.image
  @.volumes.additional[*].image.reference -nodeSelector
postgres-operator.crunchydata.com PGUpgrade spec @.image -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.instances[*] spec.image BACKREST
  spec.monitoring.pgmonitor.exporter.image spec.instrumentation.image -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.proxy.pgBouncer @.image spec.instrumentation.image
  -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.userInterface.pgAdmin @.image -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.backups.pgbackrest.repoHost BACKREST
  @.volumes.additional[*].image.reference <spec.backups.pgbackrest -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.backups.pgbackrest.jobs BACKREST
  @.volumes.additional[*].image.reference <spec.backups.pgbackrest -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.backups.pgbackrest.restore spec.image BACKREST
  @.volumes.additional[*].image.reference -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.dataSource.pgbackrest spec.image BACKREST
  @.volumes.additional[*].image.reference -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.dataSource.postgresCluster spec.image BACKREST
  @.volumes.additional[*].image.reference -nodeSelector
""".replace("BACKREST", "spec.backups.pgbackrest.image")
_SIDECARS = "@.sidecars[*].image @.sidecarVolumes[*].image.reference"
_PERCONA = (
    """
pgv2.percona.com PerconaPGUpgrade spec @.image @.toPostgresImage @.toPgBouncerImage @.toPgBackRestImage
  -nodeSelector
pgv2.percona.com PerconaPGCluster spec.instances[*] spec.image @.initContainer.image|spec.initContainer.image BACKREST
  spec.pmm.image spec.logcollector.image spec.extensions.image
  @.extraVolumes[*].volumeSource.image.reference spec.logcollector.volumes[*].image.reference SIDECARS
  -nodeSelector
pgv2.percona.com PerconaPGCluster spec.logicalReplicas[*] spec.image @.initContainer.image|spec.initContainer.image
  BACKREST spec.pmm.image spec.logcollector.image spec.extensions.image -nodeSelector
pgv2.percona.com PerconaPGCluster spec.proxy.pgBouncer @.image @.initContainer.image|spec.initContainer.image SIDECARS
  -nodeSelector
pgv2.percona.com PerconaPGCluster spec.backups.pgbackrest.repoHost BACKREST INIT SIDECARS
  <spec.backups.pgbackrest -nodeSelector
pgv2.percona.com PerconaPGCluster spec.backups.pgbackrest.jobs BACKREST INIT <spec.backups.pgbackrest -nodeSelector
pgv2.percona.com PerconaPGCluster spec.backups.pgbackrest.restore spec.image BACKREST INIT -nodeSelector
pgv2.percona.com PerconaPGCluster spec.dataSource.pgbackrest spec.image BACKREST INIT -nodeSelector
pgv2.percona.com PerconaPGCluster spec.dataSource.postgresCluster spec.image BACKREST INIT -nodeSelector
""".replace("BACKREST", "spec.backups.pgbackrest.image")
    .replace("INIT", "spec.backups.pgbackrest.initContainer.image|spec.initContainer.image")
    .replace("SIDECARS", _SIDECARS)
)
_LEFT = """
postgresql.cnpg.io ImageCatalog,ClusterImageCatalog spec: it lists images for Clusters, which are placed where they
  stand
acid.zalan.do OperatorConfiguration configuration: it names images that run in the pods of each postgresql, where they
  count
pxc.percona.com PerconaXtraDBClusterRestore spec: its pods are placed as the cluster that it restores says
ps.percona.com PerconaServerMySQLRestore spec: its pods are placed as the cluster that it restores says
"""
_CHOSEN = "Percona's operator chooses it"
_ADVANCED = (
    "affinity.advanced replaces the anti-affinity that Percona's operator makes of affinity.antiAffinityTopologyKey: "
    "write podAntiAffinity there, if members have to stay on different nodes"
)
_SEARCH = (
    "affinity, nodeSelector and tolerations of {0}.search each replace that of spec.search, which has the image: what "
    "stands there has to be written here, too"
)
_SPOTAHOME = "databases.spotahome.com"
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


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from _cloud_native_pg()
    yield from _queues_and_objects()
    yield from _zalando()
    yield from parts(_CRUNCHY, "Crunchy's operator chooses it")
    yield from parts(_PERCONA, "Percona's operator chooses it")
    yield from _mongodb()
    yield from _xtradb()
    yield from _mysql()
    yield from _caches()
    yield from left(_LEFT)


def _cloud_native_pg() -> Iterator[Draft]:
    yield row(
        _CNPG, "Cluster", "spec", there="spec", metadata=None, images="spec.imageName",
        also="spec.postgresql.extensions[*].image.reference",
        affinity="spec.affinity", tolerations="spec.affinity.tolerations", node_selector="spec.affinity.nodeSelector",
        default_image="an image catalogue or the CloudNativePG operator chooses it",
        unseen=(("spec", _CNPG_MANAGER),),
    )  # fmt: skip
    template = "spec.template.spec"
    pooler = {
        "images": "spec.pgbouncer.image", "default_image": "the CloudNativePG operator chooses it",
        "unseen": (("spec", _CNPG_MANAGER),),
    }  # fmt: skip
    yield row(_CNPG, "Pooler", template, there=template, main="pgbouncer", **pooler)
    yield row(
        _CNPG, "Pooler", template, there="spec", metadata=None, unless=((template, ""),),
        affinity=None, tolerations=None, node_selector=None, unplaced=_POOLER, **pooler,
    )  # fmt: skip


def _queues_and_objects() -> Iterator[Draft]:
    for there, image in (("spec.pools[*]", "spec.image"), ("spec.kes", "spec.kes.image")):
        tenant = (
            "spec.sideCars.containers[*].image spec.sideCars.initContainers[*].image spec.initContainers[*].image "
            "spec.sideCars.volumes[*].image.reference spec.additionalVolumes[*].image.reference"
        )
        yield row(
            "minio.min.io", "Tenant", there, there=there, metadata=None, images=image, default_image=_MINIO,
            also=tenant if there == "spec.pools[*]" else "",
            unseen=(("spec.pools", _MINIO_SIDECAR),) if there == "spec.pools[*]" else (),
        )  # fmt: skip
    # The override is merged into the StatefulSet last: its lists replace what stands in spec.
    override = "spec.override.statefulSet.spec.template.spec"
    yield row(
        "rabbitmq.com", "RabbitmqCluster", "spec", there="spec", metadata=None,
        images="spec.image spec.secretBackend.vault.defaultUserUpdaterImage",
        also=f"{override}.containers[*].image {override}.initContainers[*].image {override}.volumes[*].image.reference",
        replaced_by=(override,),
        default_image="the RabbitMQ operator chooses it",
    )  # fmt: skip


def _zalando() -> Iterator[Draft]:
    yield row(
        "acid.zalan.do", "postgresql", "spec", there="spec", metadata=None, affinity="spec", node_selector=None,
        images="spec.dockerImage spec.connectionPooler.dockerImage spec.sidecars[*].image",
        default_image=_ZALANDO, outside=_TOLERATION, outside_fields=("tolerations",),
        unseen=tuple(
            (f"spec.{switch}", _ZALANDO + ANNOTATE)
            for switch in ("enableConnectionPooler", "enableReplicaConnectionPooler", "enableLogicalBackup")
        ),
        note="where the Zalando operator has node_readiness_label_merge set to OR, nodes that are ready pass whatever "
        "nodeAffinity says: set it to AND",
    )  # fmt: skip


def _part(group: str, kind: str, at: str, images: str, also: str = "", *, sidecars: bool = True) -> Draft:
    own = f" {at}.sidecars[*].image {at}.sidecarVolumes[*].image.reference" if sidecars else ""
    return row(
        group, kind, at, there=at, metadata=None, unless=((f"{at}.enabled", "false"),),
        affinity=f"{at}.affinity.advanced", default_affinity=_ADVANCED, pins=True,
        images=images, also=also + own, default_image=_CHOSEN,
    )  # fmt: skip


def _mongodb() -> Iterator[Draft]:
    group, kind = "psmdb.percona.com", "PerconaServerMongoDB"
    images, beside = "spec.image spec.initImage", "spec.backup.image spec.pmm.image spec.logcollector.image"
    for at in ("spec.replsets[*]", "spec.sharding.configsvrReplSet"):
        for part in ("", ".nonvoting", ".arbiter", ".hidden"):
            yield _part(group, kind, at + part, images, beside)
        yield row(group, kind, there=f"{at}.search", reason=_SEARCH.format(at))
    yield _part(group, kind, "spec.sharding.mongos", images, beside)
    yield _part(group, kind, "spec.search", "spec.search.image spec.initImage")
    yield _part(group, "PerconaServerMongoDBClusterSync", "spec", "spec.image", sidecars=False)


def _xtradb() -> Iterator[Draft]:
    group, kind = "pxc.percona.com", "PerconaXtraDBCluster"
    init = "spec.initImage|spec.initContainer.image"
    for part in ("pxc", "haproxy", "proxysql"):
        at = f"spec.{part}"
        yield _part(
            group,
            kind,
            at,
            f"{at}.image {init}",
            f"spec.pmm.image spec.logcollector.image {init.replace('|', ' ')}",
        )
    storage = "spec.backup.storages.*"
    yield row(
        group, kind, storage, there=storage, metadata=None, images=f"spec.backup.image {init}",
        also=init.replace("|", " "), default_image=_CHOSEN,
    )  # fmt: skip


def _mysql() -> Iterator[Draft]:
    group, kind = "ps.percona.com", "PerconaServerMySQL"
    init = "{0}.initImage|{0}.initContainer.image|spec.initContainer.image|spec.initImage"
    for part in ("mysql", "orchestrator", "proxy.haproxy", "proxy.router", "backup.pitr.binlogServer"):
        at = f"spec.{part}"
        more = "spec.toolkit.image spec.pmm.image " if part == "mysql" else ""
        named = init.format(at)
        yield _part(
            group, kind, at, f"{at}.image {named}", more + named.replace("|", " "), sidecars=part == "mysql"
        )
    storage = "spec.backup.storages.*"
    named = init.format("spec.backup")
    yield row(
        group, kind, storage, there=storage, metadata=None, default_image=_CHOSEN,
        images=f"spec.backup.image {named}", also=named.replace("|", " "),
    )  # fmt: skip


def _caches() -> Iterator[Draft]:
    for role in ("redis", "sentinel"):
        labels = {
            "app.kubernetes.io/component": role,
            "app.kubernetes.io/managed-by": "redis-operator",
            "app.kubernetes.io/name": "{metadata.name}",
            "app.kubernetes.io/part-of": "redis-failover",
            **({"redisfailovers-role": "slave"} if role == "redis" else {}),
            f"redisfailovers.{_SPOTAHOME}/name": "{metadata.name}",
        }
        at = f"spec.{role}"
        yield row(
            _SPOTAHOME, "RedisFailover", at, there=at, metadata=None, images=f"{at}.image {at}.exporter.image",
            also=f"{at}.extraContainers[*].image {at}.extraVolumes[*].image.reference",
            default_image="the Redis operator chooses it", default_affinity=apart(100, {"matchLabels": labels}),
        )  # fmt: skip
    yield from parts(_OPSTREE, "the Redis operator chooses it")
    yield from parts(_DRAGONFLY, "the Dragonfly operator chooses it")
    app = {"key": "app", "operator": "In", "values": ["{metadata.name}"]}
    yield from parts(
        _ZOOKEEPER, "the ZooKeeper operator chooses it, or a part of it",
        default_affinity=apart(20, {"matchExpressions": [app]}),
    )  # fmt: skip
