"""Virtual machines of KubeVirt, and NVIDIA's GPU operator."""

from __future__ import annotations

from archfit.workloads.families.notation import left, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for kind, vm in (
        ("VirtualMachine", "spec.template.spec"),
        ("VirtualMachineInstance", "spec"),
        ("VirtualMachineInstanceReplicaSet", "spec.template.spec"),
    ):
        yield row(
            "kubevirt.io", kind, vm, there=vm, immutable=kind == "VirtualMachineInstance",
            metadata="metadata" if vm == "spec" else "spec.template.metadata",
            images=f"{vm}.volumes[*].containerDisk.image {vm}.domain.firmware.kernelBoot.container.image",
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
