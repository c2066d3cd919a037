"""A pod spec found in the stream, as the decision sees it."""

from __future__ import annotations

from archfit.base.patch import Path, dotted
from archfit.base.results import Location, Message, ObjectRef, Severity
from archfit.startup.record import Record
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from archfit.options.settings import Workload


class ImageUse(Record):
    """One place where a pod spec names an image.

    path: from the object's root, as in ("spec", "containers", 0, "image").
    text: the string as written; None where the field is missing or null.
    volume: it is a `volumes[].image.reference` (KEP-4639).
    pull_policy: `imagePullPolicy` or `pullPolicy` as written, "" where there is none.
    container: the container's or volume's name.
    unasked: why its platforms cannot be looked up, "" if they can.
    """

    path: Path
    text: str | None
    volume: bool = False
    pull_policy: str = ""
    container: str = ""
    unasked: str = ""


class Lender(Record):
    """Another object of the stream, which a pod is merged over, lists as a whole.

    Its containers run in the pod too, and its placement holds where the pod has none of its own.

    kinds: the first that has the name counts; one that begins with `Cluster` stands in no namespace.
    name: the path of the name in the pod's object. pod_spec: in the lender; all that the path means.
    main: the container of the lender whose image the pod's object replaces with that at `stated`, or changes in a way
        that is not known where one of the paths `changes` exists; with `alone`, no other one of the lender counts.
    when: (path, text): that container is meant only in pods of the lender where the value at path is text; () is all.
    named: (path, path): of the pods of the lender only those count whose text at the second path is among those at the
        first one in the pod's object; () is all.
    unknown: the reasons of those images of the pod that the lender's take the place of.
    lost: a warning for a pod that gets an affinity while its lender is not in the stream.
    """

    group: str
    kinds: tuple[str, ...]
    name: Path
    pod_spec: Path
    unknown: tuple[str, ...]
    main: str = ""
    stated: Path = ()
    changes: tuple[Path, ...] = ()
    alone: bool = False
    lost: str = ""
    when: tuple[Path, str] | tuple[()] = ()
    named: tuple[Path, Path] | tuple[()] = ()


class ImageLender(Record):
    """Another object of the stream, whose images run in the pod.

    label: of the pod's object, has the name; "" for the only one in the namespace.
    images: paths in the lender; where it does not name the first of them, the image is unknown.
    """

    group: str
    kind: str
    label: str
    images: tuple[Path, ...]


class PlacementPaths(Record):
    """Where the placement of a pod is, if not beside its containers.

    at: the path of affinity, tolerations and nodeSelector; a field that the kind lacks is not there.
    there: a mapping above all of them, which exists. missing: mappings below it to be created, from the top.
    inherited: fields that the pod itself does not have, the path that their value comes from (None: the operator's
        default), and what stands in the pod: nothing, an empty list, or a mapping that lacks members of the value.
    metadata: path of the pod's metadata. note: a message about it once it is changed.
    replaced: fields that have a second place, and where it is.
    lost_default: a warning for a pod that gets an affinity. pins: as in the row, for a pod that would lose it.
    hidden: fields that the pod itself does not have and `outside` may give.
    parts: (path, term) of what holds for some of the pods, on top of the terms of the pod.
    unplaced, outside: as in the row. needed_only: as the operator has it. lender, image_lender: see there.
    chosen: a warning for a pod that nothing pins.
    architecture: path of what pins the pod, () if nothing does.
    """

    at: dict[str, Path]
    there: Path
    missing: tuple[Path, ...] = ()
    inherited: tuple[tuple[str, Path | None, Any], ...] = ()
    metadata: Path = ()
    note: str = ""
    replaced: tuple[tuple[str, Path], ...] = ()
    lost_default: str = ""
    pins: bool = False
    needed_only: str = ""
    chosen: str = ""
    unplaced: str = ""
    architecture: Path = ()
    image_lender: ImageLender | None = None
    parts: tuple[tuple[Path, Any], ...] = ()
    lender: Lender | None = None
    hidden: tuple[str, ...] = ()
    outside: tuple[tuple[str, str], ...] = ()

    @property
    def borrows(self) -> bool:
        """Whether another object of the stream says something about the pod."""
        return self.image_lender is not None or self.lender is not None

    def below(self, path: Path) -> PlacementPaths:
        """The same for an object that stands at path."""
        if not path:
            return self
        return self.replace(
            at={name: (*path, *at) for name, at in self.at.items()},
            there=(*path, *self.there),
            missing=tuple((*path, *parent) for parent in self.missing),
            inherited=tuple(
                (name, None if source is None else (*path, *source), own)
                for name, source, own in self.inherited
            ),
            metadata=(*path, *self.metadata),
            replaced=tuple((name, (*path, *at)) for name, at in self.replaced),
            architecture=(*path, *self.architecture) if self.architecture else (),
            parts=tuple(((*path, *at), term) for at, term in self.parts),
        )


def borrowed_from(label: str) -> Path:
    """Where an object says whose images it runs; see ImageLender."""
    return ("metadata", "labels", label) if label else ("metadata", "namespace")


