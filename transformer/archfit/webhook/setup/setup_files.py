"""What `archfit setup webhook` writes: the rendering of charts/archfit in files/, filled in.

scripts/setup_manifests.py renders the chart with every optional part; what the user did not choose is taken out here.
The chart has no Namespace, and Helm makes its own Secret. kubectl applies the files by their names: the
MutatingWebhookConfiguration comes last. Source: cert-manager v1.17, deploy/crds.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from ruamel.yaml.scalarstring import LiteralScalarString

from archfit.cli.setup.own_pods import IMAGE, NAMESPACE, leave_out, name_registry_secret, namespace
from archfit.cli.setup.yaml_files import mapping, parsed, shipped, written
from archfit.startup.record import Record
from archfit.webhook.setup.certificates import KeyPair

SECRET = "20-secret.yaml"  # noqa: S105 - a file name
PULL_SECRETS = "15-pull-secrets.yaml"
CLIENT_CA = "31-client-ca.yaml"
NETWORK_POLICY = "70-network-policy.yaml"
WEBHOOK = "90-webhook.yaml"
INJECT = "cert-manager.io/inject-ca-from"
_EVERY = (
    "00-namespace.yaml",
    "10-service-account.yaml",
    "30-configuration.yaml",
    "40-service.yaml",
    "50-deployment.yaml",
    "60-pod-disruption-budget.yaml",
    WEBHOOK,
)
CERT_MANAGER = (
    "20-selfsigned-issuer.yaml",
    "21-ca-certificate.yaml",
    "22-ca-issuer.yaml",
    "23-certificate.yaml",
)
_PULL_SECRET = "--pull-secret="  # noqa: S105 - a flag
_CLIENTS = "archfit-clients"
_ABOUT = """\
# The webhook's certificate and its private key: keep this file out of version control. Renew them with
# `archfit setup webhook --renew`.
"""


class WebhookChoices(Record):
    """What the user chose. configuration, lock: the text of archfit.yaml and of archfit.lock, "" for none.

    registry_secret: a Secret of type kubernetes.io/dockerconfigjson, "" for none. egress_ports: beside DNS.
    pull_secrets: (namespace, name) of Secrets that the webhook may read. client_ca: the CA of the clients that may call
    it, as PEM, "" for all. memory_limit: of its container, a quantity, "" for that of the chart. api_server: CIDRs from
    which it may be called, () for all.
    """

    namespace: str = NAMESPACE
    image: str = IMAGE
    cert_manager: bool = False
    configuration: str = ""
    lock: str = ""
    registry_secret: str = ""
    priority_class: str = ""
    egress_ports: tuple[int, ...] = (443,)
    pull_secrets: tuple[tuple[str, str], ...] = ()
    client_ca: str = ""
    memory_limit: str = ""
    api_server: tuple[str, ...] = ()
    network_policy: bool = True


def dns_names(service: str, namespace: str) -> tuple[str, ...]:
    """What the certificate has to prove. The API server asks for the first."""
    return f"{service}.{namespace}.svc", f"{service}.{namespace}.svc.cluster.local"


def files(choices: WebhookChoices) -> dict[str, str]:
    """File name -> text of everything, without a certificate."""
    certificate = CERT_MANAGER if choices.cert_manager else (SECRET,)
    optional = {
        PULL_SECRETS: choices.pull_secrets,
        CLIENT_CA: choices.client_ca,
        NETWORK_POLICY: choices.network_policy,
    }
    texts: dict[str, str] = {}
    for name in sorted((*_EVERY, *certificate, *(name for name, wanted in optional.items() if wanted))):
        if name in _OWN:
            texts[name] = _OWN[name](choices)
            continue
        data = parsed(shipped(__package__, name))
        if "namespace" in data["metadata"]:
            data["metadata"]["namespace"] = choices.namespace
        if name in _CHANGES:
            _CHANGES[name](data, choices)
        texts[name] = written(data)
    return texts


def with_certificate(texts: dict[str, str], pair: KeyPair) -> dict[str, str]:
    """The same with a certificate, its key, and the CAs that prove it."""
    secret, webhook = parsed(texts[SECRET]), parsed(texts[WEBHOOK])
    for key, content in (("ca.crt", pair.ca), ("tls.crt", pair.certificate), ("tls.key", pair.key)):
        secret["data"][key] = _base64(content)
    for row in webhook["webhooks"]:
        row["clientConfig"]["caBundle"] = _base64(pair.ca)
    return {**texts, SECRET: written(secret), WEBHOOK: written(webhook)}


def certificate_of(secret: Any, webhook: Any) -> KeyPair:
    """The reverse, from what the two files hold. Raises KeyError, TypeError, IndexError and ValueError."""
    bundle = webhook["webhooks"][0]["clientConfig"]["caBundle"]
    data = secret["data"]
    return KeyPair(
        *(base64.b64decode(text, validate=True) for text in (bundle, data["tls.crt"], data["tls.key"]))
    )


def without_certificate(data: Any) -> Any:
    """A Secret or webhook configuration as it is before a certificate comes in. It changes its argument."""
    if data["kind"] == "Secret":
        data["data"] = dict.fromkeys(("ca.crt", "tls.crt", "tls.key"), "")
    else:
        for row in data["webhooks"]:
            row["clientConfig"]["caBundle"] = ""
    return data


# These change the object of a file.


def _certificate(data: Any, choices: WebhookChoices) -> None:
    data["spec"]["dnsNames"] = list(dns_names("archfit", choices.namespace))


def _configuration(data: Any, choices: WebhookChoices) -> None:
    if choices.configuration:
        data["data"]["archfit.yaml"] = choices.configuration
    if choices.lock:
        data["data"]["archfit.lock"] = choices.lock
    else:
        del data["data"]["archfit.lock"]


def _deployment(data: Any, choices: WebhookChoices) -> None:
    template = data["spec"]["template"]
    configuration = parsed(shipped(__package__, "30-configuration.yaml"))
    _configuration(configuration, choices)
    # Not of the lock file, which archfit serve reads again by itself.
    digest = hashlib.sha256(configuration["data"]["archfit.yaml"].encode()).hexdigest()
    template["metadata"]["annotations"]["checksum/configuration"] = digest
    pod = template["spec"]
    (container,) = pod["containers"]
    container["image"] = choices.image
    if not choices.lock:
        leave_out(container["env"], "ARCHFIT_LOCK_FILE")
    name_registry_secret(pod, container, choices.registry_secret)
    left_out = (_PULL_SECRET,) if choices.client_ca else (_PULL_SECRET, "--client-ca=")
    if not choices.client_ca:
        leave_out(pod["volumes"], "clients")
        leave_out(container["volumeMounts"], "clients")
    if choices.memory_limit:
        container["resources"]["limits"]["memory"] = choices.memory_limit
    pod["automountServiceAccountToken"] = bool(choices.pull_secrets)
    container["args"] = [
        *(word for word in container["args"] if not word.startswith(left_out)),
        *(f"{_PULL_SECRET}{namespace}/{name}" for namespace, name in choices.pull_secrets),
    ]
    if choices.priority_class:
        pod["priorityClassName"] = choices.priority_class
    else:
        del pod["priorityClassName"]


def _network_policy(data: Any, choices: WebhookChoices) -> None:
    if choices.api_server:
        blocks = [mapping(ipBlock=mapping(cidr=cidr)) for cidr in choices.api_server]
        data["spec"]["ingress"][0].insert(0, "from", blocks)
    egress = data["spec"]["egress"]
    egress[1]["ports"] = [mapping(port=port, protocol="TCP") for port in choices.egress_ports]
    if not choices.pull_secrets:
        del egress[2]


def _webhook(data: Any, choices: WebhookChoices) -> None:
    (row,) = data["webhooks"]
    row["clientConfig"]["service"]["namespace"] = choices.namespace
    row["namespaceSelector"]["matchExpressions"][0]["values"] = ["kube-system", choices.namespace]
    if choices.cert_manager:
        data["metadata"]["annotations"][INJECT] = f"{choices.namespace}/archfit"
    else:
        del data["metadata"]["annotations"]
        row["clientConfig"]["caBundle"] = ""


# These write a file.


def _roles(choices: WebhookChoices) -> str:
    """For each pull secret a Role that lets the webhook read this one Secret, and its binding."""
    texts = []
    for team, secret in choices.pull_secrets:
        role, binding = (parsed(text) for text in shipped(__package__, PULL_SECRETS).split("---\n"))
        for value in (role, binding):
            value["metadata"] |= {"name": f"archfit-{secret}", "namespace": team}
        role["rules"][0]["resourceNames"] = [secret]
        binding["roleRef"]["name"] = f"archfit-{secret}"
        binding["subjects"][0]["namespace"] = choices.namespace
        texts += [written(role), written(binding)]
    return "---\n".join(texts)


def _client_ca(choices: WebhookChoices) -> str:
    return written(
        mapping(
            apiVersion="v1",
            kind="ConfigMap",
            metadata=_metadata(_CLIENTS, choices),
            data=mapping(**{"ca.crt": LiteralScalarString(choices.client_ca)}),
        )
    )


def _metadata(name: str, choices: WebhookChoices) -> Any:
    labels = parsed(shipped(__package__, "10-service-account.yaml"))["metadata"]["labels"]
    return mapping(name=name, namespace=choices.namespace, labels=labels)


def _secret(choices: WebhookChoices) -> str:
    """The Secret without a certificate, and what to know about it."""
    data = mapping(
        apiVersion="v1",
        kind="Secret",
        metadata=_metadata("archfit-tls", choices),
        type="kubernetes.io/tls",
        data=mapping(**dict.fromkeys(("ca.crt", "tls.crt", "tls.key"), "")),
    )
    return _ABOUT + written(data)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


_OWN: dict[str, Callable[[WebhookChoices], str]] = {
    "00-namespace.yaml": lambda choices: namespace(choices.namespace),
    SECRET: _secret,
    CLIENT_CA: _client_ca,
    PULL_SECRETS: _roles,
}
_CHANGES = {
    "23-certificate.yaml": _certificate,
    "30-configuration.yaml": _configuration,
    "50-deployment.yaml": _deployment,
    NETWORK_POLICY: _network_policy,
    WEBHOOK: _webhook,
}
