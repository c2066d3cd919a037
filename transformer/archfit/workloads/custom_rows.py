"""Custom resources that hold pods: which module of `families` has the rows of an API group, and which were seen.

A module is loaded when a stream holds an object of one of its groups. Every path is that of the published schema or
Go type.

recordings.txt says which rows were seen: the operator made pods from what archfit wrote there (`Workload.seen`). It is
read with the first kind that has rows. A line for each row, apart by blanks; # begins a comment:

    group       kind        path                version    recorded      operator
    k6.io       TestRun     spec.runner         1.2.0      2026-11-23    k6 operator

path is the row's `pod_spec`, or its `objects`. A line counts for all rows of the kind with this path.
"""

from __future__ import annotations

import os
from importlib import import_module

from archfit.base.patch import pattern_text
from archfit.options.settings import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.workloads.families.notation import Draft

_FAMILIES = """
controllers      keda.sh jobset.x-k8s.io leaderworkerset.x-k8s.io batch.volcano.sh apps.kruise.io apps.openshift.io
controllers      agones.dev flow.volcano.sh kubernetes.dask.org sources.knative.dev fission.io
controllers      k6.io ceph.rook.io gateway.envoyproxy.io gateway.nginx.org
controllers      kubevirt.io pool.kubevirt.io nvidia.com
databases        postgresql.cnpg.io rabbitmq.com minio.min.io acid.zalan.do postgres-operator.crunchydata.com
databases        pgv2.percona.com psmdb.percona.com pxc.percona.com ps.percona.com databases.spotahome.com
databases        redis.redis.opstreelabs.in dragonflydb.io zookeeper.pravega.io
delivery         actions.github.com actions.summerwind.dev pkg.crossplane.io operators.coreos.com
delivery         infra.contrib.fluxcd.io helm.toolkit.fluxcd.io tailscale.com k8s.keycloak.org openfaas.com
delivery         upgrade.cattle.io build.openshift.io install.istio.io cert-manager.io acme.cert-manager.io
delivery         helm.cattle.io image.toolkit.fluxcd.io kyverno.io workload.codeflare.dev
delivery         policy.open-cluster-management.io work.open-cluster-management.io template.openshift.io
delivery         hive.openshift.io kubernetes.crossplane.io kubernetes.m.crossplane.io work.karmada.io policy.karmada.io
delivery         addon.open-cluster-management.io capsule.clastix.io fluxcd.controlplane.io kro.run
machine_learning kubeflow.org trainer.kubeflow.org ray.io serving.knative.dev serving.kserve.io
machine_learning machinelearning.seldon.io apps.nvidia.com kaito.sh production-stack.vllm.ai
observability    monitoring.coreos.com grafana.integreatly.org operator.victoriametrics.com opentelemetry.io
observability    logging.banzaicloud.io fluentbit.fluent.io jaegertracing.io datadoghq.com loki.grafana.com
observability    tempo.grafana.com fluentd.fluent.io
stores           opensearch.org opensearch.opster.io milvus.io pingcap.com k8s.mariadb.com crdb.cockroachlabs.com
stores           mongodbcommunity.mongodb.com clickhouse.altinity.com clickhouse-keeper.altinity.com
stores           cassandra.datastax.com k8ssandra.io cluster.redpanda.com core.humio.com
stores           elasticsearch.k8s.elastic.co kibana.k8s.elastic.co apm.k8s.elastic.co maps.k8s.elastic.co
stores           enterprisesearch.k8s.elastic.co logstash.k8s.elastic.co beat.k8s.elastic.co agent.k8s.elastic.co
stores           packageregistry.k8s.elastic.co
streaming        flink.apache.org spark.apache.org sparkoperator.k8s.io numaflow.numaproj.io kafka.strimzi.io
streaming        core.strimzi.io
workflows        argoproj.io tekton.dev triggers.tekton.dev
"""

# Their operators copy the annotations of an object to its pods: opentelemetry-operator internal/manifests,
# kserve pkg/controller (ServiceAnnotationDisallowedList), kubeflow notebook-controller (generateStatefulSet).
_COPIED = """
opentelemetry.io/OpenTelemetryCollector opentelemetry.io/OpAMPBridge opentelemetry.io/TargetAllocator
serving.kserve.io/InferenceService kubeflow.org/Notebook
""".split()  # noqa: SIM905
_FAMILY = {
    group: family for family, *groups in map(str.split, _FAMILIES.split("\n")[1:-1]) for group in groups
}
_DRAFTS: dict[str, dict[tuple[str, str], list[Draft]]] = {}
_ROWS: dict[tuple[str, str], tuple[Workload, ...]] = {}
_RECORDINGS = os.path.join(os.path.dirname(__file__), "recordings.txt")
_SEEN: dict[tuple[str, str, str], str] = {}


def custom_rows(group: str, kind: str) -> tuple[Workload, ...]:
    """The rows of a kind, () for a kind that has none."""
    if group not in _FAMILY:
        return ()
    if (group, kind) not in _ROWS:
        from archfit.workloads.families.notation import workload  # with the first kind of a family

        _ROWS[group, kind] = tuple(
            with_recording(workload(draft)) for draft in _drafts(_FAMILY[group]).get((group, kind), ())
        )
    return _ROWS[group, kind]


def with_recording(row: Workload) -> Workload:
    """The row with what it was seen with."""
    if not _SEEN:
        _SEEN.update(recordings())
    seen = _SEEN.get((row.group, row.kind, pattern_text(row.pod_spec or row.objects)), "")
    copied = f"{row.group}/{row.kind}" in _COPIED
    return row.replace(seen=seen, copied=copied) if seen or copied else row


def recordings(path: str = _RECORDINGS) -> dict[tuple[str, str, str], str]:
    """What was seen, by group, kind and path: `k6 operator 1.2.0, 2026-11-23`; ("", "", "") is always there."""
    found = {("", "", ""): ""}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and line[0] != "#":
                group, kind, where, version, recorded, operator = line.split(maxsplit=5)
                found[group, kind, where] = f"{operator.strip()} {version}, {recorded}"
    return found


def all_custom_rows() -> dict[tuple[str, str], tuple[Workload, ...]]:
    """Every row, by group and kind."""
    return {key: custom_rows(*key) for family in dict.fromkeys(_FAMILY.values()) for key in _drafts(family)}


def _drafts(family: str) -> dict[tuple[str, str], list[Draft]]:
    if family not in _DRAFTS:
        drafts = _DRAFTS[family] = {}
        for draft in import_module(f"archfit.workloads.families.{family}").rows():
            drafts.setdefault(draft[:2], []).append(draft)
    return _DRAFTS[family]
