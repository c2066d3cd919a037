"""Databases and search: OpenSearch, Elastic, Milvus, TiDB, MariaDB, MongoDB, ClickHouse, Cassandra, CockroachDB, Humio.

What an operator does with a part that has no affinity of its own:

    OpenSearch   a soft anti-affinity by the cluster's name, only while there is no affinity (builders/cluster.go)
    Elastic      the same for Elasticsearch, as long as the pod template has no affinity
    MariaDB      a required anti-affinity, where affinity.antiAffinityEnabled is true: up to 0.34 only while nothing
                 stands beside the switch, since then while there is no podAntiAffinity (base_types.go)
    Milvus       spec.components holds for every component that has none (components.go)
    TiDB         spec holds for every component that has none (component_spec.go)
    Redpanda     statefulset.podTemplate.spec is merged over clusterSpec.podTemplate.spec, onto which it puts
                 clusterSpec.affinity, at which operators of 25 before February 2026 stop (to_render.go)
    ClickHouse   its zone is appended to the terms of a pod template, as another one (affinity/node-affinity.go)
    MongoDB      its anti-affinity is kept: node, pod and anti-affinity are merged one by one (merge.go)
    Humio        amd64 is demanded while there is no affinity (humiocluster_defaults.go)
"""

from __future__ import annotations

