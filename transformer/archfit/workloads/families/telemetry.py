"""The OpenTelemetry operator."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, row

_GROUP = "opentelemetry.io"
_DEFAULT = "the OpenTelemetry operator chooses it"
_BESIDE = "spec.additionalContainers[*].image"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield row(
        _GROUP, "OpenTelemetryCollector", "spec", there="spec", metadata=None, images="spec.image", also=_BESIDE,
        unless=(("spec.mode", "sidecar"),), default_image=_DEFAULT,
    )  # fmt: skip
    yield row(
        _GROUP, "OpenTelemetryCollector", there="spec.mode", only="sidecar",
        reason="it is copied into the pods of others, when they are made (mode: sidecar)",
    )  # fmt: skip
    allocator = "spec.targetAllocator"
    yield row(
        _GROUP, "OpenTelemetryCollector", allocator, there=allocator, metadata=None, images=f"{allocator}.image",
        unless=((f"{allocator}.enabled", "false"), ("spec.mode", "sidecar")), default_image=_DEFAULT,
    )  # fmt: skip
    for kind, also in (("TargetAllocator", _BESIDE), ("OpAMPBridge", "")):
        yield row(
            _GROUP, kind, "spec", there="spec", metadata=None, images="spec.image", also=also,
            default_image=_DEFAULT,
        )  # fmt: skip
    yield left(
        _GROUP,
        "Instrumentation",
        "spec",
        "its images are copied into the pods of others, when they are made",
    )
