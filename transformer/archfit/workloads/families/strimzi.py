"""Strimzi: pods below `template.pod`, which has affinity and tolerations but no nodeSelector.

A KafkaNodePool runs the image of its Kafka, and its own `template.pod`, where it has one, replaces the Kafka's as a
whole. A KafkaConnect with `build` runs what the pod `template.buildPod` builds on `spec.image`, for the architecture of
the node where it was built.
"""

from __future__ import annotations

from archfit.base.patch import undotted
from archfit.base.typing_names import Any, Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import never, row, templates
from archfit.workloads.pods import ANNOTATE

_GROUP = "kafka.strimzi.io"
_STRIMZI = "the Strimzi operator chooses or builds it"
_BUILT = "the build makes it for the architecture of the node where it runs" + ANNOTATE
_BUILDER = "the Strimzi operator chooses the image that builds" + ANNOTATE
_POOL = "the Kafka object of the cluster names it, or the Strimzi operator chooses it" + ANNOTATE
_TEMPLATE = (
    "the pool has no spec.template.pod, and a new one would replace all of the Kafka's: write the placement into the "
    "Kafka's spec.kafka.template.pod, or give the pool a spec.template.pod of its own"
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates("core.strimzi.io StrimziPodSet spec.pods[*].spec")
    yield _pod("Kafka", "spec.kafka", "spec.kafka.image", also="spec.kafka.brokerRackInitImage")
    for part in ("cruiseControl", "kafkaExporter", "zookeeper", "jmxTrans"):
        yield _pod("Kafka", f"spec.{part}", f"spec.{part}.image", also=f"spec.{part}.tlsSidecar.image")
    entity = "spec.entityOperator"
    yield _pod(
        "Kafka", entity, f"{entity}.topicOperator.image {entity}.userOperator.image",
        also=f"{entity}.tlsSidecar.image",
    )  # fmt: skip
    for kind in ("KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2", "KafkaBridge"):
        unseen = (("spec.build", _BUILT),) if kind == "KafkaConnect" else ()
        yield _pod(kind, "spec", "spec.image", also="spec.clientRackInitImage", unseen=unseen)
    build = "spec.template.buildPod"
    yield row(
        _GROUP, "KafkaConnect", build, there="spec.build", images="spec.image", default_image=_STRIMZI,
        node_selector=None, metadata=f"{build}.metadata", unseen=(("spec.build", _BUILDER),),
    )  # fmt: skip
    yield never(
        _GROUP, "KafkaConnect", "it is the result of the build, which spec.build stands for",
        "spec.build.output.image spec.build.plugins",
    )  # fmt: skip
    yield never(_GROUP, "KafkaMirrorMaker2", "KafkaMirrorMaker2 builds nothing", build)
    pod = "spec.template.pod"
    images = (undotted("spec.kafka.image"), undotted("spec.kafka.brokerRackInitImage"))
    yield row(
        _GROUP, "KafkaNodePool", pod, there=pod, node_selector=None, metadata=f"{pod}.metadata",
        same=(_GROUP, "Kafka", "strimzi.io/cluster", images, _POOL),
    )  # fmt: skip
    yield row(
        _GROUP, "KafkaNodePool", pod, there="spec", metadata=None, unless=((pod, ""),),
        affinity=None, tolerations=None, node_selector=None,
        unseen=(("spec.roles", _POOL),), unplaced=_TEMPLATE,
    )  # fmt: skip


def _pod(kind: str, there: str, images: str, **fields: Any) -> Workload:
    pod = f"{there}.template.pod"
    return row(
        _GROUP, kind, pod, there=there, images=images, default_image=_STRIMZI, node_selector=None,
        metadata=f"{pod}.metadata", **fields,
    )  # fmt: skip
