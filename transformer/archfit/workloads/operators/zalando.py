"""Zalando's operator adds containers to the pods of each postgresql, those of an earlier line with the same name first:

    postgresql                  spec.sidecars, whose images the row counts
    OperatorConfiguration       configuration.sidecars
                                configuration.sidecar_docker_images, also in a ConfigMap: name:image,name:image
                                configuration.scalyr: scalyr_image, with scalyr_api_key; also in a ConfigMap

Where configurations of a stream differ, nobody knows which one holds: their containers are unknown.

A switch of the operator goes past the affinity.

Source: zalando/postgres-operator v1.14.0 and v2.0.1, pkg/cluster/k8sres.go (generateStatefulSet), pkg/cluster/util.go
(mergeContainers), pkg/util/config/util.go (processField).
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.options.settings import ANNOTATE
from archfit.startup.record import Record
from archfit.workloads.documents import Document
from archfit.workloads.node_selectors import objects_beside
from archfit.workloads.operator_hooks import OperatorHooks
from archfit.workloads.patterns import get
from archfit.workloads.pods import ImageUse, Pod, image_uses
from archfit.yaml.stream import Piece
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

GROUP = "acid.zalan.do"
_CONFIGURATION = "OperatorConfiguration"
# The key that no other program has in its ConfigMap; the name is the user's choice.
_SIDECARS = "sidecar_docker_images"
_SCALYR = "scalyr-sidecar"
_IMAGE: Path = ("spec", "dockerImage")
_DIFFER = (
    "{} configurations of the Zalando operator in this stream differ in the containers that it adds"
    + ANNOTATE
)
_MANY = "the Zalando operator's configuration adds {} containers, more than archfit reads" + ANNOTATE
# Each pod has all of them; nobody has as many.
_MOST = 50
_MERGE = (
    "where the Zalando operator has node_readiness_label_merge set to OR, nodes that are ready pass whatever "
    "nodeAffinity says: set it to AND"
)
KINDS = {"postgresql": OperatorHooks(note=_MERGE)}


class Configuration(Record):
    """What Zalando's operator is told. image: of PostgreSQL, "" where it is not said. sidecars: (name, use)."""

    image: str
    sidecars: tuple[tuple[str, ImageUse], ...]


def with_configuration(
    data: bytes, pieces: Iterable[Piece], documents: tuple[Document, ...]
) -> tuple[Document, ...]:
    """The documents, with the images that the configurations in the stream add."""
    words, kinds = (_CONFIGURATION.encode(), _SIDECARS.encode()), {("", "ConfigMap"), (GROUP, _CONFIGURATION)}
    configurations = [
        configuration
        for (_, kind), item in objects_beside(data, pieces, words, kinds)
        for configuration in _configuration(kind, item)
    ]
    if not configurations:
        return documents
    agreed = _agreed(configurations)
    return tuple(
        document.replace(pods=tuple(_configured(pod, document, agreed) for pod in document.pods))
        for document in documents
    )


def _configuration(kind: str, item: dict[str, Any]) -> Iterator[Configuration]:
    """What an object tells Zalando's operator, if it is one that does."""
    if kind == _CONFIGURATION:
        settings = mapping_of(item.get("configuration"))
        containers = {"containers": settings.get("sidecars")}
        images = {name: text_of(image) for name, image in mapping_of(settings.get(_SIDECARS)).items()}
        scalyr = mapping_of(settings.get("scalyr"))
    else:
        settings = scalyr = mapping_of(item.get("data"))
        if _SIDECARS not in settings:
            return
        containers = {}
        pairs = (pair.strip().split(":") for pair in text_of(settings[_SIDECARS]).split(","))
        images = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
    if text_of(scalyr.get("scalyr_api_key")):
        images.setdefault(_SCALYR, text_of(scalyr.get("scalyr_image")))
    sidecars = {use.container: use for use in reversed([*image_uses(containers, ())]) if use.text}
    for name in sorted(images):
        if images[name]:
            sidecars.setdefault(name, ImageUse((), images[name], container=name))
    yield Configuration(text_of(settings.get("docker_image")), tuple(sidecars.items()))


def _agreed(configurations: Sequence[Configuration]) -> Configuration:
    """What all of them say. Sidecars that are not known are one use, which has the reason."""
    images = {configuration.image for configuration in configurations}
    sidecars = {configuration.sidecars for configuration in configurations}
    image = images.pop() if len(images) == 1 else ""
    if len(sidecars) > 1:
        return Configuration(image, (("", ImageUse((), None, unasked=_DIFFER.format(len(configurations)))),))
    (agreed,) = sidecars
    many = (("", ImageUse((), None, unasked=_MANY.format(len(agreed)))),)
    return Configuration(image, agreed if len(agreed) <= _MOST else many)


def _configured(pod: Pod, document: Document, configuration: Configuration) -> Pod:
    if pod.group != GROUP:
        return pod
    at: Path = (*pod.root, "spec", "sidecars")
    own = get(document.value, at)
    taken = {
        text_of(mapping_of(container).get("name")) or f"sidecar-{number}"
        for number, container in enumerate(own if isinstance(own, list) else ())
    }
    uses = [
        use.replace(text=configuration.image, unasked="")
        if configuration.image and use.unasked and use.path[-2:] == _IMAGE
        else use
        for use in pod.images
    ]
    added = [
        use.replace(path=(*at, name or "*")) for name, use in configuration.sidecars if name not in taken
    ]
    return pod.replace(images=(*uses, *added))
