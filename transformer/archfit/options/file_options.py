"""Options that only the configuration file has: `rules:` and `workloads:`.

`rules:` of the configuration file: what holds for some pods only, for a gradual roll-out.

    rules:
      - match: {namespace: shop, kind: Deployment, name: "web-*", labels: {tier: front}}    # all must hold
        only: [amd64]           # narrows the pods to these architectures
        tolerate: false         # whether toleration rules apply
        prefer: {arm64: 10}     # instead of the option `prefer`
        skip: true              # leaves the pods alone

`match: {}` is every pod; a rule needs at least one of the other keys. `placement` says what several
rules do to one pod.

`workloads:` of the configuration file: kinds that hold pods, beside those that archfit knows.

    workloads:
      - group: example.com
        kind: Widget
        podSpec: spec.template.spec       # holds nodeSelector, affinity, tolerations, and usually containers
      - group: example.com
        kind: Database
        podSpec: spec.servers[*].pod      # [*] is every item of a list or every member of a mapping
        within: spec.servers[*]           # there is a pod where this exists; podSpec is created below it if need be
        images: [spec.image]              # images outside of containers
        neverRun: [spec.baseImage]        # images that these pods do not run
        affinity: none                    # the kind has no such field; or the path of what holds nodeAffinity
        tolerations: spec.tolerations
        nodeSelector: spec.nodes
        immutable: true                   # it cannot be changed once applied

Paths are from the object's root, and a [*] means the same item in all of them as far as they begin alike. The rows of
a kind replace those that archfit has for it; two of them that write to the same place are an error. An image that no
row of the kind names leaves its pods without toleration.
"""

from __future__ import annotations

from archfit.base.patch import Path, pattern_text, undotted
from archfit.options import data_form, text_form
from archfit.options.option_entries import Match, Rule
from archfit.options.option_types import ARCHITECTURE_LIST, LABEL_VALUE, PREFERENCE, OptionType
from archfit.options.placement_fields import AFFINITY, FIELDS, NODE_SELECTOR, TOLERATIONS
from archfit.options.settings import STATED, Workload
from archfit.options.text_form import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EFFECTS = ("only", "tolerate", "prefer", "skip")
_GLOBS = ("namespace", "kind", "name")


def rules(value: object) -> tuple[Rule, ...]:
    """The list of rules, in its order. Raises Problem."""
    return data_form.items(value, _rule, "{match: {namespace: shop}, only: [amd64]}")


def _rule(value: object) -> Rule:
    found = data_form.fields(value, ("match", *_EFFECTS), "match: {namespace: shop}, only: [amd64]")
    if "match" not in found:
        raise Problem(
            "has no match: write which pods it is about, as match: {namespace: shop}, or match: {} for all"
        )
    if len(found) == 1:
        raise Problem(f"has no effect: write at least one of {', '.join(_EFFECTS)}")
    return Rule(
        data_form.within("match", _match, found["match"]),
        only=data_form.within("only", data_form.architectures, found["only"]) if "only" in found else None,
        tolerate=data_form.within("tolerate", data_form.boolean, found["tolerate"])
        if "tolerate" in found
        else None,
        prefer=data_form.within("prefer", data_form.weights, found["prefer"]) if "prefer" in found else None,
        skip=data_form.within("skip", data_form.boolean, found["skip"]) if "skip" in found else None,
    )


def _match(value: object) -> Match:
    found = data_form.fields(value, (*_GLOBS, "labels"), "namespace: shop")
    namespace, kind, name = (
        data_form.within(key, _glob, found[key]) if key in found else "" for key in _GLOBS
    )
    return Match(namespace, kind, name, data_form.within("labels", _labels, found.get("labels", {})))


def _glob(value: object) -> str:
    text = data_form.string(value)
    if not text:
        raise Problem("is empty: write a name or a glob such as 'web-*', or leave the key out")
    return text


def _labels(value: object) -> tuple[tuple[str, str], ...]:
    found = data_form.members(value, "tier: front")
    return tuple(
        (text_form.label_key(key), data_form.within(key, _label_value, text)) for key, text in found.items()
    )


def _label_value(value: object) -> str:
    return text_form.label_value(data_form.string(value))


def file_only(_given: Sequence[str]) -> object:
    """Refuses text: for kinds that are written as data only. Raises Problem."""
    raise Problem("is read from a configuration file only: write it under spec")


_GLOB = {"type": ["string", "integer"], "minLength": 1}
RULES = OptionType(
    file_only,
    rules,
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "match": {
                    "type": "object",
                    "properties": {
                        **dict.fromkeys(_GLOBS, _GLOB),
                        "labels": {"type": "object", "additionalProperties": LABEL_VALUE},
                    },
                    "additionalProperties": False,
                },
                "only": ARCHITECTURE_LIST,
                "tolerate": {"type": "boolean"},
                "prefer": PREFERENCE.schema,
                "skip": {"type": "boolean"},
            },
            "required": ["match"],
            "minProperties": 2,
            "additionalProperties": False,
        },
    },
    "tuple[Rule, ...]",
    "Sequence[Mapping[str, Any]]",
)


