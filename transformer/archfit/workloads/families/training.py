"""Kubeflow's training jobs and Ray's clusters: pod templates for each role."""

from __future__ import annotations

from archfit.workloads.families.notation import left, templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload

_TEMPLATES = """
kubeflow.org             PyTorchJob               spec.pytorchReplicaSpecs.*.template.spec
kubeflow.org             MPIJob                   spec.mpiReplicaSpecs.*.template.spec
kubeflow.org             TFJob                    spec.tfReplicaSpecs.*.template.spec
kubeflow.org             XGBoostJob               spec.xgbReplicaSpecs.*.template.spec
kubeflow.org             PaddleJob                spec.paddleReplicaSpecs.*.template.spec
kubeflow.org             JAXJob                   spec.jaxReplicaSpecs.*.template.spec
kubeflow.org             Notebook                 spec.template.spec
trainer.kubeflow.org     TrainingRuntime          TRAINING
trainer.kubeflow.org     ClusterTrainingRuntime   TRAINING
ray.io                   RayCluster               spec.headGroupSpec.template.spec
ray.io                   RayCluster               spec.workerGroupSpecs[*].template.spec
ray.io                   RayJob                   spec.rayClusterSpec.headGroupSpec.template.spec
ray.io                   RayJob                   spec.rayClusterSpec.workerGroupSpecs[*].template.spec
ray.io                   RayJob                   spec.submitterPodTemplate.spec
ray.io                   RayService               spec.rayClusterConfig.headGroupSpec.template.spec
ray.io                   RayService               spec.rayClusterConfig.workerGroupSpecs[*].template.spec
""".replace("TRAINING", "spec.template.spec.replicatedJobs[*].template.spec.template.spec")


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield left(
        "trainer.kubeflow.org", "TrainJob", "spec",
        "its pods are those of the TrainingRuntime that spec.runtimeRef names, which is placed where it stands in a "
        "stream; an image in spec.trainer is not looked at",
    )  # fmt: skip
