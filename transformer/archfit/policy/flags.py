"""The flags of `archfit policy`: which go together, the settings that they give, and the line that repeats them.

--namespace-selector has kubectl's syntax for label selectors; it becomes the matchExpressions of a LabelSelector:

    selector     requirement ("," requirement)*
    requirement  key | "!" key | key ("=" | "==" | "!=") value | key ("in" | "notin") "(" value ("," value)* ")"

Key and value are those of labels (`options.taints`). `key > 1` and `key < 1` are kubectl's, too, but a LabelSelector
has no such operator.
Sources: apimachinery, pkg/labels/selector.go (the grammar); api, meta/v1 LabelSelector.
"""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from archfit.base.documentation import page
from archfit.base.errors import Problem, UsageError
from archfit.cli.invocation import Invocation
from archfit.cli.usage.cluster_commands import POLICY_FLAGS
from archfit.cli.usage.command_table import BY_NAME
from archfit.options.option_types import SWITCH, whole_seconds
from archfit.options.settings import Options, Settings, Toleration
from archfit.options.table import SPEC
from archfit.options.taints import label_key, label_value
from archfit.placement.filters import names_kind, second_names_object
from archfit.placement.pod_patch import taint
from archfit.placement.tolerations import uncovered
from archfit.policy.objects import POD
from archfit.policy.settings import PolicySettings

_COMMAND = BY_NAME["policy"]
# RFC 1123, a subdomain.
_IS_OBJECT_NAME = re.compile(
    r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
).fullmatch
_SET = re.compile(r"([^\s=!<>(),]+)\s+(in|notin)\s*\(([^()]*)\)").fullmatch
_EXACT = re.compile(r"([^\s=!<>(),]+)\s*(==|=|!=)\s*([^\s=!<>(),]*)").fullmatch
_PRESENT = re.compile(r"(!?)\s*([^\s=!<>(),]+)").fullmatch
_BETWEEN = re.compile(r",(?![^(]*\))").split
_OPERATORS = {"=": "In", "==": "In", "in": "In", "!=": "NotIn", "notin": "NotIn"}
_FORMS = "team=web, team!=web, 'team in (web,shop)', 'team notin (web)', team or '!team'"


def match_expressions(text: str) -> list[dict[str, Any]]:
    """The requirements, in order. Raises UsageError."""
    return [_requirement(part.strip()) for part in _BETWEEN(text)]


def _requirement(part: str) -> dict[str, Any]:
    if present := _PRESENT(part):
        key, operator, values = present[2], "DoesNotExist" if present[1] else "Exists", []
    elif exact := _EXACT(part):
        key, operator, values = exact[1], _OPERATORS[exact[2]], [exact[3]]
    elif chosen := _SET(part):
        key, operator, values = chosen[1], _OPERATORS[chosen[2]], chosen[3].split(",")
    else:
        raise UsageError(
            f"--namespace-selector: {part!r} is no requirement on a label: write one of {_FORMS}"
        )
    try:
        requirement: dict[str, Any] = {"key": label_key(key), "operator": operator}
        listed = sorted({label_value(value.strip()) for value in values})
    except Problem as problem:
        raise UsageError(f"--namespace-selector: {problem.message}") from None
    return {**requirement, "values": listed} if listed else requirement


_LONGEST_AGE = 36_500 * 24 * 3600


def policy_settings(flags: Namespace, date: str) -> PolicySettings:
    """What the flags say about the policy. date: when it is written, if that is known. Raises UsageError."""
    if not _IS_OBJECT_NAME(flags.name):
        raise UsageError(
            f"--name: {flags.name!r} cannot name an object: write up to 253 lower-case letters, digits, - or ., as in "
            "archfit.dev"
        )
    try:
        max_age = whole_seconds(flags.max_age)
    except Problem as problem:
        raise UsageError(f"--max-age: {problem}") from None
    if max_age > _LONGEST_AGE:
        raise UsageError(f"--max-age: {flags.max_age!r} is more than 100 years: write 0 for no warning")
    requirements = (row for text in flags.namespace_selector for row in match_expressions(text))
    return PolicySettings(
        flags.name, flags.api_version, flags.carrier, tuple(requirements), flags.deny, max_age, date
    )


