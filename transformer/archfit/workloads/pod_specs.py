"""Values into pods: the rows of the table applied to an object, lists and embedded objects opened on the way."""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.patch import Path, pattern_text
from archfit.base.results import Location, Message, ObjectRef
from archfit.options.settings import LISTS, NO_EMBEDDING, Workload
from archfit.workloads.builtin import WORKLOADS, UserRows, group_of, other_versions, rows_of, waits_for
from archfit.workloads.pods import ImageUse, Pod, image_uses
from archfit.yaml.values import mapping_of, resolve, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from archfit.workloads.custom_pods import CustomPod
    from archfit.workloads.parameters import Parameters

# Objects embedded in each other, as a path.
_DEEPEST_PATH = 64
# Of one object: what its pods share counts for each of them.
_IMAGES = 100_000


def find_pods(
    value: Any, location: Location, path: Path = (), user_rows: UserRows | None = None
) -> list[Pod]:
    """The pods of an object, or of every object in it.

    path: where the object stands in its document, () for the document itself. Pod.path begins with it.
    user_rows: those of the configuration.
    """
    user_rows = user_rows or {}
    pods: list[Pod] = []
    for at, item, around in objects(value, path, user_rows):
        own = pods_of(item, location, at, user_rows)
        pods += own if around is None else [_with_row(pod, around) for pod in own]
    ordinary = len(path) + 3
    return [
        pod
        if len(pod.path) <= ordinary and pod.placement_paths is None
        else _with_metadata_between(value, _embedded(value, pod, path, user_rows), path)
        for pod in pods
    ]


def _embedded(value: Any, pod: Pod, start: Path, user_rows: UserRows) -> Pod:
    """The pod, with what the objects around its own make of it: immutable, or with images that they fill in."""
    for end in range(len(start), len(pod.root)):
        if isinstance(value, dict) and "kind" in value:
            rows = rows_of(text_of(value.get("apiVersion")), text_of(value["kind"]), user_rows)
            metadata = mapping_of(value.get("metadata"))
            made_anew = metadata.get("generateName") and not metadata.get("name")
            if not made_anew and any(row.objects and row.immutable for row in rows):
                pod = pod.replace(immutable=True, held=True)
            for row in rows:
                if row.embedding is not NO_EMBEDDING:
                    from archfit.workloads.embedded import appends, filled

                    pod = filled(row, value, pod, pod.root[:end])
                if row.embedding.appends:
                    pod = pod.replace(appended=appends(row, value, pod.root[end:]))
        value = value[pod.root[end]]
    return pod


# The member that the way to a pod takes, and where the mapping that holds it says what holds for all pods below.
_METADATA_BESIDE: dict[str | int, tuple[str, ...]] = {
    "spec": ("metadata",),
    "workflowSpec": ("workflowMetadata",),
    "templates": ("workflowMetadata", "podMetadata"),
}


def _with_metadata_between(value: Any, pod: Pod, start: Path) -> Pod:
    """The pod with the metadata on its way, without the object's own and the pod's."""
    own = ((*pod.root, "metadata"), pod.metadata_path)
    between: list[tuple[Path, dict[str, Any]]] = []
    for index in range(len(start), len(pod.path) - 1):
        token = pod.path[index]
        if isinstance(value, dict):
            for name in _METADATA_BESIDE.get(token, ()):
                at = (*pod.path[:index], name)
                if isinstance(value.get(name), dict) and at not in own:
                    between.append((at, value[name]))
            value = value.get(token)
        elif isinstance(value, list) and isinstance(token, int) and token < len(value):
            value = value[token]
        else:
            break
    return pod.replace(between=tuple(between)) if between else pod


def _with_row(pod: Pod, around: Workload) -> Pod:
    return pod if around.seen and pod.row is not None else pod.replace(row=around)


