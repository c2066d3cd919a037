"""Custom resources that hold pods: which module of `families` has the rows of an API group.

A module is loaded when a stream holds an object of one of its groups. Every path is that of the published schema or
Go type. What an operator adds by itself (its default images, the config-reloader of Prometheus) is unseen, as sidecars
of an injector are.
"""

from __future__ import annotations

from importlib import import_module

from archfit.options.settings import Workload

_FAMILIES = """
argo          argoproj.io
tekton        tekton.dev
controllers   keda.sh jobset.x-k8s.io leaderworkerset.x-k8s.io batch.volcano.sh apps.kruise.io apps.openshift.io
training      kubeflow.org trainer.kubeflow.org ray.io
spark         sparkoperator.k8s.io
serving       serving.knative.dev serving.kserve.io
monitoring    monitoring.coreos.com grafana.integreatly.org
victoria      operator.victoriametrics.com
telemetry     opentelemetry.io
strimzi       kafka.strimzi.io core.strimzi.io
elastic       elasticsearch.k8s.elastic.co kibana.k8s.elastic.co apm.k8s.elastic.co maps.k8s.elastic.co
elastic       enterprisesearch.k8s.elastic.co logstash.k8s.elastic.co beat.k8s.elastic.co agent.k8s.elastic.co
databases     postgresql.cnpg.io rabbitmq.com minio.min.io
machines      kubevirt.io pool.kubevirt.io nvidia.com
caches        databases.spotahome.com redis.redis.opstreelabs.in dragonflydb.io zookeeper.pravega.io
postgres      acid.zalan.do postgres-operator.crunchydata.com pgv2.percona.com
percona       psmdb.percona.com pxc.percona.com ps.percona.com
stores        opensearch.org opensearch.opster.io milvus.io pingcap.com k8s.mariadb.com crdb.cockroachlabs.com
stores        mongodbcommunity.mongodb.com clickhouse.altinity.com clickhouse-keeper.altinity.com
stores        cassandra.datastax.com k8ssandra.io cluster.redpanda.com core.humio.com
observability operator.victoriametrics.com logging.banzaicloud.io fluentbit.fluent.io jaegertracing.io
observability datadoghq.com loki.grafana.com tempo.grafana.com
delivery      argoproj.io actions.github.com actions.summerwind.dev pkg.crossplane.io operators.coreos.com k8up.io
delivery      infra.contrib.fluxcd.io helm.toolkit.fluxcd.io tailscale.com k8s.keycloak.org openfaas.com
delivery      upgrade.cattle.io triggers.tekton.dev build.openshift.io install.istio.io
delivery      cert-manager.io acme.cert-manager.io helm.cattle.io image.toolkit.fluxcd.io kyverno.io
delivery      postgresql.cnpg.io
streaming     flink.apache.org spark.apache.org sparkoperator.k8s.io numaflow.numaproj.io
inference     serving.kserve.io machinelearning.seldon.io grove.io orchestration.aibrix.ai workloads.x-k8s.io
inference     apps.nvidia.com agents.x-k8s.io extensions.agents.x-k8s.io kagent.dev toolhive.stacklok.dev
inference     kaito.sh production-stack.vllm.ai
batch         agones.dev apps.kruise.io batch.volcano.sh flow.volcano.sh ray.io disaggregatedset.x-k8s.io
batch         kubernetes.dask.org sources.knative.dev fission.io auto.pulumi.com k6.io
infrastructure ceph.rook.io gateway.envoyproxy.io gateway.nginx.org
embedded      workload.codeflare.dev policy.open-cluster-management.io work.open-cluster-management.io
embedded      template.openshift.io hive.openshift.io kubernetes.crossplane.io kubernetes.m.crossplane.io
embedded      work.karmada.io addon.open-cluster-management.io capsule.clastix.io fluxcd.controlplane.io kro.run
embedded      triggers.tekton.dev kubeflow.org
"""

_BY_GROUP: dict[str, list[str]] = {}
for _line in _FAMILIES.split("\n")[1:-1]:
    _family, *_groups = _line.split()
    for _group in _groups:
        _BY_GROUP.setdefault(_group, []).append(_family)
_LOADED: dict[str, tuple[Workload, ...]] = {}
_FOUND: dict[tuple[str, str], tuple[Workload, ...]] = {}


def custom_rows(group: str, kind: str) -> tuple[Workload, ...]:
    """The rows of a kind, () for a kind that has none."""
    if group not in _BY_GROUP:
        return ()
    if (group, kind) not in _FOUND:
        rows = (row for family in _BY_GROUP[group] for row in _family_rows(family))
        _FOUND[group, kind] = tuple(row for row in rows if row.group == group and row.kind == kind)
    return _FOUND[group, kind]


def all_custom_rows() -> dict[tuple[str, str], tuple[Workload, ...]]:
    """Every row, by group and kind."""
    families = dict.fromkeys(family for families in _BY_GROUP.values() for family in families)
    kinds = dict.fromkeys((row.group, row.kind) for family in families for row in _family_rows(family))
    return {kind: custom_rows(*kind) for kind in kinds}


def _family_rows(name: str) -> tuple[Workload, ...]:
    if name not in _LOADED:
        _LOADED[name] = tuple(import_module(f"archfit.workloads.families.{name}").rows())
    return _LOADED[name]
