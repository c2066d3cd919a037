"""`archfit setup webhook --check --live`: does the webhook work in the cluster at hand?

The API server asks the webhook about a dry-run pod with an image that nobody knows, which comes back with its warning.
Nothing of the pod is stored, and Secrets are not read.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from archfit.base.documentation import place
from archfit.cli.setup.check_lines import Wrong
from archfit.cluster.checks import answering
from archfit.cluster.cluster_connection import get_if_there
from archfit.cluster.kubectl import Kubectl
from archfit.webhook.setup import webhook_folder
from archfit.webhook.setup.certificates import ca_expires, time_left
from archfit.webhook.setup.setup_files import WEBHOOK
from archfit.yaml.values import mapping_of, text_of

NAME = "archfit"
_PATH = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{NAME}"
_UNKNOWN = "archfit.invalid/no-such-image:1"
_POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{generateName: archfit-check-, namespace: default}}
spec:
  securityContext: {{runAsNonRoot: true, runAsUser: 65532, seccompProfile: {{type: RuntimeDefault}}}}
  containers:
    - name: check
      image: {_UNKNOWN}
      resources: {{requests: {{cpu: 1m, memory: 1Mi}}, limits: {{cpu: 1m, memory: 1Mi}}}}
      securityContext: {{allowPrivilegeEscalation: false, capabilities: {{drop: [ALL]}}}}
"""


def right(kubectl: Kubectl, folder: str, now: datetime) -> Iterator[str]:
    """A line for each thing that is right. Raises Wrong and ClusterError. folder: may be missing."""
    yield answering(kubectl)
    webhook = _webhook(kubectl)
    service = mapping_of(mapping_of(webhook.get("clientConfig")).get("service"))
    namespace, name = text_of(service.get("namespace")), text_of(service.get("name"))
    policy = webhook.get("failurePolicy")
    yield f"MutatingWebhookConfiguration {NAME} calls the Service {namespace}/{name} (failurePolicy {policy})"
    yield _bundle(webhook, folder, now)
    yield _pods(kubectl, namespace, name)
    yield _answers(kubectl, namespace, name)


def _webhook(kubectl: Kubectl) -> Mapping[str, Any]:
    configuration = get_if_there(kubectl, _PATH)
    if configuration is None:
        raise Wrong(
            f"there is no MutatingWebhookConfiguration {NAME}: run archfit setup webhook, then kubectl apply "
            "--server-side -f archfit-webhook"
        )
    webhooks = mapping_of(configuration).get("webhooks")
    return mapping_of(webhooks[0]) if isinstance(webhooks, list) and webhooks else {}


def _bundle(webhook: Mapping[str, Any], folder: str, now: datetime) -> str:
    text = text_of(mapping_of(webhook.get("clientConfig")).get("caBundle"))
    if not text:
        raise Wrong("caBundle is empty: with cert-manager, look at kubectl -n archfit get certificate")
    try:
        bundle = base64.b64decode(text, validate=True)
    except ValueError:
        bundle = b""
    is_right, line = time_left(
        ca_expires(bundle),
        now,
        f"renew the certificate and apply it ({place('serve', 'the-certificate')})",
    )
    if not is_right:
        raise Wrong(line)
    there = webhook_folder.read_if_any(folder)
    if there and there.bundle and there.bundle != bundle:
        raise Wrong(
            f"caBundle is not the one of {os.path.join(folder, WEBHOOK)}: kubectl apply --server-side -f {folder}"
        )
    return line


def _pods(kubectl: Kubectl, namespace: str, name: str) -> str:
    path = f"/apis/apps/v1/namespaces/{quote(namespace)}/deployments/{quote(name)}"
    deployment = mapping_of(kubectl.get(path))
    wanted = mapping_of(deployment.get("spec")).get("replicas")
    ready = mapping_of(deployment.get("status")).get("readyReplicas") or 0
    if not ready:
        raise Wrong(
            f"no pod of Deployment {namespace}/{name} is ready: kubectl -n {namespace} describe pods says why"
        )
    return f"{ready} of {wanted} pods of Deployment {namespace}/{name} are ready"


def _answers(kubectl: Kubectl, namespace: str, name: str) -> str:
    ran = kubectl.run("create", "--dry-run=server", "-f", "-", given=_POD.encode())
    lines = ran.complaint.splitlines()
    if any(line.startswith(f"Warning: archfit: {_UNKNOWN}") for line in lines):
        return "the API server asks the webhook about a pod in the namespace default, and it answers"
    if any("denied the request" in line and "archfit" in line for line in lines):
        return (
            "the API server asks the webhook about a pod in the namespace default, and it refuses its image, which is "
            "not known"
        )
    if ran.status:
        raise Wrong(f"a dry-run pod in the namespace default was refused: {' '.join(lines)}")
    raise Wrong(
        "the webhook said nothing about a dry-run pod in the namespace default, so the API server did not reach it, or "
        f"the namespace is left out: kubectl -n {namespace} logs deployment/{name} shows whether it was asked"
    )
