"""Custom resources whose placement or images are in fields of their operator, family by family.

    Argo Workflows, Tekton, Spark, Prometheus, Strimzi, ECK, VictoriaMetrics; then the operators with a row or two

Paths are those of the published schemas and Go types. Default images are said, not guessed. What cannot change once it
is applied: the webhooks of Tekton, Volcano and JobSet refuse it (JobSet unless it is suspended), and Argo treats the
spec of a Workflow as fixed once it is submitted.
"""

from __future__ import annotations

from archfit.options.values import Workload as Row
from archfit.patch import undotted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STRIMZI = "the Strimzi operator chooses or builds it"
_ECK = "the ECK operator chooses it by spec.version"
_ANNOTATE = "; if you know, say so with the annotation archfit.dev/image-platforms"
_KNATIVE = (
    "Knative accepts affinity and tolerations only with the flags kubernetes.podspec-affinity, "
    "kubernetes.podspec-tolerations and kubernetes.podspec-nodeselector enabled in the ConfigMap config-features"
)
_SPARK = "the Spark operator applies affinity and tolerations through its webhook, which has to be enabled"


def _row(group: str, kind: str, pod_spec: str, **fields: Any) -> Row:
    """A row whose paths are written as text; `images`: entries apart by blanks, alternatives by "|"."""
    values = {**fields, "pod_spec": undotted(pod_spec) if pod_spec else ()}
    for name in ("there", "affinity", "tolerations", "node_selector", "metadata"):
        if isinstance(fields.get(name), str):
            values[name] = undotted(fields[name])
    for name in ("inherits", "shadows"):
        values[name] = tuple(map(undotted, fields.get(name, ())))
    for name in ("unseen", "unless"):
        values[name] = tuple((undotted(path), text) for path, text in fields.get(name, ()))
    images = fields.get("images", "").split()
    values["images"] = tuple(tuple(map(undotted, one.split("|"))) for one in images)
    if fields.get("default_image"):
        values["default_image"] = fields["default_image"] + _ANNOTATE
    return Row(group, kind, **values)


def _workflows() -> Iterator[Row]:
    """Argo: a template's own affinity, tolerations or nodeSelector replace those of its callers and the workflow's."""
    for kind, spec, immutable in (
        ("Workflow", "spec", True),
        ("WorkflowTemplate", "spec", False),
        ("ClusterWorkflowTemplate", "spec", False),
        ("CronWorkflow", "spec.workflowSpec", False),
    ):
        one = f"{spec}.templates[*]"
        for there in ("container", "script", "containerSet"):
            yield _row(
                "argoproj.io", kind, one, immutable=immutable, there=f"{one}.{there}", metadata=f"{one}.metadata",
                images=f"{one}.container.image {one}.script.image {one}.containerSet.containers[*].image "
                f"{one}.initContainers[*].image {one}.sidecars[*].image",
                inherits=(spec,),
                shadows=(f"{one}.steps", f"{one}.dag", *(f"{spec}.templateDefaults.{field}" for field in _FIELDS)),
            )  # fmt: skip
        yield _row(
            "argoproj.io", kind, "", there=f"{one}.resource",
            reason="the manifest in a resource template is a text, which archfit does not read",
        )  # fmt: skip


_FIELDS = ("affinity", "tolerations", "nodeSelector")


def _tekton() -> Iterator[Row]:
    """Tekton: steps hold the images, pod templates of runs the placement; a run cannot change once it has started."""
    reason = "Tekton places the pods of a task where its TaskRun or PipelineRun says (podTemplate), never in the task"
    for kind in ("Task", "ClusterTask", "StepAction", "Pipeline"):
        yield _row("tekton.dev", kind, "", reason=reason)
    elsewhere = "its steps are in the task or pipeline that it refers to" + _ANNOTATE
    run = "spec.taskSpec"
    yield _row(
        "tekton.dev", "TaskRun", "spec.podTemplate", there="spec", immutable=True, metadata=None,
        images=f"{run}.steps[*].image {run}.sidecars[*].image {run}.stepTemplate.image",
        unseen=(("spec.taskRef", elsewhere), (f"{run}.steps[*].ref", elsewhere)),
    )  # fmt: skip
    for version, template, own in (
        ("v1", "spec.taskRunTemplate.podTemplate", "podTemplate"),
        ("v1beta1", "spec.podTemplate", "taskPodTemplate"),
    ):
        parts = [f"spec.pipelineSpec.{tasks}[*].taskSpec" for tasks in ("tasks", "finally")]
        shared = {
            "version": version, "immutable": True, "metadata": None,
            "images": " ".join(f"{at}.steps[*].image {at}.sidecars[*].image" for at in parts),
            "unseen": (
                ("spec.pipelineRef", elsewhere),
                *((f"{at[:-8]}taskRef", elsewhere) for at in parts),
                *((f"{at}.steps[*].ref", elsewhere) for at in parts),
            ),
        }  # fmt: skip
        yield _row("tekton.dev", "PipelineRun", template, there="spec", **shared)
        one = f"spec.taskRunSpecs[*].{own}"
        yield _row("tekton.dev", "PipelineRun", one, there=one, inherits=(template,), **shared)


