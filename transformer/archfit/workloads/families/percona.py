"""Percona's operators for MongoDB, XtraDB and MySQL: the affinity of a part is `affinity.advanced`.

spec.pxc
  affinity:
    antiAffinityTopologyKey: kubernetes.io/hostname      the operator's anti-affinity, required
    advanced: {nodeAffinity: ..}                         replaces it (psmdb statefulset.go, pxc statefulset.go)
  tolerations:
  nodeSelector:
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, row

_CHOSEN = "Percona's operator chooses it"
_ADVANCED = (
    "affinity.advanced replaces the anti-affinity that Percona's operator makes of affinity.antiAffinityTopologyKey: "
    "write podAntiAffinity there, if members have to stay on different nodes"
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from _mongodb()
    yield from _xtradb()
    yield from _mysql()


def _part(group: str, kind: str, at: str, images: str, *, without_sidecars: bool = False) -> Workload:
    image, *others = images.split()
    own = "" if without_sidecars else f"{at}.sidecars[*].image {at}.sidecarVolumes[*].image.reference"
    return row(
        group, kind, at, there=at, metadata=None, affinity=f"{at}.affinity.advanced", images=image,
        also=" ".join((*others, own)), default_image=_CHOSEN, default_affinity=_ADVANCED,
    )  # fmt: skip


def _mongodb() -> Iterator[Workload]:
    group, kind = "psmdb.percona.com", "PerconaServerMongoDB"
    beside = "spec.image spec.initImage spec.backup.image spec.pmm.image spec.logcollector.image"
    for at in ("spec.replsets[*]", "spec.sharding.configsvrReplSet"):
        for part in ("", ".nonvoting", ".arbiter", ".hidden"):
            yield _part(group, kind, at + part, beside)
        yield _part(group, kind, f"{at}.search", "spec.search.image")
    yield _part(group, kind, "spec.sharding.mongos", beside)
    yield _part(group, kind, "spec.search", "spec.search.image")
    yield _part(group, "PerconaServerMongoDBClusterSync", "spec", "spec.image", without_sidecars=True)


def _xtradb() -> Iterator[Workload]:
    group, kind = "pxc.percona.com", "PerconaXtraDBCluster"
    init = "spec.initImage spec.initContainer.image"
    for part in ("pxc", "haproxy", "proxysql"):
        yield _part(
            group, kind, f"spec.{part}", f"spec.{part}.image {init} spec.pmm.image spec.logcollector.image"
        )
    storage = "spec.backup.storages.*"
    yield row(
        group, kind, storage, there=storage, metadata=None, images="spec.backup.image", default_image=_CHOSEN
    )
    yield left(
        group, "PerconaXtraDBClusterRestore", "spec",
        "its pods are placed as the cluster that it restores says",
    )  # fmt: skip


def _mysql() -> Iterator[Workload]:
    group, kind = "ps.percona.com", "PerconaServerMySQL"
    for part in ("mysql", "orchestrator", "proxy.haproxy", "proxy.router", "backup.pitr.binlogServer"):
        at = f"spec.{part}"
        init = f"{at}.initImage {at}.initContainer.image spec.initImage spec.initContainer.image"
        more = " spec.toolkit.image spec.pmm.image" if part == "mysql" else ""
        yield _part(group, kind, at, f"{at}.image {init}{more}", without_sidecars=part != "mysql")
    storage = "spec.backup.storages.*"
    yield row(
        group, kind, storage, there=storage, metadata=None, default_image=_CHOSEN,
        images="spec.backup.image", also="spec.backup.initImage spec.backup.initContainer.image",
    )  # fmt: skip
    yield left(
        group, "PerconaServerMySQLRestore", "spec", "its pods are placed as the cluster that it restores says"
    )
