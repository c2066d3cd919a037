"""Controllers of pods, virtual machines and gateways.

Pod templates as Kubernetes has them: KEDA, JobSet, LeaderWorkerSet, Volcano, Kruise, Agones, Dask, Fission. The
webhooks of Volcano and JobSet refuse a change of what is applied (a suspended JobSet takes tolerations, no affinity).

KubeVirt pins a machine to `architecture`, and where it is missing to the cluster's default. It mounts the images of
disks and kernels as volumes, or runs its own container-disk in them (kubevirt pkg/container-disk): no program of theirs
runs, and `custom_pods` takes them as image volumes.

    spec.placement:                  Rook: holds nodeAffinity itself
      all: {nodeAffinity: ..}        for every daemon, unless
      mon: {nodeAffinity: ..}        the daemon has a nodeAffinity of its own (placement.go)
      arbiter: {..}                  never merged with `all` (mon.go)
    spec.storage:
      onlyApplyOSDPlacement: true    `all` does not hold for OSDs and their preparation (osd/spec.go)

Gateways, file systems and mirrors run the image of the one CephCluster in their namespace, each at its own placement.
"""

from __future__ import annotations

from archfit.workloads.families.notation import Draft, left, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_TEMPLATES = """
keda.sh                  ScaledJob         spec.jobTargetRef.template.spec
jobset.x-k8s.io          JobSet            spec.replicatedJobs[*].template.spec.template.spec !
leaderworkerset.x-k8s.io LeaderWorkerSet   spec.leaderWorkerTemplate.leaderTemplate.spec
leaderworkerset.x-k8s.io LeaderWorkerSet   spec.leaderWorkerTemplate.workerTemplate.spec
apps.kruise.io           CloneSet,StatefulSet,DaemonSet,BroadcastJob spec.template.spec
apps.kruise.io           AdvancedCronJob   spec.template.jobTemplate.spec.template.spec !
apps.kruise.io           AdvancedCronJob   spec.template.broadcastJobTemplate.spec.template.spec !
agones.dev                   GameServer         spec.template.spec
agones.dev                   Fleet              spec.template.spec.template.spec
agones.dev                   GameServerSet      spec.template.spec.template.spec !
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
"""
_FETCHER = "Fission adds the container fetcher, whose image its settings name" + ANNOTATE
_K6 = """
k6.io               TestRun      spec.initializer @.image
k6.io               TestRun      spec.starter @.image
"""
_ROOK = "the Rook operator runs containers of its own image beside Ceph's" + ANNOTATE
_CEPH = (
    "the CephCluster of the namespace names it, which archfit reads where it is in the same stream" + ANNOTATE
)
_BORROWS = (
    ("CephFilesystem", "spec.metadataServer", ""),
    ("CephObjectStore", "spec.gateway", ""),
    ("CephNFS", "spec.server", "spec.server.image spec.security.sssd.sidecar.image"),
    ("CephNVMeOFGateway", "spec", "spec.image"),
    ("CephRBDMirror", "spec", ""),
    ("CephFilesystemMirror", "spec", ""),
)
_MERGED = (
    "terms and tolerations of the EnvoyProxy of its GatewayClass, with which spec.mergeType merges it, end where this "
    "one has its own: write them here too"
)
_CHOSEN = (
    "KubeVirt pins a machine without spec.architecture to the cluster's default architecture, whatever its affinity "
    "says, so that nothing is written; set architecture to one that its images offer"
)
_MASTER = "Volcano's plugin pytorch may add a container that waits for the master" + ANNOTATE
_RESOURCE_GROUP = (
    "an affinity of its own ends the one that Volcano's admission has for a resource group (resourceGroups of its "
    "configuration)"
)
_LEFT = """
keda.sh ScaledObject spec: it scales another workload, which is placed where it stands in the stream
apps.kruise.io SidecarSet spec: its containers are injected into pods of others, which it does not place
apps.kruise.io ImagePullJob,ImageListPullJob spec: it pulls images on nodes and runs no container of them
apps.kruise.io EphemeralJob spec: its containers are added to pods that run already
nvidia.com ClusterPolicy spec: the GPU operator makes DaemonSets of its own for these images, with tolerations for all
  of them (spec.daemonsets.tolerations) and no place for an affinity
nvidia.com NVIDIADriver spec: the GPU operator appends the nodes' operating system to the image, so that its name is
  not known here
"""
_NEVER = """
apps.kruise.io AdvancedCronJob spec.template.imageListPullJobTemplate.spec.images: it is pulled on the nodes, not run
apps.openshift.io DeploymentConfig spec.strategy.customParams.image: the deployer pod runs it, which OpenShift places
kubevirt.io VirtualMachine spec.dataVolumeTemplates: the importer of the disk runs it, in a pod of its own
pool.kubevirt.io VirtualMachinePool spec.virtualMachineTemplate.spec.dataVolumeTemplates: the importer of the disk
  runs it, in a pod of its own
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    trigger = "spec.triggers[*].imageChangeParams"
    yield row(
        "apps.openshift.io", "DeploymentConfig", "spec.template.spec", there="spec.template.spec",
        unseen=((trigger, "OpenShift replaces the image of a container when this trigger fires" + ANNOTATE),),
    )  # fmt: skip
    yield from _volcano()
    yield from parts(_PARTS, metadata=(), added=(("fetcher", _FETCHER),))
    yield from parts(_K6, "the k6 operator chooses it")
    yield from parts(
        "k6.io TestRun spec.runner @.image", "the k6 operator chooses it",
        overwrites=(("spec.separate", "true", "affinity"),),
    )  # fmt: skip
    yield from _united()
    yield from _rook()
    yield from _gateways()
    yield from _machines()
    yield from left(_LEFT)
    yield from never(_NEVER)


def _united() -> Iterator[Draft]:
    """Kruise adds a subset's terms and tolerations to the template, and merges its patch into it last."""
    for name in ("statefulSet", "advancedStatefulSet", "cloneSet", "deployment"):
        pod = f"spec.template.{name}Template.spec.template.spec"
        patch = "spec.topology.subsets[*].patch.spec"
        yield row(
            "apps.kruise.io", "UnitedDeployment", pod, there=pod, replaced_by=patch,
            parts="spec.topology.subsets[*].nodeSelectorTerm",
            unseen=[
                (f"{patch}.{containers}[*].image", "this patch changes an image for some of the pods" + ANNOTATE)
                for containers in ("containers", "initContainers")
            ],
        )  # fmt: skip


