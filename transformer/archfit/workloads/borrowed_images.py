"""Pods whose images stand in another object of the stream: a KafkaNodePool runs the image of its Kafka.

    KafkaNodePool  metadata.labels["strimzi.io/cluster"]: my  ->  Kafka my  spec.kafka.image

Both are in one namespace, as far as the stream says. A stream that lacks the other object leaves the image unasked.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.base.typing_names import Any, Iterable, Iterator, Mapping, TypeAlias
from archfit.workloads.builtin import UserRows, group_of
from archfit.workloads.documents import Document
from archfit.workloads.patterns import get
from archfit.workloads.pod_specs import objects, reference_of
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.values import text_of

Key: TypeAlias = tuple[str, str, str, str]  # group, kind, namespace, name


def with_borrowed_images(documents: Iterable[Document], user_rows: UserRows) -> tuple[Document, ...]:
    """The documents with the images of such pods filled in. user_rows: those of the configuration."""
    documents = tuple(documents)
    wanted = {key for document in documents for pod in document.pods if (key := _wanted(pod)) is not None}
    named: dict[Key, dict[str, Any]] = {}
    for document in documents:
        for _, item in objects(document.value, (), user_rows):
            ref = reference_of(item)
            key = (group_of(ref.api_version), ref.kind, ref.namespace, ref.name)
            if key in wanted:
                named.setdefault(key, item)
    return tuple(
        document.replace(pods=tuple(_filled(pod, named) for pod in document.pods)) for document in documents
    )


def _wanted(pod: Pod) -> Key | None:
    same = pod.placement_paths.same if pod.placement_paths is not None else None
    if same is None:
        return None
    labels = pod.object_metadata.get("labels")
    name = text_of(labels.get(same[2])) if isinstance(labels, dict) else ""
    return (same[0], same[1], pod.ref.namespace, name) if name else None


def _filled(pod: Pod, named: Mapping[Key, dict[str, Any]]) -> Pod:
    key = _wanted(pod)
    if key is None or key not in named or pod.placement_paths is None or pod.placement_paths.same is None:
        return pod
    _, _, label, paths, _ = pod.placement_paths.same
    return pod.replace(
        images=tuple(
            one
            for use in pod.images
            for one in (_theirs(use, named[key], paths) if use.path[-1] == label else (use,))
        )
    )


def _theirs(use: ImageUse, value: dict[str, Any], paths: tuple[Path, ...]) -> Iterator[ImageUse]:
    texts = [text_of(get(value, path)) for path in paths]
    if not texts[0]:
        yield use
    for text in texts:
        if text:
            yield use.replace(text=text, unasked="")
