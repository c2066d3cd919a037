"""More controllers of pods: Agones, Kruise, Volcano, Ray, disaggregated sets, k6, Dask, Fission, Pulumi, Knative."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, parts, templates
from archfit.workloads.families.training import ray_pods, submitter

_TEMPLATES = """
agones.dev                   GameServer         spec.template.spec
agones.dev                   Fleet,GameServerSet spec.template.spec.template.spec
apps.kruise.io               UnitedDeployment   spec.template.statefulSetTemplate.spec.template.spec
apps.kruise.io               UnitedDeployment   spec.template.advancedStatefulSetTemplate.spec.template.spec
apps.kruise.io               UnitedDeployment   spec.template.cloneSetTemplate.spec.template.spec
apps.kruise.io               UnitedDeployment   spec.template.deploymentTemplate.spec.template.spec
batch.volcano.sh             CronJob            spec.jobTemplate.spec.tasks[*].template.spec
flow.volcano.sh              JobTemplate        spec.tasks[*].template.spec
flow.volcano.sh              JobFlow            spec.flows[*].patch.jobSpec.tasks[*].template.spec
ray.io                       RayCronJob         spec.jobTemplate.submitterPodTemplate.spec
disaggregatedset.x-k8s.io    DisaggregatedSet   spec.roles[*].spec.leaderWorkerTemplate.leaderTemplate.spec
disaggregatedset.x-k8s.io    DisaggregatedSet   spec.roles[*].spec.leaderWorkerTemplate.workerTemplate.spec
kubernetes.dask.org          DaskCluster        spec.scheduler.spec
kubernetes.dask.org          DaskCluster,DaskWorkerGroup spec.worker.spec
kubernetes.dask.org          DaskJob            spec.cluster.spec.scheduler.spec
kubernetes.dask.org          DaskJob            spec.cluster.spec.worker.spec
kubernetes.dask.org          DaskJob            spec.job.spec
sources.knative.dev          ContainerSource    spec.template.spec
"""
_PARTS = """
fission.io          Environment  spec.runtime.podspec spec.runtime.image spec.runtime.container.image
fission.io          Environment  spec.builder.podspec spec.builder.image spec.builder.container.image
auto.pulumi.com     Workspace    spec.podTemplate.spec spec.image
"""
_K6 = """
k6.io               TestRun      spec.runner @.image
k6.io               TestRun      spec.initializer @.image
k6.io               TestRun      spec.starter @.image
"""
_PULLED = "it pulls images on nodes and runs no container of them"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield from parts(_PARTS, metadata=())
    yield from parts(_K6, "the k6 operator chooses it")
    yield from ray_pods("RayCronJob", "spec.jobTemplate.rayClusterSpec")
    yield from submitter("RayCronJob", "spec.jobTemplate")
    yield left(
        "apps.kruise.io", "SidecarSet", "spec",
        "its containers are injected into pods of others, which it does not place",
    )  # fmt: skip
    for kind in ("ImagePullJob", "ImageListPullJob"):
        yield left("apps.kruise.io", kind, "spec", _PULLED)
    yield left("apps.kruise.io", "EphemeralJob", "spec", "its containers are added to pods that run already")
