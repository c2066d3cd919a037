"""The manifest for krew: krew itself installs it from the archive, and kubectl starts what it installed."""

import hashlib
import json
import os
import shutil

import pytest
import yaml
from places import architecture
from repository_address import address

import machine
from archfit import __version__

NAME = f"archfit-{__version__}-linux-{architecture()}.tar.gz"


@pytest.fixture(scope="module")
def kubectl(released, control_plane, tmp_path_factory):
    """Starts kubectl with a PATH that has what krew installed, and no other archfit."""
    home = tmp_path_factory.mktemp("krew")
    (home / "bin").mkdir()
    (home / "bin" / "kubectl").symlink_to(machine.tool("kubectl"))
    environ = {
        "PATH": os.pathsep.join([str(home / "root" / "bin"), str(home / "bin"), "/usr/bin", "/bin"]),
        "HOME": str(home),
        "KREW_ROOT": str(home / "root"),
        "KUBECONFIG": str(control_plane.kubeconfig),
    }
    manifest, archive = released.dist / "krew" / "archfit.yaml", released.dist / "binary" / NAME
    done = machine.run(
        [machine.tool("krew"), "install", f"--manifest={manifest}", f"--archive={archive}"], env=environ
    )
    assert done.returncode == 0, done.stderr
    assert "kubectl archfit audit --live" in done.stderr

    def run(*words):
        return machine.run([machine.tool("kubectl"), *words], env=environ)

    return run


def test_the_manifest_has_the_version_the_address_and_the_checksum(released):
    made = yaml.safe_load((released.dist / "krew" / "archfit.yaml").read_text(encoding="utf-8"))
    assert (made["metadata"]["name"], made["spec"]["version"]) == ("archfit", f"v{__version__}")
    assert made["spec"]["homepage"] == address()
    (platform,) = made["spec"]["platforms"]
    assert platform["selector"]["matchLabels"] == {"os": "linux", "arch": architecture()}
    assert platform["uri"] == f"{address()}/releases/download/v{__version__}/{NAME}"
    assert platform["sha256"] == hashlib.sha256((released.dist / "binary" / NAME).read_bytes()).hexdigest()


def test_krew_refuses_another_archive(released, tmp_path):
    archive = tmp_path / NAME
    shutil.copyfile(released.dist / "binary" / NAME, archive)
    with archive.open("ab") as file:
        file.write(b"x")
    manifest = released.dist / "krew" / "archfit.yaml"
    done = machine.run(
        [machine.tool("krew"), "install", f"--manifest={manifest}", f"--archive={archive}"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "KREW_ROOT": str(tmp_path / "root")},
    )
    assert done.returncode == 1
    assert "checksum does not match" in done.stderr


def test_kubectl_starts_the_plugin(kubectl):
    done = kubectl("archfit", "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: archfit ")


def test_context_and_namespace_are_passed_on(kubectl, control_plane):
    namespace = control_plane.namespace("krew")
    pod = {"generateName": "web-", "namespace": namespace}
    spec = {"containers": [{"name": "web", "image": "quay.io/team/krew:1"}]}
    control_plane.create({"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": spec})
    words = ("--live", "--context", "tests", "--kubeconfig", str(control_plane.kubeconfig), "-n", namespace)
    done = kubectl("archfit", "audit", *words, "--offline", "--no-cache", "--format", "json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)["facts"]
    assert [one["reference"] for one in facts["images"]] == ["quay.io/team/krew:1"]
    done = kubectl("archfit", "audit", "--live", "--context", "nowhere")
    assert (done.returncode, "nowhere" in done.stderr) == (1, True)
