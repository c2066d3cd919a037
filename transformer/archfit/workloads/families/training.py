"""Kubeflow's training jobs and Ray's clusters: pod templates for each role."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, row, templates
from archfit.workloads.pods import ANNOTATE

_TEMPLATES = """
kubeflow.org             PyTorchJob               spec.pytorchReplicaSpecs.*.template.spec
kubeflow.org             MPIJob                   spec.mpiReplicaSpecs.*.template.spec
kubeflow.org             TFJob                    spec.tfReplicaSpecs.*.template.spec
kubeflow.org             XGBoostJob               spec.xgbReplicaSpecs.*.template.spec
kubeflow.org             PaddleJob                spec.paddleReplicaSpecs.*.template.spec
kubeflow.org             JAXJob                   spec.jaxReplicaSpecs.*.template.spec
kubeflow.org             Notebook                 spec.template.spec
ray.io                   RayJob                   spec.submitterPodTemplate.spec
"""
_REPLACED = "spec.trainer.image of a TrainJob replaces the image of this container" + ANNOTATE
_SUBMITTER = (
    "KubeRay runs the head's image in a pod that submits the job, without affinity or tolerations; write "
    "spec.submitterPodTemplate, with its container, and archfit places that pod too"
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    for kind, cluster in (
        ("RayCluster", "spec"),
        ("RayJob", "spec.rayClusterSpec"),
        ("RayService", "spec.rayClusterConfig"),
    ):
        yield from ray_pods(kind, cluster)
    yield from submitter("RayJob", "spec")
    for kind in ("TrainingRuntime", "ClusterTrainingRuntime"):
        yield row(
            "trainer.kubeflow.org", kind, "spec.template.spec.replicatedJobs[*].template.spec.template.spec",
            replaceable=(("node", _REPLACED), ("launcher", _REPLACED)),
        )  # fmt: skip
    yield left(
        "trainer.kubeflow.org", "TrainJob", "spec",
        "its pods are those of the TrainingRuntime that spec.runtimeRef names, which is placed where it stands in a "
        "stream; neither spec.trainer.image nor spec.runtimePatches is looked at",
    )  # fmt: skip
    yield never(
        "trainer.kubeflow.org", "TrainJob", "it runs in the pods of the TrainingRuntime",
        "spec.trainer.image spec.runtimePatches",
    )  # fmt: skip


def ray_pods(kind: str, cluster: str) -> Iterator[Workload]:
    """The pods of a RayClusterSpec; the collector of the history server is a container of each."""
    collector = f"{cluster}.historyServerOptions.collectorOptions.image"
    head, worker = f"{cluster}.headGroupSpec.template.spec", f"{cluster}.workerGroupSpecs[*].template.spec"
    yield row("ray.io", kind, head, there=head, also=f"{cluster}.autoscalerOptions.image {collector}")
    yield row("ray.io", kind, worker, there=worker, also=collector)


def submitter(kind: str, job: str) -> Iterator[Workload]:
    """The pod that submits a job, where the user writes none (submissionMode K8sJobMode, the default)."""
    head = f"{job}.rayClusterSpec.headGroupSpec.template"
    yield row(
        "ray.io", kind, f"{head}.spec", there=f"{head}.spec", immutable=True,
        affinity=None, tolerations=None, node_selector=None,
        images=f"{head}.spec.containers[*].image",
        unless=(
            (f"{job}.submitterPodTemplate", ""),
            *((f"{job}.submissionMode", mode) for mode in ("HTTPMode", "InteractiveMode", "SidecarMode")),
        ),
        unplaced=_SUBMITTER,
    )  # fmt: skip