class RuntimeClass(Record):
    """What admission merges into the pods that name it (node.k8s.io/v1 RuntimeClass, `scheduling`).

    node_selector: pairs. tolerations: as in a pod spec. handler: of the node's runtime.
    """

    name: str
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[dict[str, Any], ...] = ()
    handler: str = ""


class Namespace(Record):
    """What admission makes of a Namespace's annotations.

    selects: the annotation that selects nodes. node_selector: its pairs.
    tolerations_whitelist: () allows all, None is not readable. default_tolerations: both as in a pod spec.
    """

    selects: str = ""
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations_whitelist: tuple[dict[str, Any], ...] | None = ()
    default_tolerations: tuple[dict[str, Any], ...] = ()


class Pod(Record):
    """One pod spec and what surrounds it; plain values of `yaml.values`.

    group: API group of the object, "" for core.
    path: from the object's root to the pod spec, as in ("spec", "template", "spec"); () never occurs.
    spec: the pod spec.
    metadata: `metadata` of the pod template, or of the object where the object is the pod.
    object_metadata: `metadata` of the object.
    images: in the order containers, initContainers, volumes.
    between: (path, metadata) of what stands on the way to the pod beside these two, the outermost first: objects around
        this one, a CronJob's jobTemplate.
    runtime_class: the one in the stream that the pod names.
    placement_paths: None where affinity, tolerations and nodeSelector are beside the containers.
    namespace: its Namespace in the stream, if that has annotations about nodes or tolerations.
    stamped: with what an earlier run with `stamp` added, which is taken back here; None where that is nothing.
    held: an object around this one cannot be changed once applied, whatever this one's name is.
    appended: the items of its lists are added to those that its object has from an earlier version.
    row: of the custom resource that holds the pod, None for the kinds of Kubernetes; where custom resources hold each
        other, the outermost that was not seen, else the pod's own.
    waits_for: what has to happen before a change of the template reaches pods, as in "their pods are deleted", "" where
        they roll at once.
    """

    ref: ObjectRef
    group: str
    location: Location
    path: Path
    spec: dict[str, Any]
    metadata: dict[str, Any]
    object_metadata: dict[str, Any]
    images: tuple[ImageUse, ...]
    immutable: bool = False
    root: Path = ()
    placement_paths: PlacementPaths | None = None
    between: tuple[tuple[Path, dict[str, Any]], ...] = ()
    runtime_class: RuntimeClass | None = None
    namespace: Namespace | None = None
    stamped: Pod | None = None
    held: bool = False
    row: Workload | None = None
    appended: bool = False
    waits_for: str = ""

    @property
    def as_recorded(self) -> Pod:
        """The pod with what an earlier run recorded; what the stream says of images and surroundings is the same."""
        was = self.stamped or self
        surroundings = {"runtime_class": self.runtime_class, "namespace": self.namespace}
        return was.replace(images=self.images, stamped=self.stamped, **surroundings)

    @property
    def named_images(self) -> tuple[tuple[Path, str | None], ...]:
        """Where each image stands, and its text."""
        return tuple([(use.path, use.text) for use in self.images])

    @property
    def placed_elsewhere(self) -> bool:
        """Whether the kind has no affinity beside the containers, or a second place for a field of the placement."""
        paths = self.placement_paths
        return self.lacks("affinity") or (paths is not None and bool(paths.replaced))

    def at(self, field: str) -> Path:
        """Where `affinity`, `tolerations` or `nodeSelector` of the pod is, or would be."""
        own = self.placement_paths.at.get(field) if self.placement_paths is not None else None
        return own or (*self.path, field)

    def lacks(self, field: str) -> bool:
        """Whether the kind has no place for the field."""
        return self.placement_paths is not None and field not in self.placement_paths.at

    def message(self, severity: Severity, message: str, path: Path) -> Message:
        return Message(severity, message, self.ref, dotted(path), self.location, path)

    @property
    def metadata_path(self) -> Path:
        """Where the pod's metadata is, or would be."""
        paths = self.placement_paths
        return (*self.path[:-1], "metadata") if paths is None else paths.metadata


def image_uses(spec: dict[str, Any], at: Path) -> Iterator[ImageUse]:
    """The images of the containers and volumes of a pod spec, which stands at `at`."""
    for field in ("containers", "initContainers"):
        for number, container in _entries(spec.get(field)):
            yield ImageUse(
                (*at, field, number, "image"),
                _text(container.get("image")),
                volume=False,
                pull_policy=text_of(container.get("imagePullPolicy")),
                container=text_of(container.get("name")),
            )
    for number, volume in _entries(spec.get("volumes")):
        image = volume.get("image")
        if isinstance(image, dict):
            yield ImageUse(
                (*at, "volumes", number, "image", "reference"),
                _text(image.get("reference")),
                volume=True,
                pull_policy=text_of(image.get("pullPolicy")),
                container=text_of(volume.get("name")),
            )


def _entries(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, entry in enumerate(value if isinstance(value, list) else ()):
        if isinstance(entry, dict):
            yield number, entry


def _text(value: Any) -> str | None:
    return None if value is None else text_of(value)
