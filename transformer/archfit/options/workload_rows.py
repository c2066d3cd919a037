"""The rows that say where kinds of custom resources hold pods: `workloads:` of a configuration file, and archfit's own.

    workloads:
      - group: example.com
        kind: Database
        podSpec: spec.servers[*].pod      # [*] is every item of a list or every member of a mapping
        within: spec.servers[*]           # there is a pod where this exists; podSpec is created below it if need be
        images: [spec.image]              # images outside of containers
        affinity: none                    # the kind has no such field; or the path of what holds nodeAffinity

Paths are from the object's root, and a [*] means the same item in all of them as far as they begin alike; a key with
dots is written `metadata.annotations["example.com/mode"]`. KEYS has all keys: `Workload` says what each field means,
its form how it is written. Where both repository and tag name an image, the path ends in `repository+tag`; `=app` is
the item of a list that is named app.

The rows of a kind replace those that archfit has for it; two of them that write to the same place, whatever the object
says, are an error. An image that no row of the kind names leaves its pods without toleration.
"""

from __future__ import annotations

from archfit.base.documentation import schema_id
from archfit.base.errors import Problem
from archfit.base.patch import Path, pattern_text, undotted
from archfit.options.option_types import OptionType, file_only
from archfit.options.settings import ANNOTATE, ATTRIBUTES, LISTS, STATED, Embedding, Workload
from archfit.startup.record import Record
from archfit.yaml import data_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    Parse: TypeAlias = Callable[[object], Any]


class Form(Record):
    """How a field is written: what parses its value and raises Problem, and the schema."""

    parse: Parse
    schema: dict[str, Any]


def _path(value: object) -> Path:
    text = data_form.string(value)
    try:
        return undotted(text)
    except ValueError:
        raise Problem(
            f"{text!r} is not a path: write keys with dots between them, and [*] for every item, as "
            "spec.tasks[*].template.spec"
        ) from None


def _path_or_none(value: object) -> Path | None:
    return None if value == "none" else _path(value)


def _text(value: object) -> str:
    text = data_form.string(value)
    if not text:
        raise Problem("is empty: write a text, or leave the key out")
    return text


def _annotated(value: object) -> str:
    return _text(value) + ANNOTATE


def _group(value: object) -> str:
    text = data_form.string(value)
    if "/" in text or text != text.strip():
        raise Problem(f"{text!r} is not an API group: leave out the version, as in example.com")
    return text


def _kind(value: object) -> str:
    text = data_form.string(value)
    if not text.isalnum():
        raise Problem(f"{text!r} is not a kind: write one as Widget")
    return text


def _version(value: object) -> str:
    text = data_form.string(value)
    name = text.removesuffix("*").replace("-", "")
    if not (name.isalnum() and name.isascii() and name.islower() and text[0].isalpha()):
        raise Problem(f"{text!r} matches no version of an API: write one without its group, as v1 or v1beta*")
    return text


def _alternatives(value: object) -> tuple[Path, ...]:
    return data_form.items(value, _path, "spec.image") if isinstance(value, list) else (_path(value),)


def _never_run(value: object) -> tuple[tuple[Path, str], ...]:
    if isinstance(value, dict):
        reasons: tuple[tuple[Path, str], ...] = _each(_path, _text)(value)
        return reasons
    paths: tuple[Path, ...] = data_form.items(value, _path, "spec.image")
    return tuple((path, "its row says so") for path in paths)


def _affinity(value: object) -> object:
    return value if isinstance(value, dict) else _text(value)


def _list(parse: Parse, example: str) -> Parse:
    return lambda value: data_form.items(value, parse, example)


def _pairs(first: Parse, second: Parse) -> Parse:
    """(key, value) of each member; a list of values is as many pairs."""
    each = _each(first, lambda value: list(map(second, value if isinstance(value, list) else [value])))
    return lambda value: tuple((key, item) for key, items in each(value) for item in items)


def _each(first: Parse, second: Parse) -> Parse:
    """(key, value) of each member."""

    def parse(value: object) -> tuple[tuple[Any, Any], ...]:
        return tuple(
            (data_form.within(key, first, key), data_form.within(key, second, member))
            for key, member in data_form.members(value, "spec.template: text").items()
        )

    return parse


def _field(value: object) -> str:
    text = data_form.string(value)
    if text not in LISTS:
        raise Problem(f"{text!r} is none of {', '.join(LISTS)}")
    return text


def _members(needed: dict[str, Form], optional: dict[str, Form], build: Callable[..., Any]) -> Form:
    """A mapping whose members are the arguments of `build`."""
    forms = {**needed, **optional}
    example = ", ".join(f"{key}: .." for key in needed)

    def parse(value: object) -> object:
        given = data_form.fields(value, tuple(forms), example, tuple(needed))
        return build(
            **{key: data_form.within(key, forms[key].parse, member) for key, member in given.items()}
        )

    return Form(
        parse,
        {
            "type": "object",
            "properties": {key: form.schema for key, form in forms.items()},
            "required": list(needed),
            "additionalProperties": False,
        },
    )


