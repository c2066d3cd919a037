"""The image fields of custom resources, as their published schemas have them (fixtures/crds).

for field in fields():  field.group, field.kind, field.version, field.path

spec.sidecars[*].image             a text
spec.image.{repository,tag}        a mapping: the first member is the image, the others complete it
spec.{image,tag,sha}               a text, and texts beside it that complete it
spec.template.spec                 of a pod spec: containers, initContainers and image volumes
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import machine
from archfit.base.patch import Path, undotted

_MEMBERS = re.compile(r"(.*?)\.?\{([^}]*)\}")
_PLACEMENT = ("affinity", "tolerations", "nodeSelector")
_POD = ("containers[*].image", "initContainers[*].image")


class Field(NamedTuple):
    """path: of the text that is the image; beside: names of its siblings that complete it."""

    group: str
    kind: str
    version: str
    path: Path
    beside: tuple[str, ...] = ()

    def put(self, holder: dict[str, Any], image: str) -> None:
        """Writes the image into an object, with what it needs beside it."""
        name, _, tag = image.partition(":")
        named = self.path[-1] in ("repository", "repo", "name") and bool(self.beside)
        put(holder, self.path, name if named else image)
        if named:
            for member in self.beside:
                if member in ("tag", "version"):
                    put(holder, (*self.path[:-1], member), tag)


@cache
def catalogue() -> dict[str, Any]:
    """group/Kind -> its entry."""
    read: dict[str, Any] = json.loads(
        (machine.ROOT / "fixtures" / "crds" / "fields.json").read_text(encoding="utf-8")
    )
    return read


def fields(group: str, kind: str) -> Iterator[Field]:
    """Every image field of every served version of a kind."""
    versions = catalogue().get(f"{group}/{kind}", {"versions": {}})["versions"]
    for version, entry in versions.items():
        there = versions[entry.removeprefix("=")] if isinstance(entry, str) else entry
        for text in there.get("images", ()):
            yield _field(group, kind, version, text)
        for text in there.get("podspecs", ()):
            path, _, lacks = text.partition("|")
            # What lacks all placement is a list of containers, and no pod spec.
            for below in _POD[:1] if lacks.count("-") == len(_PLACEMENT) else _POD:
                yield Field(group, kind, version, undotted(f"{path}.{below}"))


def placements(group: str, kind: str, version: str) -> Iterator[Path]:
    """The mappings of a kind that hold its placement outside of pod specs."""
    versions = catalogue().get(f"{group}/{kind}", {"versions": {}})["versions"]
    entry = versions.get(version, {})
    there = versions[entry.removeprefix("=")] if isinstance(entry, str) else entry
    for text in there.get("placement", {}).get("affinity", ()):
        path = undotted(text.split("|")[0].replace(".*", ".a"))
        yield path[:-1] if path[-1] == "affinity" else path


def _field(group: str, kind: str, version: str, text: str) -> Field:
    found = _MEMBERS.fullmatch(text)
    if found is None:
        return Field(group, kind, version, undotted(text))
    holder, members = found[1], found[2].split(",")
    image = next((name for name in ("image", "repository", "repo", "name") if name in members), members[0])
    path = (*(undotted(holder) if holder else ()), image)
    return Field(group, kind, version, path, tuple(name for name in members if name != image))


def put(holder: Any, path: Path, value: Any) -> None:
    """Writes a value at a pattern: "*" is the first item of a list, or the member `a` of a mapping (`.*`)."""
    for step, below in zip(path, (*path[1:], None), strict=True):
        step = 0 if step == "*" else step  # noqa: PLW2901
        empty: Any = [] if below == "*" else {}
        if isinstance(holder, list):
            if not holder:
                holder.append(value if below is None else empty)
            elif below is None:
                holder[0] = value
            holder = holder[0]
        elif below is None:
            holder[step] = holder.get(step) or value if value == {} else value
        else:
            holder = holder.setdefault(step, empty)
