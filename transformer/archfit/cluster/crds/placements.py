"""Facts of a schema into places: what belongs together and makes one pod's placement.

containers beside affinity, ..            a pod spec
affinity, tolerations, nodeSelector       what holds them
affinity: {nodeAffinity, tolerations}     CloudNativePG nests them
affinity: {advanced: {nodeAffinity}}      Percona
nodeAffinity beside tolerations           Zalando, Rook
template: anything                        likely a pod template, by its name alone
"""

from __future__ import annotations

from collections.abc import Iterator

from archfit.base.patch import Path
from archfit.base.record import Record
from archfit.cluster.crds.schema import FIELDS, Facts

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


def placements_of(found: Facts) -> Iterator[Placement]:
    """Placement put together: what stands beside each other, or as operators nest it (`affinity.tolerations`)."""
    taken: set[Path] = set()
    for pod in found.pod_specs:
        here = [None if name in pod.missing else () for name in FIELDS]
        yield Placement(pod.path, True, here[0], here[1], here[2])
        taken.add(pod.path)
    tolerations, selectors = set(found.tolerations), set(found.node_selector)
    for affinity in found.affinity:
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
    for path in found.open:
        name = last_key(path)
        below = next((below for end, below in _OPEN if name.endswith(end)), None)
        if below is not None and (*path, *below) not in taken:
            yield Placement((*path, *below), pod_spec=True, likely=True)


def last_key(path: Path) -> str:
    """The last key of a path, in small letters."""
    return next((str(step).lower() for step in reversed(path) if step != "*"), "")


def _field(path: Path, base: Path, name: str) -> Path:
    """() for a field that stands where it usually does."""
    return () if path == (*base, name) else path
