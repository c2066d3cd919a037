"""examples/ansible, run by ansible-playbook with the collection kubernetes.core, Helm and a real API server."""

import os
import shutil

import pytest
import yaml

import machine
from machine import ROOT, TOOLS

CHART = """\
apiVersion: v2
name: web
version: 1.0.0
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web  # kept
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: "amd.example/app:1"
"""


@pytest.fixture
def play(run_python, packages, control_plane, tmp_path):
    """Runs the playbook beside a chart and manifests, with `helm` and `archfit` on PATH."""
    shutil.copytree(ROOT / "examples" / "ansible", tmp_path, dirs_exist_ok=True)
    (tmp_path / "chart" / "templates").mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text(CHART)
    (tmp_path / "chart" / "templates" / "web.yaml").write_text(DEPLOYMENT)
    (tmp_path / "manifests.yaml").write_text(DEPLOYMENT)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "helm").symlink_to(machine.tool("helm3"))
    machine.tool("kubernetes-core")
    program = TOOLS / "python" / "python-ansible" / "bin" / "ansible-playbook"
    path = os.pathsep.join([str(tmp_path / "bin"), str(packages / "bin"), os.environ["PATH"]])
    more = {
        "ANSIBLE_COLLECTIONS_PATH": str(TOOLS / "parts"),
        "ANSIBLE_HOME": str(tmp_path / "ansible"),
        "ANSIBLE_LOCALHOST_WARNING": "0",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "0",
        "KUBECONFIG": str(control_plane.kubeconfig),
        "LC_ALL": "C.UTF-8",
        "PATH": path,
    }
    return lambda *words: run_python("ansible", program, *words, **more)


@pytest.mark.real
def test_helm_and_the_filter_place_what_they_get(play, control_plane, tmp_path):
    said = play("playbook.yml")
    assert "failed=0" in said
    found = control_plane.get("/apis/apps/v1/namespaces/web-shop/deployments/web")
    expression = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert found["spec"]["template"]["spec"]["affinity"] == affinity
    placed = (tmp_path / "placed.yaml").read_text()
    assert placed.startswith(DEPLOYMENT.rstrip("\n"))
    assert yaml.safe_load(placed)["spec"]["template"]["spec"]["affinity"] == affinity


@pytest.mark.real
def test_an_error_fails_the_task_with_what_to_do(play, tmp_path):
    path = tmp_path / "playbook.yml"
    path.write_text(path.read_text().replace("clusterArchitectures=", "clusterArchitecture="))
    with pytest.raises(AssertionError, match="write 'clusterArchitectures'") as caught:
        play("playbook.yml", "--start-at-task", "Write manifests")
    assert "Traceback" not in str(caught.value)
