"""What pods take from other objects of the stream (`Lender`, `ImageLender`): KServe, Kubeflow Trainer, Rook, Strimzi.

An InferenceService is merged over its ServingRuntime, whose other containers run in its pods as well. What the runtime
says of their place holds until the service says something itself, and is written along. A stream that lacks the other
object leaves the image unasked.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.base.results import Message, qualified_kind
from archfit.options.settings import LISTS, TERMS
from archfit.workloads.builtin import UserRows, group_of
from archfit.workloads.documents import Document
from archfit.workloads.node_selectors import agreed
from archfit.workloads.patterns import bound, get, joined, matches
from archfit.workloads.pod_specs import objects, reference_of
from archfit.workloads.pods import ImageUse, Lender, PlacementPaths, Pod, borrowed_from, image_uses
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, str, str, str]  # group, kind, namespace, name


def with_borrowed_images(
    documents: Iterable[Document], user_rows: UserRows
) -> tuple[tuple[Document, ...], list[Message]]:
    """The documents with what the pods borrow filled in, and a warning for each lender that is not one.

    user_rows: those of the configuration.
    """
    documents = tuple(documents)
    wanted = {key for document in documents for pod in document.pods for key in _wanted(pod, document)}
    same, unlike = agreed(_lenders(documents, user_rows, wanted))
    named = {**same, **dict.fromkeys(unlike)}
    filled = tuple(
        document.replace(pods=tuple(_filled(pod, document, named) for pod in document.pods))
        for document in documents
    )
    return filled, [*unlike.values()]


def _lenders(
    documents: Iterable[Document], user_rows: UserRows, wanted: Container[Key]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects that pods take from, without what says nothing of pods, by their titles."""
    for document in documents:
        for _, item, _ in objects(document.value, (), user_rows):
            ref = reference_of(item)
            for name in (ref.name, ""):
                key = (group_of(ref.api_version), ref.kind, ref.namespace, name)
                if key in wanted:
                    yield (
                        _title(key),
                        {field: item[field] for field in item if field not in ("metadata", "status")},
                    )


def _title(key: Key) -> str:
    group, kind, namespace, name = key
    return f"{qualified_kind(group, kind)} {'/'.join(filter(None, (namespace, name)))}"


def _wanted(pod: Pod, document: Document) -> Iterator[Key]:
    """The objects of which the first that is there counts."""
    paths = pod.placement_paths
    if paths is not None and paths.image_lender is not None:
        lender = paths.image_lender
        name = text_of(mapping_of(pod.object_metadata.get("labels")).get(lender.label))
        if name or not lender.label:
            yield lender.group, lender.kind, pod.ref.namespace, name
    if paths is not None and paths.lender is not None:
        name = text_of(get(document.value, (*pod.root, *paths.lender.name)))
        for kind in paths.lender.kinds if name else ():
            yield paths.lender.group, kind, "" if kind.startswith("Cluster") else pod.ref.namespace, name


def _filled(pod: Pod, document: Document, named: Mapping[str, dict[str, Any] | None]) -> Pod:
    paths = pod.placement_paths
    if paths is None or not paths.borrows:
        return pod
    titles = map(_title, _wanted(pod, document))
    item = next((named[title] for title in titles if title in named), None)
    if paths.lender is not None:
        return _lent(pod, paths, paths.lender, document, item)
    lender = paths.image_lender
    if item is None or lender is None:
        return pod
    source = (*pod.root, *borrowed_from(lender.label))
    return pod.replace(
        images=tuple(
            their
            for use in pod.images
            for their in (_theirs(use, item, lender.images) if use.path == source else (use,))
        )
    )


def _theirs(use: ImageUse, value: dict[str, Any], paths: tuple[Path, ...]) -> Iterator[ImageUse]:
    texts = [text_of(get(value, path)) for path in paths]
    if not texts[0]:
        yield use
    for text in texts:
        if text:
            yield use.replace(text=text, unasked="")


def _lent_pods(lender: Lender, item: dict[str, Any], borrower: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """(pod spec, the container in it whose image the borrower may replace) of each pod of the lender."""
    condition, text = lender.when or ((), "")
    names, name = lender.named or ((), ())
    wanted = {text_of(value) for _, value in matches(borrower, names)} if names else set()
    for path, lent in matches(item, lender.pod_spec):
        if not isinstance(lent, dict):
            continue
        if names and text_of(get(item, bound(name, lender.pod_spec, path))) not in wanted:
            continue
        replaced = not condition or text_of(get(item, bound(condition, lender.pod_spec, path))) == text
        yield lent, lender.main if replaced else ""


def _lent(
    pod: Pod, paths: PlacementPaths, lender: Lender, document: Document, item: dict[str, Any] | None
) -> Pod:
    """The pod with what its lender says; item: the lender, None where it is not in the stream."""
    if item is None:
        lost = lender.lost if any(use.unasked in lender.unknown for use in pod.images) else ""
        return pod.replace(placement_paths=paths.replace(lost_default=lost)) if lost else pod
    at = (*pod.root, *lender.name)
    stated = {use.container for use in pod.images if use.container and use.text}
    source = (*pod.root, *lender.stated)
    image = text_of(get(document.value, source)) if lender.stated else ""
    changed = any(get(document.value, (*pod.root, *path)) is not None for path in lender.changes)
    images = [use for use in pod.images if use.unasked not in lender.unknown]
    spec, inherited, replaced = dict(pod.spec), list(paths.inherited), list(paths.replaced)
    for lent, main in _lent_pods(lender, item, get(document.value, pod.root)):
        for use in image_uses(lent, at):
            meant = bool(main) and use.container == main
            if meant and image:
                if all(image.path != source for image in images):
                    images.append(use.replace(path=source, text=image))
            elif use.container not in stated and (meant or not lender.alone):
                images.append(use.replace(path=at, unasked=lender.unknown[0] if changed and meant else ""))
        if lender.alone:
            continue
        if mapping_of(lent.get("nodeSelector")):
            spec["nodeSelector"] = joined(lent["nodeSelector"], spec.get("nodeSelector") or {})
        for field in LISTS:
            own, theirs = spec.get(field), lent.get(field)
            if theirs and (not own or (field == "affinity" and "nodeAffinity" not in own)):
                spec[field] = joined(theirs, own or {}) if field == "affinity" else theirs
                inherited.append((field, None, own))
            elif field == "affinity" and get(theirs, TERMS[1:]) and not get(own, TERMS[1:]):
                replaced.append((field, at))
    return pod.replace(
        images=tuple(images),
        spec=spec,
        placement_paths=paths.replace(inherited=tuple(inherited), replaced=tuple(replaced)),
    )
