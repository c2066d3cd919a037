r"""OpenShift replaces images: what stands in the stream says nothing about what runs.

    metadata.annotations                    of a Deployment, StatefulSet, DaemonSet or CronJob
      image.openshift.io/triggers           the containers that fieldPath names, but for `paused: true`
    spec.triggers[].imageChangeParams       of a DeploymentConfig: those of containerNames, where it is automatic;
                                            where it is not, those without an image (`oc rollout latest` fills them in)
    an ImageStream, lookupPolicy.local      `name` and `name:tag` in its namespace
    alpha.image.policy.openshift.io/resolve-names: "*"    on the object or its template: every image without a digest

    [{"from": {"kind": "ImageStreamTag", "name": "web:latest"},
      "fieldPath": "spec.template.spec.containers[?(@.name==\"web\")].image"}]     also initContainers[0].image

OpenShift ignores an annotation that it cannot read, and so does archfit, with a warning. Names are those of a container
or an init container, whichever of the two lists the path names.

Source: openshift/library-go pkg/image/trigger, openshift/openshift-controller-manager pkg/image/trigger,
openshift/apiserver-library-go pkg/admission/imagepolicy.
"""

from __future__ import annotations

import re

from archfit.base.errors import InvalidReference
from archfit.base.patch import Path, dotted
from archfit.base.results import Message
from archfit.images.reference import parse
from archfit.options.settings import ANNOTATE
from archfit.startup import c_json
from archfit.workloads.documents import Document
from archfit.workloads.node_selectors import objects_beside
from archfit.workloads.patterns import get
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.stream import Piece
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any


TRIGGERS = "image.openshift.io/triggers"
RESOLVE_NAMES = "alpha.image.policy.openshift.io/resolve-names"
GROUP = "apps.openshift.io"
_STREAM = ("image.openshift.io", "ImageStream")
_TEMPLATED = frozenset(
    (group, kind) for group in ("apps", "extensions") for kind in ("Deployment", "DaemonSet")
)
_TRIGGERED = _TEMPLATED | {("apps", "StatefulSet"), ("batch", "CronJob")}
_RESOLVED = _TRIGGERED | {
    ("", "Pod"), ("", "ReplicationController"), ("apps", "ReplicaSet"), ("extensions", "ReplicaSet"), ("batch", "Job"),
    (GROUP, "DeploymentConfig"),
}  # fmt: skip
_CONTAINER = re.compile(r"(containers|initContainers)\[([^]]*)\]\.?image")
_NAMED = re.compile(r'\?\(@\.name=="(.*)"\)')
_FIRES = "OpenShift replaces the image of a container when this trigger fires" + ANNOTATE
_TRIGGER = "OpenShift replaces it with that of the ImageStreamTag {} (image trigger)" + ANNOTATE
_LOCAL = "OpenShift replaces it with that of the ImageStream {} (lookupPolicy.local)" + ANNOTATE
_RESOLVE = f"OpenShift replaces it where an ImageStream has its name ({RESOLVE_NAMES})" + ANNOTATE


def with_replaced_images(
    data: bytes, pieces: Iterable[Piece], documents: tuple[Document, ...]
) -> tuple[tuple[Document, ...], tuple[Message, ...]]:
    """The documents, with the reason at each image that OpenShift replaces, and what is wrong with the triggers."""
    pods = [pod for document in documents for pod in document.pods]
    names = {(pod.ref.namespace, _local(use)) for pod in pods for use in pod.images}
    wanted = any(name for _, name in names)
    image_streams = objects_beside(data, pieces, (b"ImageStream",) if wanted else (), {_STREAM})
    streams = {
        (text_of(get(item, ("metadata", "namespace"))), text_of(get(item, ("metadata", "name"))))
        for _, item in image_streams
        if text_of(get(item, ("spec", "lookupPolicy", "local"))) == "true"
    }
    messages: list[Message] = []
    edited: list[Document] = []
    for document in documents:
        replaced = tuple(_replaced(pod, document, streams & names, messages) for pod in document.pods)
        edited.append(document.replace(pods=replaced) if replaced != document.pods else document)
    return tuple(edited), tuple(messages)


