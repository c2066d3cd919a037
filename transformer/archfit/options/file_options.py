"""Options that only the configuration file has: `rules:` and `workloads:`.

`rules:` of the configuration file: what holds for some pods only, for a gradual roll-out.

    rules:
      - match: {namespace: shop, kind: Deployment, name: "web-*", labels: {tier: front}}    # all must hold
        only: [amd64]           # narrows the pods to these architectures
        when: offered           # `only` counts where all images run on one of them; the default, possible: always
        tolerate: false         # whether toleration rules apply
        prefer: {arm64: 10}     # instead of the option `prefer`
        skip: true              # leaves the pods alone

`match: {}` is every pod; a rule needs at least one of the other keys. `placement` says what several
rules do to one pod.

`workloads:` of the configuration file: kinds that hold pods, beside those that archfit knows. `workload_rows` says how
a row is written.

The rows of a kind replace those that archfit has for it; two of them that write to the same place, whatever the
object says, are an error. An image that no row of the kind names leaves its pods without toleration.
"""

from __future__ import annotations

from archfit.base.patch import Path, pattern_text
from archfit.options import data_form, text_form
from archfit.options.option_entries import Match, Rule
from archfit.options.option_types import ARCHITECTURE_LIST, LABEL_VALUE, PREFERENCE, OptionType
from archfit.options.settings import Workload
from archfit.options.text_form import Problem
from archfit.options.workload_rows import EXAMPLE, row_schema, stated_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EFFECTS = ("only", "tolerate", "prefer", "skip")
_WHEN = ("possible", "offered")
_GLOBS = ("namespace", "kind", "name")


def rules(value: object) -> tuple[Rule, ...]:
    """The list of rules, in its order. Raises Problem."""
    return data_form.items(value, _rule, "{match: {namespace: shop}, only: [amd64]}")


def _rule(value: object) -> Rule:
    found = data_form.fields(value, ("match", *_EFFECTS, "when"), "match: {namespace: shop}, only: [amd64]")
    if "match" not in found:
        raise Problem(
            "has no match: write which pods it is about, as match: {namespace: shop}, or match: {} for all"
        )
    if not any(effect in found for effect in _EFFECTS):
        raise Problem(f"has no effect: write at least one of {', '.join(_EFFECTS)}")
    if "when" in found and "only" not in found:
        raise Problem("says when, and not what: write it beside only, as only: [arm64], when: offered")
    return Rule(
        data_form.within("match", _match, found["match"]),
        only=data_form.within("only", data_form.architectures, found["only"]) if "only" in found else None,
        tolerate=data_form.within("tolerate", data_form.boolean, found["tolerate"])
        if "tolerate" in found
        else None,
        prefer=data_form.within("prefer", data_form.weights, found["prefer"]) if "prefer" in found else None,
        skip=data_form.within("skip", data_form.boolean, found["skip"]) if "skip" in found else None,
        offered=data_form.within("when", _when, found.get("when", _WHEN[0])) == "offered",
    )


def _when(value: object) -> str:
    return data_form.one_of(value, _WHEN, "when to narrow")


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
                "when": {"enum": list(_WHEN)},
                "tolerate": {"type": "boolean"},
                "prefer": PREFERENCE.schema,
                "skip": {"type": "boolean"},
            },
            "required": ["match"],
            "minProperties": 2,
            "dependentRequired": {"when": ["only"]},
            "additionalProperties": False,
        },
    },
    "tuple[Rule, ...]",
    "Sequence[Mapping[str, Any]]",
)


def workloads(value: object) -> tuple[Workload, ...]:
    """The rows, in their order, doubles dropped. Raises Problem, also for two rows that place the same pods."""
    rows: list[Workload] = []
    taken: dict[tuple[str, str], list[Path]] = {}
    for number, item in enumerate(data_form.listed(value, f"{{{EXAMPLE}}}")):
        row = data_form.within(number, stated_row, item)
        if row in rows:
            continue
        rows.append(row)
        known, paths = taken.setdefault((row.group, row.kind), []), list(_written(row))
        for path in paths:
            if any(_meet(path, at) for at in known):
                shown = pattern_text(path)
                raise Problem(
                    f"two rows for {row.kind} write to {shown}: merge them into one row with all images of that pod",
                    (number,),
                )
        known += paths
    return tuple(rows)


def _written(row: Workload) -> Iterator[Path]:
    """Where archfit may write for the row, whatever else the object says."""
    if row.when or row.unless or row.versions or not row.pod_spec:
        return
    if row.affinity is not None:
        yield (*(row.affinity or (*row.pod_spec, "affinity")), "nodeAffinity")
    if row.tolerations is not None:
        yield row.tolerations or (*row.pod_spec, "tolerations")


def _meet(one: Path, other: Path) -> bool:
    """Whether both patterns mean the same place in some object."""
    return len(one) == len(other) and all(
        left == right or "*" in {left, right} for left, right in zip(one, other, strict=True)
    )


WORKLOADS = OptionType(
    file_only,
    workloads,
    {"type": "array", "items": row_schema()},
    "tuple[Workload, ...]",
    "Sequence[Mapping[str, Any]]",
)