# Brackets escaped, quotes not: editors read patterns as JavaScript does.
_KEY = r"""([^\[\]. /\\"']+|\["[^"\\]+"\])"""
_STRING = {"type": "string", "minLength": 1}
# A DNS label (apiextensions, ValidateCustomResourceDefinition); "*" ends one that stands for several.
_VERSION = {"type": "string", "pattern": r"^[a-z][a-z0-9-]*\*?$"}
_PATH_TEXT = {"type": "string", "pattern": rf"^{_KEY}(\[\*\]|\.?{_KEY})*$"}
_ONE_OR_MORE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def _mapping_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema}


TEXT = Form(_text, _STRING)
REASON = Form(_annotated, _STRING)
SWITCH = Form(data_form.boolean, {"type": "boolean"})
PATH = Form(_path, _PATH_TEXT)
PLACE = Form(_path_or_none, _PATH_TEXT)
PATHS = Form(_list(_path, "spec.image"), {"type": "array", "items": _PATH_TEXT})
TEXTS = Form(_list(_text, "text"), {"type": "array", "items": _STRING})
IMAGES = Form(
    _list(_alternatives, "spec.image"),
    {"type": "array", "items": {"anyOf": [_PATH_TEXT, {"type": "array", "items": _PATH_TEXT}]}},
)
NEVER_RUN = Form(_never_run, {"anyOf": [PATHS.schema, _mapping_of(_STRING)]})
REASONS = Form(_each(_path, _annotated), _mapping_of(_STRING))
CONDITIONS = Form(_pairs(_path, data_form.string), _mapping_of(_ONE_OR_MORE))
CHOICES = Form(_each(_path, TEXTS.parse), _mapping_of(TEXTS.schema))
PAIRS = Form(_each(_path, _path), _mapping_of(_PATH_TEXT))
AFFINITY = Form(_affinity, {"anyOf": [_STRING, {"type": "object"}]})
VERSIONS = Form(_list(_version, "v1beta1"), {"type": "array", "items": _VERSION})
EMBEDDING = _members(
    {},
    {"created": CHOICES, "compared": TEXT, "handsDown": PATHS, "appends": CONDITIONS, "filled": PAIRS},
    lambda **fields: Embedding(hands_down=fields.pop("handsDown", ()), **fields),
)

# The key of a row, the field of a Workload, and how it is written.
KEYS: dict[str, tuple[str, Form]] = {
    "apiVersions": ("versions", VERSIONS),
    "podSpec": ("pod_spec", PATH),
    "within": ("there", PATH),
    "exists": ("there", PATH),
    "when": ("when", CONDITIONS),
    "unless": ("unless", CONDITIONS),
    "immutable": ("immutable", SWITCH),
    "images": ("images", IMAGES),
    "also": ("also", PATHS),
    "main": ("main", TEXT),
    "defaultImage": ("default_image", REASON),
    "unseen": ("unseen", REASONS),
    "added": ("added", REASONS),
    "neverRun": ("never_run", NEVER_RUN),
    **{name: (attribute, PLACE) for name, attribute in ATTRIBUTES.items()},
    "metadata": ("metadata", PLACE),
    "inherits": ("inherits", PATHS),
    "replacedBy": ("replaced_by", PATHS),
    "defaultAffinity": ("default_affinity", AFFINITY),
    "pins": ("pins", SWITCH),
    "outside": ("outside", Form(_each(_field, _text), _mapping_of(_STRING))),
    "objects": ("objects", PATH),
    "embedding": ("embedding", EMBEDDING),
    "reason": ("reason", TEXT),
    "unplaced": ("unplaced", TEXT),
    "copied": ("copied", SWITCH),
    "rendered": ("rendered", SWITCH),
    "seen": ("seen", TEXT),
}

# A row has one of these.
_PLACES = ("podSpec", "objects", "reason", "neverRun")
# A key that means nothing without another one.
_NEEDS = {"within": "podSpec", "main": "podSpec", "embedding": "objects"}
_HEAD = {"group": Form(_group, {"type": "string", "pattern": "^[^/ ]*$"})}
_KIND = {"kind": Form(_kind, {"type": "string", "pattern": "^[A-Za-z0-9]+$"})}
_KINDS = {"anyOf": [_KIND["kind"].schema, {"type": "array", "items": _KIND["kind"].schema}]}
_OF_OWN = ("embedding", "rendered", "seen")
_STATED = ("group", "kind", *(key for key in KEYS if key not in _OF_OWN))
_OWN = ("kind", *KEYS)
EXAMPLE = "group: example.com, kind: Widget, podSpec: spec.template.spec"
OWN_EXAMPLE = "kind: Widget, podSpec: spec.template.spec"


