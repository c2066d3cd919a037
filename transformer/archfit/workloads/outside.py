"""What controllers give to a pod beside its object, where the stream says it (`Workload.outside`).

Argo and Tekton give an affinity to a pod that has none, by a workflowTemplateRef or templateRef of its callers, or by
the controller's ConfigMap. A pod that archfit gives an affinity gets theirs along with it. Where callers differ, one
without an affinity included, the row's warning has to do, as for callers outside of the stream.

Zalando's operator adds containers to the pods of each postgresql, those of an earlier line with the same name first:

    postgresql                  spec.sidecars, whose images the row counts
    OperatorConfiguration       configuration.sidecars
                                configuration.sidecar_docker_images, also in a ConfigMap: name:image,name:image
                                configuration.scalyr: scalyr_image, with scalyr_api_key; also in a ConfigMap

Where configurations of a stream differ, nobody knows which one holds: their containers are unknown.

Source: argo-workflows, workflow/controller/workflowpod.go (addSchedulingConstraints) and controller.go
(setWorkflowDefaults); tektoncd/pipeline, pkg/apis/pipeline/pod/template.go (MergePodTemplateWithDefault);
zalando/postgres-operator v1.14.0 and v2.0.1, pkg/cluster/k8sres.go (generateStatefulSet), pkg/cluster/util.go
(mergeContainers), pkg/util/config/util.go (processField).
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.patch import Path
from archfit.options.settings import ANNOTATE
from archfit.startup.record import Record
from archfit.workloads.documents import Document
from archfit.workloads.node_selectors import objects_beside
from archfit.workloads.patterns import get, matches
from archfit.workloads.pods import ImageUse, Pod, image_uses
from archfit.yaml.compose import parse
from archfit.yaml.stream import Piece
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

Called: TypeAlias = tuple[str, str, str, str]
"""Kind, namespace, name and template of what a caller runs; "" is every template."""
_ARGO = "argoproj.io"
_SPECS = {
    "Workflow": ("spec",),
    "CronWorkflow": ("spec", "workflowSpec"),
    "WorkflowTemplate": ("spec",),
    "ClusterWorkflowTemplate": ("spec",),
}
_CALLS = (("steps", "*", "*", "templateRef"), ("dag", "tasks", "*", "templateRef"))
_DEFAULTS = {
    "workflow-controller-configmap": (_ARGO, "workflowDefaults", ("spec", "affinity")),
    "config-defaults": ("tekton.dev", "default-pod-template", ("affinity",)),
}
_ZALANDO = "acid.zalan.do"
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
_KINDS = frozenset((("", "ConfigMap"), (_ZALANDO, _CONFIGURATION), *((_ARGO, kind) for kind in _SPECS)))
_WORDS = {
    _ARGO: (b"emplateRef", b"workflowDefaults"),
    "tekton.dev": (b"default-pod-template",),
    _ZALANDO: (_CONFIGURATION.encode(), _SIDECARS.encode()),
}
"""By the group of a pod: a stream without any of them says nothing of it."""


class Configuration(Record):
    """What Zalando's operator is told. image: of PostgreSQL, "" where it is not said. sidecars: (name, use)."""

    image: str
    sidecars: tuple[tuple[str, ImageUse], ...]


def with_outside(
    data: bytes, pieces: Iterable[Piece], documents: tuple[Document, ...]
) -> tuple[Document, ...]:
    """The documents, with these affinities at pods that have none, and these images."""
    groups = dict.fromkeys(pod.group for document in documents for pod in document.pods)
    words = [word for group in groups for word in _WORDS.get(group, ())]
    called: dict[Called, list[dict[str, Any] | None]] = {}
    defaults: dict[str, dict[str, Any]] = {}
    configurations: list[Configuration] = []
    for (group, kind), item in objects_beside(data, pieces, words, _KINDS):
        if group == _ARGO:
            for key, affinity in _calls(kind, item):
                if affinity not in called.setdefault(key, []):
                    called[key].append(affinity)
        else:
            defaults.update(_defaults(item))
            configurations += _configuration(kind, item)
    if configurations:
        agreed = _agreed(configurations)
        documents = tuple(
            document.replace(pods=tuple(_configured(pod, document, agreed) for pod in document.pods))
            for document in documents
        )
    if not called and not defaults:
        return documents
    return tuple(
        document.replace(pods=tuple(_given(pod, document, called, defaults) for pod in document.pods))
        for document in documents
    )


def _calls(kind: str, item: dict[str, Any]) -> Iterator[tuple[Called, dict[str, Any] | None]]:
    metadata = mapping_of(item.get("metadata"))
    spec = mapping_of(get(item, _SPECS[kind]))
    holders = [(mapping_of(spec.get("workflowTemplateRef")), spec)]
    for template in matches(spec.get("templates"), ("*",)):
        own = mapping_of(template[1])
        holders += [(mapping_of(ref), own) for call in _CALLS for _, ref in matches(own, call)]
    for ref, holder in holders:
        affinity = holder.get("affinity", spec.get("affinity"))
        if ref:
            whole = text_of(ref.get("clusterScope")) == "true"
            space = "" if whole else text_of(metadata.get("namespace"))
            callee = "ClusterWorkflowTemplate" if whole else "WorkflowTemplate"
            yield (
                (callee, space, text_of(ref.get("name")), text_of(ref.get("template"))),
                (affinity if isinstance(affinity, dict) else None),
            )


def _defaults(config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    name = text_of(mapping_of(config.get("metadata")).get("name"))
    if name in _DEFAULTS:
        group, key, path = _DEFAULTS[name]
        try:
            affinity = get(parse(text_of(mapping_of(config.get("data")).get(key))).value, path)
        except InvalidInput:  # the controller does not start with it
            return
        if isinstance(affinity, dict):
            yield group, affinity


def _given(
    pod: Pod,
    document: Document,
    called: dict[Called, list[dict[str, Any] | None]],
    defaults: dict[str, dict[str, Any]],
) -> Pod:
    paths = pod.placement_paths
    if paths is None or "affinity" not in paths.hidden or "affinity" in pod.spec:
        return pod
    ref, template = pod.ref, text_of(get(document.value, (*pod.path, "name")))
    callers = [
        caller
        for name in ("", template)
        for caller in called.get((ref.kind, ref.namespace, ref.name, name), ())
    ]
    if any(caller != callers[0] for caller in callers):
        return pod
    affinity = (callers[0] if callers else None) or defaults.get(pod.group)
    if affinity is None:
        return pod
    return pod.replace(
        spec={**pod.spec, "affinity": affinity},
        placement_paths=paths.replace(inherited=(*paths.inherited, ("affinity", None, None))),
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
    if pod.group != _ZALANDO:
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
