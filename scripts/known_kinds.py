"""Writes `workloads/unsupported/known_kinds.txt`: custom resources that may hold pods, from facts about their schemas.

    python scripts/known_kinds.py              from fixtures/crds/fields.json
    python scripts/known_kinds.py FACTS        and renews that file before, from FACTS: JSON, read off published schemas
    {"redis.example.com/Redis": {"storage": "v1", "versions": {"v1": {
        "podspecs": ["spec.template.spec", "spec.job|-affinity"],                objects with containers
        "images": ["spec.redis.image", "spec.image.{repository,tag}"],           texts outside of them
        "placement": {"affinity": ["spec.redis.affinity"], "tolerations": [..], "nodeSelector": [..]}}}}}

A row is written only if it follows from the schema: affinity and tolerations stand in one mapping, under these names,
and images stand in containers there, in that mapping, or in one above. Everything else is listed without a row.

This is stricter than `archfit.cluster.crds.derive`, which reads whole schemas and writes rows with notes for a person
to check. A row of this table is proposed without notes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OUTPUT = (
    Path(__file__).parents[1] / "transformer" / "archfit" / "workloads" / "unsupported" / "known_kinds.txt"
)
FACTS = Path(__file__).parents[1] / "fixtures" / "crds" / "fields.json"
_FIELDS = ("affinity", "tolerations", "nodeSelector")
_LONGEST = 600
# The TiDB operator adds spec.version to an image without a tag (core.pingcap.com, spec.image).
_NO_ROWS = ("core.pingcap.com/",)

_HEAD = "# group/Kind and what its published schema allows (see unknown_kinds.py); written by: scripts/known_kinds.py\n"


def table(facts: dict[str, Any]) -> str:
    """The text of the table for these facts."""
    lines = (
        f"{name} {said}\n" for name, kind in sorted(facts.items()) if (said := _kind(name, _fields(kind)))
    )
    return _HEAD + "".join(lines)


def _fields(kind: dict[str, Any]) -> dict[str, Any]:
    versions = kind["versions"]
    found = versions[kind.get("storage") or max(versions)]
    while isinstance(found, str):
        found = versions[found.removeprefix("=")]
    return dict(found)


def _kind(name: str, fields: dict[str, Any]) -> str:
    """What the table says of a kind, "" if it is not in it."""
    pods, images = fields.get("podspecs", []), fields.get("images", [])
    placement = fields.get("placement", {})
    placed = placement.get("affinity") or placement.get("tolerations")
    if not pods and not (images and placement):
        return "set" if placed else ""
    rows = _rows(pods, images, placement)
    if rows is not None and not name.startswith(_NO_ROWS):
        text = ", ".join(rows)
        return text if 0 < len(text) <= _LONGEST else "row"
    return "row" if placed or rows else "none"


def _rows(pods: list[str], images: list[str], placement: dict[str, list[str]]) -> list[str] | None:
    """The rows of a kind as text; None where one does not follow."""
    places: dict[str, set[str]] = {}
    for name in _FIELDS:
        for entry in placement.get(name, []):
            path, _, kind = entry.partition("|")
            above, _, last = path.rpartition(".")
            if last != name or not above:
                return None
            if kind in {"", "untyped"}:
                places.setdefault(above, set()).add(name)
    rows, open_pods = [], False
    for entry in pods:
        path, _, marks = entry.partition("|")
        has = {name for name in _FIELDS if f"-{name}" not in marks.split(",")}
        if has & {"affinity", "tolerations"}:
            rows.append(_row(path, has, _own(path, images, [*places, *(one.split("|")[0] for one in pods)])))
        else:
            open_pods = True
    for path, has in sorted(places.items()):
        if any(path == one.split("|")[0] for one in pods):
            continue
        own = images if len(places) == 1 and not pods else _own(path, images, list(places))
        if has & {"affinity", "tolerations"} and own:
            rows.append(_row(path, has, own, within=_within(path, own)))
        else:
            open_pods = True
    return None if open_pods or any(row == "" for row in rows) else rows


def _own(path: str, images: list[str], places: list[str]) -> list[str]:
    """The images of the pod at a path: below it and no deeper place, or beside it on the way from the root."""
    found = []
    for image in images:
        above = image.split("{")[0].rstrip(".").rpartition(".")[0]
        nearest = max((place for place in places if _below(image, place)), key=len, default="")
        if nearest == path or (not nearest and _below(path, above)):
            found.append(image)
    return found


def _below(path: str, above: str) -> bool:
    return path == above or path.startswith((above + ".", above + "["))


def _within(path: str, images: list[str]) -> str:
    """The part of `path` that has to exist: down to the last item of a list, and to where an image stands."""
    steps = path.split(".")
    need = max((n for n, step in enumerate(steps, 1) if step.endswith("[*]") or step == "*"), default=1)
    shared = 0
    for image in images:
        other = image.split(".")
        same = next((n for n, (a, b) in enumerate(zip(steps, other, strict=False)) if a != b), len(steps))
        shared = max(shared, min(same, len(other) - 1))
    return ".".join(steps[: max(need, shared)])


def _row(path: str, has: set[str], images: list[str], within: str = "") -> str:
    """A row without group and kind; "" where a path cannot be written in one."""
    shown = [_image(image) for image in images]
    if not all(shown) or "/" in "".join([path, *shown]):
        return ""
    parts = [f"podSpec: '{path}'"]
    if within and within != path:
        parts.append(f"within: '{within}'")
    if shown:
        parts.append(f"images: [{', '.join(repr(image) for image in shown)}]")
    parts += [f"{name}: none" for name in _FIELDS if name not in has]
    return f"{{{', '.join(parts)}}}"


def _image(path: str) -> str:
    """`spec.image.{repository,tag}` as `spec.image.repository+tag`; "" for parts that a row cannot join."""
    above, brace, names = path.partition("{")
    if not brace:
        return path
    name, *rest = names.rstrip("}").split(",")
    return f"{above}{name}+{rest[0]}" if name in {"repository", "name"} and rest == ["tag"] else ""


def compact(facts: dict[str, Any]) -> str:
    """The facts as fixtures/crds/fields.json has them: a kind on a line, and its source as OWNER/REPOSITORY@COMMIT."""
    lines = []
    for name, kind in sorted(facts.items()):
        kept = {key: kind[key] for key in ("storage", "versions") if key in kind}
        kept["source"] = kind["source"].partition(":")[0]
        lines.append(f"{json.dumps(name)}:{json.dumps(kept, separators=(',', ':'), ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    """Writes the table, and the facts where they are new."""
    if len(sys.argv) > 2:
        print("usage: python scripts/known_kinds.py [FACTS]", file=sys.stderr)
        return 2
    if len(sys.argv) == 2:
        FACTS.write_text(compact(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), encoding="utf-8")
    OUTPUT.write_text(table(json.loads(FACTS.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
