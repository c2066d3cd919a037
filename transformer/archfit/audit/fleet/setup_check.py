"""`archfit setup fleet --check`: can this cluster run the audit, and how did the last run end?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from archfit.audit.fleet.setup_files import JOBS, NAME, FleetChoices
from archfit.cli.setup.check_lines import Wrong, up_to_wrong, write_lines
from archfit.cluster.checks import answering, kubectl_of, may_list
from archfit.cluster.cluster_connection import get_if_there
from archfit.cluster.kubectl import Kubectl
from archfit.cluster.pools.live import KINDS
from archfit.yaml.values import mapping_of

READ = (
    "pods", "nodes", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps", "jobs.batch",
    "cronjobs.batch", "services", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
)  # fmt: skip
POOLS = tuple(f"{resource}.{group}" for group, resource, _kind in KINDS)
"""With --node-pools. A right for a kind that the cluster does not have is no fault."""
_APPLY = "archfit setup fleet, then kubectl apply --server-side -f archfit-fleet"


def check(choices: FleetChoices, flags: Namespace, stdout: BinaryIO, environ: Mapping[str, str]) -> int:
    """Writes a line for each thing found; 1 if one is wrong."""
    return write_lines(up_to_wrong(_right(choices, flags, environ)), stdout)


def _right(choices: FleetChoices, flags: Namespace, environ: Mapping[str, str]) -> Iterator[str]:
    kubectl = kubectl_of(flags, environ)
    yield answering(kubectl)
    remedy = f"write 10-access.yaml with {_APPLY}"
    read = (*READ, *(POOLS if choices.node_pools else ()))
    yield may_list(kubectl, f"{choices.namespace}/{NAME}", dict(zip(read, read, strict=True)), remedy)
    yield _claim(kubectl, choices.namespace, choices.claim_name, many=choices.engine != "cron")
    if choices.engine == "cron":
        yield _cron_job(kubectl, choices.namespace)
        return
    for job in JOBS.values():
        yield _job(kubectl, choices.namespace, job)


def _claim(kubectl: Kubectl, namespace: str, name: str, *, many: bool) -> str:
    """many: whether several pods write at once."""
    title = f"PersistentVolumeClaim {namespace}/{name}"
    claim = get_if_there(kubectl, f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")
    if claim is None:
        raise Wrong(f"there is no {title}: write it with {_APPLY}")
    phase = mapping_of(claim.get("status")).get("phase", "Pending")
    if phase == "Lost":
        raise Wrong(f"{title} has lost its volume: delete it and apply it again")
    modes = mapping_of(claim.get("spec")).get("accessModes") or []
    one_node = many and "ReadWriteMany" not in modes
    note = "; not ReadWriteMany, so all pods have to fit on one node" if one_node else ""
    return f"{title} is there ({phase}{note})"


def _cron_job(kubectl: Kubectl, namespace: str) -> str:
    title = f"CronJob {namespace}/{NAME}"
    cron_job = get_if_there(kubectl, f"/apis/batch/v1/namespaces/{namespace}/cronjobs/{NAME}")
    if cron_job is None:
        raise Wrong(f"there is no {title}: write 50-cron-job.yaml with {_APPLY}")
    if mapping_of(cron_job.get("spec")).get("suspend"):
        patch = """'{"spec":{"suspend":false}}'"""
        raise Wrong(f"{title} is suspended: kubectl patch cronjob -n {namespace} {NAME} -p {patch}")
    status = mapping_of(cron_job.get("status"))
    last, succeeded = status.get("lastScheduleTime"), status.get("lastSuccessfulTime")
    if last is None:
        return f"{title} is there, and has not run on its schedule yet"
    if succeeded is None:
        return f"{title} started at {last}, and has not succeeded yet"
    return f"{title} started at {last}, and last succeeded at {succeeded}"


def _job(kubectl: Kubectl, namespace: str, name: str) -> str:
    job = get_if_there(kubectl, f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
    if job is None:
        return f"Job {namespace}/{name} has not been started yet"
    status, spec = mapping_of(job.get("status")), mapping_of(job.get("spec"))
    conditions = map(mapping_of, status.get("conditions") or [])
    states = {
        condition.get("type"): condition.get("reason", "")
        for condition in conditions
        if condition.get("status") == "True"
    }
    if "Failed" in states:
        indexes = status.get("failedIndexes")
        which = f"; failed indexes: {indexes}" if indexes else ""
        raise Wrong(
            f"Job {namespace}/{name} failed ({states['Failed']}{which}); its log says why: kubectl logs -n {namespace} "
            f"-l batch.kubernetes.io/job-name={name} --prefix"
        )
    done = f"{status.get('succeeded', 0)} of {spec.get('completions', 1)}"
    return f"Job {namespace}/{name} {'is complete' if 'Complete' in states else 'runs'} ({done})"
