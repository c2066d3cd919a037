"""The companion of a policy: ValidatingAdmissionPolicies that say what a mutation cannot say.

    NAME             warns of, and audits what `validating_policy_objects` lists
    NAME-deny        refuses the same where `deny` or `late_changes` say so; NAME then does not warn of it
    NAME-daemonsets  warns of DaemonSets that will not run on nodes that they go to

An unknown image is never refused: it says nothing about the pod, and a new image would stop every deployment.

What archfit's webhook wrote (`otherLines` of the record) says how many images it saw, and nothing of what it knew:

    images of the pod                       what the companion says
    all known to the table                  what it says of any pod: the webhook's additions count as the pod's own
    one unknown, the webhook saw as many    nothing: the webhook may know it
    one unknown, it saw another number      the pod was changed after the webhook's last pass

The parameter is what puts the policy into force: its PlatformTable, or, with literals, its
MutatingAdmissionPolicyBinding. So where the API server does not serve that kind, or nobody applied the policy, nothing
is said about pods that nobody places. CEL has no clock at admission: the time is the pod's creationTimestamp, which the
API server sets before it validates (apiserver, pkg/registry/rest/create.go, BeforeCreate).

A message stays within 256 characters together with what the API server writes before it (KEP-3488; apiserver v0.36.3,
pkg/endpoints/filters/warning.go and pkg/admission/plugin/policy/validating/dispatcher.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from archfit.images.platforms import Found
from archfit.options.settings import Options
from archfit.policy.cel.cel_text import cel, text
from archfit.policy.cel.json_patch import NEEDED_TERMS
from archfit.policy.cel.objects import daemon_set_spec
from archfit.policy.cel.policy_settings import DATE, PolicySettings
from archfit.policy.cel.recorded_entries import SAME_ITEMS, states
from archfit.webhook.request_fields import STATES_TERMS

LONGEST_WARNING = 256
LONGEST_REFUSAL = 1024
DENY = "-deny"
DAEMON_SETS = "-daemonsets"
_API = "admissionregistration.k8s.io/v1"  # since Kubernetes 1.30
_USES = re.compile(r"\bvariables\.(\w+)")
_PREFIX = "Validation failed for ValidatingAdmissionPolicy '{0}' with binding '{0}': "
_SHORTEST = 24  # an image of this length can still be recognised

_UNKNOWN = (
    "archfit does not know the image ",
    ", so it adds no toleration to this pod: run archfit policy again",
)
_NOWHERE = ("no node can run all images of this pod (", "): correct an image, its nodeSelector or affinity")
_NOT_NARROWED = (
    "this pod is applied with its own node affinity, which does not fit its images (",
    "): add kubernetes.io/arch to it",
)
_LATE = ("the placement of this pod does not fit its images (", "): it was changed after archfit decided")
_NO_NODE = (
    "no node can run all images of this DaemonSet (",
    "): correct an image, its nodeSelector or affinity",
)
_LOST = ("this DaemonSet will not run on the ", " nodes (", "): keep it off them with a node affinity")
_OLD = ("archfit wrote its policy on ", ", too long ago: run archfit policy again")


def validating_policy_objects(
    objects: Sequence[Mapping[str, Any]], settings: PolicySettings
) -> list[dict[str, Any]]:
    """The objects to apply after those of the policy. objects: of `objects.policy_objects` with the same settings."""
    *_, policy, binding = objects
    name = settings.name
    sorts = (
        (settings.deny, "!variables.conflict", _NOWHERE),
        (settings.deny, _narrow_enough(), _NOT_NARROWED),
        (settings.late_changes == "deny", _unchanged_since(), _LATE),
    )
    warned = [_of_images(test, texts, name) for denied, test, texts in sorts if not denied]
    refused = [
        _of_images(test, texts, name + DENY, LONGEST_REFUSAL) for denied, test, texts in sorts if denied
    ]
    old = [_old(settings.max_age)] if settings.max_age else []
    parts = [(name, [_unknown(name), *warned, *old], ["Warn", "Audit"])]
    parts += [(name + DENY, refused, ["Deny"])] if refused else []
    parameter = _parameter(policy, binding)
    return [
        value
        for part, validations, actions in parts
        for value in _pair(policy["spec"], parameter, part, validations, actions, settings)
    ]


def daemon_set_objects(
    images: Mapping[str, Found],
    options: Options,
    settings: PolicySettings,
    objects: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The objects that warn of DaemonSets. images, options, settings, objects: of the policy. Raises UsageError."""
    *_, policy, binding = objects
    name = settings.name + DAEMON_SETS
    validations = (_of_images("!variables.conflict", _NO_NODE, name), _lost(name))
    spec = daemon_set_spec(images, options, settings)
    return _pair(spec, _parameter(policy, binding), name, validations, ["Warn", "Audit"], settings)