def _replaced(pod: Pod, document: Document, streams: set[tuple[str, str]], messages: list[Message]) -> Pod:
    reasons: dict[Path, str] = {}
    kind = pod.group, pod.ref.kind
    if kind in _RESOLVED:
        everything = any(
            mapping_of(metadata.get("annotations")).get(RESOLVE_NAMES) == "*"
            for metadata in (pod.metadata, pod.object_metadata)
        )
        for use in pod.images:
            name = _local(use)
            if name and (pod.ref.namespace, name) in streams:
                reasons[use.path] = _LOCAL.format(name)
            elif everything and _resolvable(use):
                reasons[use.path] = _RESOLVE
    if kind in _TRIGGERED and TRIGGERS in mapping_of(pod.object_metadata.get("annotations")):
        reasons.update(_triggered(pod, messages))
    fired: set[Path] = set()
    if pod.group == GROUP:
        config = get(document.value, pod.root)
        for trigger, names in _changes(pod, config):
            for use in pod.images:
                if _container(use) and use.container in names:
                    reasons[use.path] = _FIRES
                    fired.add(trigger)
    if not reasons:
        return pod
    return pod.replace(
        images=tuple(
            use.replace(unasked=reasons[use.path]) if use.path in reasons else use
            for use in pod.images
            if use.path not in fired
        )
    )


def _triggered(pod: Pod, messages: list[Message]) -> Iterator[tuple[Path, str]]:
    """(path, reason) of each image that the annotation names."""
    at = (*pod.root, "metadata", "annotations", TRIGGERS)

    def warn(message: str) -> None:
        messages.append(pod.message("warning", message, at))

    triggers = _parsed(text_of(pod.object_metadata["annotations"][TRIGGERS]))
    if isinstance(triggers, str):
        warn(f"OpenShift ignores this annotation: {triggers}; the images count as they are written")
        return
    base = dotted(pod.path[len(pod.root) :]) + "."
    for path, name, paused in triggers:
        use = _at(pod, path.removeprefix(base)) if path.startswith(base) else None
        if use is None:
            warn(
                f"fieldPath {path!r} names no container of this pod: OpenShift replaces no image there; correct it"
            )
        elif ":" not in name:
            warn(f"from.name {name!r} is no ImageStreamTag, so this trigger never fires: write NAME:TAG")
        elif not paused:
            yield use.path, _TRIGGER.format(name)


def _parsed(text: str) -> list[tuple[str, str, bool]] | str:
    """(fieldPath, from.name, paused) of each trigger, or why OpenShift reads none."""
    try:
        values = c_json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON ({error})"
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        return "it is not a list of triggers"
    triggers = []
    for value in values:
        path, source, paused = value.get("fieldPath", ""), value.get("from", {}), value.get("paused", False)
        name = source.get("name", "") if isinstance(source, dict) else None
        if not isinstance(path, str) or not isinstance(name, str) or not isinstance(paused, bool):
            return "fieldPath and from.name have to be strings, and paused true or false"
        triggers.append((path, name, paused))
    if len({path for path, _, _ in triggers}) < len(triggers):
        return "two triggers have the same fieldPath"
    return triggers


def _at(pod: Pod, path: str) -> ImageUse | None:
    """The image at a path below the pod spec, as library-go's findContainerBySelector reads it."""
    match = _CONTAINER.fullmatch(path)
    if match is None:
        return None
    field, selector = match.groups()
    named = _NAMED.fullmatch(selector)
    uses = [use for use in pod.images if _container(use)]
    wanted: Callable[[ImageUse], bool]
    if named is not None:
        uses.sort(key=lambda use: use.path[-3] == "containers")  # init containers come first

        def wanted(use: ImageUse) -> bool:
            return use.container == named[1]
    elif re.fullmatch(r"[+-]?\d{1,9}", selector, re.ASCII):

        def wanted(use: ImageUse) -> bool:
            return use.path[-3:-1] == (field, int(selector))
    else:
        return None
    return next(filter(wanted, uses), None)


def _changes(pod: Pod, config: Any) -> Iterator[tuple[Path, frozenset[str]]]:
    """(path, containers) of each ImageChange trigger of a DeploymentConfig, those that it replaces."""
    blank = {use.container for use in pod.images if _container(use) and not (use.text or "").strip()}
    triggers = get(config, ("spec", "triggers"))
    for number, trigger in enumerate(triggers if isinstance(triggers, list) else ()):
        params = mapping_of(mapping_of(trigger).get("imageChangeParams"))
        names = params.get("containerNames")
        named = frozenset(map(text_of, names)) if isinstance(names, list) else frozenset()
        replaced = named if text_of(params.get("automatic")) == "true" else named & blank
        yield (*pod.root, "spec", "triggers", number, "imageChangeParams"), replaced


def _container(use: ImageUse) -> bool:
    return len(use.path) > 2 and use.path[-3] in ("containers", "initContainers")


def _local(use: ImageUse) -> str:
    """The name of the ImageStream in the same namespace that the image may mean, "" if it means none."""
    text = use.text or ""
    name = text.partition(":")[0]
    ours = _container(use) and "/" not in text and "@" not in text and "." not in name
    return name if ours and not name.startswith("localhost") else ""


def _resolvable(use: ImageUse) -> bool:
    if not use.text or not _container(use):
        return False
    try:
        return not parse(use.text).digest
    except InvalidReference:
        return False
