"""Keys that a mapping names twice: an error where archfit reads or writes, elsewhere a warning.

kubectl takes the last one, kustomize refuses the document: a decision on either would be a guess.
"""

from __future__ import annotations

from archfit.outcome import Result
from archfit.patch import dotted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.outcome import Place
    from archfit.patch import Path
    from archfit.source.nodes import Tree
    from archfit.source.scan import Span
    from archfit.workloads.pods import Pod

_METADATA = ("name", "namespace", "annotations", "labels")
_WHOLE = ("nodeSelector", "affinity", "tolerations", "nodeName", "os")
_CONTAINERS = ("containers", "initContainers")


def duplicate_results(tree: Tree, root: int, pods: list[Pod], span: Span, place: Place) -> tuple[Result, ...]:
    """A result for every key that stands twice in one mapping."""
    if not tree.duplicates:
        return ()
    from archfit.workloads.sites import path_of

    results = []
    lists: dict[int, list[int]] = {}
    for duplicate in tree.duplicates:
        path = (*path_of(tree, root, duplicate.opened, lists), duplicate.key)
        owner = next((pod for pod in pods if path[: len(pod.path)] == pod.path), pods[0] if pods else None)
        matters = len(path) == 1 or any(_is_read(path, pod) for pod in pods)
        results.append(
            Result(
                "error" if matters else "warning",
                "the key stands twice: kubectl takes the last one, kustomize refuses the document. Remove one"
                if matters
                else "the key stands twice; passed through as it is",
                ref=owner.ref if owner else None,
                field=dotted(path),
                place=place.replace(line=span.line + duplicate.line - 1),
            )
        )
    return tuple(results)


def _is_read(path: Path, pod: Pod) -> bool:
    """Whether the decision for pod depends on the key at path, or an edit could go there."""
    if pod.places is not None and _is_read_elsewhere(path, pod):
        return True
    if path == pod.path[: len(path)]:
        return True
    if path[: len(pod.path)] == pod.path:
        field, *below = path[len(pod.path) :]
        if field in _CONTAINERS:
            return not below or below[1:] in (["image"], ["imagePullPolicy"])
        if field == "volumes":
            return not below or below[1:2] == ["image"]
        return field in _WHOLE and (field != "affinity" or not below or below[0] == "nodeAffinity")
    for metadata in (pod.metadata_path, (*pod.root, "metadata")):
        if path[: len(metadata)] == metadata:
            below = list(path[len(metadata) :])
            return not below or (
                below[0] in _METADATA and (len(below) == 1 or str(below[-1]).startswith("archfit.dev/"))
            )
    return False


def _is_read_elsewhere(path: Path, pod: Pod) -> bool:
    """The same for what a custom resource has elsewhere than beside its containers."""
    fields = [
        (pod.at(field), field)
        for field in ("affinity", "tolerations", "nodeSelector")
        if not pod.lacks(field)
    ]
    fields += [(source, field) for field, source, _ in (pod.places.inherited if pod.places else ()) if source]
    for at, field in fields:
        if path == at[: len(path)]:
            return True
        if path[: len(at)] == at:
            return field != "affinity" or path[len(at)] == "nodeAffinity"
    return any(path == use.path[: len(path)] for use in pod.images)
