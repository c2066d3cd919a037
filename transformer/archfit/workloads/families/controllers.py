"""Pod templates of controllers, as Kubernetes has them: KEDA, JobSet, LeaderWorkerSet, Volcano, Kruise, OpenShift.

The webhooks of Volcano and JobSet refuse a change of what is applied (JobSet unless it is suspended).
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, row, templates
from archfit.workloads.pods import ANNOTATE

_TEMPLATES = """
keda.sh                  ScaledJob         spec.jobTargetRef.template.spec
jobset.x-k8s.io          JobSet            spec.replicatedJobs[*].template.spec.template.spec !
leaderworkerset.x-k8s.io LeaderWorkerSet   spec.leaderWorkerTemplate.leaderTemplate.spec
leaderworkerset.x-k8s.io LeaderWorkerSet   spec.leaderWorkerTemplate.workerTemplate.spec
batch.volcano.sh         Job               spec.tasks[*].template.spec !
apps.kruise.io           CloneSet,StatefulSet,DaemonSet,BroadcastJob spec.template.spec
apps.kruise.io           AdvancedCronJob   spec.template.jobTemplate.spec.template.spec
apps.kruise.io           AdvancedCronJob   spec.template.broadcastJobTemplate.spec.template.spec
"""


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    yield left(
        "keda.sh", "ScaledObject", "spec",
        "it scales another workload, which is placed where it stands in the stream",
    )  # fmt: skip
    yield never(
        "apps.kruise.io", "AdvancedCronJob", "it is pulled on the nodes, not run",
        "spec.template.imageListPullJobTemplate.spec.images",
    )  # fmt: skip
    trigger = "spec.triggers[*].imageChangeParams"
    yield row(
        "apps.openshift.io", "DeploymentConfig", "spec.template.spec", there="spec.template.spec",
        unseen=((trigger, "OpenShift replaces the image of a container when this trigger fires" + ANNOTATE),),
    )  # fmt: skip
    yield never(
        "apps.openshift.io", "DeploymentConfig", "the deployer pod runs it, which OpenShift places",
        "spec.strategy.customParams.image",
    )  # fmt: skip
