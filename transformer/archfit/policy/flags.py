"""The flags of `archfit policy`: which go together, and the command line that repeats them."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence

from archfit.base.errors import UsageError
from archfit.cli.invocation import Invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.options.option_types import SWITCH
from archfit.policy.installed.settings_from_flags import flag_words

_COMMAND = BY_NAME["policy"]


def check_flags(flags: Namespace, words: Sequence[str]) -> None:
    """Raises UsageError for flags that contradict each other."""
    modes = [name for name in ("check", "stats", "apply") if getattr(flags, name)]
    if len(modes) > 1:
        raise UsageError(f"--{modes[0]} and --{modes[1]} are two commands: run them one after the other")
    if flags.live and flags.check:
        raise UsageError("--check sends the pods of manifests: name files, and leave --live out")
    if flags.live and words:
        raise UsageError(f"--live reads the cluster, and {words[0]!r} is a file: leave one of them out")
    if flags.json and not (flags.stats or flags.check):
        raise UsageError("--json needs --stats or --check: a policy is YAML")
    for name in ("context", "kubeconfig"):
        value = getattr(flags, name)
        if value == "":
            raise UsageError(f"--{name}: is empty: write a value, or leave the flag out")
        if value and not (flags.live or flags.check or flags.apply):
            raise UsageError(f"--{name} needs --live, --check or --apply: nothing else asks a cluster")


def renewal(invocation: Invocation) -> str:
    """The command line that writes the same again, with the flags of the policy and of the placement.

    Those about the machine at hand (registries, credentials, cache, cluster) are left out.
    """
    flags = invocation.flags
    words = ["archfit", "policy"]
    words += ["--live"] if flags.live else []
    words += flag_words(flags, _COMMAND)
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
