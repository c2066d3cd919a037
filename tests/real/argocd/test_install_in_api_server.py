"""A real API server takes repo-server with archfit: the components, and the blocks of docs/argocd.md.

The chart and the operator are no part of the tests: what they do with the values is written out here, as read in
argo-helm (charts/argo-cd 10.1.1, templates/argocd-repo-server/deployment.yaml) and in argocd-operator
(controllers/argocd/repo_server.go): the lists stand behind the server's own containers, before its volumes.
"""

import json
import os

import pytest
import yaml

import machine
from argocd_blocks import BLOCKS
from argocd_sources import REPO_SERVER
from control_plane import ControlPlane
from helm_runs import start
from program import PROGRAM


@pytest.fixture(scope="module")
def plane(control_plane):
    """With Argo CD's namespace."""
    control_plane.namespace("argocd")
    return control_plane


def _accepted(plane: ControlPlane, text: str) -> str:
    words = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "-n", "argocd", "-f", "-")
    return plane.kubectl(*words, stdin=text).stdout


@pytest.mark.parametrize("way", ["sidecar", "build-options"])
def test_the_components(plane, tmp_path, way):
    start([str(PROGRAM), "setup", "argocd", "--into", str(tmp_path)], dict(os.environ)).ok()
    (tmp_path / "base.yaml").write_text(REPO_SERVER, encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text(f"resources: [base.yaml]\ncomponents: [{way}]\n")
    built = start([machine.tool("kustomize"), "build", str(tmp_path)], dict(os.environ)).ok().decode()
    assert "deployment.apps/argocd-repo-server serverside-applied" in _accepted(plane, built)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.heading)
def test_what_the_chart_and_the_operator_make(plane, block):
    deployment, _ = yaml.safe_load_all(REPO_SERVER)
    spec = deployment["spec"]["template"]["spec"]
    [server] = spec["containers"]
    server["env"] += block.items("env")
    server["volumeMounts"] += block.items("volumeMounts")
    spec["containers"] += block.items("containers")
    spec["initContainers"] += block.items("initContainers")
    spec["volumes"] = block.items("volumes") + spec["volumes"]
    said = _accepted(plane, json.dumps(deployment))
    assert "deployment.apps/argocd-repo-server serverside-applied" in said
