"""The chart in charts/archfit, rendered by a real Helm.

    Chart("helm4").objects("--set", "replicas=3")      the objects of `helm template archfit charts/archfit`, hooks too
    Chart("helm4").render(..)                          Ran: how it ended
    plain(objects)                                     the same without what Helm alone writes, by kind and name

A Helm that Go builds says it speaks to Kubernetes 1.20, so each run names a version.
"""

import copy
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

import machine
from helm_runs import start
from program import Ran

CHART = machine.ROOT / "charts" / "archfit"
KUBERNETES = "1.36.3"
_OF_HELM = ("helm.sh/chart", "app.kubernetes.io/managed-by")


# Helm has no cluster to keep a certificate in, so each rendering of a webhook names a Secret.
GIVEN = ("--set", "certificate.source=secret,certificate.secretName=archfit-tls")
CERT_MANAGER = ("--set", "certificate.source=cert-manager")
# Name -> words for Helm: each renders, and an API server takes what comes out.
VALUES: dict[str, tuple[str, ...]] = {
    "default": (),
    "cert-manager": CERT_MANAGER,
    "own-issuer": (*CERT_MANAGER, "--set", "certificate.issuerRef.kind=ClusterIssuer,certificate.issuerRef.name=ca"),
    "secret": ("--set", "certificate.source=secret,certificate.secretName=pair"),
    "names": ("--set", "fullnameOverride=placement,nameOverride=fit"),
    "digest": ("--set", f"image.digest=sha256:{'a' * 64}", "--set", "imagePullSecrets[0].name=pulls"),
    "nothing-optional": ("--set", "podDisruptionBudget.enabled=false,networkPolicy.enabled=false"),
    "client-ca": ("--set", "clientCA.configMap=clients,memoryLimit=400Mi"),
    "client-ca-of-a-secret": ("--set", "clientCA.secret=clients,clientCA.key=tls.crt"),
    "api-server": ("--set", "networkPolicy.apiServer={10.0.0.5/32,fd00::/64}"),
    "monitoring": (
        *("--set", "metrics.serviceMonitor.enabled=true,metrics.serviceMonitor.labels.release=prometheus"),
        *("--set", "metrics.prometheusRule.enabled=true,metrics.prometheusRule.labels.release=prometheus"),
        *("--set", "metrics.dashboard.enabled=true,metrics.dashboard.annotations.grafana_folder=archfit"),
    ),
    "autoscaler": ("--set", "replicas=null"),
    "audit": ("--set", "mode=audit,audit.cron.enabled=true"),
    "audit-in-parts": ("--set", "mode=audit,audit.job.enabled=true,audit.nodePools=true,audit.cacheSecret=cache"),
    "audit-options": (
        *("--set", "audit.cron.enabled=true,audit.cluster=prod eu,audit.cron.schedule=0 4 * * 1-5"),
        *("--set", "audit.storageClass=nfs,audit.size=5Gi,registrySecret=registries"),
        *("--set", "priorityClassName=system-cluster-critical"),
    ),
    "no-lists": (
        *("--set", "tolerations=null", "--set", "spreadOver=null", "--set", "nodeSelector=null"),
        *(
            "--set",
            "resources=null",
            "--set",
            "networkPolicy.egressPorts=null",
            "--set",
            "podSecurityContext.runAsUser=null,podSecurityContext.runAsGroup=null,podSecurityContext.fsGroup=null",
        ),
    ),
    "scheduling": (
        *("--set", "priorityClassName=system-cluster-critical,replicas=3,podDisruptionBudget.maxUnavailable=34%"),
        *(
            "--set-json",
            'affinity={"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":'
            '[{"matchExpressions":[{"key":"pool","operator":"In","values":["a", "true"]}]}]}}}',
        ),
        *("--set-json", 'nodeSelector={"a.example/b":"true"}', "--set-json", 'podLabels={"team":"1"}'),
        *("--set-json", 'podAnnotations={"note":"a: \\"b\\" # c"}'),
    ),
    "webhook": (
        *("--set", "webhook.failurePolicy=Fail,webhook.timeoutSeconds=3,webhook.ignoredNamespaces={a,b}"),
        *("--set-json", 'webhook.namespaceExpressions=[{"key":"team","operator":"In","values":["x"]}]'),
        *("--set-json", 'webhook.objectExpressions=[{"key":"no","operator":"DoesNotExist"}]'),
        *("--set-json", 'webhook.matchConditions=[{"name":"named","expression":"has(object.metadata.name)"}]'),
        *("--set-json", 'webhook.annotations={"a.example/b":"c"}'),
    ),
    "more": (
        *("--set", "registrySecret=pulls,pullSecrets={archfit/more}", "--set", "extraArgs={--log-level=debug}"),
        *("--set-json", 'extraEnv=[{"name":"HTTPS_PROXY","value":"http://proxy.example:3128"}]'),
        *("--set-json", 'extraVolumes=[{"name":"ca","configMap":{"name":"ca"}}]'),
        *("--set-json", 'extraVolumeMounts=[{"name":"ca","mountPath":"/etc/ca"}]'),
        *("--set", "hostNetwork=true,ports.https=9443,ports.metrics=9080"),
        *("--set-json", 'serviceAccount.annotations={"a.example/role":"arn:x"}'),
    ),
    "configuration": ("--set", "configuration.spec.onConflict=leave,configuration.operator.cacheTtl=1h"),
}  # fmt: skip

