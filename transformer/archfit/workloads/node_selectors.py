"""What objects of the stream require of the nodes of its pods at admission.

    RuntimeClass    scheduling.nodeSelector, scheduling.tolerations    the pods that name it (runtimeClassName)
    Namespace       scheduler.alpha.kubernetes.io/node-selector        the pods in it, where PodNodeSelector is on

Neither kind holds a pod, so they are parsed only where a pod may depend on them. One that cannot be parsed
passes through and is ignored here.

Source: KEP-585 and the admission plugins RuntimeClass and PodNodeSelector of Kubernetes.
"""

from __future__ import annotations

from archfit.errors import InvalidInput
from archfit.source.compose import parse
from archfit.source.scan import Span, is_large_json, spans, whole
from archfit.source.split import Piece
from archfit.source.values import mapping_of, text_of
from archfit.typing_names import Any, Iterable, Iterator
from archfit.workloads.builtin import group_of
from archfit.workloads.documents import Document
from archfit.workloads.pods import Pod, RuntimeClass

_WORDS = (b"RuntimeClass", b"scheduler.alpha.")
ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
_CLASS, _SPACE = ("node.k8s.io", "RuntimeClass"), ("", "Namespace")
_KINDS = {(group, kind + listed) for group, kind in (_CLASS, _SPACE) for listed in ("", "List")}
_LISTS = {("", "List"), ("config.kubernetes.io", "ResourceList")}
_DEPTH = 16


def with_node_selectors(
    data: bytes, pieces: Iterable[Piece], documents: tuple[Document, ...]
) -> tuple[Document, ...]:
    """The documents, with what RuntimeClasses and Namespaces of the stream ask of nodes at their pods."""
    pods = [pod for document in documents for pod in document.pods]
    named = any(pod.spec.get("runtimeClassName") for pod in pods)
    placed = any(pod.ref.namespace for pod in pods)
    words = [word for word, wanted in zip(_WORDS, (named, placed), strict=True) if wanted]
    classes: dict[str, RuntimeClass] = {}
    spaces: dict[str, tuple[tuple[str, str], ...]] = {}
    for piece in pieces:
        if any(data.find(word, piece.start, piece.end) >= 0 for word in words):
            for item in _read(data, piece):
                name, key = (
                    _name(item),
                    (group_of(text_of(item.get("apiVersion"))), text_of(item.get("kind"))),
                )
                if key == _CLASS and mapping_of(item.get("scheduling")):
                    classes[name] = _runtime_class(name, mapping_of(item.get("scheduling")))
                elif key == _SPACE:
                    spaces[name] = _pairs(mapping_of(mapping_of(item.get("metadata")).get("annotations")))
    if not classes and not any(spaces.values()):
        return documents
    return tuple(
        document.replace(pods=tuple(_placed(pod, classes, spaces) for pod in document.pods))
        for document in documents
    )


def _placed(
    pod: Pod, classes: dict[str, RuntimeClass], spaces: dict[str, tuple[tuple[str, str], ...]]
) -> Pod:
    runtime_class = classes.get(text_of(pod.spec.get("runtimeClassName")))
    selector = spaces.get(pod.ref.namespace, ())
    if runtime_class is None and not selector:
        return pod
    return pod.replace(runtime_class=runtime_class, namespace_selector=selector)


def _read(data: bytes, piece: Piece) -> list[dict[str, Any]]:
    """The objects of a piece, lists opened; kinds that are plain to see and neither of the two are left out."""
    if is_large_json(data, piece):
        found = _read_json(data, piece)
        if found is not None:
            return found
    try:
        return [item for span in spans(data, piece, _is_other) for item in _objects(_value(data, span))]
    except InvalidInput:
        pass
    try:
        return list(_objects(_value(data, whole(piece))))
    except InvalidInput:
        return []


def _read_json(data: bytes, piece: Piece) -> list[dict[str, Any]] | None:
    from archfit.source.json_list import json_list
    from archfit.source.usual_json import Unusual, read

    found = json_list(
        data,
        piece.start,
        piece.end,
        lambda api_version, kind: kind.endswith("List") or not _is_other(api_version, kind),
    )
    if found is None or found.kind != "List" or not all(item.kind for item in found.items):
        return None
    try:
        values = [read(data[item.start : item.end].decode()) for item in found.items]
    except Unusual:
        return None
    return [one for value in values for one in _objects(value, 1)]


def _is_other(api_version: str, kind: str) -> bool:
    key = group_of(api_version), kind
    return key not in _KINDS and key not in _LISTS


def _value(data: bytes, span: Span) -> Any:
    value = parse(span.text(data)).value
    return value[0] if span.item else value


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    items = value.get("items")
    if isinstance(items, list) and text_of(value.get("kind")).endswith("List") and depth < _DEPTH:
        kind = text_of(value.get("kind")).removesuffix("List")
        typed = {"kind": kind, "apiVersion": value.get("apiVersion")} if kind else {}
        for item in items:
            yield from _objects({**typed, **item} if isinstance(item, dict) else item, depth + 1)
        return
    yield value


def _runtime_class(name: str, scheduling: dict[str, Any]) -> RuntimeClass:
    selector = mapping_of(scheduling.get("nodeSelector"))
    tolerations = scheduling.get("tolerations")
    return RuntimeClass(
        name,
        tuple((key, text_of(value)) for key, value in selector.items()),
        tuple(item for item in tolerations if isinstance(item, dict))
        if isinstance(tolerations, list)
        else (),
    )


def _pairs(annotations: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """`a=b,c=d`, as labels.ConvertSelectorToLabelsMap reads it."""
    parts = (part.partition("=") for part in text_of(annotations.get(ANNOTATION)).split(","))
    return tuple((key.strip(), value.strip()) for key, equals, value in parts if equals)


def _name(item: dict[str, Any]) -> str:
    return text_of(mapping_of(item.get("metadata")).get("name"))
