"""Custom resources that hold pods: one row for each, read when a stream holds a kind that Kubernetes does not have.

    pod templates as Kubernetes has them                  _TEMPLATES: group, kinds, path; "!" cannot change once applied
    whole objects inside of others                        _OBJECTS: group, kinds, path
    the operator's own fields                             `operators`
    images without a place for affinity or tolerations    _PLACELESS: why they are left as they are

Every path is that of the published schema or Go type, looked up in July 2026. What an operator adds by itself (the
config-reloader of Prometheus, sidecars, its default images) is unseen, as sidecars of an injector are.
"""

from __future__ import annotations

from archfit.options.values import Workload as Row
from archfit.patch import undotted
from archfit.workloads.operators import operators
from archfit.workloads.table import by_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATES = """
argoproj.io              Rollout                  spec.template.spec
argoproj.io              Experiment               spec.templates[*].template.spec
argoproj.io              AnalysisTemplate,AnalysisRun spec.metrics[*].provider.job.spec.template.spec
argoproj.io              ClusterAnalysisTemplate  spec.metrics[*].provider.job.spec.template.spec
keda.sh                  ScaledJob                spec.jobTargetRef.template.spec
jobset.x-k8s.io          JobSet                   spec.replicatedJobs[*].template.spec.template.spec !
leaderworkerset.x-k8s.io LeaderWorkerSet          spec.leaderWorkerTemplate.leaderTemplate.spec
leaderworkerset.x-k8s.io LeaderWorkerSet          spec.leaderWorkerTemplate.workerTemplate.spec
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
batch.volcano.sh         Job                      spec.tasks[*].template.spec !
core.strimzi.io          StrimziPodSet            spec.pods[*].spec
apps.openshift.io        DeploymentConfig         spec.template.spec
apps.kruise.io           CloneSet,StatefulSet,DaemonSet,BroadcastJob spec.template.spec
apps.kruise.io           AdvancedCronJob          spec.template.jobTemplate.spec.template.spec
apps.kruise.io           AdvancedCronJob          spec.template.broadcastJobTemplate.spec.template.spec
grafana.integreatly.org  Grafana                  spec.deployment.spec.template.spec
serving.kserve.io        ServingRuntime,ClusterServingRuntime spec
""".replace("TRAINING", "spec.template.spec.replicatedJobs[*].template.spec.template.spec")

_OBJECTS = """
workload.codeflare.dev                AppWrapper                        spec.components[*].template
policy.open-cluster-management.io     Policy                            spec.policy-templates[*].objectDefinition
policy.open-cluster-management.io     ConfigurationPolicy               spec.object-templates[*].objectDefinition
work.open-cluster-management.io       ManifestWork                      spec.workload.manifests[*]
template.openshift.io                 Template                          objects[*]
hive.openshift.io                     SyncSet,SelectorSyncSet           spec.resources[*]
kubernetes.crossplane.io              Object                            spec.forProvider.manifest
"""

_PLACELESS = (
    (
        "nvidia.com", "ClusterPolicy", "spec",
        "the GPU operator makes DaemonSets of its own for these images, with tolerations for all of them "
        "(spec.daemonsets.tolerations) and no place for an affinity",
    ),
    (
        "nvidia.com", "NVIDIADriver", "spec",
        "the GPU operator appends the nodes' operating system to the image, so that its name is not known here",
    ),
    (
        "trainer.kubeflow.org", "TrainJob", "spec",
        "its pods are those of the TrainingRuntime that spec.runtimeRef names, which is placed where it stands in a "
        "stream; an image in spec.trainer is not looked at",
    ),
    (
        "opentelemetry.io", "Instrumentation", "spec",
        "its images are copied into the pods of others, when they are made",
    ),
    (
        "keda.sh", "ScaledObject", "spec",
        "it scales another workload, which is placed where it stands in the stream",
    ),
)  # fmt: skip


def _rows() -> Iterator[Row]:
    for line in _TEMPLATES.split("\n")[1:-1]:
        group, kinds, path, *once = line.split()
        for kind in kinds.split(","):
            yield Row(group, kind, undotted(path), immutable=bool(once))
    for line in _OBJECTS.split("\n")[1:-1]:
        group, kinds, path = line.split()
        for kind in kinds.split(","):
            yield Row(group, kind, objects=undotted(path))
    yield from operators()
    for group, kind, there, reason in _PLACELESS:
        yield Row(group, kind, there=undotted(there), reason=reason)


CUSTOM = by_kind(_rows())