_POLICY = ("--set", "mode=policy")
# The same for the mode policy.
POLICY_VALUES: dict[str, tuple[str, ...]] = {
    "policy": _POLICY,
    "policy-options": (
        *(*_POLICY, "--set", "policy.carrier=crd,policy.name=shop.example,policy.schedule=@hourly"),
        *("--set", "policy.apiVersion=v1beta1,policy.namespaceSelectors={team=web,!legacy},registrySecret=pulls"),
    ),
    "policy-pod": (
        *(*_POLICY, "--set", "priorityClassName=system-cluster-critical,image.pullPolicy=Always"),
        *("--set-json", 'extraEnv=[{"name":"A","value":"b"}]', "--set-json", 'podLabels={"a":"1"}'),
        *("--set-json", 'podAnnotations={"a":"1"}', "--set", "extraArgs={--mirror,docker.io=https://m.example}"),
        *("--set-json", 'extraVolumes=[{"name":"ca","configMap":{"name":"ca"}}]'),
        *("--set-json", 'extraVolumeMounts=[{"name":"ca","mountPath":"/etc/ca"}]'),
    ),
    "policy-monitoring": (*_POLICY, "--set", "metrics.prometheusRule.enabled=true"),
    "policy-long-name": (*_POLICY, "--set", f"fullnameOverride={'a' * 60}"),
}  # fmt: skip


class NoKeyTwice(yaml.SafeLoader):
    """Raises AssertionError where a key stands twice in a mapping."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        assert len(keys) == len(set(keys)), (
            f"twice: {sorted(key for key in set(keys) if keys.count(key) > 1)}"
        )
        return super().construct_mapping(node, deep)


class Chart:
    """name: "helm3" or "helm4"."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._program = machine.tool(name)

    def run(self, *words: str, cwd: Path | None = None, **environ: str) -> Ran:
        """`helm WORDS`."""
        return start([self._program, *words], {**os.environ, **environ}, cwd)

    def render(self, *words: str, release: str = "archfit", namespace: str = "archfit") -> Ran:
        """`helm template`."""
        place = ("--namespace", namespace, "--kube-version", KUBERNETES)
        given = () if "certificate.source" in (said := " ".join(words)) or "mode=" in said else GIVEN
        return self.run("template", release, str(CHART), *place, *given, *words)

    def objects(
        self, *words: str, release: str = "archfit", namespace: str = "archfit"
    ) -> list[dict[str, Any]]:
        """What it renders, decoded. Raises AssertionError where Helm fails, or where a key stands twice."""
        stream = self.render(*words, release=release, namespace=namespace).ok()
        return [value for value in yaml.load_all(stream, NoKeyTwice) if value]


def named(objects: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """By kind and name."""
    found = {(value["kind"], value["metadata"]["name"]): value for value in objects}
    assert found
    return found


def plain(objects: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Without hooks, without Helm's labels, without certificates and checksums, also of a Job's name."""
    kept = []
    for value in copy.deepcopy(list(objects)):
        metadata = value["metadata"]
        if "helm.sh/hook" in metadata.get("annotations", {}):
            continue
        for label in _OF_HELM:
            metadata.get("labels", {}).pop(label, None)
        kept.append(_without_certificate(value))
    return named(kept)


def _without_certificate(value: dict[str, Any]) -> dict[str, Any]:
    if value["kind"] == "Secret":
        value["data"] = sorted(value["data"])
        value["metadata"].pop("annotations", None)
    if value["kind"] == "MutatingWebhookConfiguration":
        for one in value["webhooks"]:
            one["clientConfig"].pop("caBundle", None)
    if value["kind"] == "Job":
        name, _, digest = value["metadata"]["name"].rpartition("-")
        assert len(digest) == 10
        value["metadata"]["name"] = name
    if value["kind"] == "Deployment":
        annotations = value["spec"]["template"]["metadata"]["annotations"]
        assert len(annotations.pop("checksum/configuration")) == 64
    return value