def _volcano() -> Iterator[Draft]:
    for group, kind, job in (
        ("batch.volcano.sh", "Job", "spec"),
        ("batch.volcano.sh", "CronJob", "spec.jobTemplate.spec"),
        ("flow.volcano.sh", "JobTemplate", "spec"),
        ("flow.volcano.sh", "JobFlow", "spec.flows[*].patch.jobSpec"),
    ):
        yield row(
            group, kind, f"{job}.tasks[*].template.spec", immutable=(group, kind) == ("batch.volcano.sh", "Job"),
            unseen=((f"{job}.plugins.pytorch[*]", _MASTER),), default_affinity=_RESOURCE_GROUP,
        )  # fmt: skip


def _gateways() -> Iterator[Draft]:
    # Envoy Gateway merges its own defaults, the EnvoyProxy of a class and that of a Gateway where mergeType says so.
    merges = (("spec.mergeType", ""),)
    for name in ("envoyDeployment", "envoyDaemonSet"):
        at = f"spec.provider.kubernetes.{name}"
        alone = {
            "metadata": None, "images": f"{at}.container.image",
            "also": f"{at}.initContainers[*].image" if name == "envoyDeployment" else "",
            "default_image": "Envoy Gateway chooses it", "merged": f"{at}.patch.value",
            "added": (("shutdown-manager", "Envoy Gateway adds the container shutdown-manager" + ANNOTATE),),
        }  # fmt: skip
        tag = (f"{at}.container.imageRepository", "Envoy Gateway adds the tag")
        yield row(
            "gateway.envoyproxy.io",
            "EnvoyProxy",
            f"{at}.pod",
            there=at,
            unseen=(tag,),
            unless=merges,
            **alone,
        )
        yield row(
            "gateway.envoyproxy.io", "EnvoyProxy", f"{at}.pod", there=at, when=merges, default_affinity=_MERGED,
            unseen=(tag, ("spec.mergeType", "the EnvoyProxy of its GatewayClass is merged with this one")), **alone,
        )  # fmt: skip
    for name in ("deployment", "daemonSet"):
        at = f"spec.kubernetes.{name}"
        yield from parts(
            f"gateway.nginx.org NginxProxy {at}.pod {at}.container.image.repository+tag "
            f"{at}.wafContainers.configManager.image.repository+tag "
            f"{at}.wafContainers.enforcer.image.repository+tag <{at}",
            "NGINX Gateway Fabric chooses it, or a part of it", merged=f"{at}.patches[*].value",
            added=(("init", "NGINX Gateway Fabric adds the init container init" + ANNOTATE),),
        )  # fmt: skip


