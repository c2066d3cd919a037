"""What Argo CD has now of the two values that the component build-options replaces, from its own manifests.

    kubectl get -n argocd cm/argocd-cm deploy/argocd-repo-server -o yaml    or  kubectl kustomize .

    ConfigMap argocd-cm            data["kustomize.buildOptions"]
    Deployment argocd-repo-server  PATH of its container argocd-repo-server

A kustomization replaces a whole text of a ConfigMap and a whole variable, so the component has to hold both values.
"""

from __future__ import annotations

from typing import Any

import yaml

from archfit.errors import ArchfitError
from archfit.integrations.argocd.install_merge import OPTIONS, with_flags
from archfit.record import Record

_SERVER = "argocd-repo-server"


class Current(Record):
    """The two values, "" where there is none. more_options: the keys for versions of kustomize."""

    options: str = ""
    path: str = ""
    more_options: tuple[str, ...] = ()


def current(text: str) -> Current:
    """From a stream of manifests. Raises ArchfitError, also where what is there switches off what archfit needs."""
    try:
        objects = [one for document in yaml.safe_load_all(text) for one in _objects(document)]
    except yaml.YAMLError as error:
        raise ArchfitError(
            f"the file of --merge cannot be read: {getattr(error, 'problem', error)}"
        ) from None
    found = Current()
    known = 0
    for one in objects:
        name = (one.get("metadata") or {}).get("name")
        if one.get("kind") == "ConfigMap" and name == "argocd-cm":
            known += 1
            data = one.get("data") or {}
            more = tuple(sorted(key for key in data if key.startswith(f"{OPTIONS}.")))
            found = found.replace(options=str(data.get(OPTIONS) or ""), more_options=more)
        elif one.get("kind") == "Deployment" and name == _SERVER:
            known += 1
            found = found.replace(path=_path(one))
    if not known:
        raise ArchfitError(
            f"the file of --merge holds neither the ConfigMap argocd-cm nor the Deployment {_SERVER}: run "
            f"kubectl get -n argocd cm/argocd-cm deploy/{_SERVER} -o yaml | archfit setup argocd --merge -"
        )
    off = with_flags(found.options)[1]
    if off:
        raise ArchfitError(
            f"{OPTIONS} of argocd-cm says {', '.join(off)}, and archfit needs it: remove it there"
        )
    return found


def _objects(document: Any) -> list[dict[str, Any]]:
    if not isinstance(document, dict):
        return []
    items = document.get("items") if str(document.get("kind")).endswith("List") else [document]
    return [one for one in items or [] if isinstance(one, dict)]


def _path(deployment: dict[str, Any]) -> str:
    spec = deployment.get("spec", {}).get("template", {}).get("spec", {})
    for container in spec.get("containers") or []:
        for variable in container.get("env") or [] if container.get("name") == _SERVER else []:
            if variable.get("name") == "PATH":
                if "value" not in variable:
                    raise ArchfitError(
                        f"PATH of {_SERVER} has no value of its own: write one into its Deployment, so that "
                        "archfit's folder can be put before it"
                    )
                return str(variable["value"])
    return ""
