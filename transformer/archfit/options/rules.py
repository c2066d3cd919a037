"""Which pods an option is about: `exclude`, and `rules:` of the configuration file.

    exclude     KIND[/NAMESPACE[/NAME]]     each a glob; parts left out match everything
                KIND/NAME                   as kubectl writes it: deployment/cart; see `placement.filters`

    rules:
      - match: {namespace: shop, kind: Deployment, name: "web-*", labels: {tier: front}}    # all must hold
        only: [amd64]           # narrows the pods to these architectures
        when: offered           # `only` counts where all images run on one of them; the default, possible: always
        tolerate: false         # whether toleration rules apply
        prefer: {arm64: 10}     # instead of the option `prefer`
        skip: true              # leaves the pods alone

`match: {}` is every pod; a rule needs at least one of the other keys.
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.options.architectures import ARCHITECTURE_LIST, PREFERENCE, architectures
from archfit.options.option_types import SWITCH, TEXT, OptionType, closed, file_only, texts_of
from archfit.options.settings import Exclude, Match, Rule
from archfit.options.taints import LABEL_VALUE, label_key, label_value
from archfit.yaml.data_form import fields, items, members, of_text, within, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from archfit.options.option_types import Schema


def exclude(text: str) -> Exclude:
    """One of the grammar above. Raises Problem."""
    parts = text.split("/")
    if len(parts) > 3 or not all(parts) or text != text.strip():
        raise Problem(
            f"{text!r} is not KIND/NAMESPACE/NAME: write it as 'Job', '*/kube-system' or 'Job/*/migrate-*'"
        )
    return Exclude(*map(closed, parts))


EXCLUDES = texts_of(exclude, TEXT, "DaemonSet, '*/kube-system'", "Exclude")

_EFFECTS: dict[str, tuple[Callable[[object], Any], Schema]] = {
    "only": (architectures, ARCHITECTURE_LIST),
    "tolerate": (SWITCH.data, SWITCH.schema),
    "prefer": (PREFERENCE.data, PREFERENCE.schema),
    "skip": (SWITCH.data, SWITCH.schema),
}
_WHEN = ("possible", "offered")
_GLOBS = ("namespace", "kind", "name")
_GLOB = {"type": ["string", "integer"], "minLength": 1}


def _rule(value: object) -> Rule:
    rule = fields(value, ("match", *_EFFECTS, "when"), "match: {namespace: shop}, only: [amd64]")
    if "match" not in rule:
        raise Problem(
            "has no match: write which pods it is about, as match: {namespace: shop}, or match: {} for all"
        )
    if not any(effect in rule for effect in _EFFECTS):
        raise Problem(f"has no effect: write at least one of {', '.join(_EFFECTS)}")
    if "when" in rule and "only" not in rule:
        raise Problem("says when, and not what: write it beside only, as only: [arm64], when: offered")
    match = within("match", _match, rule["match"])
    effects = {
        effect: within(effect, parse, rule[effect])
        for effect, (parse, _) in _EFFECTS.items()
        if effect in rule
    }
    offered = word(rule, "when", _WHEN, "does not say when to narrow") == "offered"
    return Rule(match, **effects, offered=offered)


def _match(value: object) -> Match:
    given = fields(value, (*_GLOBS, "labels"), "namespace: shop")
    globs = {key: within(key, of_text(_glob), given[key]) for key in _GLOBS if key in given}
    return Match(**globs, labels=within("labels", _labels, given.get("labels", {})))


def _glob(text: str) -> str:
    if not text:
        raise Problem("is empty: write a name or a glob such as 'web-*', or leave the key out")
    return closed(text)


def _labels(value: object) -> tuple[tuple[str, str], ...]:
    labels = members(value, "tier: front")
    return tuple((label_key(key), within(key, of_text(label_value), text)) for key, text in labels.items())


RULES = OptionType(
    file_only,
    lambda value: items(value, _rule, "{match: {namespace: shop}, only: [amd64]}"),
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
                **{effect: schema for effect, (_, schema) in _EFFECTS.items()},
                "when": {"enum": list(_WHEN)},
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
