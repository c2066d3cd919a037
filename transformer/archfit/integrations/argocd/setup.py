"""`archfit setup argocd [--into DIR] [--discover] [--image NAME] .. [--check]`: two Kustomize components.

    sidecar/          archfit as config management plugin beside repo-server, for Helm, Kustomize and plain files
    build-options/    archfit as a function of `kustomize build` in repo-server itself

The texts are in files/, which holds every file with its default values; `application.yaml` and `archfit-function.yaml`
are to copy. Where a file is there already and differs, nothing is written: it may hold somebody's work.

Sources: argo-cd v3.5.1, docs/operator-manual/config-management-plugins.md and manifests/base/repo-server. repo-server
runs as user 999 with a read-only root and without Python.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO, TextIO

from archfit import __version__
from archfit.base.documentation import place
from archfit.base.errors import UsageError
from archfit.cli.setup.configuration import configuration
from archfit.cli.setup.owned_files import remove_files, write_texts
from archfit.cli.setup.yaml_files import mapping, one_line, parsed, shipped, written
from archfit.cli.usage.command_table import BY_NAME
from archfit.integrations.argocd.setup_check import check

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
_DEFAULT = "argocd-archfit"


def set_up_argocd(argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """The command, after the words `setup argocd`. The exit code; raises ArchfitError."""
    flags = BY_NAME["setup argocd"].flags_alone(argv)
    for flag, value in (
        ("--into", flags.into),
        ("--image", flags.image),
        ("--bundle-image", flags.bundle_image),
    ):
        if value is not None and (not value or value.split() != [value]):
            raise UsageError(
                f"{flag}: {value!r} cannot be used: write it without blanks, or leave the flag out"
            )
    if flags.check:
        return check(flags.into, flags.config, stdout, environ)
    own = configuration(flags.config, environ)
    folder = flags.into or _DEFAULT
    texts = files(
        discover=flags.discover,
        sidecar_image=flags.image or SIDECAR_IMAGE,
        bundle_image=flags.bundle_image or BUNDLE_IMAGE,
        spec=own.spec,
    )
    if flags.remove:
        stderr.write(remove_files(folder, texts, "argocd"))
        return 0
    stderr.write(f"{write_texts(folder, texts, force=flags.force)}\n{own.advice}")
    # Kustomize refuses absolute paths.
    beside, name = os.path.split(folder.rstrip("/")) if os.path.isabs(folder) else ("", folder)
    stderr.write(
        f"Now add the line `components: [{os.path.join(name, 'sidecar')}]` to the kustomization that installs Argo "
        f"CD{f', in {beside}' if beside else ''}, and build the sidecar's image: see {place('argocd')}\n"
    )
    return 0


def files(
    *, discover: bool, sidecar_image: str, bundle_image: str, spec: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, str]:
    """Path -> text of everything. discover: whether Argo CD is to find the applications itself. spec: the user's."""
    data = parsed(_shipped("archfit.yaml"))
    data["spec"].update(spec)
    text = written(data)
    return {
        **{name: _shipped(name) for name in _AS_THEY_ARE},
        "sidecar/plugin.yaml": plugin(discover=discover),
        "sidecar/repo-server.yaml": _repo_server("sidecar", "containers", sidecar_image),
        "sidecar/archfit.yaml": text,
        "sidecar/Dockerfile": _dockerfile("sidecar", SIDECAR_IMAGE),
        "build-options/repo-server.yaml": _repo_server("build-options", "initContainers", bundle_image),
        "build-options/archfit.yaml": text,
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
