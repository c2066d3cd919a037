"""`archfit setup policy --check`: does the cluster have a policy, and does the job keep it up to date?

the API server serves the policy's API version          ok: .. or what to upgrade
the policy and its binding are there
the companion policy and its binding are there          it warns of images that the policy does not know
the CronJob is there, is not suspended, and its last job succeeded
the service account may list what the job reads         as `kubectl auth can-i --as` says it
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import BinaryIO
from urllib.parse import quote

from archfit.admission.policy.policy_settings import PolicySettings
from archfit.cluster_api.cluster_connection import get_if_there
from archfit.cluster_api.kubectl import Kubectl
from archfit.integrations.check_lines import Wrong, up_to_wrong, write_lines
from archfit.integrations.cluster_checks import answering, kubectl_of, may_list
from archfit.integrations.own_pods import NAMESPACE
from archfit.integrations.policy.installed_policy import has_companion, installed
from archfit.integrations.policy.live_images import KINDS
from archfit.integrations.policy.setup_files import NAME
from archfit.source.values import mapping_of

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
    if not has_companion(kubectl, settings):
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
