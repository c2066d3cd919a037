"""Options that only the configuration file has: `rules:` and `workloads:`, whose rows are those of `workload_rows`.

    rules:
      - match: {namespace: shop, kind: Deployment, name: "web-*", labels: {tier: front}}    # all must hold
        only: [amd64]           # narrows the pods to these architectures
        when: offered           # `only` counts where all images run on one of them; the default, possible: always
        tolerate: false         # whether toleration rules apply
        prefer: {arm64: 10}     # instead of the option `prefer`
        skip: true              # leaves the pods alone

`match: {}` is every pod; a rule needs at least one of the other keys. The rows of a kind replace those that archfit has
for it; two of them that write to the same place, whatever the object says, are an error. An image that no row of the
kind names leaves its pods without toleration.
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
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

_EFFECTS: dict[str, Callable[[object], Any]] = {
    "only": data_form.architectures,
    "tolerate": data_form.boolean,
    "prefer": data_form.weights,
    "skip": data_form.boolean,
}
_WHEN = ("possible", "offered")
_GLOBS = ("namespace", "kind", "name")


def rules(value: object) -> tuple[Rule, ...]:
    """The list of rules, in its order. Raises Problem."""
    return data_form.items(value, _rule, "{match: {namespace: shop}, only: [amd64]}")


def _rule(value: object) -> Rule:
    rule = data_form.fields(value, ("match", *_EFFECTS, "when"), "match: {namespace: shop}, only: [amd64]")
    if "match" not in rule:
        raise Problem(
            "has no match: write which pods it is about, as match: {namespace: shop}, or match: {} for all"
        )
    if not any(effect in rule for effect in _EFFECTS):
        raise Problem(f"has no effect: write at least one of {', '.join(_EFFECTS)}")
    if "when" in rule and "only" not in rule:
        raise Problem("says when, and not what: write it beside only, as only: [arm64], when: offered")
    match = data_form.within("match", _match, rule["match"])
    effects = {
        effect: data_form.within(effect, parse, rule[effect])
        for effect, parse in _EFFECTS.items()
        if effect in rule
    }
    offered = data_form.word(rule, "when", _WHEN, "does not say when to narrow") == "offered"
    return Rule(match, **effects, offered=offered)


def _match(value: object) -> Match:
    given = data_form.fields(value, (*_GLOBS, "labels"), "namespace: shop")
    globs = {key: data_form.within(key, _glob, given[key]) for key in _GLOBS if key in given}
    return Match(**globs, labels=data_form.within("labels", _labels, given.get("labels", {})))


def _glob(value: object) -> str:
    text = data_form.string(value)
    if not text:
        raise Problem("is empty: write a name or a glob such as 'web-*', or leave the key out")
    return text_form.closed(text)


def _labels(value: object) -> tuple[tuple[str, str], ...]:
    def label(text: object) -> str:
        return text_form.label_value(data_form.string(text))

    labels = data_form.members(value, "tier: front")
    return tuple(
        (text_form.label_key(key), data_form.within(key, label, text)) for key, text in labels.items()
    )


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
    rows: dict[Workload, None] = {}
    taken: dict[tuple[str, str], dict[Any, Any]] = {}
    for number, item in enumerate(data_form.listed(value, f"{{{EXAMPLE}}}")):
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
