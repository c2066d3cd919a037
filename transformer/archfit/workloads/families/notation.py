"""How the families write their rows: paths as text.

row("example.com", "Widget", "spec.pod", there="spec", images="spec.pod.image|spec.image spec.sidecar.image")
images           entries apart by blanks; alternatives by "|", of which the first that names an image counts;
                 "image.repository+tag" joins two members
templates(..)    lines of group, kinds, path of a pod spec as Kubernetes has it; "!" cannot change once applied
parts(..)        lines of group, kinds, the mapping that holds affinity, tolerations and nodeSelector, and images, in
                 which "@" is that mapping; "<spec" is `there`, "-nodeSelector" a field that the kind lacks; a line
                 that begins with a blank continues the one before. The operator chooses the first image where none is
                 named; the others count where they are named
never(..)        image fields of a kind that do not run in its pods, with the reason
"""

from __future__ import annotations

from archfit.base.memo import Memo
from archfit.base.patch import undotted
from archfit.base.typing_names import Any, Iterator
from archfit.options.settings import Workload
from archfit.workloads.pods import ANNOTATE

_PATHS = (
    "pod_spec",
    "there",
    "affinity",
    "tolerations",
    "node_selector",
    "metadata",
    "objects",
    "architecture",
)
_LISTS = ("inherits", "shadows", "replaced_by", "also", "patches", "merges")
_PAIRS = ("unseen", "unless", "never_run")


# Rows of a kind name the same paths again and again.
_path = Memo(undotted, 4096).__getitem__


def row(group: str, kind: str, pod_spec: str = "", **fields: Any) -> Workload:
    """A row of the table; see the module and `Workload`."""
    if pod_spec:
        fields["pod_spec"] = pod_spec
    for name, value in fields.items():
        if name in _PATHS and isinstance(value, str):
            fields[name] = _path(value)
        elif name in _LISTS:
            fields[name] = tuple(map(_path, value.split() if isinstance(value, str) else value))
        elif name in _PAIRS:
            fields[name] = tuple((_path(path), text) for path, text in value)
        elif name == "images":
            fields[name] = tuple(tuple(map(_path, one.split("|"))) for one in value.split())
        elif name == "default_image" and value:
            fields[name] = value + ANNOTATE
    return Workload(group, kind, **fields)


def templates(text: str) -> Iterator[Workload]:
    """A row for each kind and path of a pod spec."""
    for line in filter(None, text.split("\n")):
        group, kinds, path, *once = line.split()
        for kind in kinds.split(","):
            yield Workload(group, kind, _path(path), immutable=bool(once))


_LACKS = {"-affinity": "affinity", "-tolerations": "tolerations", "-nodeSelector": "node_selector"}


def parts(text: str, chosen: str = "", **fields: Any) -> Iterator[Workload]:
    """A row for each kind and mapping; see the module. chosen: who chooses an image that is not named."""
    for line in filter(None, text.replace("\n ", " ").split("\n")):
        group, kinds, place, *words = line.split()
        main, *rest = [word.replace("@", place) for word in words if word[0] not in "<-"] or [""]
        images = " ".join((main, *(word for word in rest if "|" in word)))
        there = next((word[1:] for word in words if word[0] == "<"), place)
        lacks = dict.fromkeys(_LACKS[word] for word in words if word[0] == "-")
        shared = {"metadata": None, "images": images, "default_image": chosen, **lacks, **fields}
        shared["also"] = " ".join(word for word in rest if "|" not in word)
        for kind in kinds.split(","):
            yield row(group, kind, place, there=there, **shared)


def never(group: str, kind: str, reason: str, paths: str) -> Workload:
    """A row that holds no pod, and says of each path (apart by blanks) that no image there runs in the kind's pods."""
    return Workload(group, kind, never_run=tuple((_path(path), reason) for path in paths.split()))


def left(group: str, kind: str, there: str, reason: str) -> Workload:
    """A row that says why what is `there` is left as it is."""
    return Workload(group, kind, there=_path(there), reason=reason)