def _rook() -> Iterator[Draft]:
    group, image = "ceph.rook.io", "spec.cephVersion.image"

    def one(kind: str, at: str, there: str, **fields: Any) -> Draft:
        return row(group, kind, at, there=there, metadata=None, affinity=at, node_selector=None, **fields)

    def daemon(at: str, there: str, **fields: Any) -> Draft:
        return one(
            "CephCluster", at, there, images=image, default_image="the Rook operator chooses it",
            unseen=(("spec", _ROOK),), **fields,
        )  # fmt: skip

    alone = (("spec.storage.onlyApplyOSDPlacement", "true"),)
    yield daemon("spec.placement.all", "spec")
    yield daemon("spec.placement.arbiter", "spec.placement.arbiter")
    for name in ("mon", "mgr"):
        yield daemon(f"spec.placement.{name}", f"spec.placement.{name}.nodeAffinity")
    sets = "spec.storage.storageClassDeviceSets[*]"
    for at, holder in (
        ("spec.placement.osd", "spec.storage"),
        ("spec.placement.prepareosd", "spec.storage"),
        (f"{sets}.placement", sets),
        (f"{sets}.preparePlacement", f"{sets}.preparePlacement"),
    ):
        yield daemon(at, f"{at}.nodeAffinity", unless=alone)
        yield daemon(at, holder, when=alone)
    for kind, there, images in _BORROWS:
        yield one(
            kind, f"{there}.placement", there, also=images,
            same=(group, "CephCluster", "", (("spec", "cephVersion", "image"),), _CEPH),
            unless=((f"{there}.externalRgwEndpoints", ""),) if kind == "CephObjectStore" else (),
        )  # fmt: skip
    yield one(
        "CephCOSIDriver", "spec.placement", "spec", images="spec.image spec.objectProvisionerImage",
        default_image="the Rook operator chooses it",
    )  # fmt: skip


def _machines() -> Iterator[Draft]:
    for group, kind, vm in (
        ("kubevirt.io", "VirtualMachine", "spec.template.spec"),
        ("kubevirt.io", "VirtualMachineInstance", "spec"),
        ("kubevirt.io", "VirtualMachineInstanceReplicaSet", "spec.template.spec"),
        ("pool.kubevirt.io", "VirtualMachinePool", "spec.virtualMachineTemplate.spec.template.spec"),
    ):
        yield row(
            group, kind, vm, there=vm, immutable=kind == "VirtualMachineInstance",
            metadata="metadata" if vm == "spec" else f"{vm.removesuffix('.spec')}.metadata",
            images=f"{vm}.volumes[*].containerDisk.image {vm}.domain.firmware.kernelBoot.container.image",
            architecture=f"{vm}.architecture", chosen=_CHOSEN,
        )  # fmt: skip
