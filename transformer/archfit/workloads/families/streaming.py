"""Data in motion: Flink, Spark, Numaflow, Kafka by Strimzi.

Flink merges the templates of job and task managers over the common one, lists item by item, by their position
(FlinkUtils.mergePodTemplates): of two lists of tolerations each item would have fields of both. So a list stands either
in the common template or in those of the roles. spec.image, else the option kubernetes.container.image.ref, runs
whatever image the template of the main container names (FlinkConfigBuilder.applyImage, Flink's
KubernetesUtils.resolveUserDefinedValue).

Numaflow fills what a vertex leaves out from spec.templates.vertex (pipeline/controller.go), and runs its own image in
the main container of each pod (GetPodSpec).

Strimzi has pods below `template.pod`, which has affinity and tolerations but no nodeSelector. A KafkaNodePool runs the
image of its Kafka, and its own `template.pod`, where it has one, replaces the Kafka's as a whole. A KafkaConnect with
`build` runs what the pod `template.buildPod` builds on `spec.image`, for the architecture of the node where it ran.

Spark: a pod template, or fields of the operator, whose affinity replaces the template's. Apache's operator runs the
image of sparkConf, whatever the template of the main container names.
"""

from __future__ import annotations

from archfit.base.patch import Path, undotted
from archfit.workloads.families.notation import Draft, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_USERS = " ".join(
    f"@.{name}.container.image"
    for name in (
        "udf", "source.udsource", "source.transformer", "sink.udsink", "sink.fallback.udsink", "sink.onSuccess.udsink",
    )
)  # fmt: skip
_FLINK, _FLINK_IMAGE = "flink-main-container", "kubernetes.container.image"
_CONTAINERS = "{0}.containers[*].image {0}.initContainers[*].image"
_NUMA = "Numaflow adds the container numa, whose image it chooses" + ANNOTATE
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
_SPARK_IMAGE = "spark.kubernetes.{0}container.image"
_SPARK = "the Spark operator applies affinity and tolerations through its webhook, which has to be enabled"
_NEVER = """
kafka.strimzi.io Kafka spec.jmxTrans: Strimzi has made no such pod since 0.35
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
    affinity, tolerations = (
        (f"{spec}.*.podTemplate.spec.{name}", "") for name in ("affinity", "tolerations")
    )
    conf = undotted(f"{spec}.flinkConfiguration")
    option = (
        undotted(f"{spec}.image"), (*conf, f"{_FLINK_IMAGE}.ref"), (*conf, _FLINK_IMAGE),
        (*conf, *undotted(f"{_FLINK_IMAGE}.ref")),
    )  # fmt: skip

    def images(*templates: str, others: str) -> tuple[tuple[Path, ...], ...]:
        main = (undotted(f"{template}.containers.={_FLINK}.image") for template in templates)
        return ((*option, *main), *((undotted(path),) for path in others.split()))

    shared = {"default_image": "the Flink operator chooses it by flinkVersion"}
    yield row(
        group, kind, common, there=spec, unless=(affinity, tolerations),
        images=images(common, others=" ".join(_CONTAINERS.format(role) for role in roles)), **shared,
    )  # fmt: skip
    for role in roles:
        for when, unless in ((tolerations, ()), (affinity, (tolerations,))):
            yield row(
                group, kind, role, there=spec, when=(when,), unless=unless, inherits=(common,), by_position=(common,),
                images=images(role, common, others=_CONTAINERS.format(common)), **shared,
            )  # fmt: skip


def _apache_spark() -> Iterator[Draft]:
    group = "spark.apache.org"
    for kind, pods in (
        ("SparkApplication", "spec.driverSpec.podTemplateSpec spec.executorSpec.podTemplateSpec"),
        ("SparkCluster", "spec.masterSpec.statefulSetSpec.template spec.workerSpec.statefulSetSpec.template"),
    ):
        for pod in (f"{template}.spec" for template in pods.split()):
            role = "driver." if "driver" in pod else "executor." if "executor" in pod else ""
            conf = [("spec", "sparkConf", _SPARK_IMAGE.format(name)) for name in dict.fromkeys((role, ""))]
            yield row(
                group,
                kind,
                pod,
                there="spec",
                images=(tuple(conf),),
                default_image="the Spark operator chooses it",
            )
    for part in ("server", "executor"):
        pod = f"spec.{part}.template.spec"
        main = f"{pod}.containers.=spark-kubernetes-{'driver' if part == 'server' else part}.image"
        yield row(
            "sparkoperator.k8s.io", "SparkConnect", pod, there=f"spec.{part}",
            images=f"{main}|spec.image|{pod}.containers[*].image",
            default_image="neither spec nor its template names it",
        )  # fmt: skip


def _numaflow() -> Iterator[Draft]:
    group, added = "numaflow.numaproj.io", (("numa", _NUMA),)
    yield from parts(f"{group} MonoVertex,Vertex spec {_USERS} @.sidecars[*].image", added=added)
    yield from parts(
        f"{group} Pipeline spec.vertices[*] {_USERS} @.sidecars[*].image",
        inherits=("spec.templates.vertex",), added=added,
    )  # fmt: skip
    yield from parts(
        f"{group} Pipeline spec.templates.sideInputsManager spec.sideInputs[*].container.image "
        "spec.sideInputs[*].volumes[*].image.reference <spec",
        added=added, when=(("spec.sideInputs", ""),),
    )  # fmt: skip


def _strimzi() -> Iterator[Draft]:
    yield from templates("core.strimzi.io StrimziPodSet spec.pods[*].spec")
    yield _pod("Kafka", "spec.kafka", "spec.kafka.image", also="spec.kafka.brokerRackInitImage")
    for part in ("cruiseControl", "kafkaExporter", "zookeeper"):
        yield _pod("Kafka", f"spec.{part}", f"spec.{part}.image", also=f"spec.{part}.tlsSidecar.image")
    entity = "spec.entityOperator"
    yield _pod(
        "Kafka", entity, f"{entity}.topicOperator.image {entity}.userOperator.image",
        also=f"{entity}.tlsSidecar.image",
    )  # fmt: skip
    for kind in ("KafkaConnect", "KafkaMirrorMaker2", "KafkaBridge"):
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
            conf = undotted(f"{spec}.sparkConf")
            main = (
                undotted(f"{at}.image"), undotted(f"{spec}.image"),
                (*conf, _SPARK_IMAGE.format(f"{role}.")), (*conf, _SPARK_IMAGE.format("")),
            )  # fmt: skip
            others = f"{at}.sidecars[*].image {at}.initContainers[*].image"
            shared: dict[str, Any] = {
                "images": (main, *((undotted(path),) for path in others.split())),
                "default_image": "neither the application nor its driver or executor names it",
                "unseen": ((f"{spec}.sparkConfigMap", _CONFIGURED),),
                "note": _SPARK,
            }
            volumes = f"{spec}.volumes[*].image.reference"
            yield row(
                group, kind, template, there=template, inherits=(at, spec), unless=((affinity, ""),), also=volumes,
                **shared,
            )  # fmt: skip
            yield row(
                group, kind, at, there=at, metadata=None, inherits=(spec,),
                unless=((template, ""), (affinity, "")), also=volumes, **shared,
            )  # fmt: skip
            yield row(
                group, kind, at, there=affinity, metadata=None, inherits=(template, spec),
                also=f"{volumes} {_CONTAINERS.format(template)}", **shared,
            )  # fmt: skip
