"""`archfit setup policy [--into DIR] [OPTION]..`: the job that keeps a policy up to date.

    --into DIR    writes the manifests, see `setup_files`
    --check       asks the cluster whether all of it works, see `setup_check`

Where a file is there already and differs, nothing is written: it may hold somebody's work.
"""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.admission.policy.companion import companion_objects, daemon_set_objects
from archfit.admission.policy.objects import policy_objects
from archfit.errors import UsageError
from archfit.images.platforms import Found, Platform
from archfit.integrations.manifest_flags import SUBDOMAIN, configuration, image, object_name
from archfit.integrations.own_pods import image_advice
from archfit.integrations.owned_files import write_texts
from archfit.integrations.policy import setup_files
from archfit.integrations.policy.settings_from_flags import flag_words, policy_settings
from archfit.integrations.policy.setup_check import check
from archfit.integrations.policy.setup_files import Choices
from archfit.options.settings import Options
from archfit.usage.command_table import BY_NAME

_DEFAULT = "archfit-policy"
_WHAT_TO_WRITE = ("into", "schedule", "image", "configuration", "registry_secret", "force")
_FIELD = r"[0-9A-Za-z*/,?-]+"
_IS_SCHEDULE = re.compile(
    rf"@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)|{_FIELD}(?: +{_FIELD}){{4}}"
).fullmatch
# Any image: only the names of the objects count here.
_ANY = {"docker.io/library/any:1": Found((Platform("linux", "amd64"),))}


def run(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup policy`. The exit code; raises ArchfitError."""
    command = BY_NAME["setup policy"]
    found, words = command.parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup policy --help")
    settings = policy_settings(found)
    if found.check:
        _refuse_others(found)
        return check(settings, found, stdout, environ)
    for flag in ("context", "kubeconfig"):
        if getattr(found, flag) is not None:
            raise UsageError(f"--{flag} needs --check: nothing else asks the cluster")
    choices = _choices(found, flag_words(found, command))
    policy = policy_objects(_ANY, Options(), settings)
    folder = found.into or _DEFAULT
    companion = [
        *companion_objects(policy, settings),
        *daemon_set_objects(_ANY, Options(), settings, policy),
    ]
    texts = setup_files.files([*policy, *companion], choices)
    stderr.write(f"{write_texts(folder, texts, force=found.force)}\n")
    stderr.write(
        f"Now run: kubectl apply --server-side -f {shlex.quote(folder)}\n"
        "A job writes the first policy at once. Is it there? archfit setup policy --check\n"
    )
    if advice := image_advice(choices.image):
        stderr.write(f"{advice}\n")
    return 0


def _refuse_others(found: Namespace) -> None:
    """--check looks at the cluster, not at files."""
    for flag in _WHAT_TO_WRITE:
        if getattr(found, flag):
            raise UsageError(f"--{flag.replace('_', '-')} says what to write: leave it out beside --check")


def _choices(found: Namespace, flags: list[str]) -> Choices:
    """What the flags say about the job. Raises UsageError."""
    for flag in ("into", "image", "registry_secret", "configuration", "schedule"):
        if getattr(found, flag) == "":
            raise UsageError(f"--{flag.replace('_', '-')}: is empty: write a value, or leave the flag out")
    chosen = Choices(flags=tuple(flags))
    if found.image is not None:
        chosen = chosen.replace(image=image(found.image))
    if found.schedule is not None:
        if not _IS_SCHEDULE(found.schedule):
            raise UsageError(
                f"--schedule: {found.schedule!r} is not a schedule: write five fields, as in '17 * * * *', or @hourly"
            )
        chosen = chosen.replace(schedule=found.schedule)
    if found.registry_secret is not None:
        name = object_name("--registry-secret", found.registry_secret, SUBDOMAIN)
        chosen = chosen.replace(registry_secret=name)
    if found.configuration is not None:
        chosen = chosen.replace(configuration=configuration(found.configuration))
    return chosen
