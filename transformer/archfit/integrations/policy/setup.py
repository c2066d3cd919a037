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

from archfit.admission.policy.companion import companion_objects
from archfit.admission.policy.objects import policy_objects
from archfit.errors import InvalidReference, UsageError
from archfit.files import read_file
from archfit.images import reference
from archfit.images.platforms import Found, Platform
from archfit.integrations.owned_files import File, write_files
from archfit.integrations.policy import setup_files
from archfit.integrations.policy.settings_from_flags import IS_NAME, flag_words, policy_settings
from archfit.integrations.policy.setup_check import check
from archfit.integrations.policy.setup_files import Choices
from archfit.options.config_file import from_file
from archfit.options.settings import Options
from archfit.usage.command_table import BY_NAME

_DEFAULT = "archfit-policy"
_WHAT_TO_WRITE = ("into", "schedule", "image", "configuration", "registry_secret", "force")
_FIELD = r"[0-9A-Za-z*/,?-]+"
_IS_SCHEDULE = re.compile(
    rf"@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)|{_FIELD}(?: +{_FIELD}){{4}}"
).fullmatch
_DIFFERS = (
    "exists and differs: nothing was written. Replace it with --force, or name another directory with --into"
)
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
    texts = setup_files.files([*policy, *companion_objects(policy, settings)], choices)
    changed = write_files(
        folder,
        {name: File(text.encode()) for name, text in texts.items()},
        lambda path, _content: "" if found.force else f"{path} {_DIFFERS}",
    )
    stderr.write(f"{'written' if changed else 'up to date'}: {folder}\n")
    stderr.write(
        f"Now run: kubectl apply --server-side -f {shlex.quote(folder)}\n"
        "The first policy, at once: kubectl create job -n archfit --from=cronjob/archfit-policy first\n"
    )
    if choices.image == setup_files.IMAGE:
        stderr.write(f"{choices.image} stands for your image: build it and name it with --image\n")
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
        try:
            reference.parse(found.image)
        except InvalidReference as error:
            raise UsageError(f"--image: {error}") from None
        chosen = chosen.replace(image=found.image)
    if found.schedule is not None:
        if not _IS_SCHEDULE(found.schedule):
            raise UsageError(
                f"--schedule: {found.schedule!r} is not a schedule: write five fields, as in '17 * * * *', or @hourly"
            )
        chosen = chosen.replace(schedule=found.schedule)
    if found.registry_secret is not None:
        if not IS_NAME(found.registry_secret):
            raise UsageError(
                f"--registry-secret: {found.registry_secret!r} is not a name in Kubernetes: write lower-case letters, "
                "digits and -"
            )
        chosen = chosen.replace(registry_secret=found.registry_secret)
    if found.configuration is not None:
        try:
            content = read_file(found.configuration)
        except OSError as error:
            raise UsageError(
                f"--configuration: cannot read {found.configuration!r} ({error.strerror}): name a readable file"
            ) from None
        from_file(content, found.configuration, "--configuration")
        chosen = chosen.replace(configuration=content.decode("utf-8-sig"))
    return chosen