def check_flags(flags: Namespace, words: Sequence[str]) -> None:
    """Raises UsageError for flags that contradict each other."""
    if flags.check and flags.apply:
        raise UsageError("--check and --apply are two commands: run them one after the other")
    if flags.deny and flags.carrier == "crd":
        raise UsageError("--deny needs --carrier literal: a policy with a custom resource warns alone")
    if flags.live and flags.check:
        raise UsageError("--check sends the pods of manifests: name files, and leave --live out")
    if flags.live and words:
        raise UsageError(f"--live reads the cluster, and {words[0]!r} is a file: leave one of them out")
    if flags.format == "json" and not flags.check:
        raise UsageError("--json needs --check: a policy is YAML")
    for name in ("context", "kubeconfig"):
        value = getattr(flags, name)
        if value == "":
            raise UsageError(f"--{name}: is empty: write a value, or leave the flag out")
        if value and not (flags.live or flags.check or flags.apply):
            raise UsageError(f"--{name} needs --live, --check or --apply: nothing else asks a cluster")


_DEFAULTS = Options()


def check_options(settings: Settings) -> None:
    """Raises UsageError for what no policy holds: options of `admission: python`, and entries of others."""
    options, places = settings.options, dict(settings.given)
    refused = [
        places.get(option.key, option.key)
        for option in SPEC
        if option.admission == "python" and getattr(options, option.field) != getattr(_DEFAULTS, option.field)
    ]
    entries = {
        "clusterArchitectures": [name for name in options.cluster_architectures if "/" in name],
        "tolerate": _tolerations(options),
        "exclude": [
            str(glob)
            for glob in options.exclude
            if names_kind(glob.kind, POD)
            and (glob.name or second_names_object(glob) or "[" in glob.namespace)
        ],
    }
    refused += [f"{places.get(key, key)} ({', '.join(texts)})" for key, texts in entries.items() if texts]
    if refused:
        raise UsageError(
            f"{'; '.join(refused)}: no policy can hold {'this' if len(refused) == 1 else 'these'}: leave "
            f"{'it' if len(refused) == 1 else 'them'} out, or install archfit serve, which decides by every option: "
            f"see {page('serve')}"
        )


def _tolerations(options: Options) -> list[str]:
    """The tolerations that need more than the policy says, in words."""
    cluster, texts = set(options.cluster_architectures), []
    earlier: list[Toleration] = []
    for rule in options.tolerate:
        name, others = taint(rule.toleration), set(rule.architectures) - cluster
        if rule.needed:
            texts.append(f"{name} when: needed")
        if others and not cluster.isdisjoint(rule.architectures):
            texts.append(f"{name} of {', '.join(sorted(others))}, which the cluster lacks")
        if not uncovered(earlier, [rule.toleration]):
            texts.append(f"{name}, which another one covers")
        earlier.append(rule.toleration)
    return texts


def renewal(invocation: Invocation) -> str:
    """The command line that writes the same again, with the flags of the policy and of the placement.

    Those about the machine at hand (registries, credentials, cache, cluster) are left out.
    """
    flags = invocation.flags
    words = ["archfit", "policy"]
    words += ["--live"] if flags.live else []
    for flag in POLICY_FLAGS:
        name = flag.names[-1]
        value = getattr(flags, name[2:].replace("-", "_"))
        if value is True:
            words.append(name)
        elif isinstance(value, list):
            words += [word for text in value for word in (name, text)]
        elif value and value != flag.default:
            words += [name, value]
    for option in _COMMAND.options:
        texts = getattr(flags, option.key, None)
        if not texts or option.part != "spec":
            continue
        if option.type is SWITCH:
            words.append(option.flags[0] if texts[-1] in {"true", "1"} else option.flags[-1])
        else:
            words += [word for text in texts for word in (option.flags[0], text)]
    words += ["--config", flags.config] if flags.config else []
    return shlex.join([*words, *invocation.words])
