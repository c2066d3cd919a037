"""What RuntimeClasses and Namespaces (Projects) of the stream require of the nodes of its pods at admission.

    scheduler.alpha.kubernetes.io/node-selector           PodNodeSelector: off by default, on in OpenShift
    openshift.io/node-selector                            OpenShift, unless the annotation above is there, too
    scheduler.alpha.kubernetes.io/tolerationsWhitelist    PodTolerationRestriction: off by default, on in OpenShift
    scheduler.alpha.kubernetes.io/defaultTolerations      the same; merged into the pod before the whitelist is asked

None of these kinds holds a pod, so they are parsed only where a pod may depend on them. One that cannot be parsed
passes through and is ignored here.

Source: KEP-585, the admission plugins RuntimeClass, PodNodeSelector and PodTolerationRestriction of Kubernetes, and
openshift-kube-apiserver/admission/scheduler/nodeenv of openshift/kubernetes.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.results import Message
from archfit.startup import c_json
from archfit.workloads.builtin import group_of
from archfit.workloads.documents import Document
from archfit.workloads.pod_specs import typed_item
from archfit.workloads.pods import Namespace, Pod, RuntimeClass
from archfit.yaml.compose import parse
from archfit.yaml.scan import Span, spans, whole
from archfit.yaml.stream import Piece
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any, TypeAlias, TypeVar

    T = TypeVar("T")

_ANNOTATION = "scheduler.alpha.kubernetes.io/"
ANNOTATION = f"{_ANNOTATION}node-selector"
OPENSHIFT_ANNOTATION = "openshift.io/node-selector"
_OF_NAMESPACES = (b"scheduler.alpha.", OPENSHIFT_ANNOTATION.encode())
_CLASS = ("node.k8s.io", "RuntimeClass")
_SPACES = (("", "Namespace"), ("project.openshift.io", "Project"))
_KINDS = frozenset((_CLASS, *_SPACES))
_LISTS = {("", "List"), ("config.kubernetes.io", "ResourceList")}
_DIFFER = (
    "{}: the input has several that differ, as those of several environments do, so none of them counts: run archfit "
    "for each environment alone"
)
Kind: TypeAlias = tuple[str, str]
"""Group and kind."""


def with_node_selectors(
    data: bytes, pieces: Iterable[Piece], documents: tuple[Document, ...]
) -> tuple[tuple[Document, ...], list[Message]]:
    """The documents, with what RuntimeClasses and Namespaces of the stream ask of nodes at their pods.

    And a warning for each of them that is not one.
    """
    pods = [pod for document in documents for pod in document.pods]
    wanted = {text_of(pod.spec.get("runtimeClassName")) for pod in pods} - {""}
    of_namespaces = any(data.find(word) >= 0 for word in _OF_NAMESPACES)
    named = {pod.ref.namespace for pod in pods} - {""} if of_namespaces else set()
    words = [*([b"RuntimeClass"] if wanted else ()), *([b"Namespace", b"Project"] if named else ())]
    beside = [(key, _name(item), item) for key, item in objects_beside(data, pieces, words, _KINDS)]
    classes, unlike = agreed(
        (f"RuntimeClass {name}", _runtime_class(name, item))
        for key, name, item in beside
        if key == _CLASS and name in wanted
    )
    spaces, others = agreed(
        (f"{key[1]} {name}", _namespace(mapping_of(mapping_of(item.get("metadata")).get("annotations"))))
        for key, name, item in beside
        if key != _CLASS and name in named
    )
    if not classes and not spaces:
        return documents, [*unlike.values(), *others.values()]
    placed = tuple(
        document.replace(pods=tuple(_placed(pod, classes, spaces) for pod in document.pods))
        for document in documents
    )
    return placed, [*unlike.values(), *others.values()]


def agreed(objects: Iterable[tuple[str, T]]) -> tuple[dict[str, T], dict[str, Message]]:
    """What all objects of a title say, by the title; by those of which two differ, the warning about it.

    Several inputs may be several environments, and nobody knows which of the objects is there for a pod.
    """
    values: dict[str, list[T]] = {}
    for title, value in objects:
        values.setdefault(title, []).append(value)
    same = {title: own[0] for title, own in values.items() if all(value == own[0] for value in own)}
    return same, {title: Message("warning", _DIFFER.format(title)) for title in values if title not in same}


def _placed(pod: Pod, classes: dict[str, RuntimeClass], spaces: dict[str, Namespace | None]) -> Pod:
    runtime_class = classes.get(f"RuntimeClass {text_of(pod.spec.get('runtimeClassName'))}")
    namespace = next(filter(None, (spaces.get(f"{kind} {pod.ref.namespace}") for _, kind in _SPACES)), None)
    if runtime_class is None and namespace is None:
        return pod
    return pod.replace(runtime_class=runtime_class, namespace=namespace)


def objects_beside(
    data: bytes, pieces: Iterable[Piece], words: Sequence[bytes], kinds: Collection[Kind]
) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """The objects of some kinds that hold no pod, in order; lists are opened. kinds: () for all, those with pods too.

    words: a piece without any of them holds none of the objects that are wanted.
    """
    for piece in pieces:
        if any(data.find(word, piece.start, piece.end) >= 0 for word in words):
            for item in _read(data, piece, kinds):
                key = group_of(text_of(item.get("apiVersion"))), text_of(item.get("kind"))
                if not kinds or key in kinds:
                    yield key, item


def _read(data: bytes, piece: Piece, kinds: Collection[Kind]) -> list[dict[str, Any]]:
    """The objects of a piece, lists opened; kinds that are plain to see and are not wanted are left out."""

    def other(api_version: str, kind: str) -> bool:
        key = group_of(api_version), kind.removesuffix("List")
        return bool(kinds) and key not in kinds and (key[0], kind) not in _LISTS

    try:
        return [item for span in spans(data, piece, other) for item in _objects(_value(data, span))]
    except InvalidInput:
        pass
    try:
        return list(_objects(_value(data, whole(piece))))
    except InvalidInput:
        return []


def _value(data: bytes, span: Span) -> Any:
    value = parse(span.text(data)).value
    return value[0] if span.item else value


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    if isinstance(value.get("items"), list):
        for item in value["items"]:
            yield from _objects(typed_item(item, value))
    yield value


def _runtime_class(name: str, item: dict[str, Any]) -> RuntimeClass:
    scheduling = mapping_of(item.get("scheduling"))
    selector = mapping_of(scheduling.get("nodeSelector"))
    tolerations = scheduling.get("tolerations")
    return RuntimeClass(
        name,
        tuple((key, text_of(value)) for key, value in selector.items()),
        tuple(
            item for item in (tolerations if isinstance(tolerations, list) else ()) if isinstance(item, dict)
        ),
        text_of(item.get("handler")),
    )


def _namespace(annotations: dict[str, Any]) -> Namespace | None:
    """What the annotations of a Namespace ask of its pods, None where they ask nothing."""
    selects = ANNOTATION if ANNOTATION in annotations else OPENSHIFT_ANNOTATION
    whitelist = annotations.get(f"{_ANNOTATION}tolerationsWhitelist")
    namespace = Namespace(
        selects,
        _pairs(text_of(annotations.get(selects))),
        _tolerations(text_of(whitelist)),
        _tolerations(text_of(annotations.get(f"{_ANNOTATION}defaultTolerations"))) or (),
    )
    return namespace if namespace.node_selector or namespace.tolerations_whitelist != () else None


def _pairs(selector: str) -> tuple[tuple[str, str], ...]:
    """`a=b,c=d`, as labels.ConvertSelectorToLabelsMap and OpenShift's labelselector.Parse read it."""
    parts = (part.partition("=") for part in selector.split(","))
    return tuple((key.strip(), value.strip()) for key, equals, value in parts if equals)


def _tolerations(text: str) -> tuple[dict[str, Any], ...] | None:
    """The tolerations of an annotation; None where it is no JSON list of them, which the plugin refuses."""
    if not text:
        return ()
    try:
        tolerations = c_json.loads(text)
    except (ValueError, RecursionError):
        return None
    if tolerations is None:
        return ()
    if not isinstance(tolerations, list) or not all(isinstance(item, dict) for item in tolerations):
        return None
    return tuple(tolerations)


def _name(item: dict[str, Any]) -> str:
    return text_of(mapping_of(item.get("metadata")).get("name"))
