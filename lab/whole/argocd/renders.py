"""What archfit writes for the applications, before anything happens."""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import machine
from argocd_caller import BUILD, SYSTEM_PATH, tools_folder
from cluster_site import BUILT_FOR
from helm_runs import start
from program import PROGRAM

FOLDER = machine.ROOT / "fixtures" / "whole" / "argocd"
_BUILD = {**BUILD, "ARGOCD_APP_NAME": "shop"}
_PARAMETERS = [
    {"name": "values-files", "array": ["values-production.yaml"]},
    {"name": "prefer", "map": {"arm64": "10"}},
]
# application -> folder of the repository, what Argo CD adds to the environment
_RENDERED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "plain": ("plain", {}),
    "chart": ("chart", {}),
    "kustomized": ("kustomized/overlay", {}),
    "parameters": ("chart", {"ARGOCD_APP_PARAMETERS": json.dumps(_PARAMETERS)}),
    "options": ("options", {}),
    "everywhere-hub": ("everywhere", {"ARGOCD_ENV_ARCHFIT_CLUSTER_ARCHITECTURES": "amd64,arm64"}),
    "everywhere-edge": ("everywhere", {"ARGOCD_ENV_ARCHFIT_CLUSTER_ARCHITECTURES": "arm64"}),
}


def manifests() -> dict[str, str]:
    """What archfit writes for each application before anything happens: its digest. Raises AssertionError."""
    told = [
        f"--image-platforms=img.test/{name}/*={','.join(f'linux/{one}' for one in sorted(built))}"
        for name, built in BUILT_FOR.items()
    ]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        tools_folder(Path(folder) / "bin")
        for name, (path, environ) in _RENDERED.items():
            own = {"PATH": f"{folder}/bin:{SYSTEM_PATH}", "HOME": folder, "TMPDIR": folder}
            words = [str(PROGRAM), "argocd", "generate", "--no-cache", *told]
            stream = start(words, {**own, **_BUILD, **environ}, FOLDER / "git" / path).ok()
            found[name] = hashlib.sha256(stream).hexdigest()[:12]
    return found