def objects(
    value: Any, path: Path, user_rows: UserRows, around: Workload | None = None
) -> Iterator[tuple[Path, dict[str, Any], Workload | None]]:
    """(path, object, row) of an object, and of every object in it: items of a list, nested ones and embedded ones too.

    The row is that of the custom resource which the object is embedded in, the outermost that was not seen.

    Whatever its kind, kubectl and Helm take an object with a sequence of items for a list. kustomize does so for kinds
    that end in `List`, and lists in lists; another kind is an object to it, which comes without its items here.
    """
    if not isinstance(value, dict):
        return
    api_version, kind = text_of(value.get("apiVersion")), text_of(value.get("kind"))
    if kind[-1:] == "\n" or api_version[-1:] == "\n":
        raise InvalidInput(
            "the kind or the apiVersion of an object ends in a line break, which kustomize and kubectl do not read "
            "alike. Write it on the line of its key"
        )
    if isinstance(value.get("items"), list):
        for number, item in enumerate(value["items"]):
            yield from objects(typed_item(item, value), (*path, "items", number), user_rows, around)
        if kind.endswith("List"):
            return
        value = {key: member for key, member in value.items() if key != "items"}
    yield path, value, around
    for row in rows_of(api_version, kind, user_rows):
        if row.objects and len(path) < _DEEPEST_PATH:
            from archfit.workloads.embedded import embedded

            outer = row if around is None or around.seen else around
            for at, item, created in embedded(row, value):
                if created:
                    yield from objects(item, (*path, *at), user_rows, outer)


def typed_item(item: Any, around: dict[str, Any]) -> Any:
    """The item with what its list says where it has no kind (apimachinery, `decodeToList`): a PodList holds Pods."""
    if not isinstance(item, dict) or _word(item.get("kind")):
        return item
    kind = text_of(around.get("kind")).removesuffix("List")
    api_version = _word(item.get("apiVersion")) or around.get("apiVersion")
    return {**item, "kind": kind, "apiVersion": api_version} if kind else item


def _word(value: Any) -> str:
    """The text; "" for what is no text, which is no kind and no version to Kubernetes."""
    return value if isinstance(value, str) else ""


def reference_of(value: dict[str, Any]) -> ObjectRef:
    """The identity that an object gives itself."""
    metadata = mapping_of(value.get("metadata"))
    return ObjectRef(
        text_of(value.get("apiVersion")),
        text_of(value.get("kind")),
        text_of(metadata.get("namespace")),
        text_of(metadata.get("name")) or text_of(metadata.get("generateName")),
    )


def pods_of(value: dict[str, Any], location: Location, path: Path, user_rows: UserRows) -> Iterator[Pod]:
    """The pods of one object, which stands at path. Raises InvalidInput for more than 100,000 images."""
    api_version, kind = text_of(value.get("apiVersion")), text_of(value.get("kind"))
    rows = rows_of(api_version, kind, user_rows)
    key = group_of(api_version), kind
    pods = _by_rows(rows, value, location, path, custom=key not in WORKLOADS)
    if key in WORKLOADS and key not in user_rows:
        yield from pods
        return
    count = 0
    unasked: tuple[ImageUse, ...] | None = None
    elsewhere = bool(other_versions(api_version, kind, user_rows))
    for pod in _once(pods):
        if elsewhere and not any(use.text for use in pod.images):
            continue
        if unasked is None:
            unasked = tuple(_unread(rows, value, path, own=key in user_rows))
        count += len(pod.images)
        if count > _IMAGES:
            raise InvalidInput(
                f"the pods of this {kind} share so many images that there are more than {_IMAGES} in all; "
                "write it as several objects"
            )
        yield pod.replace(images=(*pod.images, *unasked)) if unasked else pod
        unasked = unasked[:1]


def _once(pods: Iterator[Pod]) -> Iterable[Pod]:
    """One pod for all that are placed by the same fields, with the images of each."""
    by_place: dict[tuple[Path, ...], Pod] = {}
    for pod in pods:
        key = (pod.path, *(() if pod.lacks(field) else pod.at(field) for field in LISTS))
        first = by_place.setdefault(key, pod)
        if first is not pod:
            by_place[key] = first.replace(images=tuple(dict.fromkeys((*first.images, *pod.images))))
    return by_place.values()


def _unread(
    rows: tuple[Workload, ...], value: dict[str, Any], path: Path, *, own: bool
) -> Iterator[ImageUse]:
    """The images and words of placement that no row reads: nobody knows of which pods. own: the user's rows."""
    from archfit.workloads.unread import unread, unread_placement

    remedy = "; name its path under images or neverRun of the kind's row" if own else ""
    for at, image in unread(rows, value):
        reason = f"archfit does not know which pod runs {image} there{remedy}"
        yield ImageUse((*path, *at), None, unasked=reason)
    remedy = "; name its path in a row of the kind, as podSpec, or under neverRun" if own else ""
    for at in unread_placement(rows, value):
        reason = f"archfit does not know which pods {pattern_text(at[-1:])} places there, nor what they run{remedy}"
        yield ImageUse((*path, *at), None, unasked=reason)


