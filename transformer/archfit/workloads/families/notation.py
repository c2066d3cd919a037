"""How the families write their rows: paths as text.

row("example.com", "Widget", "spec.pod", there="spec", images="spec.pod.image|spec.image spec.sidecar.image")
images           entries apart by blanks; alternatives by "|", of which the first that names an image counts, for
                 each item of a list;
                 "image.repository+tag" joins two members; "containers.=app" is the item of the list that is named app
templates(..)    lines of group, kinds, path of a pod spec as Kubernetes has it; "!" cannot change once applied
parts(..)        lines of group, kinds, the mapping that holds affinity, tolerations and nodeSelector, and images, in
                 which "@" is that mapping; "<spec" is `there`, "-nodeSelector" a field that the kind lacks; a line
                 that begins with two blanks continues the one before. The operator chooses the first image where none
                 is named, and one that begins with "!", of a container that it adds; the others count where they are
                 named
left(..)         lines of group or group/version, kinds, path and, behind ": ", the reason why what is at the path is
                 left as it is; "path=text" is left only with that text
never(..)        lines of group, kinds, image fields and, behind ": ", the reason why they do not run in the kind's pods
"""

from __future__ import annotations

from archfit.base.memo import Memo
from archfit.base.patch import undotted
from archfit.options.settings import Workload
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

Draft: TypeAlias = "tuple[str, str, dict[str, Any]]"
"""Group, kind, and the other fields of a row, as they are written here."""

_PATHS = (
    "pod_spec",
    "there",
    "affinity",
    "tolerations",
    "node_selector",
    "metadata",
    "objects",
    "architecture",
    "parts",
)
_LISTS = (
    "inherits",
    "shadows",
    "replaced_by",
    "also",
    "patches",
    "merged",
    "merges",
    "hands_down",
    "by_position",
)
# Their paths are tuples where a key holds dots.
_PAIRS = (
    "unseen",
    "unless",
    "when",
    "never_run",
    "added",
    "created",
    "appends",
    "models",
    "unfetched",
    "accepts",
)


# Rows of a kind name the same paths again and again.
_path = Memo(undotted, 4096).__getitem__


def row(group: str, kind: str, pod_spec: str = "", **fields: Any) -> Draft:
    """A row of the table; see the module and `Workload`."""
    return group, kind, {"pod_spec": pod_spec, **fields} if pod_spec else fields


def workload(draft: Draft) -> Workload:
    """The row that is written so. A stream asks for few of the rows of a family: only these are made."""
    group, kind, fields = draft
    made = dict(fields)
    for name, value in fields.items():
        if name in _PATHS and isinstance(value, str):
            made[name] = _path(value)
        elif name in _LISTS:
            made[name] = tuple(map(_path, value.split() if isinstance(value, str) else value))
        elif name == "filled":
            made[name] = tuple((_path(texts), _path(holder)) for texts, holder in value)
        elif name in _PAIRS:
            made[name] = tuple(
                (path if isinstance(path, tuple) else _path(path), text) for path, text in value
            )
        elif name == "overwrites":
            made[name] = tuple((_path(path), text, field) for path, text, field in value)
        elif name == "images" and isinstance(value, str):
            made[name] = tuple(tuple(map(_path, entry.split("|"))) for entry in value.split())
        elif name == "default_image" and value:
            made[name] = value + ANNOTATE
    return Workload(group, kind, **made)


def templates(text: str) -> Iterator[Draft]:
    """A row for each kind and path of a pod spec."""
    for line in _joined(text):
        group, kinds, path, *once = line.split()
        for kind in kinds.split(","):
            yield row(group, kind, path, immutable=bool(once))


_LACKS = {"-affinity": "affinity", "-tolerations": "tolerations", "-nodeSelector": "node_selector"}


def parts(text: str, chosen: str = "", **fields: Any) -> Iterator[Draft]:
    """A row for each kind and mapping; see the module. chosen: who chooses an image that is not named."""
    for line in _joined(text):
        group, kinds, place, *words = line.split()
        main, *rest = [word.replace("@", place) for word in words if word[0] not in "<-!"] or [""]
        added = [(word[1:].replace("@", place), chosen + ANNOTATE) for word in words if word[0] == "!"]
        images = " ".join((main, *(word for word in rest if "|" in word)))
        there = next((word[1:] for word in words if word[0] == "<"), place)
        lacks = dict.fromkeys(_LACKS[word] for word in words if word[0] == "-")
        shared = {
            "metadata": None,
            "images": images,
            "default_image": chosen,
            "added": added,
            **lacks,
            **fields,
        }
        shared["also"] = " ".join(word for word in rest if "|" not in word)
        for kind in kinds.split(","):
            yield row(group, kind, place, there=there, **shared)


def left(text: str) -> Iterator[Draft]:
    """A row for each kind that says why what is there is left as it is; see the module."""
    for api, kind, (path, *_), reason in _reasons(text):
        group, _, version = api.partition("/")
        there, _, only = path.partition("=")
        yield row(group, kind, there=there, reason=reason, version=version, only=only)


def never(text: str) -> Iterator[Draft]:
    """A row for each kind that holds no pod, and says of each path that no image there runs in the kind's pods."""
    for group, kind, paths, reason in _reasons(text):
        yield row(group, kind, never_run=[(path, reason) for path in paths])


def apart(weight: int, selector: dict[str, Any]) -> dict[str, Any]:
    """An affinity that prefers hosts without another pod of the selector."""
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    preferred = [{"podAffinityTerm": term, "weight": weight}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _reasons(text: str) -> Iterator[tuple[str, str, list[str], str]]:
    """(group, kind, paths, reason) of each kind in the lines of `left` and `never`."""
    for line in _joined(text):
        head, _, reason = line.partition(": ")
        group, kinds, *paths = head.split()
        for kind in kinds.split(","):
            yield group, kind, paths, reason


def _joined(text: str) -> Iterator[str]:
    """The lines, each with those that continue it."""
    return filter(None, text.replace("\n  ", " ").split("\n"))
