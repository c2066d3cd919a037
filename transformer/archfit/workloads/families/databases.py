"""CloudNativePG, RabbitMQ, MinIO."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import row

_CNPG = "postgresql.cnpg.io"
_POOLER = (
    "it has no spec.template.spec, which the API accepts only with a list of containers: write spec.template.spec with "
    "containers: [], then archfit adds the placement there"
)
_MINIO = "the MinIO operator chooses it"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield row(
        _CNPG, "Cluster", "spec", there="spec", metadata=None, images="spec.imageName",
        also="spec.postgresql.extensions[*].image.reference",
        affinity="spec.affinity", tolerations="spec.affinity.tolerations", node_selector="spec.affinity.nodeSelector",
        default_image="an image catalogue or the CloudNativePG operator chooses it",
    )  # fmt: skip
    template = "spec.template.spec"
    pooler = {"images": "spec.pgbouncer.image", "default_image": "the CloudNativePG operator chooses it"}
    yield row(_CNPG, "Pooler", template, there=template, main="pgbouncer", **pooler)
    yield row(
        _CNPG, "Pooler", template, there="spec", metadata=None, unless=((template, ""),),
        affinity=None, tolerations=None, node_selector=None, unplaced=_POOLER, **pooler,
    )  # fmt: skip
    for there, image in (("spec.pools[*]", "spec.image"), ("spec.kes", "spec.kes.image")):
        tenant = (
            "spec.sideCars.containers[*].image spec.sideCars.initContainers[*].image spec.initContainers[*].image "
            "spec.sideCars.volumes[*].image.reference spec.additionalVolumes[*].image.reference"
        )
        yield row(
            "minio.min.io", "Tenant", there, there=there, metadata=None, images=image, default_image=_MINIO,
            also=tenant if there == "spec.pools[*]" else "",
        )  # fmt: skip
    # The override is merged into the StatefulSet last: its lists replace what stands in spec.
    override = "spec.override.statefulSet.spec.template.spec"
    yield row(
        "rabbitmq.com", "RabbitmqCluster", "spec", there="spec", metadata=None, images="spec.image",
        also=f"spec.secretBackend.vault.defaultUserUpdaterImage {override}.containers[*].image "
        f"{override}.initContainers[*].image {override}.volumes[*].image.reference",
        replaced_by=(override,),
        default_image="the RabbitMQ operator chooses it",
    )  # fmt: skip
