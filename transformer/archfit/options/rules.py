"""`rules:` of the configuration file: what holds for some pods only, for a gradual roll-out.

    rules:
      - match: {namespace: shop, kind: Deployment, name: "web-*", labels: {tier: front}}    # all must hold
        only: [amd64]           # narrows the pods to these architectures
        tolerate: false         # whether toleration rules apply
        prefer: {arm64: 10}     # instead of the option `prefer`
        skip: true              # leaves the pods alone

`match: {}` is every pod; a rule needs at least one of the other keys. `placement` says what several
rules do to one pod.
"""

from __future__ import annotations

from archfit.options import data_form, text_form
from archfit.options.option_entries import Match, Rule
from archfit.options.option_types import ARCHITECTURE_LIST, LABEL_VALUE, PREFERENCE, OptionType
from archfit.options.problem import Problem
from archfit.typing_names import Sequence

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
)
