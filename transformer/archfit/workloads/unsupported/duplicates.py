"""Keys that a mapping names twice: an error where archfit reads or writes, otherwise a warning.

kubectl takes the last one, kustomize refuses the document: a decision on either would be a guess. What a merge (`<<`)
supplies is read where it ends up.
"""

from __future__ import annotations

from archfit.base.patch import Path, dotted
from archfit.base.results import Location, Message
from archfit.options.settings import FIELDS
from archfit.workloads.pods import Pod
from archfit.yaml.scan import Span
from archfit.yaml.tree import Tree, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_IDENTITY = ("apiVersion", "kind", "items")
_METADATA = ("name", "namespace", "annotations", "labels")
_WHOLE = (*FIELDS, "nodeName", "os", "runtimeClassName")
_CONTAINERS = ("containers", "initContainers")


def duplicate_messages(
    tree: Tree, root: int, pods: list[Pod], span: Span, location: Location
) -> tuple[Message, ...]:
    """A message for every key that stands twice in one mapping."""
    read = _Read(pods)
    paths = {place.node: place.path for place in written(tree, root)}
    messages = []
    for duplicate in tree.duplicates:
        path = (*paths.get(duplicate.opened, ()), duplicate.key)
        owner = read.owner(path) or (pods[0] if pods else None)
        matters = read.is_read(_without_merges(path))
        messages.append(
            Message(
                "error" if matters else "warning",
                "the key stands twice: kubectl takes the last one, kustomize refuses the document. Remove one"
                if matters
                else "the key stands twice; passed through as it is",
                ref=owner.ref if owner else None,
                field=dotted(path),
                location=location.replace(line=span.line + duplicate.line - 1),
            )
        )
    return tuple(messages)


def _without_merges(path: Path) -> Path:
    """Where a value ends up that `<<` supplies, from one mapping or from a list of them."""
    return tuple(
        step
        for number, step in enumerate(path)
        if step != "<<" and not (number and path[number - 1] == "<<" and isinstance(step, int))
    )


class _Read:
    """What the decisions for some pods depend on, and where an edit could go. A question costs the depth of its path.

    above: the paths that lead to a value that is read. whole: those below which everything is read. metadata: where
    metadata is.
    """

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._pods: dict[Path, Pod] = {}
        self._above: set[Path] = set()
        self._whole: dict[Path, str] = {}
        self._metadata: set[Path] = set()
        for pod in pods:
            self._pods.setdefault(pod.path, pod)
            metadata = {pod.metadata_path, (*pod.root, "metadata")}
            self._metadata |= metadata
            whole = {pod.at(field): field for field in FIELDS if not pod.lacks(field)}
            if pod.placement_paths is not None:
                whole |= {source: field for field, source, _ in pod.placement_paths.inherited if source}
                self._add(pod.placement_paths.architecture)
            self._whole |= whole
            for path in (pod.path, *metadata, *whole, *(use.path for use in pod.images)):
                self._add(path)
            for name in ("apiVersion", "kind"):
                self._above.add((*pod.root, name))

    def owner(self, path: Path) -> Pod | None:
        """The pod whose spec holds path."""
        return next((self._pods[path[:end]] for end in range(1, len(path)) if path[:end] in self._pods), None)

    def is_read(self, path: Path) -> bool:
        """Whether a decision depends on the key at path, or an edit could go there."""
        if not path or path in self._above or (path[-1] in _IDENTITY and _is_object(path[:-1])):
            return True
        for end in range(1, len(path)):
            above, below = path[:end], path[end:]
            if above in self._whole and (self._whole[above] != "affinity" or below[0] == "nodeAffinity"):
                return True
            if above in self._pods and _is_read_in_pod(below):
                return True
            if above in self._metadata and _is_read_in_metadata(below):
                return True
        return False

    def _add(self, path: Path) -> None:
        for end in range(len(path), 0, -1):
            if path[:end] in self._above:
                return
            self._above.add(path[:end])


def _is_object(path: Path) -> bool:
    """Whether path is that of a document, or of an item of lists inside of it."""
    return all(
        step == "items" if number % 2 == 0 else isinstance(step, int) for number, step in enumerate(path)
    )


def _is_read_in_pod(path: Path) -> bool:
    field, *below = path
    if field in _CONTAINERS:
        return not below or below[1:] in (["image"], ["imagePullPolicy"])
    if field == "volumes":
        return not below or below[1:2] == ["image"]
    return field in _WHOLE and (field != "affinity" or not below or below[0] == "nodeAffinity")


def _is_read_in_metadata(path: Path) -> bool:
    return path[0] in _METADATA and (len(path) == 1 or str(path[-1]).startswith("archfit.dev/"))
