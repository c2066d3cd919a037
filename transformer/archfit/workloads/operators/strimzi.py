"""Strimzi: the brokers of a node pool run the images of its Kafka."""

from __future__ import annotations

from archfit.options.settings import ANNOTATE
from archfit.workloads.operator_hooks import OperatorHooks, RowMatch
from archfit.workloads.pods import ImageLender, ImageUse, borrowed_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KAFKA = ImageLender(
    "kafka.strimzi.io",
    "Kafka",
    "strimzi.io/cluster",
    (("spec", "kafka", "image"), ("spec", "kafka", "brokerRackInitImage")),
)
_UNKNOWN = "the Kafka object of the cluster names it, or the Strimzi operator chooses it" + ANNOTATE


def _images(match: RowMatch) -> Iterator[ImageUse]:
    if match.there == match.path:  # a pool without a pod template has a row of its own
        yield ImageUse(borrowed_from(_KAFKA.label), None, unasked=_UNKNOWN)


KINDS = {
    "KafkaNodePool": OperatorHooks(
        images=_images, placement=lambda _, spec, paths: (spec, paths.replace(image_lender=_KAFKA))
    )
}
