"""Facts of a schema into rows for `workloads:`, and into notes on what no row can express.

    a pod spec                               podSpec: its path; a field that it lacks is `none`
    affinity, tolerations, nodeSelector      podSpec: what holds them; other fields by their paths
    images of a place, from the nearest:     images inside of it
                                             else those beside or above it, which several places may share
    only the images are above, and the       within: what holds the images; podSpec is created
    place is no more than a pod template
    self == oldSelf at or above a place      immutable: true

Operators nest placement in their own ways: affinity.tolerations (CloudNativePG), affinity.advanced.nodeAffinity
(Percona), nodeAffinity beside tolerations (Zalando, Rook).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from archfit.base.patch import Path, pattern_text, undotted
from archfit.base.printable import few
from archfit.cluster.crds.definitions import Definition, SchemaVersion
from archfit.cluster.crds.schema import Facts, facts
from archfit.options.settings import FIELDS, Workload
from archfit.startup.record import Record

# Members that an operator passes to the pod as they are: such a place can be created, any other part of an object may
# switch something on.
_TEMPLATES = {"pod", "podTemplate", "podTemplateSpec", "template", "scheduling", "placement", "affinity"}
PLACES_LIMIT = 500
IMAGES_LIMIT = 2000
"""Per kind. Every image is compared with every place; the kinds of the wild have fewer than 100 of each."""
OPEN_LIMIT = 10
"""Open paths that are named."""
_OPEN_CONTAINERS = ("container", "containers", "sidecar", "sidecars")


class Derived(Record):
    """version: whose schema it was, "" if no version has one that says anything. notes: what a person has to check."""

    group: str
    kind: str
    version: str
    rows: tuple[Workload, ...] = ()
    notes: tuple[str, ...] = ()


def derived(definition: Definition) -> Derived:
    """The rows and notes of a kind, by its stored version."""
    known = [version for version in definition.versions if version.schema is not None]
    if not known:
        return Derived(definition.group, definition.kind, "")
    rows, notes = _of(definition, known[0])
    for other in known[1:]:
        theirs, _ = _of(definition, other)
        if theirs != rows:
            paths = ", ".join(dict.fromkeys(pattern_text(row.pod_spec) for row in theirs)) or "no row"
            notes.append(f"version {other.name} differs ({paths}): the rows are those of {known[0].name}")
    notes += [
        f"version {version.name} has no schema, and was not read"
        for version in definition.versions
        if version.schema is None
    ]
    return Derived(definition.group, definition.kind, known[0].name, tuple(rows), tuple(notes))


def _of(definition: Definition, version: SchemaVersion) -> tuple[list[Workload], list[str]]:
    schema = facts(version.schema or {})
    every = {place.path: place for place in placements_of(schema)}
    if len(every) > PLACES_LIMIT or len(schema.images) > IMAGES_LIMIT:
        return [], [
            f"its schema has {len(every)} places for pods and {len(schema.images)} images: too many to read"
        ]
    places = {path: place for path, place in every.items() if can_be_written(path)}
    inside, above, unplaced = _shared(schema, places)
    rows, notes = [], []
    shown: set[Path] = set()
    for place in places.values():
        own = inside.get(place.path, [])
        beside = any(_holder(image) == place.path for image in own)
        images = own if beside else [*above.get(place.path, ()), *own]
        unplaced += above.get(place.path, ()) if beside else ()
        row = _row(definition, schema, place, images)
        problem = _problem(place, images, places)
        if place.likely:
            notes.append(
                f"{pattern_text(place.path)}: the schema leaves it open; if it is a pod spec, add this row: "
                f"{in_one_line(row)}"
            )
            shown.update(images)
        elif problem:
            notes.append(f"{pattern_text(place.path)}: {problem}")
            unplaced += images
        else:
            rows.append(row)
            shown.update(images)
    notes += [
        f"{pattern_text(image)}: no affinity or tolerations beside or above it; if a pod of a row runs it, add it to "
        "its images, else to neverRun"
        for image in sorted(dict.fromkeys(unplaced))
        if image not in shown
    ]
    notes += _doubts(schema, every, rows)
    notes += [
        f"{pattern_text(path)!r}: a key in this path cannot be written in a row"
        for path in (*schema.images, *every)
        if not can_be_written(path)
    ]
    return rows, notes


def _shared(
    schema: Facts, places: dict[Path, Placement]
) -> tuple[dict[Path, list[Path]], dict[Path, list[Path]], list[Path]]:
    """Images by the place that they stand in, by the places below them, and those without either."""
    inside: dict[Path, list[Path]] = {}
    above: dict[Path, list[Path]] = {}
    unplaced = []
    for image in schema.images:
        if not can_be_written(image):
            continue
        holder = _holder(image)
        home = next((holder[:end] for end in range(len(holder), 0, -1) if holder[:end] in places), None)
        below = [path for path in places if path[: len(holder)] == holder]
        if home is not None:
            inside.setdefault(home, []).append(image)
        elif below and holder:
            for path in below:
                above.setdefault(path, []).append(image)
        else:
            unplaced.append(image)
    return inside, above, unplaced


def _problem(place: Placement, images: list[Path], places: dict[Path, Placement]) -> str:
    """Why a place gets no row, "" if it gets one."""
    if not images and not place.pod_spec:
        return "placement without an image; if an image at another path runs there, write a row with both"
    if place.affinity is None:
        below = [
            other
            for path, other in places.items()
            if path != place.path and path[: len(place.path)] == place.path
        ]
        if any(other.pod_spec and not other.likely for other in below):
            return (
                "tolerations of the pods whose templates stand below it; the rows are those of the templates"
            )
    return ""


def _row(definition: Definition, schema: Facts, place: Placement, images: list[Path]) -> Workload:
    fields = (place.affinity, place.tolerations, place.node_selector)
    there = _creatable(schema, place, images) if images else ()
    if not there and (images or fields != ((), (), ())):
        there = place.path
    written = place.affinity or (*place.path, "affinity")
    frozen = any(written[: len(path)] == path for path in schema.frozen)
    return Workload(
        definition.group,
        definition.kind,
        place.path,
        frozen,
        there=there,
        images=tuple((image,) for image in images),
        affinity=place.affinity,
        tolerations=place.tolerations,
        node_selector=place.node_selector,
    )


def _creatable(schema: Facts, place: Placement, images: list[Path]) -> Path:
    """What there is of a place that may be created below the images, () if it has to be there."""
    holders = [_holder(image) for image in images]
    if any(holder[: len(place.path)] == place.path for holder in holders):
        return ()
    path = place.path
    stars = [index + 1 for index, step in enumerate(path) if step == "*"]
    there = path[: max(0, *stars, *map(len, holders))]
    created = path[len(there) :]
    if not created or any(step not in _TEMPLATES and step != "spec" for step in created):
        return ()
    for end in range(len(there) + 1, len(path) + 1):
        following = {str(path[end])} if end < len(path) else set()
        if schema.required.get(path[:end], frozenset()) - following:
            return ()
    return there


def _holder(image: Path) -> Path:
    """The mapping that an image belongs to: `spec` for spec.image and for spec.image.repository+tag."""
    end = len(image) - 1
    while end and (image[end] == "*" or "+" in str(image[end]) or image[end] == "reference"):
        end -= 1
    return image[:end]


def _doubts(schema: Facts, places: dict[Path, Placement], rows: Iterable[Workload]) -> Iterator[str]:
    for image, others in schema.partial:
        yield f"{pattern_text(image)}: {others} beside it may be a part of the image's name, which no row reads"
    paths = {row.pod_spec for row in rows}
    for path in sorted(paths):
        outer = next((path[:end] for end in range(1, len(path)) if path[:end] in paths), None)
        if outer:
            yield (
                f"{pattern_text(path)}: it may inherit or replace the placement of {pattern_text(outer)}, which no "
                "row can express"
            )
    for path in schema.node_selector:
        if path[:-1] not in places and not any(path == place.node_selector for place in places.values()):
            yield f"{pattern_text(path)}: a nodeSelector alone; archfit writes affinity and tolerations"
    for path in schema.unusable:
        yield f"{pattern_text(path)}: its members are not those of Kubernetes, so that archfit cannot write there"
    loose: list[str] = []
    for path in schema.open:
        if _last_key(path) in _OPEN_CONTAINERS:
            yield f"{pattern_text(path)}: the schema leaves it open; if images stand there, add them to a row's images"
        elif not any(place.likely and place.path[: len(path)] == path for place in places.values()):
            loose.append(pattern_text(path))
    if loose:
        yield f"{few(loose, OPEN_LIMIT)}: the schema leaves this open; a row is needed if a pod is in it"
    for path in schema.embedded:
        yield f"{pattern_text(path)}: a whole object is there, which a row cannot describe"


# The end of an open object's name, in small letters, and where its pod spec would be.
_OPEN: tuple[tuple[str, Path], ...] = (
    ("podspec", ()),
    ("jobtemplate", ("spec", "template", "spec")),
    ("templatespec", ("spec",)),
    ("template", ("spec",)),
)


class Placement(Record):
    """Where a pod's placement is. A field of None is missing; `pod_spec`: containers stand there too.

    likely: the schema leaves it open; only its name suggests a pod.
    """

    path: Path
    pod_spec: bool
    affinity: Path | None = ()
    tolerations: Path | None = ()
    node_selector: Path | None = ()
    likely: bool = False


def placements_of(schema: Facts) -> Iterator[Placement]:
    """Placement put together: what stands beside each other, or as operators nest it (`affinity.tolerations`)."""
    taken: set[Path] = set()
    for pod_spec, missing in schema.pod_specs.items():
        here = [None if name in missing else () for name in FIELDS]
        yield Placement(pod_spec, True, here[0], here[1], here[2])
        taken.add(pod_spec)
    tolerations, selectors = set(schema.tolerations), set(schema.node_selector)
    for affinity in schema.affinity:
        base = affinity
        while base and base[-1] in {"affinity", "advanced"}:
            base = base[:-1]
        if base in taken or not base:
            continue
        taken.add(base)
        beside: list[Path | None] = []
        for name, known in (("tolerations", tolerations), ("nodeSelector", selectors)):
            holders = (base, affinity, affinity[:-1])
            path = next(((*holder, name) for holder in holders if (*holder, name) in known), None)
            known.discard(path or ())
            beside.append(_field(path, base, name) if path else None)
        yield Placement(base, False, _field(affinity, base, "affinity"), beside[0], beside[1])
    for path in sorted(tolerations):
        base = path[:-1]
        if base not in taken and base:
            selector = (*base, "nodeSelector")
            yield Placement(base, False, None, (), () if selector in selectors else None)
    for path in schema.open:
        name = _last_key(path)
        below = next((below for end, below in _OPEN if name.endswith(end)), None)
        if below is not None and (*path, *below) not in taken:
            yield Placement((*path, *below), pod_spec=True, likely=True)


def _last_key(path: Path) -> str:
    return next((str(step).lower() for step in reversed(path) if step != "*"), "")


def _field(path: Path, base: Path, name: str) -> Path:
    """() for a field that stands where it usually does."""
    return () if path == (*base, name) else path


def can_be_written(path: Path) -> bool:
    """Whether a row can hold the path: its keys have no dots, blanks, quotes or brackets."""
    text = pattern_text(path)
    try:
        return text.isprintable() and "\\" not in text and undotted(text) == path
    except ValueError:
        return False


def entries(row: Workload) -> Iterator[tuple[str, str | bool | list[str]]]:
    """The keys and values of a row as the configuration file has them; what is as by default is left out."""
    yield "group", row.group
    yield "kind", row.kind
    yield "podSpec", pattern_text(row.pod_spec)
    if row.there and row.there != row.pod_spec:
        yield "within", pattern_text(row.there)
    if row.images:
        yield "images", [pattern_text(path) for entry in row.images for path in entry]
    for key, path in zip(FIELDS, (row.affinity, row.tolerations, row.node_selector), strict=True):
        if path != ():
            yield key, pattern_text(path) if path is not None else "none"
    if row.immutable:
        yield "immutable", True


def in_one_line(row: Workload) -> str:
    """The row as a flow mapping, to be pasted into `workloads:`."""
    return "{" + ", ".join(f"{key}: {_flow(value)}" for key, value in entries(row)) + "}"


def _flow(value: str | bool | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return "true" if value is True else f"'{value}'"
