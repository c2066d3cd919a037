"""Taints of nodes, what tolerates them, and labels.

toleration           gke, or KEY[=[VALUE]]:EFFECT[@ARCHITECTURE,..]       kubectl, pkg/cmd/taint
taints of systems    windows=KEY[=VALUE]:EFFECT       exactly the taint that all nodes of the system have
label key            [prefix/]name                    Kubernetes, "Labels and Selectors: syntax"

arch=arm64:NoSchedule          Equal "arm64", for nodes of arm64: the value is an architecture
pool=arm:NoSchedule@arm64      Equal "arm",   for nodes of arm64
arm-only=:NoSchedule@arm64     Equal "",      exactly the taint without a value
arm-only:NoSchedule@arm64      Exists,        the taint with any value, as `kubectl describe` prints it
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.base.spelling import nearest
from archfit.images.platforms import ARCHITECTURES, normalised
from archfit.options.architectures import ARCHITECTURE_LIST, architecture, architectures
from archfit.options.option_types import TEXT, list_of, mapping_of, member_of, texts_of, words
from archfit.options.settings import GKE, Toleration, TolerationRule
from archfit.yaml.data_form import fields, items, of_text, one_of, string, within, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.options.option_types import Schema

ARCH_KEYS = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_WHEN = ("possible", "needed")


def label_key(text: str) -> str:
    """A label or taint key: `[prefix/]name`, 253 and 63 characters at most. Raises Problem."""
    prefix, slash, name = text.rpartition("/")
    if not _is_name(name) or (slash and not _is_dns_name(prefix)):
        raise Problem(
            f"{text!r} is not a key of a label or taint: write letters, digits, '-', '_' and '.', with a DNS "
            "name and '/' in front if it has one, as 'example.com/arch'"
        )
    return text


def label_value(text: str) -> str:
    """The value of a label or taint: empty, or 63 characters at most. Raises Problem."""
    if text and not _is_name(text):
        raise Problem(
            f"{text!r} is not a value of a label or taint: write up to 63 letters, digits, '-', '_' and '.'"
        )
    return text


def _is_name(text: str) -> bool:
    """`[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`, 63 characters at most."""
    return len(text) <= 63 and _is_worded(text, "-_.")


def _is_dns_name(text: str) -> bool:
    """Labels `[a-z0-9]([-a-z0-9]*[a-z0-9])?` with dots between them, 253 characters at most."""
    return (
        len(text) <= 253 and text == text.lower() and all(_is_worded(label, "-") for label in text.split("."))
    )


def _is_worded(text: str, marks: str) -> bool:
    """Letters and digits of ASCII, between which the marks may stand."""
    bare = text
    for mark in marks:
        bare = bare.replace(mark, "")
    return text.isascii() and bare.isalnum() and text[0].isalnum() and text[-1].isalnum()


_NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_LABEL_KEY = {"type": "string", "pattern": f"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?{_NAME}$"}
LABEL_VALUE: Schema = {"type": ["string", "integer"], "pattern": f"^({_NAME})?$"}
KEYS = texts_of(label_key, _LABEL_KEY, "example.com/virtual", "str")


def _effect(text: str) -> str:
    """A taint's effect. Raises Problem."""
    return one_of(text, _EFFECTS, "is not a taint effect")


def architecture_of(key: str, value: str) -> str:
    """The architecture that a taint's value spells, in any usual spelling; "" where it spells none.

    Under other keys than those of Kubernetes, `arm` often means arm64 nodes, so it spells nothing there.
    """
    name = normalised("linux", value).architecture
    return name if name in ARCHITECTURES and (name != "arm" or key in ARCH_KEYS) else ""


def system_taint(system: str, text: str) -> tuple[str, Toleration]:
    """The taint that all nodes of a system have, as the toleration of exactly that taint. Raises Problem."""
    if system != "windows":
        raise Problem(f"{system!r} is no system of nodes beside Linux: write windows={text}")
    head, colon, last = text.rpartition(":")
    if not colon or _effect(last) == "PreferNoSchedule":
        example = f"{head or text}:NoSchedule"
        raise Problem(f"{text!r} does not keep pods off: write the taint's effect, as {example!r}")
    key, _, value = head.partition("=")
    return system, Toleration(label_key(key), "Equal", label_value(value), last)


