"""`kubectl archfit`: the second name of the program, started by the real kubectl against a real API server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import machine
from program import archfit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from control_plane import ControlPlane

    Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def kubectl(control_plane: ControlPlane, tool: Callable[[str], str], tmp_path: Path) -> Kubectl:
    """Starts kubectl with a PATH that has kubectl-archfit, as pip makes it from pyproject.toml."""
    project = tomllib.loads((machine.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["kubectl-archfit"].partition(":")
    program = tmp_path / "bin" / "kubectl-archfit"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    # archfit starts kubectl, too.
    (program.parent / "kubectl").symlink_to(tool("kubectl"))
    environ = {
        **os.environ,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "KUBECONFIG": str(control_plane.kubeconfig),
    }

    def run(*words: str) -> Any:
        return subprocess.run(
            [tool("kubectl"), *words], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def namespaces(control_plane: ControlPlane) -> tuple[str, str]:
    names = control_plane.namespace("plugin-a"), control_plane.namespace("plugin-b")
    for name in names:
        control_plane.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"generateName": "web-", "namespace": name},
                "spec": {"containers": [{"name": "web", "image": f"quay.io/team/{name}:1"}]},
            }
        )
    return names


def test_kubectl_finds_the_plugin(kubectl: Kubectl):
    done = kubectl("plugin", "list", "--name-only")
    assert "kubectl-archfit" in done.stdout.split()


def test_an_audit_through_kubectl_reads_the_namespace_of_the_context(
    kubectl: Kubectl, namespaces: tuple[str, str]
):
    words = (
        "--live",
        "--context",
        "tests",
        "-n",
        namespaces[0],
        "--offline",
        "--no-cache",
        "--format",
        "json",
    )
    done = kubectl("archfit", "audit", *words)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)["facts"]
    assert {one["namespace"] for one in facts["workloads"]} == {namespaces[0]}
    assert [one["reference"] for one in facts["images"]] == [f"quay.io/team/{namespaces[0]}:1"]


def test_it_is_the_same_program_under_the_same_name(kubectl: Kubectl):
    done = kubectl("archfit", "audit", "--help")
    assert (done.returncode, done.stdout) == (0, archfit(b"", "audit", "--help").ok().decode())
    assert done.stdout.startswith("usage: archfit audit ")


def test_the_exit_code_is_that_of_archfit(kubectl: Kubectl):
    done = kubectl("archfit", "audit", "--live", "--context", "nowhere")
    assert done.returncode == 1
    assert "nowhere" in done.stderr
    assert kubectl("archfit", "audit", "--no-such-flag").returncode == 2
