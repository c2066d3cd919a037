"""What `archfit setup webhook` writes. The texts are in files/, which holds every file with its default values.

    00-namespace.yaml
    10-service-account.yaml           without a token
    15-pull-secrets.yaml              for each --pull-secret, the right to read it
    20-secret.yaml                    the certificate and its key               without --cert-manager
    20- to 23-*.yaml                  issuers and certificates                  with --cert-manager
    30-configuration.yaml             archfit.yaml, and archfit.lock if there is one
    40-service.yaml, 50-deployment.yaml, 60-pod-disruption-budget.yaml, 70-network-policy.yaml
    90-webhook.yaml                   MutatingWebhookConfiguration: last, as kubectl applies the files by their names

Source: k8s.io/api v0.36.3, admissionregistration/v1 (types.go); cert-manager v1.17, deploy/crds. The chart in
charts/archfit renders the same objects.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap

from archfit.integrations.own_pods import IMAGE, NAMESPACE, use_registry_secret
from archfit.integrations.webhook.certificates import Pair
from archfit.integrations.yaml_files import mapping, parsed, shipped, written
from archfit.record import Record

SECRET = "20-secret.yaml"  # noqa: S105 - a file name
PULL_SECRETS = "15-pull-secrets.yaml"
WEBHOOK = "90-webhook.yaml"
INJECT = "cert-manager.io/inject-ca-from"
_EVERY = (
    "00-namespace.yaml",
    "10-service-account.yaml",
    "30-configuration.yaml",
    "40-service.yaml",
    "50-deployment.yaml",
    "60-pod-disruption-budget.yaml",
    "70-network-policy.yaml",
    WEBHOOK,
)
CERT_MANAGER = (
    "20-selfsigned-issuer.yaml",
    "21-ca-certificate.yaml",
    "22-ca-issuer.yaml",
    "23-certificate.yaml",
)
_CONFIGURATION = "/etc/archfit/configuration"
_RBAC = "rbac.authorization.k8s.io"
# An API server's own port, and that of its Service: where a network policy acts differs.
_API_SERVER_PORTS = (443, 6443)


class Choices(Record):
    """What the user chose. configuration, lock: the text of archfit.yaml and of archfit.lock, "" for none.

    registry_secret: a Secret of type kubernetes.io/dockerconfigjson, "" for none. egress_ports: beside DNS.
    pull_secrets: (namespace, name) of Secrets that the webhook may read.
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


def names(choices: Choices) -> tuple[str, ...]:
    """The files, by their names."""
    certificate = CERT_MANAGER if choices.cert_manager else (SECRET,)
    return tuple(sorted((*_EVERY, *certificate, *((PULL_SECRETS,) if choices.pull_secrets else ()))))


def dns_names(service: str, namespace: str) -> tuple[str, ...]:
    """What the certificate has to prove. The API server asks for the first."""
    return f"{service}.{namespace}.svc", f"{service}.{namespace}.svc.cluster.local"


def files(choices: Choices) -> dict[str, str]:
    """File name -> text of everything, without a certificate."""
    found: dict[str, str] = {}
    for name in names(choices):
        if name == PULL_SECRETS:
            found[name] = "---\n".join(map(written, _roles(choices)))
            continue
        data = parsed(shipped(__package__, name))
        _in_namespace(data, choices.namespace)
        found[name] = written(_CHANGES.get(name, _unchanged)(data, choices))
    return found


def with_certificate(texts: dict[str, str], pair: Pair) -> dict[str, str]:
    """The same with a certificate, its key, and the CAs that prove it."""
    secret, webhook = parsed(texts[SECRET]), parsed(texts[WEBHOOK])
    for key, content in (("ca.crt", pair.ca), ("tls.crt", pair.certificate), ("tls.key", pair.key)):
        secret["data"][key] = _base64(content)
    for one in webhook["webhooks"]:
        one["clientConfig"]["caBundle"] = _base64(pair.ca)
    return {**texts, SECRET: written(secret), WEBHOOK: written(webhook)}


def certificate_of(secret: Any, webhook: Any) -> Pair:
    """The reverse, from what the two files hold. Raises KeyError, TypeError, IndexError and ValueError."""
    bundle = webhook["webhooks"][0]["clientConfig"]["caBundle"]
    data = secret["data"]
    return Pair(
        *(base64.b64decode(text, validate=True) for text in (bundle, data["tls.crt"], data["tls.key"]))
    )