_KEYS = ("group", "kind", "podSpec", "within", "images", "neverRun", *FIELDS, "immutable")
_EXAMPLE = "group: example.com, kind: Widget, podSpec: spec.template.spec"


def workloads(value: object) -> tuple[Workload, ...]:
    """The rows, in their order. Raises Problem, also for two rows of a kind that place the same pods."""
    rows = data_form.items(value, _workload, f"{{{_EXAMPLE}}}")
    taken: dict[tuple[str, str], list[tuple[Path, Workload]]] = {}
    for row in rows:
        known = taken.setdefault((row.group, row.kind), [])
        paths = list(_written(row))
        for path in paths:
            if any(other != row and _meet(path, at) for at, other in known):
                shown = pattern_text(path)
                raise Problem(
                    f"two rows for {row.kind} write to {shown}: merge them into one row with all images of that pod",
                    (_place(value, row),),
                )
        known += ((path, row) for path in paths)
    return rows


def _written(row: Workload) -> Iterator[Path]:
    """Where archfit may write for the row."""
    if row.affinity is not None:
        yield (*(row.affinity or (*row.pod_spec, "affinity")), "nodeAffinity")
    if row.tolerations is not None:
        yield row.tolerations or (*row.pod_spec, "tolerations")


def _meet(one: Path, other: Path) -> bool:
    """Whether both patterns mean the same place in some object."""
    return len(one) == len(other) and all(
        left == right or "*" in {left, right} for left, right in zip(one, other, strict=True)
    )


def _place(value: object, row: Workload) -> int:
    """The number of the row in the list as written, where doubles count."""
    listed = value if isinstance(value, list) else []
    return next(number for number, item in enumerate(listed) if _workload(item) == row)


def _workload(value: object) -> Workload:
    found = data_form.fields(value, _KEYS, _EXAMPLE)
    for key in ("group", "kind", "podSpec"):
        if key not in found:
            raise Problem(f"has no {key}: write it as {{{_EXAMPLE}}}")
    pod_spec = data_form.within("podSpec", _path, found["podSpec"])
    images = data_form.within("images", _images, found["images"]) if "images" in found else ()
    never = data_form.within("neverRun", _images, found["neverRun"]) if "neverRun" in found else ()
    fields = {name: data_form.within(name, _field, found[name]) for name in FIELDS if name in found}
    there = data_form.within("within", _path, found["within"]) if "within" in found else ()
    if there and pod_spec[: len(there)] != there:
        raise Problem("has to be podSpec or a part of it, from the root", ("within",))
    return Workload(
        data_form.within("group", _group, found["group"]),
        data_form.within("kind", _kind, found["kind"]),
        pod_spec,
        data_form.within("immutable", data_form.boolean, found["immutable"])
        if "immutable" in found
        else False,
        there=there or (pod_spec if images or fields else ()),
        images=tuple((path,) for path in images),
        never_run=tuple((path, "its row says so") for path in never),
        affinity=fields.get(AFFINITY, ()),
        tolerations=fields.get(TOLERATIONS, ()),
        node_selector=fields.get(NODE_SELECTOR, ()),
        seen=STATED,
    )


def _path(value: object) -> Path:
    text = data_form.string(value)
    try:
        return undotted(text)
    except ValueError:
        raise Problem(
            f"{text!r} is not a path: write keys with dots between them, and [*] for every item, as "
            "spec.tasks[*].template.spec"
        ) from None


def _field(value: object) -> Path | None:
    return None if value == "none" else _path(value)


def _images(value: object) -> tuple[Path, ...]:
    return data_form.items(value, _path, "spec.image")


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


# Brackets escaped, quotes not: editors read patterns as JavaScript does.
_PATH = {"type": "string", "pattern": r"""^[^\[\]. /\\"']+(\[\*\])?(\.[^\[\]. /\\"']+(\[\*\])?)*$"""}
WORKLOADS = OptionType(
    file_only,
    workloads,
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "group": {"type": "string", "pattern": "^[^/ ]*$"},
                "kind": {"type": "string", "pattern": "^[A-Za-z0-9]+$"},
                "podSpec": _PATH,
                "within": _PATH,
                "images": {"type": "array", "items": _PATH},
                "neverRun": {"type": "array", "items": _PATH},
                **dict.fromkeys(FIELDS, _PATH),
                "immutable": {"type": "boolean"},
            },
            "required": ["group", "kind", "podSpec"],
            "additionalProperties": False,
        },
    },
    "tuple[Workload, ...]",
    "Sequence[Mapping[str, Any]]",
)
