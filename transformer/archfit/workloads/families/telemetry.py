"""The OpenTelemetry operator."""

from __future__ import annotations

from archfit.workloads.families.notation import left, row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    otel = "opentelemetry.io"
    default = "the OpenTelemetry operator chooses it"
    yield row(
        otel, "OpenTelemetryCollector", "spec", there="spec", metadata=None, images="spec.image",
        unless=(("spec.mode", "sidecar"),), default_image=default,
    )  # fmt: skip
    yield row(
        otel, "OpenTelemetryCollector", "", there="spec.mode", only="sidecar",
        reason="it is copied into the pods of others, when they are made (mode: sidecar)",
    )  # fmt: skip
    allocator = "spec.targetAllocator"
    yield row(
        otel, "OpenTelemetryCollector", allocator, there=f"{allocator}", metadata=None, images=f"{allocator}.image",
        unless=((f"{allocator}.enabled", "false"), ("spec.mode", "sidecar")), default_image=default,
    )  # fmt: skip
    for kind in ("TargetAllocator", "OpAMPBridge"):
        yield row(otel, kind, "spec", there="spec", metadata=None, images="spec.image", default_image=default)
    yield left(
        otel, "Instrumentation", "spec", "its images are copied into the pods of others, when they are made"
    )