def _by_rows(
    rows: tuple[Workload, ...], value: dict[str, Any], location: Location, path: Path, *, custom: bool
) -> Iterator[Pod]:
    for row in rows:
        if row.reason:
            continue
        if row.there or "*" in row.pod_spec:
            for pod in _custom_pods(row, value, location, path):
                yield pod.replace(row=row) if custom else pod
        elif row.pod_spec:
            only = _pod_beside(row, value, location, path)
            if only is not None:
                yield only.replace(row=row) if custom else only


def _pod_beside(row: Workload, value: dict[str, Any], location: Location, path: Path) -> Pod | None:
    above: Any = value
    for token in row.pod_spec[:-1]:
        above = above.get(token) if isinstance(above, dict) else None
    spec = above.get(row.pod_spec[-1]) if isinstance(above, dict) else None
    if not isinstance(spec, dict):
        return None
    at = (*path, *row.pod_spec)
    return Pod(
        reference_of(value),
        row.group,
        location,
        at,
        spec,
        mapping_of(above.get("metadata")),
        mapping_of(value.get("metadata")),
        tuple(image_uses(spec, at)),
        row.immutable,
        path,
        waits_for=waits_for(row.kind, mapping_of(value.get("spec")))
        if (row.group, row.kind) in WORKLOADS
        else "",
    )


def _custom_pods(row: Workload, value: dict[str, Any], location: Location, path: Path) -> Iterator[Pod]:
    from archfit.workloads.custom_pods import custom_pods
    from archfit.workloads.patterns import get

    images = _Images(row, value, path)
    for custom in custom_pods(row, value):
        if custom.problem():
            continue
        spec, paths = custom.placed()
        elsewhere = row.images or row.main or paths.lender
        beside = [use for use in custom.containers(path) if use.text or not elsewhere]
        yield Pod(
            reference_of(value),
            row.group,
            location,
            (*path, *custom.path),
            spec,
            mapping_of(get(value, paths.metadata)),
            mapping_of(value.get("metadata")),
            (*beside, *(use.replace(path=(*path, *use.path)) for use in images.of(custom))),
            row.immutable,
            path,
            paths.below(path),
        )


def is_embedded(path: Path) -> bool:
    """Whether the object at path stands in another one that is no list."""
    return not all(step == "items" or isinstance(step, int) for step in path)


class _Images:
    """The images outside of the containers; in an object that nothing else fills in, with its own parameters."""

    def __init__(self, row: Workload, value: dict[str, Any], path: Path) -> None:
        self._row, self._value, self._fills = row, value, not is_embedded(path)
        self._parameters: Parameters | None = None

    def of(self, pod: CustomPod) -> Iterator[ImageUse]:
        """Of one pod of the object."""
        for use in dict.fromkeys(pod.images()):
            if use.text and self._fills and ("{{" in use.text or "$(" in use.text):
                if self._parameters is None:
                    from archfit.workloads.parameters import Parameters  # few streams need it

                    self._parameters = Parameters(self._row.group, self._row.kind, self._value)
                yield from self._parameters.resolved(use)
            else:
                yield use


def controller_of(metadata: Any) -> str:
    """`ReplicaSet/web-5d4f` of the object that controls this one, "" where none does: `controller: true`, as live lists
    have it.

    The controller makes and changes the object from its own template (apimachinery, metav1.GetControllerOf), so a
    change to it is lost or refused.
    """
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, dict) and owner.get("controller") == resolve("true"):
            return f"{text_of(owner.get('kind'))}/{text_of(owner.get('name'))}"
    return ""


def left_to_controllers(owned: Sequence[tuple[ObjectRef, str]]) -> Message:
    """The message about all objects that a controller made. owned: each with what controls it."""
    ref, controller = owned[0]
    others = len(owned) - 1
    more = f"; so {'is' if others == 1 else 'are'} {others} more with a controller" if others else ""
    return Message("info", f"left as it is, because {controller} controls it and decides{more}", ref)
