"""VictoriaMetrics, whose `image` is documented as repository and tag."""

from __future__ import annotations

from archfit.workloads.families.notation import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for kind, there in (
        ("VMSingle", "spec"), ("VMAgent", "spec"), ("VMAlert", "spec"), ("VMAlertmanager", "spec"), ("VMAuth", "spec"),
        ("VMCluster", "spec.vmselect"), ("VMCluster", "spec.vminsert"), ("VMCluster", "spec.vmstorage"),
    ):  # fmt: skip
        yield row(
            "operator.victoriametrics.com", kind, there, there=there, metadata=None,
            images=f"{there}.image.repository+tag",
            default_image="the VictoriaMetrics operator chooses it, or a part of it",
        )  # fmt: skip