SYSTEM_TAINTS = mapping_of(
    lambda text: system_taint(*text.partition("=")[::2]),
    lambda system, taint: member_of(system_taint, system, taint),
    lambda row: row[0],
    "windows: 'node.kubernetes.io/os=windows:NoSchedule'",
    {"properties": {"windows": TEXT}, "additionalProperties": False},
    "tuple[str, Toleration]",
    "str",
)


def toleration_rule(text: str) -> TolerationRule:
    """One rule of the grammar above. Raises Problem."""
    if text == "gke":
        return GKE
    if text == "none":
        raise Problem("'none' is no item of a list: write tolerate: none")
    taint, at, names = text.partition("@")
    head, colon, last = taint.rpartition(":")
    if not colon and nearest(text, ("gke",)):
        raise Problem(f"{text!r} names no effect: write 'gke' for the taint of GKE's Arm nodes")
    if not colon:
        key, _, value = taint.partition("=")
        named = architecture_of(ARCH_KEYS[0], taint)
        example = f"{ARCH_KEYS[0]}={named}:NoSchedule" if named else f"{taint}:NoSchedule"
        listed = at + names or ("" if named or architecture_of(key, value) else "@arm64")
        raise Problem(f"{text!r} names no effect: write {example + listed!r}")
    key, equals, value = head.partition("=")
    toleration = Toleration(
        label_key(key), "Equal" if equals else "Exists", label_value(value), _effect(last)
    )
    if at:
        if not names.strip():
            raise Problem(f"{text!r} names no architecture after '@': write {taint + '@arm64'!r}")
        wanted = {architecture(name) for name in words(names, "architectures")}
    else:
        wanted = {architecture_of(key, value)} - {""}
    if not wanted:
        raise Problem(f"{text!r} does not say which architectures its nodes have: write {text + '@arm64'!r}")
    return TolerationRule(tuple(sorted(wanted)), toleration)


def _rule(value: object) -> TolerationRule:
    """A rule of the grammar above, or one that is written out. Raises Problem."""
    if not isinstance(value, dict):
        return toleration_rule(string(value))
    rule = fields(value, ("architectures", "toleration", "when"), "architectures: [arm64], toleration: {..}")
    for key in ("architectures", "toleration"):
        if key not in rule:
            raise Problem(f"has no {key}: write both architectures and toleration")
    return TolerationRule(
        within("architectures", architectures, rule["architectures"]),
        within("toleration", _toleration, rule["toleration"]),
        word(rule, "when", _WHEN, "does not say when to tolerate") == "needed",
    )


def _toleration(value: object) -> Toleration:
    given = fields(
        value, ("key", "operator", "value", "effect"), "key: arch, value: arm64, effect: NoSchedule"
    )
    if "key" not in given:
        raise Problem("has no key: write the taint's key, as archfit never adds a toleration of every taint")
    key = within("key", of_text(label_key), given["key"])
    operator = word(given, "operator", _OPERATORS, "is not an operator of tolerations")
    text = within("value", of_text(label_value), given.get("value", ""))
    if operator == "Exists" and text:
        raise Problem("operator Exists takes no value: leave it out, or write operator: Equal", ("value",))
    effect = within("effect", of_text(_effect), given["effect"]) if "effect" in given else ""
    return Toleration(key, operator, text, effect)


_TOLERATION = {
    "type": "object",
    "properties": {
        "key": _LABEL_KEY,
        "operator": {"enum": list(_OPERATORS)},
        "value": LABEL_VALUE,
        "effect": {"enum": list(_EFFECTS)},
    },
    "required": ["key"],
    "additionalProperties": False,
}
TOLERATIONS = list_of(
    lambda value: items(value, _rule, "'arch=arm64:NoSchedule'"),
    {
        "anyOf": [
            {"type": "string", "pattern": f"^(gke|[^@:]+:({'|'.join(_EFFECTS)})(@.+)?)$"},
            {
                "type": "object",
                "properties": {
                    "architectures": ARCHITECTURE_LIST,
                    "toleration": _TOLERATION,
                    "when": {"enum": list(_WHEN)},
                },
                "required": ["architectures", "toleration"],
                "additionalProperties": False,
            },
        ]
    },
    "TolerationRule",
    'Sequence[str | Mapping[str, Any]] | Literal["none"]',
)
