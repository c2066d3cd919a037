"""`archfit setup policy [--into DIR] [OPTION]..`: the job that keeps a policy up to date."""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from archfit.policy.flags import flag_words, policy_settings
from archfit.policy.images import KINDS
from archfit.policy.installed import setup_files
from archfit.policy.installed.installed_policy import has_validating_policy, installed
from archfit.policy.installed.setup_files import NAME, PolicyChoices
from archfit.policy.settings import PolicySettings
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
    flags, words = command.parser().read(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected; see archfit setup policy --help")
    settings = policy_settings(flags)
    if flags.check:
        for flag in _WHAT_TO_WRITE:
            if getattr(flags, flag):
                raise UsageError(
                    f"--{flag.replace('_', '-')} says what to write: leave it out beside --check"
                )
        return write_lines(up_to_wrong(_right(settings, flags, environ)), stdout)
    for flag in ("context", "kubeconfig"):
        if getattr(flags, flag) is not None:
            raise UsageError(f"--{flag} needs --check: nothing else asks the cluster")
    choices = _choices(flags).replace(flags=tuple(flag_words(flags, command)))
    folder = flags.into or _DEFAULT
    texts = setup_files.files(settings, choices)
    if flags.remove:
        stderr.write(remove_files(folder, texts, "policy"))
        return 0
    stderr.write(
        f"{write_texts(folder, texts, force=flags.force)}\n"
        f"Now run: kubectl apply --server-side -f {shlex.quote(folder)}\n"
        "A job writes the first policy at once. Is it there? archfit setup policy --check\n"
    )
    if advice := image_advice(choices.image):
        stderr.write(f"{advice}\n")
    return 0


def _choices(flags: Namespace) -> PolicyChoices:
    """What the flags say about the job. Raises UsageError."""
    for flag in ("into", "image", "registry_secret", "configuration", "schedule"):
        if getattr(flags, flag) == "":
            raise UsageError(f"--{flag.replace('_', '-')}: is empty: write a value, or leave the flag out")
    texts = {flag: getattr(flags, flag) for flag in _READ}
    chosen = {flag: _READ[flag](text) for flag, text in texts.items() if text is not None}
    return PolicyChoices().replace(**chosen)


def _schedule(text: str) -> str:
    if not _IS_SCHEDULE(text):
        raise UsageError(
            f"--schedule: {text!r} is not a schedule: write five fields, as in '17 * * * *', or @hourly"
        )
    return text


_READ: dict[str, Callable[[str], str]] = {
    "image": image,
    "schedule": _schedule,
    "registry_secret": lambda text: object_name("--registry-secret", text, SUBDOMAIN),
    "configuration": configuration,
}
_LISTED = {f"{kind.resource}.{kind.group}".rstrip("."): kind.resource for kind in KINDS}
_APPLY = "archfit setup policy, then kubectl apply --server-side -f archfit-policy"


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
    job = get_if_there(kubectl, f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs/{quote(NAME)}")
    if job is None:
        raise Wrong(f"there is no CronJob {NAMESPACE}/{NAME}: write it with {_APPLY}")
    spec, status = (mapping_of(mapping_of(job).get(part)) for part in ("spec", "status"))
    if spec.get("suspend"):
        raise Wrong(f"CronJob {NAMESPACE}/{NAME} is suspended: set spec.suspend to false")
    last, good = status.get("lastScheduleTime"), status.get("lastSuccessfulTime")
    if last and not (good and good >= last) and not status.get("active"):
        raise Wrong(
            f"the last job of CronJob {NAMESPACE}/{NAME} ({last}) did not succeed; its log says why: "
            f"kubectl logs -n {NAMESPACE} -l app.kubernetes.io/component=policy"
        )
    yield f"CronJob {NAMESPACE}/{NAME} is there ({spec.get('schedule')}; last success: {good or 'none yet'})"
