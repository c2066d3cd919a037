"""`archfit setup policy [--into DIR] [OPTION]..`: the job that keeps a policy up to date.

    --into DIR    writes the manifests, see `setup_files`
    --check       does the cluster have a policy, and does the job keep it up to date?

Where a file is there already and differs, nothing is written: it may hold somebody's work. The check:

the API server serves the policy's API version          ok: .. or what to upgrade
the policy and its binding are there
the companion policy and its binding are there          it warns of images that the policy does not know
the CronJob is there, is not suspended, and its last job succeeded
the service account may list what the job reads         as `kubectl auth can-i --as` says it
"""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, TextIO
from urllib.parse import quote

from archfit.base.errors import UsageError
from archfit.cli.setup.check_lines import Wrong, up_to_wrong, write_lines
from archfit.cli.setup.own_pods import NAMESPACE, SUBDOMAIN, configuration, image, image_advice, object_name
from archfit.cli.setup.owned_files import remove_files, write_texts
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.checks import answering, kubectl_of, may_list
from archfit.cluster.cluster_connection import get_if_there
from archfit.cluster.kubectl import Kubectl
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.flags import flag_words, policy_settings
from archfit.policy.images import KINDS
from archfit.policy.installed import setup_files
from archfit.policy.installed.installed_policy import has_validating_policy, installed
from archfit.policy.installed.setup_files import NAME, PolicyChoices
from archfit.yaml.values import mapping_of

_DEFAULT = "archfit-policy"
_WHAT_TO_WRITE = ("into", "schedule", "image", "configuration", "registry_secret", "force")
_FIELD = r"[0-9A-Za-z*/,?-]+"
_IS_SCHEDULE = re.compile(
    rf"@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)|{_FIELD}(?: +{_FIELD}){{4}}"
).fullmatch


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
    folder = found.into or _DEFAULT
    texts = setup_files.files(settings, choices)
    if found.remove:
        stderr.write(remove_files(folder, texts, "policy"))
        return 0
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


def _choices(found: Namespace, flags: list[str]) -> PolicyChoices:
    """What the flags say about the job. Raises UsageError."""
    for flag in ("into", "image", "registry_secret", "configuration", "schedule"):
        if getattr(found, flag) == "":
            raise UsageError(f"--{flag.replace('_', '-')}: is empty: write a value, or leave the flag out")
    chosen = PolicyChoices(flags=tuple(flags))
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


_LISTED = {f"{kind.resource}.{kind.group}".rstrip("."): kind.resource for kind in KINDS}
_APPLY = "archfit setup policy, then kubectl apply --server-side -f archfit-policy"


def check(settings: PolicySettings, flags: Namespace, stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """Writes a line for each thing found; 1 if one is wrong."""
    return write_lines(up_to_wrong(_right(settings, flags, environ)), stdout)


def _right(settings: PolicySettings, flags: Namespace, environ: Mapping[str, str]) -> Iterator[str]:
    kubectl = kubectl_of(flags, environ)
    yield answering(kubectl)
    yield from _cronjob(kubectl)
    yield may_list(kubectl, f"{NAMESPACE}/{NAME}", _LISTED, "apply 10-access.yaml of archfit setup policy")
    installed(kubectl, settings)
    yield f"MutatingAdmissionPolicy {settings.name} and its binding are installed"
    if not has_validating_policy(kubectl, settings):
        raise Wrong(
            f"ValidatingAdmissionPolicy {settings.name} or its binding is missing, so nobody is warned of images that "
            "the policy does not know: apply everything that archfit policy writes"
        )
    yield f"ValidatingAdmissionPolicy {settings.name} and its binding are installed"


def _cronjob(kubectl: Kubectl) -> Iterator[str]:
    found = get_if_there(kubectl, f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs/{quote(NAME)}")
    if found is None:
        raise Wrong(f"there is no CronJob {NAMESPACE}/{NAME}: write it with {_APPLY}")
    found = mapping_of(found)
    spec, status = mapping_of(found.get("spec")), mapping_of(found.get("status"))
    if spec.get("suspend"):
        raise Wrong(f"CronJob {NAMESPACE}/{NAME} is suspended: set spec.suspend to false")
    last, good = status.get("lastScheduleTime"), status.get("lastSuccessfulTime")
    if last and not (good and good >= last) and not status.get("active"):
        raise Wrong(
            f"the last job of CronJob {NAMESPACE}/{NAME} ({last}) did not succeed; its log says why: "
            f"kubectl logs -n {NAMESPACE} -l app.kubernetes.io/component=policy"
        )
    yield f"CronJob {NAMESPACE}/{NAME} is there ({spec.get('schedule')}; last success: {good or 'none yet'})"
