"""Renders charts/archfit into the manifests that `archfit setup webhook` and `archfit setup policy` fill in.

    python scripts/setup_manifests.py --helm HELM     writes them below transformer/archfit/

The chart is the one source. Every optional part is rendered; `setup` takes out what the user did not choose. What Helm
alone writes is left out: labels that name Helm, and the lines that name the template.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "charts" / "archfit"
PRODUCTS = ROOT / "transformer" / "archfit"
_KUBERNETES = "1.36.3"
_OF_HELM = re.compile(
    r"^(?: +(?:app\.kubernetes\.io/managed-by|helm\.sh/chart): .*|# Source: .*)\n", re.MULTILINE
)
_DOCUMENT = re.compile(r"^---\n", re.MULTILINE)


class Rendering(NamedTuple):
    """One run of `helm template`. files: the name of the file by (kind, name), below `folder`."""

    folder: Path
    words: tuple[str, ...]
    files: dict[tuple[str, str], str]


_LOCK = 'lockFile={"version": 1, "images": {}}'
_WEBHOOK = Rendering(
    PRODUCTS / "webhook" / "setup" / "files",
    (
        *("--set", "certificate.source=cert-manager,registrySecret=registries,priorityClassName=priority"),
        *("--set", "clientCA.configMap=archfit-clients"),
        *("--set", "pullSecrets={archfit/pulls}", "--set-string", "image.tag=0", "--set-literal", _LOCK),
    ),
    {
        ("ServiceAccount", "archfit"): "10-service-account.yaml",
        ("Role", "archfit-pulls"): "15-pull-secrets.yaml",
        ("RoleBinding", "archfit-pulls"): "15-pull-secrets.yaml",
        ("Issuer", "archfit-selfsigned"): "20-selfsigned-issuer.yaml",
        ("Certificate", "archfit-ca"): "21-ca-certificate.yaml",
        ("Issuer", "archfit-ca"): "22-ca-issuer.yaml",
        ("Certificate", "archfit"): "23-certificate.yaml",
        ("ConfigMap", "archfit"): "30-configuration.yaml",
        ("Service", "archfit"): "40-service.yaml",
        ("Deployment", "archfit"): "50-deployment.yaml",
        ("PodDisruptionBudget", "archfit"): "60-pod-disruption-budget.yaml",
        ("NetworkPolicy", "archfit"): "70-network-policy.yaml",
        ("MutatingWebhookConfiguration", "archfit"): "90-webhook.yaml",
    },
)
_POLICY_WORDS = (
    "--set",
    "mode=policy,policy.deny=true,registrySecret=registries",
    "--set-string",
    "image.tag=0",
)
_POLICY = Rendering(
    PRODUCTS / "policy" / "installed" / "files",
    _POLICY_WORDS,
    {
        **{(kind, "archfit-policy"): "10-access.yaml" for kind in ("ServiceAccount", "ClusterRoleBinding")},
        ("ClusterRole", "archfit-policy"): "10-access-literal.yaml",
        ("ConfigMap", "archfit-policy"): "30-configuration.yaml",
        ("CronJob", "archfit-policy"): "50-cronjob.yaml",
        ("Job", ""): "60-first-job.yaml",
    },
)
_POLICY_CRD = Rendering(
    _POLICY.folder,
    (*_POLICY_WORDS, "--set", "policy.carrier=crd,policy.deny=false"),
    {("ClusterRole", "archfit-policy"): "10-access-crd.yaml"},
)


def manifests(helm: str) -> dict[Path, str]:
    """Path -> text of every file. Raises CalledProcessError."""
    found: dict[Path, str] = {}
    for rendering in (_WEBHOOK, _POLICY, _POLICY_CRD):
        for file, text in _documents(helm, rendering):
            path = rendering.folder / file
            found[path] = f"{found[path]}---\n{text}" if path in found else text
    return found


def _documents(helm: str, rendering: Rendering) -> Iterator[tuple[str, str]]:
    words = [helm, "template", "archfit", CHART, "--namespace", "archfit", "--kube-version", _KUBERNETES]
    done = subprocess.run(
        [*words, "--no-hooks", *rendering.words], check=True, capture_output=True, encoding="utf-8"
    )
    for document in _DOCUMENT.split(done.stdout):
        text = _OF_HELM.sub("", document).strip("\n")
        value = yaml.safe_load(text)
        if value:
            kind, name = value["kind"], value["metadata"]["name"]
            file = rendering.files.get((kind, name)) or rendering.files.get((kind, ""))
            if file:
                yield file, f"{text}\n"


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description="Renders the manifests of `archfit setup webhook|policy`.")
    parser.add_argument("--helm", default="helm")
    for path, text in manifests(parser.parse_args().helm).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
