"""CEL: the match conditions that leave pods to others, and rules and globs of the configuration as conditions.

The conditions are the rows of `admission.admitted_pod` and `placement.selection` that leave a pod alone. `kind` is
always Pod here, so that a rule or an exclude glob for another kind leaves no trace in the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from archfit.base.errors import UsageError
from archfit.base.results import ObjectRef
from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options
from archfit.placement.annotations import PREFIX
from archfit.placement.filters import names_kind, second_names_object
from archfit.policy.cel.cel_text import all_of, any_of, choice, is_literal, literal, pattern, text
from archfit.webhook.admitted_pod import MIRROR

_TOGETHER = 20
MAX_EXCLUDES = 50 * _TOGETHER
"""In conditions of 20 each: Kubernetes takes 64 conditions."""
MAX_RULES = 200
"""Each is a choice within another, and CEL's parser goes 250 deep."""
POD = ObjectRef("v1", "Pod", "", "")
NOT_SKIPPED = "not-skipped"
TRUE = text(r"^\s*true\s*$")


def match_conditions(options: Options) -> Iterator[tuple[str, str]]:
    """(name, expression) of each condition; the policy sees the pods that meet all of them.

    Raises UsageError for more rules or excludes than a policy holds.
    """
    yield NOT_SKIPPED, f"!({_annotated(f'{PREFIX}skip', f'.matches({TRUE})')})"
    yield "not-bound-to-a-node", "!has(object.spec.nodeName) || object.spec.nodeName == ''"
    yield (
        "not-of-a-daemon-set",
        "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, "
        "has(o.controller) && o.controller && o.kind == 'DaemonSet')",
    )
    yield "not-a-mirror-of-a-static-pod", f"!({_annotated(MIRROR, '.size() > 0')})"
    yield (
        "not-for-virtual-nodes-alone",
        "!has(object.spec.nodeSelector) || !('type' in object.spec.nodeSelector) "
        "|| object.spec.nodeSelector['type'] != 'virtual-kubelet'",
    )
    globs = (_excluded(glob) for glob in options.exclude)
    excluded = [condition for condition in globs if condition is not None]
    if len(excluded) > MAX_EXCLUDES:
        raise UsageError(
            f"{len(excluded)} entries of exclude are about pods, and a policy holds {MAX_EXCLUDES}: write globs for "
            "several, or leave namespaces out with --namespace-selector"
        )
    for number, start in enumerate(range(0, len(excluded), _TOGETHER), 1):
        yield f"not-excluded-{number}", f"!({any_of(excluded[start : start + _TOGETHER])})"
    skipped = chosen(options, lambda rule: None if rule.skip is None else literal(rule.skip), "false")
    if skipped != "false":
        yield "not-skipped-by-a-rule", f"!({skipped})"


def chosen(options: Options, value: Callable[[Rule], str | None], otherwise: str) -> str:
    """The value of the last rule that matches the pod and has one: a later rule overrides an earlier one.

    Raises UsageError for more rules than a policy holds.
    """
    cases: list[tuple[str, str]] = []
    for rule in reversed(options.rules):
        own, condition = value(rule), _matched(rule.match)
        if own is None or condition is None:
            continue
        if condition == "true":
            return choice(cases, own)
        cases.append((condition, own))
    if len(cases) > MAX_RULES:
        raise UsageError(
            f"{len(cases)} rules choose the same option for pods, and a policy holds {MAX_RULES}: write rules with "
            "globs for several namespaces, or policies of different --name and --namespace-selector"
        )
    return choice(cases, otherwise)


def _matched(match: Match) -> str | None:
    """When a rule is about a pod; None for never."""
    identified = _identified(match.kind, match.namespace, match.name)
    if identified is None:
        return None
    labels = [
        f"has(object.metadata.labels) && {text(key)} in object.metadata.labels "
        f"&& object.metadata.labels[{text(key)}] == {text(value)}"
        for key, value in match.labels
    ]
    return all_of([*([] if identified == "true" else [identified]), *labels])


def _excluded(glob: Exclude) -> str | None:
    """When a glob is about a pod; None for never."""
    whole = _identified(glob.kind, glob.namespace, glob.name)
    by_name = _identified(glob.kind, "", glob.namespace) if second_names_object(glob) else None
    return whole if whole is None or by_name is None else any_of([whole, by_name])


def _identified(kind: str, namespace: str, name: str) -> str | None:
    if kind and not names_kind(kind, POD):
        return None
    conditions = []
    if namespace:
        conditions.append(_globbed("request.namespace", namespace))
    if name:
        own, generated = (_globbed(f"object.metadata.{field}", name) for field in ("name", "generateName"))
        conditions.append(
            f"(has(object.metadata.name) && object.metadata.name != '' ? {own} "
            f": has(object.metadata.generateName) && {generated})"
        )
    return all_of(conditions)


def _globbed(subject: str, glob: str) -> str:
    return f"{subject} == {text(glob)}" if is_literal(glob) else f"{subject}.matches({text(pattern(glob))})"


def _annotated(name: str, test: str) -> str:
    return (
        f"has(object.metadata.annotations) && {text(name)} in object.metadata.annotations "
        f"&& object.metadata.annotations[{text(name)}]{test}"
    )
