"""`archfit setup TOOL`: writes the files that plug archfit in.

setup cluster    an archfit.yaml from `kubectl get nodes -o json`
setup workloads  rows for custom resources from their CustomResourceDefinitions
setup helm       the plugin that Helm 4 needs
setup argocd     the plugin for Argo CD, and its sidecar
setup kustomize  the KRM function's configuration, named in a kustomization
setup kpt        the same in a package
setup flux       patches, as Flux runs no functions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.errors import UsageError

HELP = """\
usage: archfit setup cluster|workloads|helm|argocd|kustomize|kpt|flux [OPTION]...

  cluster   Writes a configuration file from the nodes of a cluster.
  workloads
            Writes rows for custom resources from their CustomResourceDefinitions.
  helm      Installs the plugin that Helm 4 needs, or checks an installation.
  argocd    Writes the plugin for Argo CD with its sidecar, or checks an installation.
  kustomize, kpt
            Make archfit a function of a kustomization or package, or check that.
  flux      Writes patches for Flux, or checks that they are up to date.

`archfit setup TOOL --help` says more.
"""


def run(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after the word `setup`. The exit code; raises ArchfitError."""
    match argv:
        case ["cluster", *rest]:
            from archfit.integrations.cluster.setup import run as setup_cluster

            return setup_cluster(rest, stdin, stdout, stderr)
        case ["workloads", *rest]:
            from archfit.integrations.cluster.workload_setup import run as setup_workloads

            return setup_workloads(rest, stdin, stdout, stderr)
        case ["helm", *rest]:
            from archfit.integrations.helm.setup import run as setup_helm

            return setup_helm(rest, stdout, stderr, environ)
        case ["argocd", *rest]:
            from archfit.integrations.argocd.setup import run as setup_argocd

            return setup_argocd(rest, stdout, stderr, environ)
        case ["kustomize" | "kpt" as tool, *rest]:
            from archfit.integrations.kustomize.setup import run as setup_kustomize

            return setup_kustomize(tool, rest, stdout, stderr, environ)
        case ["flux", *rest]:
            from archfit.commands.patch import run as patch
            from archfit.integrations.flux.setup import run as setup_flux

            def write_patches(form: str, output: BinaryIO) -> int:
                return patch(["--format", form], stdin, output, stderr, environ)

            return setup_flux(rest, stdin, stdout, stderr, write_patches)
        case ["-h" | "--help", *_]:
            stdout.write(HELP.encode())
            return 0
    raise UsageError(
        "name what to set up: archfit setup cluster, workloads, helm, argocd, kustomize, kpt or flux"
    )
