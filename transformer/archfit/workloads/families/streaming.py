"""Data in motion: Flink, Spark, Numaflow, Kafka by Strimzi.

Flink merges the templates of job and task managers over the common one, lists as a whole (FlinkConfigBuilder.java);
Numaflow fills what a vertex leaves out from spec.templates.vertex (pipeline/controller.go).

Strimzi has pods below `template.pod`, which has affinity and tolerations but no nodeSelector. A KafkaNodePool runs the
image of its Kafka, and its own `template.pod`, where it has one, replaces the Kafka's as a whole. A KafkaConnect with
`build` runs what the pod `template.buildPod` builds on `spec.image`, for the architecture of the node where it ran.

Spark: a pod template, or fields of the operator, whose affinity replaces the template's.
"""

from __future__ import annotations

from archfit.base.patch import undotted
from archfit.base.typing_names import Any, Iterator
from archfit.workloads.families.notation import Draft, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

_USERS = " ".join(
    f"@.{name}.container.image"
    for name in (
        "udf", "source.udsource", "source.transformer", "sink.udsink", "sink.fallback.udsink", "sink.onSuccess.udsink",
    )
)  # fmt: skip
_GROUP = "kafka.strimzi.io"
_STRIMZI = "the Strimzi operator chooses or builds it"
_BUILT = "the build makes it for the architecture of the node where it runs" + ANNOTATE
_BUILDER = "the Strimzi operator chooses the image that builds" + ANNOTATE
_POOL = "the Kafka object of the cluster names it, or the Strimzi operator chooses it" + ANNOTATE
_TEMPLATE = (
    "the pool has no spec.template.pod, and a new one would replace all of the Kafka's: write the placement into the "
    "Kafka's spec.kafka.template.pod, or give the pool a spec.template.pod of its own"
)
_CONFIGURED = "the Spark configuration in this ConfigMap may name another image" + ANNOTATE
_SPARK = "the Spark operator applies affinity and tolerations through its webhook, which has to be enabled"
_NEVER = """
kafka.strimzi.io KafkaConnect spec.build.output.image spec.build.plugins: it is the result of the build, which
  spec.build stands for
kafka.strimzi.io KafkaMirrorMaker2 spec.template.buildPod: KafkaMirrorMaker2 builds nothing
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from _flink("FlinkDeployment", "spec")
    yield from _flink("FlinkBlueGreenDeployment", "spec.template.spec")
    yield from _spark_operator()
    yield from _apache_spark()
    yield from _numaflow()
    yield from _strimzi()
    yield from never(_NEVER)


def _flink(kind: str, spec: str) -> Iterator[Draft]:
    group, common = "flink.apache.org", f"{spec}.podTemplate.spec"
    roles = [f"{spec}.{role}.podTemplate.spec" for role in ("jobManager", "taskManager")]
    shared = {"default_image": "the Flink operator chooses it by flinkVersion"}
    main = f"{spec}.image|{common}.containers[*].image"
    others = (f"{role}.{part}[*].image" for role in roles for part in ("containers", "initContainers"))
    yield row(group, kind, common, there=spec, images=" ".join((main, *others)), **shared)
    for role in roles:
        yield row(
            group, kind, role, there=role, inherits=(common,),
            images=f"{main}|{role}.containers[*].image {common}.containers[*].image {common}.initContainers[*].image",
            **shared,
        )  # fmt: skip


def _apache_spark() -> Iterator[Draft]:
    group, key = "spark.apache.org", "spark.kubernetes.{0}container.image"
    for kind, pods in (
        ("SparkApplication", "spec.driverSpec.podTemplateSpec spec.executorSpec.podTemplateSpec"),
        ("SparkCluster", "spec.masterSpec.statefulSetSpec.template spec.workerSpec.statefulSetSpec.template"),
    ):
        for pod in (f"{template}.spec" for template in pods.split()):
            role = "driver." if "driver" in pod else "executor." if "executor" in pod else ""
            conf = [("spec", "sparkConf", key.format(name)) for name in dict.fromkeys((role, ""))]
            yield row(group, kind, pod, there=pod, images=(tuple(conf),))
    for part in ("server", "executor"):
        pod = f"spec.{part}.template.spec"
        yield row(
            "sparkoperator.k8s.io", "SparkConnect", pod, there=f"spec.{part}",
            images=f"spec.image|{pod}.containers[*].image", default_image="neither spec nor its template names it",
        )  # fmt: skip


def _numaflow() -> Iterator[Draft]:
    group = "numaflow.numaproj.io"
    yield from parts(f"{group} MonoVertex,Vertex spec {_USERS} @.sidecars[*].image")
    for kind, spec in (("Pipeline", "spec"), ("ServingPipeline", "spec.pipeline")):
        yield from parts(
            f"{group} {kind} {spec}.vertices[*] {_USERS} @.sidecars[*].image",
            inherits=(f"{spec}.templates.vertex",),
        )
        yield from parts(
            f"{group} {kind} {spec}.templates.sideInputsManager {spec}.sideInputs[*].container.image "
            f"{spec}.sideInputs[*].volumes[*].image.reference <{spec}"
        )
    yield from parts(f"{group} ServingPipeline spec.serving @.store.container.image")


def _strimzi() -> Iterator[Draft]:
    yield from templates("core.strimzi.io StrimziPodSet spec.pods[*].spec")
    yield _pod("Kafka", "spec.kafka", "spec.kafka.image", also="spec.kafka.brokerRackInitImage")
    for part in ("cruiseControl", "kafkaExporter", "zookeeper", "jmxTrans"):
        yield _pod("Kafka", f"spec.{part}", f"spec.{part}.image", also=f"spec.{part}.tlsSidecar.image")
    entity = "spec.entityOperator"
    yield _pod(
        "Kafka", entity, f"{entity}.topicOperator.image {entity}.userOperator.image",
        also=f"{entity}.tlsSidecar.image",
    )  # fmt: skip
    for kind in ("KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaBridge"):
        unseen = (("spec.build", _BUILT),) if kind == "KafkaConnect" else ()
        yield _pod(kind, "spec", "spec.image", also="spec.clientRackInitImage", unseen=unseen)
    build = "spec.template.buildPod"
    yield row(
        _GROUP, "KafkaConnect", build, there="spec.build", images="spec.image", default_image=_STRIMZI,
        node_selector=None, metadata=f"{build}.metadata", unseen=(("spec.build", _BUILDER),),
    )  # fmt: skip
    pod = "spec.template.pod"
    images = (undotted("spec.kafka.image"), undotted("spec.kafka.brokerRackInitImage"))
    yield row(
        _GROUP, "KafkaNodePool", pod, there=pod, node_selector=None, metadata=f"{pod}.metadata",
        same=(_GROUP, "Kafka", "strimzi.io/cluster", images, _POOL),
    )  # fmt: skip
    yield row(
        _GROUP, "KafkaNodePool", pod, there="spec", metadata=None, unless=((pod, ""),),
        affinity=None, tolerations=None, node_selector=None,
        unseen=(("spec.roles", _POOL),), unplaced=_TEMPLATE,
    )  # fmt: skip


def _pod(kind: str, there: str, images: str, **fields: Any) -> Draft:
    pod = f"{there}.template.pod"
    return row(
        _GROUP, kind, pod, there=there, images=images, default_image=_STRIMZI, node_selector=None,
        metadata=f"{pod}.metadata", **fields,
    )  # fmt: skip


def _spark_operator() -> Iterator[Draft]:
    group = "sparkoperator.k8s.io"
    for kind, spec in (("SparkApplication", "spec"), ("ScheduledSparkApplication", "spec.template")):
        for role in ("driver", "executor"):
            at = f"{spec}.{role}"
            template = f"{at}.template.spec"
            affinity = f"{at}.affinity"
            # The template names the image where the application does not.
            main = f"{at}.image|{spec}.image|{template}.containers[*].image"
            shared: dict[str, Any] = {
                "images": f"{main} {at}.sidecars[*].image {at}.initContainers[*].image",
                "also": f"{spec}.volumes[*].image.reference",
                "default_image": "neither the application nor its driver or executor names it",
                "unseen": ((f"{spec}.sparkConfigMap", _CONFIGURED),),
                "note": _SPARK,
            }
            yield row(
                group, kind, template, there=template, inherits=(at, spec), unless=((affinity, ""),), **shared
            )
            yield row(
                group, kind, at, there=at, metadata=None, inherits=(spec,),
                unless=((template, ""), (affinity, "")), **shared,
            )  # fmt: skip
            yield row(group, kind, at, there=affinity, metadata=None, inherits=(template, spec), **shared)
