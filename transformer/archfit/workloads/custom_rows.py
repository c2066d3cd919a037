"""Custom resources that hold pods: which module of `families` has the rows of an API group.

A module is loaded when a stream holds an object of one of its groups. Every path is that of the published schema or
Go type.
"""

from __future__ import annotations

from importlib import import_module

from archfit.options.settings import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.workloads.families.notation import Draft

_FAMILIES = """
controllers      keda.sh jobset.x-k8s.io leaderworkerset.x-k8s.io batch.volcano.sh apps.kruise.io apps.openshift.io
controllers      agones.dev flow.volcano.sh disaggregatedset.x-k8s.io kubernetes.dask.org sources.knative.dev fission.io
controllers      auto.pulumi.com k6.io ceph.rook.io gateway.envoyproxy.io gateway.nginx.org
controllers      kubevirt.io pool.kubevirt.io nvidia.com
databases        postgresql.cnpg.io rabbitmq.com minio.min.io acid.zalan.do postgres-operator.crunchydata.com
databases        pgv2.percona.com psmdb.percona.com pxc.percona.com ps.percona.com databases.spotahome.com
databases        redis.redis.opstreelabs.in dragonflydb.io zookeeper.pravega.io
delivery         actions.github.com actions.summerwind.dev pkg.crossplane.io operators.coreos.com k8up.io
delivery         infra.contrib.fluxcd.io helm.toolkit.fluxcd.io tailscale.com k8s.keycloak.org openfaas.com
delivery         upgrade.cattle.io build.openshift.io install.istio.io cert-manager.io acme.cert-manager.io
delivery         helm.cattle.io image.toolkit.fluxcd.io kyverno.io workload.codeflare.dev
delivery         policy.open-cluster-management.io work.open-cluster-management.io template.openshift.io
delivery         hive.openshift.io kubernetes.crossplane.io kubernetes.m.crossplane.io work.karmada.io
delivery         addon.open-cluster-management.io capsule.clastix.io fluxcd.controlplane.io kro.run
machine_learning kubeflow.org trainer.kubeflow.org ray.io serving.knative.dev serving.kserve.io
machine_learning machinelearning.seldon.io grove.io orchestration.aibrix.ai workloads.x-k8s.io apps.nvidia.com
machine_learning agents.x-k8s.io extensions.agents.x-k8s.io kagent.dev toolhive.stacklok.dev kaito.sh
machine_learning production-stack.vllm.ai
observability    monitoring.coreos.com grafana.integreatly.org operator.victoriametrics.com opentelemetry.io
observability    logging.banzaicloud.io fluentbit.fluent.io jaegertracing.io datadoghq.com loki.grafana.com
observability    tempo.grafana.com
stores           opensearch.org opensearch.opster.io milvus.io pingcap.com k8s.mariadb.com crdb.cockroachlabs.com
stores           mongodbcommunity.mongodb.com clickhouse.altinity.com clickhouse-keeper.altinity.com
stores           cassandra.datastax.com k8ssandra.io cluster.redpanda.com core.humio.com
stores           elasticsearch.k8s.elastic.co kibana.k8s.elastic.co apm.k8s.elastic.co maps.k8s.elastic.co
stores           enterprisesearch.k8s.elastic.co logstash.k8s.elastic.co beat.k8s.elastic.co agent.k8s.elastic.co
streaming        flink.apache.org spark.apache.org sparkoperator.k8s.io numaflow.numaproj.io kafka.strimzi.io
streaming        core.strimzi.io
workflows        argoproj.io tekton.dev triggers.tekton.dev
"""

_FAMILY = {
    group: family for family, *groups in map(str.split, _FAMILIES.split("\n")[1:-1]) for group in groups
}
_DRAFTS: dict[str, dict[tuple[str, str], list[Draft]]] = {}
_ROWS: dict[tuple[str, str], tuple[Workload, ...]] = {}


def custom_rows(group: str, kind: str) -> tuple[Workload, ...]:
    """The rows of a kind, () for a kind that has none."""
    if group not in _FAMILY:
        return ()
    if (group, kind) not in _ROWS:
        from archfit.workloads.families.notation import workload  # with the first kind of a family

        _ROWS[group, kind] = tuple(map(workload, _drafts(_FAMILY[group]).get((group, kind), ())))
    return _ROWS[group, kind]


def all_custom_rows() -> dict[tuple[str, str], tuple[Workload, ...]]:
    """Every row, by group and kind."""
    return {key: custom_rows(*key) for family in dict.fromkeys(_FAMILY.values()) for key in _drafts(family)}


def _drafts(family: str) -> dict[tuple[str, str], list[Draft]]:
    if family not in _DRAFTS:
        drafts = _DRAFTS[family] = {}
        for draft in import_module(f"archfit.workloads.families.{family}").rows():
            drafts.setdefault(draft[:2], []).append(draft)
    return _DRAFTS[family]
