"""What `archfit setup argocd` writes. The texts are in files/, which holds every file with its default values.

    sidecar/          a Kustomize component: archfit as config management plugin, for Helm, Kustomize and plain files
      kustomization.yaml, repo-server.yaml    the sidecar beside Argo CD's repo-server
      plugin.yaml                             what Argo CD starts
      archfit.yaml                            the operator's configuration
      Dockerfile                              the sidecar's image
      application.yaml                        an application that uses it; to copy
    build-options/    a Kustomize component: archfit as a function of `kustomize build` in repo-server itself
      kustomization.yaml, argocd-cm.yaml, repo-server.yaml, archfit.yaml, Dockerfile
      archfit-function.yaml                   a `transformers:` entry; to copy

Sources: argo-cd v3.5.1, docs/operator-manual/config-management-plugins.md and manifests/base/repo-server. repo-server
runs as user 999 with a read-only root and without Python.
"""

from __future__ import annotations

from archfit import __version__
from archfit.cli.setup.yaml_files import mapping, one_line, parsed, shipped, written

SIDECAR_IMAGE = f"registry.example.com/archfit-argocd:{__version__}"
BUNDLE_IMAGE = f"registry.example.com/archfit-bundle:{__version__}"
_AS_THEY_ARE = (
    "sidecar/kustomization.yaml",
    "sidecar/application.yaml",
    "build-options/kustomization.yaml",
    "build-options/argocd-cm.yaml",
    "build-options/archfit-function.yaml",
)
_DISCOVER = "Argo CD asks for every application without a source type of its own (`helm:`, `kustomize:`, `directory:`)."


def files(*, discover: bool, sidecar_image: str, bundle_image: str) -> dict[str, str]:
    """Path -> text of everything. discover: whether Argo CD is to find the applications itself."""
    configuration = _shipped("archfit.yaml")
    return {
        **{name: _shipped(name) for name in _AS_THEY_ARE},
        "sidecar/plugin.yaml": plugin(discover=discover),
        "sidecar/repo-server.yaml": _repo_server("sidecar", "containers", sidecar_image),
        "sidecar/archfit.yaml": configuration,
        "sidecar/Dockerfile": _dockerfile("sidecar", SIDECAR_IMAGE),
        "build-options/repo-server.yaml": _repo_server("build-options", "initContainers", bundle_image),
        "build-options/archfit.yaml": configuration,
        "build-options/Dockerfile": _dockerfile("build-options", BUNDLE_IMAGE),
    }


def plugin(*, discover: bool) -> str:
    """plugin.yaml."""
    data = parsed(_shipped("sidecar/plugin.yaml"))
    if discover:
        command = one_line(["archfit", "argocd", "discover"])
        data["spec"]["discover"] = mapping(find=mapping(command=command))
        data["spec"].yaml_set_comment_before_after_key("discover", before=_DISCOVER, indent=2)
    return written(data)


def _repo_server(folder: str, kind: str, image: str) -> str:
    """The patch of repo-server's Deployment, with archfit's image."""
    data = parsed(_shipped(f"{folder}/repo-server.yaml"))
    (container,) = data["spec"]["template"]["spec"][kind]
    container["image"] = image
    return written(data)


def _dockerfile(folder: str, image: str) -> str:
    return _shipped(f"{folder}/Dockerfile").replace("{image}", image)


def _shipped(name: str) -> str:
    return shipped(__package__, name)
