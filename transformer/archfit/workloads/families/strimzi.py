"""Strimzi: pods below `template.pod`, which has affinity and tolerations but no nodeSelector."""

from __future__ import annotations

from archfit.workloads.families.notation import ANNOTATE, row, templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from archfit.options.values import Workload

_STRIMZI = "the Strimzi operator chooses or builds it"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates("core.strimzi.io StrimziPodSet spec.pods[*].spec")
    group = "kafka.strimzi.io"

    def one(kind: str, there: str, images: str, **fields: Any) -> Workload:
        pod = f"{there}.template.pod"
        return row(
            group, kind, pod, there=there, images=images, default_image=_STRIMZI, node_selector=None,
            metadata=f"{pod}.metadata", **fields,
        )  # fmt: skip

    for part in ("kafka", "cruiseControl", "kafkaExporter", "zookeeper"):
        yield one("Kafka", f"spec.{part}", f"spec.{part}.image")
    both = "spec.entityOperator.topicOperator.image spec.entityOperator.userOperator.image"
    yield one("Kafka", "spec.entityOperator", both)
    for kind in ("KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaBridge"):
        yield one(kind, "spec", "spec.image")
    pool = "the Kafka object of the cluster names it, or the Strimzi operator chooses it" + ANNOTATE
    yield one("KafkaNodePool", "spec", "", unseen=(("spec.roles", pool),))
