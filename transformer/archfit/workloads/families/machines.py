"""Virtual machines of KubeVirt, and NVIDIA's GPU operator.

KubeVirt pins a machine to `architecture`, and where it is missing to the cluster's default. It mounts the images of
disks and kernels as volumes, or runs its own container-disk in them (kubevirt pkg/container-disk): no program of theirs
runs, and `custom_pods` takes them as image volumes.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, row

_CHOSEN = (
    "KubeVirt pins a machine without spec.architecture to the cluster's default architecture, whatever its affinity "
    "says, so that nothing is written; set architecture to one that its images offer"
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
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
    yield never(
        "kubevirt.io", "VirtualMachine", "the importer of the disk runs it, in a pod of its own",
        "spec.dataVolumeTemplates",
    )  # fmt: skip
    yield never(
        "pool.kubevirt.io", "VirtualMachinePool", "the importer of the disk runs it, in a pod of its own",
        "spec.virtualMachineTemplate.spec.dataVolumeTemplates",
    )  # fmt: skip
    yield left(
        "nvidia.com", "ClusterPolicy", "spec",
        "the GPU operator makes DaemonSets of its own for these images, with tolerations for all of them "
        "(spec.daemonsets.tolerations) and no place for an affinity",
    )  # fmt: skip
    yield left(
        "nvidia.com", "NVIDIADriver", "spec",
        "the GPU operator appends the nodes' operating system to the image, so that its name is not known here",
    )  # fmt: skip
