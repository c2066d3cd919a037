"""Data in motion: Flink, Apache's Spark operator, Spark Connect, Numaflow.

Flink merges the templates of job and task managers over the common one, lists as a whole (FlinkConfigBuilder.java);
Numaflow fills what a vertex leaves out from spec.templates.vertex (pipeline/controller.go).
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import parts, row

_USERS = " ".join(
    f"@.{name}.container.image"
    for name in (
        "udf", "source.udsource", "source.transformer", "sink.udsink", "sink.fallback.udsink", "sink.onSuccess.udsink",
    )
)  # fmt: skip


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from _flink("FlinkDeployment", "spec")
    yield from _flink("FlinkBlueGreenDeployment", "spec.template.spec")
    yield from _spark()
    yield from _numaflow()


def _flink(kind: str, spec: str) -> Iterator[Workload]:
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


def _spark() -> Iterator[Workload]:
    group, key = "spark.apache.org", "spark.kubernetes.{0}container.image"
    for kind, pods in (
        ("SparkApplication", "spec.driverSpec.podTemplateSpec spec.executorSpec.podTemplateSpec"),
        ("SparkCluster", "spec.masterSpec.statefulSetSpec.template spec.workerSpec.statefulSetSpec.template"),
    ):
        for pod in (f"{template}.spec" for template in pods.split()):
            role = "driver." if "driver" in pod else "executor." if "executor" in pod else ""
            conf = [("spec", "sparkConf", key.format(name)) for name in dict.fromkeys((role, ""))]
            yield row(group, kind, pod, there=pod).replace(images=(tuple(conf),))
    for part in ("server", "executor"):
        pod = f"spec.{part}.template.spec"
        yield row(
            "sparkoperator.k8s.io", "SparkConnect", pod, there=f"spec.{part}",
            images=f"spec.image|{pod}.containers[*].image", default_image="neither spec nor its template names it",
        )  # fmt: skip


def _numaflow() -> Iterator[Workload]:
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
