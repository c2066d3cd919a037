"""Samples of operators, after their own examples: where archfit adds an affinity, or why not.

    # affinity: spec.redis spec.sentinel       what the sample's images need: they offer linux/amd64 alone
    # left: the controller chooses             part of what is said of a sample that stays as it is

The judges read what the patch says, and the scheduler's own code lets no pod of a sample onto a node that cannot run
it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.real.custom_resources.crd_fields import catalogue

from archfit.base.patch import dotted
from archfit.workloads.builtin import group_of
from archfit.workloads.custom_rows import all_custom_rows
from custom_pods import projected
from stream_edits import edited, placed

if TYPE_CHECKING:
    from corpus_streams import Oracle
    from yaml_judge import Judge

FOLDER = Path(__file__).parent / "samples"
# Kinds that archfit had before are in test_custom_rows and in the corpus, those of Ceph that have no image of their own
# in test_operators.
OLDER = """
agent.k8s.elastic.co Agent
apm.k8s.elastic.co ApmServer
apps.kruise.io AdvancedCronJob,BroadcastJob,CloneSet,DaemonSet,StatefulSet
apps.openshift.io DeploymentConfig
argoproj.io AnalysisRun,AnalysisTemplate,ClusterAnalysisTemplate,ClusterWorkflowTemplate,CronWorkflow,Experiment
argoproj.io Rollout,Workflow,WorkflowTemplate
batch.volcano.sh Job
beat.k8s.elastic.co Beat
ceph.rook.io CephFilesystem,CephFilesystemMirror,CephObjectStore,CephRBDMirror
core.strimzi.io StrimziPodSet
elasticsearch.k8s.elastic.co Elasticsearch
enterprisesearch.k8s.elastic.co EnterpriseSearch
grafana.integreatly.org Grafana
jobset.x-k8s.io JobSet
kafka.strimzi.io Kafka,KafkaBridge,KafkaConnect,KafkaMirrorMaker2,KafkaNodePool
keda.sh ScaledJob
kibana.k8s.elastic.co Kibana
kubeflow.org JAXJob,MPIJob,Notebook,PaddleJob,PyTorchJob,TFJob,XGBoostJob
kubevirt.io VirtualMachine,VirtualMachineInstance,VirtualMachineInstanceReplicaSet
leaderworkerset.x-k8s.io LeaderWorkerSet
logstash.k8s.elastic.co Logstash
maps.k8s.elastic.co ElasticMapsServer
minio.min.io Tenant
monitoring.coreos.com Alertmanager,Prometheus,PrometheusAgent,ThanosRuler
opentelemetry.io OpAMPBridge,OpenTelemetryCollector,TargetAllocator
operator.victoriametrics.com VMAgent,VMAlert,VMAlertmanager,VMAuth,VMCluster,VMSingle
postgresql.cnpg.io Cluster,Pooler
rabbitmq.com RabbitmqCluster
ray.io RayCluster,RayJob,RayService
serving.knative.dev Configuration,Service
serving.kserve.io ClusterServingRuntime
sparkoperator.k8s.io ScheduledSparkApplication,SparkApplication
tekton.dev PipelineRun,TaskRun
trainer.kubeflow.org ClusterTrainingRuntime,TrainingRuntime
"""
# Their images lack a registry, so that nothing is changed; DatadogAgent stands for them.
UNKNOWN_IMAGES = {("datadoghq.com", "DatadogAgentInternal"), ("datadoghq.com", "DatadogAgentProfile")}
_HEAD = re.compile(r"\A# (affinity|left): (.*)\n")
_IDENTITY = re.compile(r"^apiVersion: (\S+)\nkind: (\S+)$", re.MULTILINE)


def samples() -> list[Any]:
    made = []
    for file in sorted(FOLDER.iterdir()):
        for number, text in enumerate(
            re.split(r"^---\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        ):
            head, identity = _HEAD.match(text), _IDENTITY.search(text)
            assert head, f"{file.name} {number}"
            assert identity
            made.append(
                pytest.param(text.encode(), head[1], head[2], id=f"{identity[2]}-{file.stem}-{number}")
            )
    return made


def holders(data: bytes) -> list[str]:
    """Where affinity is added: what holds `affinity`, or the mapping that holds nodeAffinity."""
    made = []
    for pod, decision in edited(data).transformed.decisions:
        if decision.outcome == "Change":
            at = pod.at("affinity")
            made.append(dotted(at[:-1] if at[-1] == "affinity" else at))
    return made


@pytest.mark.usefixtures("twins_for_read")
@pytest.mark.parametrize(("data", "kind", "expected"), samples())
def test_a_sample_is_changed_where_its_operator_looks(
    judge: Judge, data: bytes, kind: str, expected: str
) -> None:
    if kind == "left":
        output = edited(data)
        assert output.data == data
        said = [str(result) for result in output.transformed.results]
        assert any(expected in one for one in said), said
        return
    assert sorted(holders(data)) == sorted(expected.split())
    assert placed(judge, data) != data


CHANGED = [
    pytest.param(sample.values[0], sample.values[2], id=sample.id)
    for sample in samples()
    if sample.values[1] == "affinity"
]


@pytest.mark.parametrize(("data", "expected"), CHANGED)
def test_no_pod_of_a_sample_can_reach_a_node_it_cannot_run_on(
    judge: Judge, oracle: Oracle, data: bytes, expected: str
) -> None:
    """And the twin: as they were, they can."""
    output = edited(data)
    before, after = projected(judge.kubectl(data)), projected(judge.kubectl(output.data))
    uses = [use.text for pod, _ in output.transformed.decisions for use in pod.images if use.text]
    platforms = {text: ["linux/amd64"] for text in (*uses, "unseen.example/image")}
    verdict = oracle(before, after, platforms=platforms)
    assert verdict.violations == []
    assert verdict.pod_specs >= len(expected.split())
    assert oracle(before, before, platforms=platforms).violations != []


def sampled() -> set[tuple[str, str]]:
    return {
        (group_of(identity[1]), identity[2])
        for file in FOLDER.iterdir()
        for identity in _IDENTITY.finditer(file.read_text(encoding="utf-8"))
    }


def test_every_row_of_the_families_has_its_sample() -> None:
    rows, kinds = all_custom_rows(), sampled()
    assert kinds <= set(rows)
    placeable = {kind for kind, of_kind in rows.items() if any(row.pod_spec for row in of_kind)}
    older = {
        (group, kind) for group, kinds in map(str.split, OLDER.splitlines()[1:]) for kind in kinds.split(",")
    }
    assert placeable - kinds == UNKNOWN_IMAGES | older


def test_every_place_stands_in_its_schema() -> None:
    """affinity, tolerations and nodeSelector of each row that has a sample, by the facts about published schemas."""
    facts = catalogue()
    seen = 0
    for (group, kind), rows in all_custom_rows().items():
        if (group, kind) not in sampled() or f"{group}/{kind}" not in facts:
            continue
        exact, below = places(facts[f"{group}/{kind}"])
        for row in rows:
            for field, at in (
                ("affinity", row.affinity),
                ("tolerations", row.tolerations),
                ("nodeSelector", row.node_selector),
            ):
                if at is None or not row.pod_spec or row.reason:
                    continue
                path = ".".join(map(str, at or (*row.pod_spec, field)))
                assert path in exact or any(f"{path}.".startswith(f"{one}.") for one in below), (kind, path)
                seen += 1
    assert seen > 500


def places(kind: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Places of placement in any version; and the pod specs and open fields, below which anything may stand."""
    exact, below = set(OPEN), set(OPEN)
    for fields in kind["versions"].values():
        if isinstance(fields, str):
            continue
        for entries in fields.get("placement", {}).values():
            exact |= {entry.partition("|")[0].replace("[*]", ".*") for entry in entries}
        for name in ("podspecs", "untyped"):
            below |= {
                entry.partition("|")[0].rstrip("!").replace("[*]", ".*") for entry in fields.get(name, ())
            }
    return exact, below


OPEN = {
    # Preserves unknown fields; the facts leave it out (VictoriaMetrics operator, config/crd/overlay/crd.yaml).
    "spec.requestsLoadBalancer.spec",
    # Kubeflow Trainer up to 2.1; the facts are about a later version.
    "spec.podTemplateOverrides.*.spec",
}
