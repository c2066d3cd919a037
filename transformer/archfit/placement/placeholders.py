"""Fields of an embedded object that are filled in where it is made, so that nobody can say what they hold.

    ResourceGraphDefinition   nodeSelector: ${schema.spec.nodeSelector}
    ResourceSet               tolerations: << inputs.tolerations >>
    TriggerTemplate           affinity: $(tt.params.affinity)
    any template              containers: [{{ .. }}]

Only what Kubernetes has as a mapping or a list is meant: a text may well be a text. An image that is filled in is the
affair of `evidence`.
"""

from __future__ import annotations

from archfit.patch import Path, dotted
from archfit.typing_names import Any
from archfit.workloads.pods import Pod

_MARKS = ("${", "$(", "<<", "{{")
_LISTS = (
    "tolerations",
    "containers",
    "initContainers",
    "volumes",
    "nodeSelectorTerms",
    "matchExpressions",
    "matchFields",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
# "name[]" is an item of the list.
_NO_TEXTS = frozenset(
    (
        *_LISTS,
        *(f"{name}[]" for name in _LISTS),
        "values",
        "nodeSelector",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preference",
        "annotations",
    )
)
_LOOKED_AT = ("affinity", "nodeSelector", "tolerations", "containers", "initContainers", "volumes")
_DEPTH = 8


def filled_in_later(pod: Pod) -> str:
    """The first such field of a pod in an embedded object, and its text; "" if there is none."""
    if all(step == "items" or isinstance(step, int) for step in pod.root):
        return ""
    spec = {name: pod.spec[name] for name in _LOOKED_AT if name in pod.spec}
    metadata = {"annotations": pod.metadata.get("annotations")}
    for at, part in ((pod.path, spec), (pod.metadata_path, metadata)):
        found = _placeholder(part, "", at, len(at) + _DEPTH)
        if found:
            return found
    return ""


def _placeholder(value: Any, name: str, at: Path, deepest: int) -> str:
    if isinstance(value, str):
        later = name in _NO_TEXTS and any(mark in value for mark in _MARKS)
        return f"{dotted(at)} ({value})" if later else ""
    if isinstance(value, dict):
        inside = [(key, key, member) for key, member in value.items()]
    else:
        inside = [(f"{name}[]", n, item) for n, item in enumerate(value)] if isinstance(value, list) else []
    if len(at) > deepest:
        return ""
    below = (_placeholder(member, key, (*at, step), deepest) for key, step, member in inside)
    return next(filter(None, below), "")
