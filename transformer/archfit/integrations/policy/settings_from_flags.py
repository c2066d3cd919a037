"""The flags that say what a policy is, which `archfit policy` and `archfit setup policy` share."""

from __future__ import annotations

from argparse import Namespace

from archfit.admission.policy.label_selector import match_expressions
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.errors import UsageError
from archfit.integrations.manifest_flags import SUBDOMAIN
from archfit.options.problem import Problem
from archfit.options.text_form import whole_seconds
from archfit.usage.cluster_commands import POLICY_FLAGS
from archfit.usage.command_row import Command

_LONGEST_AGE = 36_500 * 24 * 3600


def policy_settings(flags: Namespace) -> PolicySettings:
    """What the flags say about the policy. Raises UsageError."""
    if not SUBDOMAIN.fullmatch(flags.name):
        raise UsageError(
            f"--name: {flags.name!r} cannot name an object: write up to 253 lower-case letters, digits, - or ., as in "
            "archfit.dev"
        )
    for name, value, words in (
        ("--carrier", flags.carrier, ("literal", "crd")),
        ("--api-version", flags.api_version, ("v1", "v1beta1")),
        ("--late-changes", flags.late_changes, ("warn", "deny")),
    ):
        if value not in words:
            raise UsageError(f"{name}: {value!r} is not known: write one of {', '.join(words)}")
    requirements = [
        requirement
        for text in flags.namespace_selector
        for requirement in match_expressions(text, "--namespace-selector")
    ]
    try:
        max_age = whole_seconds(flags.max_age)
    except Problem as problem:
        raise UsageError(f"--max-age: {problem}") from None
    if max_age > _LONGEST_AGE:
        raise UsageError(f"--max-age: {flags.max_age!r} is more than 100 years: write 0 for no warning")
    return PolicySettings(
        flags.name,
        flags.api_version,
        flags.carrier,
        tuple(requirements),
        flags.deny,
        flags.late_changes,
        max_age,
    )


def flag_words(flags: Namespace, command: Command) -> list[str]:
    """The flags about the policy that a command line has, as words, without those that say the default."""
    words: list[str] = []
    for flag in command.flags:
        name = flag.names[-1]
        if flag not in POLICY_FLAGS:
            continue
        value = getattr(flags, name[2:].replace("-", "_"))
        if value is True:
            words.append(name)
        elif isinstance(value, list):
            words += [word for text in value for word in (name, text)]
        elif value and value != flag.default:
            words += [name, value]
    return words
