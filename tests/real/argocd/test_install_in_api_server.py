"""A real API server takes repo-server with archfit, in every form of `archfit setup argocd`.

The chart and the operator are no part of the tests: what they do with the values is written out here, as read in
argo-helm (charts/argo-cd 10.1.1, templates/argocd-repo-server/deployment.yaml) and in argocd-operator
(controllers/argocd/repo_server.go): the lists stand behind the server's own containers, before its volumes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import machine
from archfit.integrations.argocd.install_forms import FORMS, WAYS, InstallForm
from argocd_sources import REPO_SERVER
from helm_runs import start
from program import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """With Argo CD's namespace."""
    control_plane.namespace("argocd")
    return control_plane


def _accepted(plane: ControlPlane, text: str) -> str:
    return plane.kubectl(
        "apply",
        "--server-side",
        "--dry-run=server",
        "--validate=strict",
        "-n",
        "argocd",
        "-f",
        "-",
        stdin=text,
    ).stdout


@pytest.mark.parametrize("way", WAYS)
def test_the_components(plane: ControlPlane, tmp_path: Path, way: str) -> None:
    start([str(PROGRAM), "setup", "argocd", "--into", str(tmp_path)], dict(os.environ)).ok()
    (tmp_path / "base.yaml").write_text(REPO_SERVER, encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text(f"resources: [base.yaml]\ncomponents: [{way}]\n")
    built = start([machine.tool("kustomize"), "build", str(tmp_path)], dict(os.environ)).ok().decode()
    assert "deployment.apps/argocd-repo-server serverside-applied" in _accepted(plane, built)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_the_chart_and_the_operator_make(
    plane: ControlPlane, tmp_path: Path, form: InstallForm, way: str
) -> None:
    words = ["setup", "argocd", "--form", form.name, "--into", str(tmp_path)]
    start([str(PROGRAM), *words], dict(os.environ)).ok()
    data = yaml.safe_load((tmp_path / way / form.file).read_text(encoding="utf-8"))
    deployment, _ = yaml.safe_load_all(REPO_SERVER)
    spec = deployment["spec"]["template"]["spec"]
    [server] = spec["containers"]
    places = form.places
    server["env"] += _list(data, places.env)
    server["volumeMounts"] += _list(data, places.mounts)
    spec["containers"] += _list(data, places.containers)
    spec["initContainers"] += _list(data, places.init_containers)
    spec["volumes"] = _list(data, places.volumes) + spec["volumes"]
    objects = [deployment, *data.get("extraObjects", [])]
    said = _accepted(plane, "\n---\n".join(map(json.dumps, objects)))
    assert "deployment.apps/argocd-repo-server serverside-applied" in said
    for path in tmp_path.glob(f"{way}/configmap.yaml"):
        assert "configmap/archfit" in _accepted(plane, path.read_text(encoding="utf-8"))


def _list(data: Any, keys: tuple[str, ...]) -> list[Any]:
    for key in keys:
        data = (data or {}).get(key)
    return data or []