from archfit.workloads.families.notation import Draft, apart, left, never, parts, row
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MILVUS = (
    "cdc dataCoord dataNode indexCoord indexNode mixCoord proxy queryCoord queryNode rootCoord standalone "
    "streamingNode"
)
_MILVUS_TOOL = (
    (
        "spec.components.toolImage",
        "the Milvus operator adds an init container of its own image, unless spec.components.toolImage names it"
        + ANNOTATE,
    ),
)
_TIDB = ("tidb", "tikv", "pd", "tiflash", "ticdc", "pump", "discovery")
_MARIADB = """
k8s.mariadb.com MariaDB spec @.image @.sidecarContainers[*].image @.galera.agent.image
  @.galera.initContainer.image @.replication.agent.image @.replication.initContainer.image
k8s.mariadb.com MariaDB spec.metrics.exporter @.image
k8s.mariadb.com MariaDB spec.bootstrapFrom.restoreJob spec.image
k8s.mariadb.com MariaDB spec.replication.replica.bootstrapFrom.restoreJob spec.image
"""
_MAXSCALE = """
k8s.mariadb.com MaxScale spec @.image
k8s.mariadb.com MaxScale spec.metrics.exporter @.image
"""
_MONGODB = ("mongodb-agent", "mongod-posthook", "mongodb-agent-readinessprobe")
_CLUSTERS = "spec.configuration.clusters[*]"
_CLICKHOUSE_LOG = (
    "the ClickHouse operator adds the container clickhouse-log, whose image it chooses" + ANNOTATE
)
_ECK = "the ECK operator chooses it by spec.version"
_MONITORED = ("elasticsearch", "kibana", "logstash", "beat")
_MONITOR = "the ECK operator adds a Beat to the pods, whose image it chooses by spec.version" + ANNOTATE
_APART = {
    "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": {
                        "matchLabels": {"elasticsearch.k8s.elastic.co/cluster-name": "{metadata.name}"}
                    },
                    "topologyKey": "kubernetes.io/hostname",
                },
            }
        ]
    }
}
_LEFT = """
crdb.cockroachlabs.com/v1alpha1 CrdbCluster spec: the CockroachDB operator drops affinity and tolerations unless its
  feature gates AffinityRules and TolerationRules are on: write kubernetes.io/arch into spec.nodeSelector
crdb.cockroachlabs.com/v1beta1 CrdbCluster spec: archfit knows this kind in v1alpha1 only; in v1beta1 its pods are
  placed by what stands in spec.template.spec.podTemplate.spec: write kubernetes.io/arch there
milvus.io MilvusUpgrade spec: it changes the image of a Milvus, which is placed where it stands
cassandra.datastax.com CassandraDatacenter spec: cass-operator appends its racks to the terms of an affinity, so that
  a pod may go where either holds: write kubernetes.io/arch into spec.nodeSelector
clickhouse.altinity.com ClickHouseInstallation,ClickHouseInstallationTemplate spec.templates.podTemplates[*].zone: the
  ClickHouse operator appends the zone to the terms of an affinity, so that a pod may go where either holds: write
  kubernetes.io/arch into spec.nodeSelector of the pod template
clickhouse-keeper.altinity.com ClickHouseKeeperInstallation spec.templates.podTemplates[*].zone: the ClickHouse
  operator appends the zone to the terms of an affinity, so that a pod may go where either holds: write
  kubernetes.io/arch into spec.nodeSelector of the pod template
k8ssandra.io K8ssandraCluster spec: cass-operator appends its racks to the terms of an affinity, so that a pod may go
  where either holds: write kubernetes.io/arch into nodeAffinityLabels of the racks
"""
_NEVER = """
milvus.io Milvus,MilvusCluster spec.components.dummyImage: it pauses in place of a component while Milvus upgrades
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from _opensearch()
    yield from _milvus()
    yield from _milvus_alpha()
    yield from _tidb()
    yield from _mariadb()
    yield from _mongodb()
    yield from _clickhouse()
    yield from _redpanda()
    yield from _humio()
    yield from _elastic()
    yield from left(_LEFT)
    yield from never(_NEVER)


def _opensearch() -> Iterator[Draft]:
    lost = (
        "the OpenSearch operator writes its anti-affinity only while there is no affinity: write podAntiAffinity, if "
        "nodes of the cluster have to stay apart"
    )
    for group in ("opensearch.org", "opensearch.opster.io"):
        init = "the OpenSearch operator adds an init container, unless spec.initHelper.image names its image"
        kept = apart(100, {"matchLabels": {"opensearch.org/opensearch-cluster": "{metadata.name}"}})
        more = {"default_affinity": kept if group == "opensearch.org" else lost}
        for place, images in (
            ("spec.nodePools[*]", "spec.general.image @.sidecarContainers[*].image"),
            ("spec.bootstrap", "spec.general.image"),
            ("spec.dashboards", "@.image"),
        ):
            added = [("spec.initHelper.image", init + ANNOTATE)] if place != "spec.dashboards" else []
            line = f"{group} OpenSearchCluster {place} {images}"
            yield from parts(line, "the OpenSearch operator chooses it by its version", added=added, **more)
    yield from parts(
        "opensearch.org OpenSearchCluster spec.security.config.updateJob spec.general.image",
        "the OpenSearch operator chooses it by its version",
    )


def _milvus() -> Iterator[Draft]:
    chosen, common = "the Milvus operator chooses it", "spec.components"
    for group, kind in (("milvus.io", "Milvus"), ("milvus.io", "MilvusCluster")):
        yield row(
            group, kind, common, there=common, metadata=None, default_image=chosen,
            images=f"{common}.image", also=f"{common}.*.image {common}.*.sidecars[*].image "
            f"{common}.*.initContainers[*].image {common}.*.volumes[*].image.reference", added=_MILVUS_TOOL,
        )  # fmt: skip
        for name in _MILVUS.split():
            at = f"{common}.{name}"
            yield row(
                group, kind, at, there=at, metadata=None, inherits=(common,), default_image=chosen,
                images=f"{at}.image|{common}.image", also=f"{at}.sidecars[*].image", added=_MILVUS_TOOL,
            )  # fmt: skip
        for name in ("dataNode", "proxy", "queryNode", "streamingNode"):
            at = f"{common}.{name}"
            yield row(
                group, kind, f"{at}.groups[*]", there=f"{at}.groups[*]", metadata=None, inherits=(at, common),
                images=f"{at}.image|{common}.image",
                also=f"{at}.sidecars[*].image {at}.initContainers[*].image",
                default_image=chosen, added=_MILVUS_TOOL,
            )  # fmt: skip


def _milvus_alpha() -> Iterator[Draft]:
    yield row(
        "milvus.io", "Milvus", "spec", version="v1alpha1", there="spec", metadata=None, images="spec.image",
        default_image="the Milvus operator chooses it",
    )  # fmt: skip


def _tidb() -> Iterator[Draft]:
    version = "its tag is a version that stands elsewhere"
    for kind, names in (("TidbCluster", _TIDB), ("DMCluster", ("master", "worker", "discovery"))):
        for name in names:
            at = f"spec.{name}"
            tail = f" {at}.slowLogTailer.image" if name == "tidb" else ""
            helper = " spec.helper.image" if kind == "TidbCluster" else ""
            yield row(
                "pingcap.com", kind, at, there=at, metadata=None, inherits=("spec",),
                images=f"{at}.image {at}.additionalContainers[*].image{helper}{tail}",
                default_image="the TiDB operator makes it of baseImage and version",
                unseen=((f"{at}.baseImage", version),),
            )  # fmt: skip


def _mariadb() -> Iterator[Draft]:
    for lines, instances in ((_MARIADB, ()), (_MAXSCALE, ("{spec.mariaDbRef.name?}",))):
        names = ["{metadata.name}", *instances]
        selector = {
            "matchExpressions": [{"key": "app.kubernetes.io/instance", "operator": "In", "values": names}]
        }
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        yield from parts(
            lines, "the MariaDB operator chooses it", default_switch="antiAffinityEnabled",
            default_affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        )  # fmt: skip


def _mongodb() -> Iterator[Draft]:
    at = "spec.statefulSet.spec.template.spec"
    yield row(
        "mongodbcommunity.mongodb.com", "MongoDBCommunity", at, there="spec", main="mongod",
        default_image="the MongoDB operator chooses it by spec.version",
        added=[(name, f"the MongoDB operator adds the container {name}" + ANNOTATE) for name in _MONGODB],
    )  # fmt: skip


def _clickhouse() -> Iterator[Draft]:
    at = "spec.templates.podTemplates[*].spec"
    for group, kind, main in (
        ("clickhouse.altinity.com", "ClickHouseInstallation", "clickhouse"),
        ("clickhouse.altinity.com", "ClickHouseInstallationTemplate", "clickhouse"),
        ("clickhouse-keeper.altinity.com", "ClickHouseKeeperInstallation", "clickhouse-keeper"),
    ):
        yield row(
            group, kind, at, main=main, unless=(("spec.templates.podTemplates[*].zone", ""),),
            default_image="the ClickHouse operator chooses it",
            unseen=[
                (f"{holder}.templates.logVolumeClaimTemplate", _CLICKHOUSE_LOG)
                for holder in ("spec.defaults", _CLUSTERS, f"{_CLUSTERS}.layout.shards[*]")
            ],
        )  # fmt: skip


def _redpanda() -> Iterator[Draft]:
    cluster, at = "spec.clusterSpec", "spec.clusterSpec.statefulset"
    image, sidecar = f"{cluster}.image.repository+tag", f"{at}.sideCars.image.repository+tag"
    inherits = (at, cluster, f"{cluster}.podTemplate.spec")
    yield row(
        "cluster.redpanda.com", "Redpanda", f"{at}.podTemplate.spec", there=cluster, inherits=inherits, images=image,
        also=f"{at}.initContainerImage.repository+tag {at}.sideCars.controllers.image.repository+tag "
        f"{cluster}.connectors.image.repository+tag",
        default_image="the Redpanda operator chooses it, or a part of it",
        added=((sidecar, "the Redpanda operator adds a sidecar, whose image it chooses" + ANNOTATE),),
    )  # fmt: skip
    job = f"{cluster}.post_install_job"
    yield row(
        "cluster.redpanda.com", "Redpanda", f"{job}.podTemplate.spec", there=f"{at}.sideCars.image",
        inherits=inherits[1:], images=sidecar, unless=((f"{job}.enabled", "false"),),
    )  # fmt: skip
    pod = f"{cluster}.post_upgrade_job.podTemplate.spec"
    yield row(
        "cluster.redpanda.com", "Redpanda", pod, there=pod, images=image, inherits=inherits[1:],
    )  # fmt: skip


def _humio() -> Iterator[Draft]:
    for at in ("spec", "spec.nodePools[*].spec"):
        yield row(
            "core.humio.com", "HumioCluster", at, there=f"{at}.affinity", metadata=None, node_selector=None,
            images=f"{at}.image|spec.image",
            also=f"spec.helperImage {at}.helperImage {at}.sidecarContainer[*].image "
            f"{at}.dataVolumeSource.image.reference {at}.extraVolumes[*].image.reference",
            default_image="the Humio operator chooses it",
        )  # fmt: skip
    yield row(
        "core.humio.com", "HumioCluster", there="spec", unless=(("spec.affinity", ""),),
        reason="the Humio operator demands amd64 of nodes while spec.affinity is not set",
    )  # fmt: skip


def _elastic() -> Iterator[Draft]:
    for group, kind, there, main in (
        ("elasticsearch", "Elasticsearch", "spec.nodeSets[*]", "elasticsearch"),
        ("kibana", "Kibana", "spec", "kibana"),
        ("apm", "ApmServer", "spec", "apm-server"),
        ("enterprisesearch", "EnterpriseSearch", "spec", "enterprise-search"),
        ("maps", "ElasticMapsServer", "spec", "maps"),
        ("packageregistry", "PackageRegistry", "spec", "package-registry"),
        ("logstash", "Logstash", "spec", "logstash"),
        ("beat", "Beat", "spec.deployment", ""),
        ("beat", "Beat", "spec.daemonSet", ""),
        ("agent", "Agent", "spec.deployment", "agent"),
        ("agent", "Agent", "spec.daemonSet", "agent"),
        ("agent", "Agent", "spec.statefulSet", "agent"),
    ):
        yield row(
            f"{group}.k8s.elastic.co", kind, f"{there}.podTemplate.spec", there=there, main=main,
            images="spec.image", default_image=_ECK, default_affinity=_APART if kind == "Elasticsearch" else "",
            unseen=[
                (f"spec.monitoring.{what}.elasticsearchRefs[*]", _MONITOR)
                for what in ("metrics", "logs") if group in _MONITORED
            ],
        )  # fmt: skip