def stated_row(value: object) -> Workload:
    """A row of the user's. Raises Problem."""
    row = data_form.fields(value, _STATED, EXAMPLE, ("group", "kind"))
    return _row(row, data_form.within("group", _group, row["group"]), EXAMPLE).replace(seen=STATED)


def own_row(value: object, group: str, kind: str, versions: object) -> Workload:
    """A row of archfit's own, which names no group and one or more kinds. Raises Problem.

    versions: `apiVersions` of a row that has none.
    """
    row = data_form.fields(value, _OWN, OWN_EXAMPLE, ("kind",))
    return _row({"apiVersions": versions, **row, "kind": kind}, group, OWN_EXAMPLE)


def _row(row: dict[str, object], group: str, example: str) -> Workload:
    if not any(key in row for key in _PLACES):
        raise Problem(f"has no podSpec: write it as {{{example}}}")
    for key, other in _NEEDS.items():
        if key in row and other not in row:
            raise Problem(f"means nothing without {other}: add it, or leave {key} out", (key,))
    if "within" in row and "exists" in row:
        raise Problem("says what within says: keep one", ("exists",))
    fields = {}
    for key, value in row.items():
        if key in KEYS:
            name, form = KEYS[key]
            fields[name] = data_form.within(key, form.parse, value)
    pod_spec = fields.get("pod_spec", ())
    if "within" in row and pod_spec[: len(fields["there"])] != fields["there"]:
        raise Problem("has to be podSpec or a part of it, from the root", ("within",))
    if "there" not in fields and (fields.get("images") or any(key in row for key in ATTRIBUTES)):
        fields["there"] = pod_spec
    return Workload(group, data_form.within("kind", _kind, row["kind"]), **fields)


def row_schema(*, own: bool = False) -> dict[str, Any]:
    """The schema of a row, the user's or one of archfit's own."""
    forms = {**({} if own else _HEAD), **_KIND, **{key: form for key, (_, form) in KEYS.items()}}
    schemas = {key: form.schema for key, form in forms.items() if own or key not in _OF_OWN}
    return {
        "type": "object",
        "properties": {**schemas, "kind": _KINDS} if own else schemas,
        "required": list(_KIND if own else {**_HEAD, **_KIND}),
        "anyOf": [{"required": [key]} for key in _PLACES],
        "dependentRequired": {key: [other] for key, other in _NEEDS.items() if key in schemas},
        "additionalProperties": False,
    }


def schema() -> dict[str, Any]:
    """A file of `workloads/kinds` as JSON Schema, draft 2020-12: the rows of `workloads:` without their group."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("workloads"),
        "title": "archfit kinds of an API group",
        "type": "object",
        "properties": {
            "operator": _STRING,
            "apiVersions": VERSIONS.schema,
            "module": _STRING,
            "workloads": {"type": "array", "items": row_schema(own=True)},
        },
        "required": ["operator", "apiVersions", "workloads"],
        "additionalProperties": False,
    }


def workloads(value: object) -> tuple[Workload, ...]:
    """The rows, in their order, doubles dropped. Raises Problem, also for two rows that place the same pods."""
    rows: dict[Workload, None] = {}
    taken: dict[tuple[str, str], dict[Any, Any]] = {}
    for number, item in enumerate(data_form.as_list(value, f"{{{EXAMPLE}}}")):
        row = data_form.within(number, stated_row, item)
        if row in rows:
            continue
        rows[row] = None
        known, paths = taken.setdefault((row.group, row.kind), {}), list(_written(row))
        for path in paths:
            if _meets(path, known):
                shown = pattern_text(path)
                raise Problem(
                    f"two rows for {row.kind} write to {shown}: merge them into one row with all images of that pod",
                    (number,),
                )
        for path in paths:
            node = known
            for step in (*path, _END):
                node = node.setdefault(step, {})
    return tuple(rows)


def _written(row: Workload) -> Iterator[Path]:
    """Where archfit may write for the row, whatever else the object says."""
    if row.when or row.unless or row.versions or not row.pod_spec:
        return
    if row.affinity is not None:
        yield (*(row.affinity or (*row.pod_spec, "affinity")), "nodeAffinity")
    if row.tolerations is not None:
        yield row.tolerations or (*row.pod_spec, "tolerations")


_END = None


def _meets(path: Path, known: dict[Any, Any]) -> bool:
    """Whether the pattern and one of those that are known mean the same place in some object. known: by step."""
    nodes = [known]
    for step in path:
        steps = [node.values() if step == "*" else (node.get(step, {}), node.get("*", {})) for node in nodes]
        nodes = [node for some in steps for node in some if node]
    return any(_END in node for node in nodes)


WORKLOADS = OptionType(
    file_only,
    workloads,
    {"type": "array", "items": row_schema()},
    "tuple[Workload, ...]",
    "Sequence[Mapping[str, Any]]",
)
