"""Documents that are not Kubernetes objects, and the remedy for each.

    a text, a number                                    error: the output of another command?
    a list                                              error: one document for each object
    scalars with neither apiVersion nor kind            error: the output of another command?
    anything else with neither                          warning: passed through
    a kustomization, with its kind or without           error: run kustomize first
    a Chart.yaml, `{{ .Values.image }}`                 error: run helm template first

Kustomizations inside of a list are files of a package that a KRM function is given, and pass.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.base.results import Severity
from archfit.base.typing_names import Any, Iterator
from archfit.workloads.builtin import LISTS, group_of
from archfit.yaml.values import text_of

KUSTOMIZE_GROUP = "kustomize.config.k8s.io"
_KUSTOMIZE_KINDS = ("Kustomization", "Component")
_LIST_DEPTH = 16
_KUSTOMIZATION = frozenset(
    ("resources", "bases", "components", "patches", "patchesStrategicMerge", "helmCharts")
)

CHART = "this is the source of a Helm chart. Render it first: helm template CHART | archfit"
KUSTOMIZATION = (
    "this is a kustomization: it names files and is not an object of a cluster. Build it first: "
    "kustomize build FOLDER | archfit"
)
OTHER_COMMAND = "Is it an error message of the command before the pipe? Run that command alone"
NO_OBJECT = "Is it the values of a chart, or a file of another tool? Name rendered manifests"


def non_objects(value: Any, path: Path = (), *, item: bool = False) -> Iterator[tuple[Path, Severity, str]]:
    """(path, severity, message) of each document, or item of lists in it, that is no object and not null.

    item: it is an item of a list itself.
    """
    if value is None:
        return
    found = (
        _scalar_or_list(value) if not isinstance(value, dict) else _mapping(value, item=item or bool(path))
    )
    if found is not None:
        yield path, *found
    elif isinstance(value, dict) and _is_list(value) and len(path) < 2 * _LIST_DEPTH:
        for number, inner in enumerate(value["items"]):
            yield from non_objects(inner, (*path, "items", number))


def _is_list(value: dict[str, Any]) -> bool:
    """Whether its items say their own kind; those of a PodList need not."""
    group, kind = group_of(text_of(value.get("apiVersion"))), text_of(value.get("kind"))
    return (
        (group, kind) in LISTS and kind in ("List", "ResourceList") and isinstance(value.get("items"), list)
    )


def _scalar_or_list(value: Any) -> tuple[Severity, str]:
    if isinstance(value, list):
        return "error", "this is a list, not a Kubernetes object. Put each object behind a line '---'"
    return "error", f"this is text, not a Kubernetes object. {OTHER_COMMAND}"


def _mapping(value: dict[str, Any], *, item: bool) -> tuple[Severity, str] | None:
    kind, api_version = text_of(value.get("kind")), text_of(value.get("apiVersion"))
    if not item:
        named = group_of(api_version) == KUSTOMIZE_GROUP and kind in _KUSTOMIZE_KINDS
        fields = (value.get(key) for key in _KUSTOMIZATION if not kind and not api_version)
        if named or any(isinstance(field, list) for field in fields):
            return "error", KUSTOMIZATION
        if not kind and api_version in ("v1", "v2") and value.get("name") and value.get("version"):
            return "error", CHART
    if value.get("kind") or value.get("apiVersion"):
        return None
    if any(isinstance(member, (dict, list)) for member in value.values()):
        return "warning", f"passed through: it has neither apiVersion nor kind. {NO_OBJECT}"
    return "error", f"this is not a Kubernetes object: it has neither apiVersion nor kind. {OTHER_COMMAND}"