def _parameter(
    policy: Mapping[str, Any], binding: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    if "paramKind" in policy["spec"]:
        return policy["spec"]["paramKind"], binding["spec"]["paramRef"]
    return (
        {key: binding[key] for key in ("apiVersion", "kind")},
        {"name": binding["metadata"]["name"], "parameterNotFoundAction": "Allow"},
    )


def _pair(
    own: Mapping[str, Any],
    parameter: tuple[dict[str, Any], dict[str, Any]],
    name: str,
    validations: Sequence[Mapping[str, str]],
    actions: Sequence[str],
    settings: PolicySettings,
) -> list[dict[str, Any]]:
    """A policy and its binding. own: the spec of the policy whose companion they are."""
    kind, reference = parameter
    policy = {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Ignore",
            "paramKind": kind,
            "matchConstraints": own["matchConstraints"],
            "matchConditions": own["matchConditions"],
            "variables": needed(own["variables"], validations),
            "validations": list(validations),
        },
    }
    binding = {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": settings.dated(name),
        "spec": {"policyName": name, "validationActions": list(actions), "paramRef": reference},
    }
    return [policy, binding]


def needed(
    variables: Sequence[Mapping[str, str]], validations: Iterable[Mapping[str, str]]
) -> list[dict[str, str]]:
    """The variables that the validations use, themselves or through others: each is evaluated for each pod."""
    by_name = {variable["name"]: variable["expression"] for variable in variables}
    used: set[str] = set()
    left = [expression for validation in validations for expression in validation.values()]
    while left:
        fresh = {name for name in _USES.findall(left.pop()) if name in by_name} - used
        used |= fresh
        left += [by_name[name] for name in fresh]
    return [dict(variable) for variable in variables if variable["name"] in used]


def _unknown(name: str) -> dict[str, str]:
    before, after = _UNKNOWN
    more = " and 99 more"
    room = _room(name, before + after + more)
    return {
        "expression": "variables.unknownImages.size() == 0 || variables.otherLines.size() > 0\n"
        f"|| variables.recordedItems.size() > 0 && !({SAME_ITEMS})",
        "message": f"{before}of this pod{after}",
        "messageExpression": cel(
            """
            %before + %image
            + (variables.unknownImages.size() > 1 ? ' and ' + string(variables.unknownImages.size() - 1) + ' more' : '')
            + %after
            """,
            before=text(before),
            image=_shortened("variables.unknownImages[0]", room),
            after=text(after),
        ),
    }


def _lost(name: str) -> dict[str, str]:
    before, middle, after = _LOST
    room = _room(name, before + middle + after + "amd64, arm64, windows/arm64")
    return {
        "expression": "variables.lost.size() == 0",
        "message": "this DaemonSet will not run on some nodes that it goes to: keep it off them with a node affinity",
        "messageExpression": f"{text(before)} + variables.lost.join(', ') + {text(middle)}\n"
        f"+ {_images(room)} + {text(after)}",
    }


def _narrow_enough() -> str:
    """Whether the terms that an applied pod states need nothing more."""
    needed = f"variables.{NEEDED_TERMS}.exists(needed, needed.size() > 0)"
    return f"!({states(STATES_TERMS)}) || !variables.decided || variables.conflict || !{needed}"


def _unchanged_since() -> str:
    """Whether the pod has what policy or webhook decided for it, as far as this can be known."""
    return cel(
        """
        %same
        && (variables.unknownImages.size() == 0 || variables.otherLines.all(l,
          l.startsWith(%webhook + string(variables.imageUses.size()) + ',')))
        """,
        same=SAME_ITEMS,
        webhook=text('{"by":"webhook","images":'),
    )


def _old(seconds: int) -> dict[str, str]:
    before, after = _OLD
    there = f"has(params.metadata.annotations) && {text(DATE)} in params.metadata.annotations"
    date = f"params.metadata.annotations[{text(DATE)}]"
    return {
        "expression": f"!({there})\n"
        f"|| timestamp(object.metadata.creationTimestamp) - timestamp({date}) < duration('{seconds}s')",
        "message": "archfit wrote its policy too long ago: run archfit policy again",
        "messageExpression": f"{text(before)} + {date} + {text(after)}",
    }


def _of_images(
    expression: str, texts: tuple[str, str], name: str, longest: int = LONGEST_WARNING
) -> dict[str, str]:
    """A validation whose message names the images between its two texts."""
    before, after = texts
    return {
        "expression": expression,
        "message": before.rpartition(" (")[0] + after[1:],
        "messageExpression": f"{text(before)} + {_images(_room(name, before + after, longest))} + {text(after)}",
    }


def _images(room: int) -> str:
    return (
        f"[variables.imageUses.map(use, use.image).join(', ')].map(images, {_shortened('images', room)})[0]"
    )


def _room(name: str, rest: str, longest: int = LONGEST_WARNING) -> int:
    """How many characters an image may have in a message about the policy of that name."""
    return max(_SHORTEST, longest - len(_PREFIX.format(name)) - len(rest))


def _shortened(expression: str, longest: int) -> str:
    """The text's beginning and end, where it is longer."""
    head = (longest - 2) // 2
    tail = longest - 2 - head
    return (
        f"({expression}.size() > {longest}\n"
        f"  ? {expression}.substring(0, {head}) + '..' + {expression}.substring({expression}.size() - {tail})\n"
        f"  : {expression})"
    )
