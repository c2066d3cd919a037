"""CloudNativePG, RabbitMQ, MinIO."""

from __future__ import annotations

from archfit.workloads.families.notation import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.options.values import Workload


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    cnpg = "postgresql.cnpg.io"
    yield row(
        cnpg, "Cluster", "spec", there="spec", metadata=None, images="spec.imageName",
        affinity="spec.affinity", tolerations="spec.affinity.tolerations", node_selector="spec.affinity.nodeSelector",
        default_image="an image catalogue or the CloudNativePG operator chooses it",
    )  # fmt: skip
    yield row(
        cnpg, "Pooler", "spec.template.spec", there="spec", main="pgbouncer",
        default_image="the CloudNativePG operator chooses it",
    )  # fmt: skip
    minio = "the MinIO operator chooses it"
    yield row(
        "minio.min.io", "Tenant", "spec.pools[*]", there="spec.pools[*]", metadata=None, images="spec.image",
        default_image=minio,
    )  # fmt: skip
    yield row(
        "minio.min.io", "Tenant", "spec.kes", there="spec.kes", metadata=None, images="spec.kes.image",
        default_image=minio,
    )  # fmt: skip
    yield row(
        "rabbitmq.com", "RabbitmqCluster", "spec", there="spec", metadata=None, images="spec.image",
        node_selector=None, default_image="the RabbitMQ operator chooses it",
    )  # fmt: skip