def _spark() -> Iterator[Row]:
    """Spark: a pod template, or fields of the operator, whose affinity replaces the template's."""
    group = "sparkoperator.k8s.io"
    for kind, spec in (("SparkApplication", "spec"), ("ScheduledSparkApplication", "spec.template")):
        for role in ("driver", "executor"):
            at = f"{spec}.{role}"
            shared = {
                "images": f"{at}.image|{spec}.image {at}.sidecars[*].image {at}.initContainers[*].image",
                "default_image": "neither the application nor its driver or executor names it",
                "note": _SPARK,
            }
            template = f"{at}.template.spec"
            affinity = f"{at}.affinity"
            # The template names the image where the application does not.
            shared["images"] = shared["images"].replace(
                f"{spec}.image ", f"{spec}.image|{template}.containers[*].image ", 1
            )
            yield _row(
                group, kind, template, there=template, inherits=(at, spec), unless=((affinity, ""),), **shared
            )
            yield _row(
                group, kind, at, there=at, metadata=None, inherits=(spec,),
                unless=((template, ""), (affinity, "")), **shared,
            )  # fmt: skip
            yield _row(group, kind, at, there=affinity, metadata=None, inherits=(template, spec), **shared)


def _prometheus() -> Iterator[Row]:
    for kind, main in (
        ("Prometheus", "prometheus"),
        ("PrometheusAgent", "prometheus"),
        ("Alertmanager", "alertmanager"),
        ("ThanosRuler", "thanos-ruler"),
    ):
        yield _row(
            "monitoring.coreos.com", kind, "spec", there="spec", metadata="spec.podMetadata", main=main,
            images="spec.image" + (" spec.thanos.image" if kind == "Prometheus" else ""),
            default_image="the Prometheus operator chooses it by spec.version",
        )  # fmt: skip


def _strimzi() -> Iterator[Row]:
    """Strimzi: pods below `template.pod`, which has affinity and tolerations but no nodeSelector."""
    group = "kafka.strimzi.io"

    def one(kind: str, there: str, images: str, **fields: Any) -> Row:
        pod = f"{there}.template.pod"
        return _row(
            group, kind, pod, there=there, images=images, default_image=_STRIMZI, node_selector=None,
            metadata=f"{pod}.metadata", **fields,
        )  # fmt: skip

    for part in ("kafka", "cruiseControl", "kafkaExporter", "zookeeper"):
        yield one("Kafka", f"spec.{part}", f"spec.{part}.image")
    both = "spec.entityOperator.topicOperator.image spec.entityOperator.userOperator.image"
    yield one("Kafka", "spec.entityOperator", both)
    for kind in ("KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaBridge"):
        yield one(kind, "spec", "spec.image")
    pool = "the Kafka object of the cluster names it, or the Strimzi operator chooses it" + _ANNOTATE
    yield one("KafkaNodePool", "spec", "", unseen=(("spec.roles", pool),))


def _eck() -> Iterator[Row]:
    for group, kind, there, main in (
        ("elasticsearch", "Elasticsearch", "spec.nodeSets[*]", "elasticsearch"),
        ("kibana", "Kibana", "spec", "kibana"),
        ("apm", "ApmServer", "spec", "apm-server"),
        ("enterprisesearch", "EnterpriseSearch", "spec", "enterprise-search"),
        ("maps", "ElasticMapsServer", "spec", "maps"),
        ("logstash", "Logstash", "spec", "logstash"),
        ("beat", "Beat", "spec.deployment", ""),
        ("beat", "Beat", "spec.daemonSet", ""),
        ("agent", "Agent", "spec.deployment", "agent"),
        ("agent", "Agent", "spec.daemonSet", "agent"),
        ("agent", "Agent", "spec.statefulSet", "agent"),
    ):
        yield _row(
            f"{group}.k8s.elastic.co", kind, f"{there}.podTemplate.spec", there=there, main=main,
            images="spec.image", default_image=_ECK,
        )  # fmt: skip


