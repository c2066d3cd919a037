"""Custom resources that hold pods: which module of `families` has the rows of an API group.

A module is loaded when a stream holds an object of one of its groups. Every path is that of the published schema or
Go type. What an operator adds by itself (its default images, the config-reloader of Prometheus) is unseen, as sidecars
of an injector are.
"""

from __future__ import annotations

from archfit.workloads.table import by_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.options.values import Workload

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
machines      kubevirt.io nvidia.com
embedded      workload.codeflare.dev policy.open-cluster-management.io work.open-cluster-management.io
embedded      template.openshift.io hive.openshift.io kubernetes.crossplane.io
"""

_BY_GROUP: dict[str, list[str]] = {}
for _line in _FAMILIES.split("\n")[1:-1]:
    _family, *_groups = _line.split()
    for _group in _groups:
        _BY_GROUP.setdefault(_group, []).append(_family)
_LOADED: dict[str, dict[tuple[str, str], tuple[Workload, ...]]] = {}


def custom_rows(group: str, kind: str) -> tuple[Workload, ...]:
    """The rows of a kind, () for a kind that has none."""
    families = _BY_GROUP.get(group)
    if not families:
        return ()
    return tuple(row for family in families for row in _family_rows(family).get((group, kind), ()))


def all_custom_rows() -> dict[tuple[str, str], tuple[Workload, ...]]:
    """Every row, by group and kind."""
    families = dict.fromkeys(family for families in _BY_GROUP.values() for family in families)
    return by_kind(row for family in families for rows in _family_rows(family).values() for row in rows)


def _family_rows(family: str) -> dict[tuple[str, str], tuple[Workload, ...]]:
    if family not in _LOADED:
        module = __import__(f"archfit.workloads.families.{family}", fromlist=["rows"])
        _LOADED[family] = by_kind(module.rows())
    return _LOADED[family]
