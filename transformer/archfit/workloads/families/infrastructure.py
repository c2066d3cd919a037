"""Storage and gateways: Rook, Envoy Gateway, NGINX Gateway Fabric.

spec.placement:              Rook: holds nodeAffinity itself
  all: {nodeAffinity: ..}    for every daemon, unless
  osd: {nodeAffinity: ..}    the daemon has a nodeAffinity of its own (placement.go)
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import parts, row

_DAEMONS = (
    "mon arbiter mgr osd prepareosd mds rgw dashboard keyrotation cleanup monitoring crashcollector clusterMetadata "
    "exporter cmdreporter"
)
_OTHERS = (
    ("CephNFS", "spec.server.placement", "spec.server", "spec.server.image spec.security.sssd.sidecar.image"),
    ("CephNVMeOFGateway", "spec.placement", "spec", "spec.image"),
    ("CephCOSIDriver", "spec.placement", "spec", "spec.image spec.objectProvisionerImage"),
)
_ENVOY = "spec.provider.kubernetes."
_NGINX = "spec.kubernetes."


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from _rook()
    for name in ("envoyDeployment", "envoyDaemonSet"):
        at = _ENVOY + name
        yield row(
            "gateway.envoyproxy.io", "EnvoyProxy", f"{at}.pod", there=at, metadata=None,
            images=f"{at}.container.image",
            also=f"{at}.initContainers[*].image" if name == "envoyDeployment" else "",
            default_image="Envoy Gateway chooses it",
            unseen=((f"{at}.container.imageRepository", "Envoy Gateway adds the tag"),),
        )  # fmt: skip
    for name in ("deployment", "daemonSet"):
        at = _NGINX + name
        yield from parts(
            f"gateway.nginx.org NginxProxy {at}.pod {at}.container.image.repository+tag "
            f"{at}.wafContainers.configManager.image.repository+tag "
            f"{at}.wafContainers.enforcer.image.repository+tag <{at}",
            "NGINX Gateway Fabric chooses it, or a part of it",
        )


def _rook() -> Iterator[Workload]:
    group, image = "ceph.rook.io", "spec.cephVersion.image"

    def one(kind: str, at: str, there: str, images: str) -> Workload:
        return row(
            group, kind, at, there=there, metadata=None, affinity=at, node_selector=None, images=images,
            default_image="the Rook operator chooses it",
        )  # fmt: skip

    yield one("CephCluster", "spec.placement.all", "spec", image)
    for daemon in _DAEMONS.split():
        at = f"spec.placement.{daemon}"
        yield one("CephCluster", at, f"{at}.nodeAffinity", image)
    for name in ("placement", "preparePlacement"):
        at = f"spec.storage.storageClassDeviceSets[*].{name}"
        yield one("CephCluster", at, f"{at}.nodeAffinity", image)
    for kind, at, there, images in _OTHERS:
        yield one(kind, at, there, images)