def _victoria() -> Iterator[Row]:
    """VictoriaMetrics documents `image` as repository and tag."""
    for kind, there in (
        ("VMSingle", "spec"), ("VMAgent", "spec"), ("VMAlert", "spec"), ("VMAlertmanager", "spec"), ("VMAuth", "spec"),
        ("VMCluster", "spec.vmselect"), ("VMCluster", "spec.vminsert"), ("VMCluster", "spec.vmstorage"),
    ):  # fmt: skip
        yield _row(
            "operator.victoriametrics.com", kind, there, there=there, metadata=None,
            images=f"{there}.image.repository+tag",
            default_image="the VictoriaMetrics operator chooses it, or a part of it",
        )  # fmt: skip


def _others() -> Iterator[Row]:
    """Operators with one row each."""
    for kind in ("Service", "Configuration"):
        yield _row(
            "serving.knative.dev", kind, "spec.template.spec", there="spec.template.spec", note=_KNATIVE
        )
    yield _row(
        "argoproj.io", "Rollout", "", there="spec.workloadRef",
        reason="its pods are those of the workload in spec.workloadRef, which is placed where it stands in a stream",
    )  # fmt: skip
    cnpg = "postgresql.cnpg.io"
    yield _row(
        cnpg, "Cluster", "spec", there="spec", metadata=None, images="spec.imageName",
        affinity="spec.affinity", tolerations="spec.affinity.tolerations", node_selector="spec.affinity.nodeSelector",
        default_image="an image catalogue or the CloudNativePG operator chooses it",
    )  # fmt: skip
    yield _row(
        cnpg, "Pooler", "spec.template.spec", there="spec", main="pgbouncer",
        default_image="the CloudNativePG operator chooses it",
    )  # fmt: skip
    for kind, vm in (
        ("VirtualMachine", "spec.template.spec"),
        ("VirtualMachineInstance", "spec"),
        ("VirtualMachineInstanceReplicaSet", "spec.template.spec"),
    ):
        yield _row(
            "kubevirt.io", kind, vm, there=vm, immutable=kind == "VirtualMachineInstance",
            metadata="metadata" if vm == "spec" else "spec.template.metadata",
            images=f"{vm}.volumes[*].containerDisk.image {vm}.domain.firmware.kernelBoot.container.image",
        )  # fmt: skip
    otel = "opentelemetry.io"
    default = "the OpenTelemetry operator chooses it"
    yield _row(
        otel, "OpenTelemetryCollector", "spec", there="spec", metadata=None, images="spec.image",
        unless=(("spec.mode", "sidecar"),), default_image=default,
    )  # fmt: skip
    yield _row(
        otel, "OpenTelemetryCollector", "", there="spec.mode", only="sidecar",
        reason="it is copied into the pods of others, when they are made (mode: sidecar)",
    )  # fmt: skip
    allocator = "spec.targetAllocator"
    yield _row(
        otel, "OpenTelemetryCollector", allocator, there=f"{allocator}", metadata=None, images=f"{allocator}.image",
        unless=((f"{allocator}.enabled", "false"), ("spec.mode", "sidecar")), default_image=default,
    )  # fmt: skip
    for kind in ("TargetAllocator", "OpAMPBridge"):
        yield _row(
            otel, kind, "spec", there="spec", metadata=None, images="spec.image", default_image=default
        )
    minio = "the MinIO operator chooses it"
    yield _row(
        "minio.min.io", "Tenant", "spec.pools[*]", there="spec.pools[*]", metadata=None, images="spec.image",
        default_image=minio,
    )  # fmt: skip
    yield _row(
        "minio.min.io", "Tenant", "spec.kes", there="spec.kes", metadata=None, images="spec.kes.image",
        default_image=minio,
    )  # fmt: skip
    yield _row(
        "rabbitmq.com", "RabbitmqCluster", "spec", there="spec", metadata=None, images="spec.image",
        node_selector=None, default_image="the RabbitMQ operator chooses it",
    )  # fmt: skip
    kserve = {"metadata": None, "note": _KNATIVE + " (in KServe's serverless mode)"}
    runtimes = ("model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx")
    yield _row(
        "serving.kserve.io", "InferenceService", "spec.predictor", there="spec.predictor", main="kserve-container",
        images="|".join(f"spec.predictor.{name}.image" for name in runtimes),
        default_image="the serving runtime of the model names it", **kserve,
    )  # fmt: skip
    for part in ("transformer", "explainer"):
        at = f"spec.{part}"
        yield _row("serving.kserve.io", "InferenceService", at, there=at, **kserve)


def operators() -> Iterator[Row]:
    """All rows of the module."""
    for family in (_workflows, _tekton, _spark, _prometheus, _strimzi, _eck, _victoria, _others):
        yield from family()
