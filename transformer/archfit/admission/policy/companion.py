"""The companion of a policy: a ValidatingAdmissionPolicy that says what a mutation cannot say.

    NAME         warns of, and audits       an image that the table lacks, so that the pod stays as it is
                                            a pod that no node can run
                                            a pod that was changed after archfit's last pass, so that archfit would
                                            place it otherwise
    NAME-deny    with `deny` alone:         refuses a pod that no node can run; NAME then warns of the others only

An unknown image is never refused: it says nothing about the pod, and a new image would stop every deployment.
matchConstraints, matchConditions, variables and parameters are those of the policy, less its updates; variables that
the validations do not need are left out, because each is evaluated for each pod.

A message stays within 256 characters together with what the API server writes before it (KEP-3488; apiserver v0.36.3,
pkg/endpoints/filters/warning.go and pkg/admission/plugin/policy/validating/dispatcher.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from archfit.admission.policy.cel_text import cel, text
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.admission.policy.recorded_entries import same_items
from archfit.typing_names import Any

LONGEST_WARNING = 256
LONGEST_REFUSAL = 1024
DENY = "-deny"
_API = "admissionregistration.k8s.io/v1"  # since Kubernetes 1.30
_USES = re.compile(r"\bvariables\.(\w+)")
_PREFIX = "Validation failed for ValidatingAdmissionPolicy '{0}' with binding '{0}': "
_SHORTEST = 24  # an image of this length can still be recognised

_UNKNOWN = ("archfit does not know the image ", ", so this pod stays as it is: run archfit policy again")
_NOWHERE = ("no node can run all images of this pod (", "): correct an image, its nodeSelector or affinity")
_LATE = ("this pod was changed after archfit placed it, and its placement does not fit its images (", ")")


def companion_objects(objects: Sequence[Mapping[str, Any]], settings: PolicySettings) -> list[dict[str, Any]]:
    """The objects to apply after those of the policy. objects: what `policy_objects` made with the same settings."""
    policy = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
    binding = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicyBinding")
    name = settings.name
    unknown, nowhere, late = _unknown(name), _of_images("!variables.conflict", _NOWHERE, name), _late(name)
    if not settings.deny:
        return _pair(policy, binding, name, (unknown, nowhere, late), ("Warn", "Audit"))
    refusal = _of_images("!variables.conflict", _NOWHERE, name + DENY, LONGEST_REFUSAL)
    return [
        *_pair(policy, binding, name, (unknown, late), ("Warn", "Audit")),
        *_pair(policy, binding, name + DENY, (refusal,), ("Deny",)),
    ]


def _pair(
    policy: Mapping[str, Any],
    binding: Mapping[str, Any],
    name: str,
    validations: Sequence[Mapping[str, str]],
    actions: Sequence[str],
) -> list[dict[str, Any]]:
    own = policy["spec"]
    spec = {key: own[key] for key in ("paramKind",) if key in own}
    spec |= {"failurePolicy": "Ignore"}
    rules = [{**rule, "operations": ["CREATE"]} for rule in own["matchConstraints"]["resourceRules"]]
    spec |= {"matchConstraints": {**own["matchConstraints"], "resourceRules": rules}}
    spec |= {key: own[key] for key in ("matchConditions",) if key in own}
    spec |= {"variables": needed(own["variables"], validations), "validations": list(validations)}
    bound = {"policyName": name, "validationActions": list(actions)}
    bound |= {key: binding["spec"][key] for key in ("paramRef", "matchResources") if key in binding["spec"]}
    labels = {key: policy["metadata"][key] for key in ("labels",) if key in policy["metadata"]}
    return [
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name, **labels},
            "spec": spec,
        },
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name, **labels},
            "spec": bound,
        },
    ]


def needed(
    variables: Sequence[Mapping[str, str]], validations: Iterable[Mapping[str, str]]
) -> list[dict[str, str]]:
    """The variables that the validations use, themselves or through others, in their order."""
    by_name = {one["name"]: one["expression"] for one in variables}
    found: set[str] = set()
    left = [expression for one in validations for expression in one.values()]
    while left:
        fresh = {name for name in _USES.findall(left.pop()) if name in by_name} - found
        found |= fresh
        left += [by_name[name] for name in fresh]
    return [dict(one) for one in variables if one["name"] in found]


def _unknown(name: str) -> dict[str, str]:
    before, after = _UNKNOWN
    more = " and 99 more"
    room = _room(name, before + after + more)
    return {
        "expression": "variables.unknownImages.size() == 0 || variables.recordedItems.size() > 0",
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


def _late(name: str) -> dict[str, str]:
    as_decided = f"!variables.foreignRecord && {same_items()}"
    return _of_images(as_decided.replace("\n", " "), _LATE, name)


def _of_images(
    expression: str, texts: tuple[str, str], name: str, longest: int = LONGEST_WARNING
) -> dict[str, str]:
    """A validation whose message names the images between its two texts."""
    before, after = texts
    return {
        "expression": expression,
        "message": before.rpartition(" (")[0] + after[1:],
        "messageExpression": cel(
            """
            %before + [variables.imageUses.map(use, use.image).join(', ')].map(images, %images)[0] + %after
            """,
            before=text(before),
            images=_shortened("images", _room(name, before + after, longest)),
            after=text(after),
        ),
    }


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
