"""VictoriaMetrics, whose `image` is documented as repository and tag."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import row

_GROUP = "operator.victoriametrics.com"
_DEFAULT = "the VictoriaMetrics operator chooses it, or a part of it"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for kind in ("VMSingle", "VMAgent", "VMAlert", "VMAlertmanager", "VMAuth"):
        yield _pod(kind, "spec", backup=kind == "VMSingle")
    for part in ("vmselect", "vminsert", "vmstorage"):
        yield _pod("VMCluster", f"spec.{part}", backup=part == "vmstorage")
    balancer = "spec.requestsLoadBalancer"
    yield row(
        _GROUP, "VMCluster", f"{balancer}.spec", there=balancer, metadata=None,
        images=f"{balancer}.spec.image.repository+tag", also=f"{balancer}.spec.configReloaderImage",
        unless=((f"{balancer}.enabled", "false"),), default_image=_DEFAULT,
    )  # fmt: skip


def _pod(kind: str, there: str, *, backup: bool) -> Workload:
    """A pod; the reloader of its configuration and the backup of its data are containers of it."""
    images = f"{there}.image.repository+tag"
    return row(
        _GROUP, kind, there, there=there, metadata=None, default_image=_DEFAULT,
        images=f"{images} {there}.vmBackup.image.repository+tag" if backup else images,
        also=f"{there}.configReloaderImage",
    )  # fmt: skip