def without_certificate(data: Any) -> Any:
    """A Secret or webhook configuration as it is before a certificate comes in. It changes its argument."""
    if data["kind"] == "Secret":
        data["data"] = dict.fromkeys(("ca.crt", "tls.crt", "tls.key"), "")
    else:
        for one in data["webhooks"]:
            one["clientConfig"]["caBundle"] = ""
    return data


def _in_namespace(data: Any, namespace: str) -> None:
    if data["kind"] == "Namespace":
        data["metadata"]["name"] = namespace
    elif "namespace" in data["metadata"]:
        data["metadata"]["namespace"] = namespace


def _unchanged(data: Any, _choices: Choices) -> Any:
    return data


def _certificate(data: Any, choices: Choices) -> Any:
    data["spec"]["dnsNames"] = list(dns_names("archfit", choices.namespace))
    return data


def _configuration(data: Any, choices: Choices) -> Any:
    if choices.configuration:
        data["data"]["archfit.yaml"] = choices.configuration
    if choices.lock:
        data["data"]["archfit.lock"] = choices.lock
    return data


def _deployment(data: Any, choices: Choices) -> Any:
    template = data["spec"]["template"]
    # Not of the lock file, which archfit serve reads again by itself.
    data_of = _configuration(parsed(shipped(__package__, "30-configuration.yaml")), choices)["data"]
    digest = hashlib.sha256(data_of["archfit.yaml"].encode()).hexdigest()
    template["metadata"]["annotations"]["checksum/configuration"] = digest
    pod = template["spec"]
    (container,) = pod["containers"]
    container["image"] = choices.image
    if choices.lock:
        container["env"].append(mapping(name="ARCHFIT_LOCK_FILE", value=f"{_CONFIGURATION}/archfit.lock"))
    if choices.registry_secret:
        use_registry_secret(pod, container, choices.registry_secret)
    if choices.pull_secrets:
        pod["automountServiceAccountToken"] = True
        container["args"] += [f"--pull-secret={namespace}/{name}" for namespace, name in choices.pull_secrets]
    if choices.priority_class:
        pod.insert(0, "priorityClassName", choices.priority_class)
    return data


def _network_policy(data: Any, choices: Choices) -> Any:
    ports = [mapping(port=port, protocol="TCP") for port in choices.egress_ports]
    data["spec"]["egress"][1]["ports"] = ports
    if choices.pull_secrets:
        data["spec"]["egress"].append(
            mapping(ports=[mapping(port=port, protocol="TCP") for port in _API_SERVER_PORTS])
        )
    return data


def _roles(choices: Choices) -> Iterator[CommentedMap]:
    """For each pull secret a Role that lets the webhook read this one Secret, and its binding."""
    labels = parsed(shipped(__package__, "10-service-account.yaml"))["metadata"]["labels"]
    for namespace, secret in choices.pull_secrets:
        name = f"archfit-{secret}"
        metadata = mapping(name=name, namespace=namespace, labels=labels)
        rule = mapping(apiGroups=[""], resources=["secrets"], resourceNames=[secret], verbs=["get"])
        yield mapping(apiVersion=f"{_RBAC}/v1", kind="Role", metadata=metadata, rules=[rule])
        yield mapping(
            apiVersion=f"{_RBAC}/v1",
            kind="RoleBinding",
            metadata=metadata,
            roleRef=mapping(apiGroup=_RBAC, kind="Role", name=name),
            subjects=[mapping(kind="ServiceAccount", name="archfit", namespace=choices.namespace)],
        )


def _webhook(data: Any, choices: Choices) -> Any:
    (one,) = data["webhooks"]
    one["clientConfig"]["service"]["namespace"] = choices.namespace
    one["namespaceSelector"]["matchExpressions"][0]["values"] = ["kube-system", choices.namespace]
    if choices.cert_manager:
        del one["clientConfig"]["caBundle"]
        data["metadata"]["annotations"] = mapping(**{INJECT: f"{choices.namespace}/archfit"})
    return data


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


_CHANGES = {
    "23-certificate.yaml": _certificate,
    "30-configuration.yaml": _configuration,
    "50-deployment.yaml": _deployment,
    "70-network-policy.yaml": _network_policy,
    WEBHOOK: _webhook,
}
