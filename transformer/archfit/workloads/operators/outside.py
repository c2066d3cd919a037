"""What controllers give to a pod beside its object, where the stream says it (`Workload.outside`).

Argo and Tekton give an affinity to a pod that has none, by a workflowTemplateRef or templateRef of its callers, or by
the controller's ConfigMap. A pod that archfit gives an affinity gets theirs along with it. Where callers differ, one
without an affinity included, the row's warning has to do, as for callers outside of the stream.

Source: argo-workflows, workflow/controller/workflowpod.go (addSchedulingConstraints) and controller.go
(setWorkflowDefaults); tektoncd/pipeline, pkg/apis/pipeline/pod/template.go (MergePodTemplateWithDefault).
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.results import Message
from archfit.workloads.documents import Document
from archfit.workloads.node_selectors import agreed, objects_beside
from archfit.workloads.operators.zalando import GROUP, with_configuration
from archfit.workloads.patterns import get, matches
from archfit.workloads.pods import Pod
from archfit.yaml.compose import parse
from archfit.yaml.stream import Piece
from archfit.yaml.values import mapping_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
_KINDS = frozenset((("", "ConfigMap"), *((_ARGO, kind) for kind in _SPECS)))
_WORDS = {
    _ARGO: (b"emplateRef", b"workflow-controller-configmap"),
    "tekton.dev": (b"config-defaults",),
}
"""By the group of a pod: a stream without any of them says nothing of it."""


def with_outside(
    data: bytes, pieces: Sequence[Piece], documents: tuple[Document, ...]
) -> tuple[tuple[Document, ...], list[Message]]:
    """The documents, with these affinities at pods that have none, and these images.

    And a warning for each configuration that is not one.
    """
    groups = dict.fromkeys(pod.group for document in documents for pod in document.pods)
    if GROUP in groups:
        documents = with_configuration(data, pieces, documents)
    words = [word for group in groups for word in _WORDS.get(group, ())]
    called: dict[Called, list[dict[str, Any] | None]] = {}
    configured: list[tuple[str, tuple[str, dict[str, Any] | None]]] = []
    for (group, kind), item in objects_beside(data, pieces, words, _KINDS):
        if group == _ARGO:
            for key, affinity in _calls(kind, item):
                if affinity not in called.setdefault(key, []):
                    called[key].append(affinity)
        else:
            configured += _defaults(item)
    same, unlike = agreed(configured)
    defaults = {group: affinity for group, affinity in same.values() if affinity is not None}
    if not called and not defaults:
        return documents, [*unlike.values()]
    given = tuple(
        document.replace(pods=tuple(_given(pod, document, called, defaults) for pod in document.pods))
        for document in documents
    )
    return given, [*unlike.values()]


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


def _defaults(config: dict[str, Any]) -> Iterator[tuple[str, tuple[str, dict[str, Any] | None]]]:
    """The title of a controller's ConfigMap, the group of the pods that it is for, and their affinity."""
    name = text_of(mapping_of(config.get("metadata")).get("name"))
    if name in _DEFAULTS:
        group, key, path = _DEFAULTS[name]
        try:
            affinity = get(parse(text_of(mapping_of(config.get("data")).get(key))).value, path)
        except InvalidInput:  # the controller does not start with it
            return
        yield f"ConfigMap {name}", (group, affinity if isinstance(affinity, dict) else None)


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
