"""The YAML of docs/argocd-install.md that a user adds to values of the chart argo-cd, or to an ArgoCD resource.

The places are facts of argo-helm (charts/argo-cd 10.1.1) and of argocd-operator (api/v1beta1, 0.18).
"""

import re
from typing import Any, NamedTuple

import yaml

import machine

PAGE = (machine.ROOT / "docs" / "argocd-install.md").read_text(encoding="utf-8")
_SECTIONS = r"^## (The (?:sidecar|function), (?:Helm chart|operator))\n.*?^```yaml\n(.*?)^```$"
_CONTAINERS = {"Helm chart": "extraContainers", "operator": "sidecarContainers"}


class Block(NamedTuple):
    """A block below its heading."""

    heading: str
    text: str

    @property
    def value(self) -> Any:
        return yaml.safe_load(self.text)

    @property
    def form(self) -> str:
        """`Helm chart` or `operator`."""
        return self.heading.partition(", ")[2]

    def items(self, name: str) -> list[Any]:
        """A list of repo-server's pod. name: as Kubernetes calls it."""
        server = self.value["repoServer"] if self.form == "Helm chart" else self.value["spec"]["repo"]
        return list(server.get(_CONTAINERS[self.form] if name == "containers" else name, []))

    @property
    def build_options(self) -> str:
        if self.form == "Helm chart":
            return str(self.value["configs"]["cm"]["kustomize.buildOptions"])
        return str(self.value["spec"]["kustomizeBuildOptions"])


BLOCKS = [Block(heading, text) for heading, text in re.findall(_SECTIONS, PAGE, re.MULTILINE | re.DOTALL)]
