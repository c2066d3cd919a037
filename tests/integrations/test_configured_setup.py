"""Step 0 of the README through each `archfit setup TOOL`: what it writes places pods for the cluster that was read."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from program import PROGRAM, Ran

NODES = json.dumps(
    {
        "kind": "List",
        "items": [{"kind": "Node", "metadata": {"name": "a", "labels": {"kubernetes.io/arch": "arm64"}}}],
    }
)
WEB = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations: {archfit.dev/image-platforms: linux/arm64}
spec: {containers: [{name: web, image: h.example/web:2}]}
"""
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n"
TRUST = "operator: {mirror: {docker.io: https://hush.example}, enforced: [clusterArchitectures]}\n"
TOOLS = {
    "kustomize": ("all", "all/archfit.yaml"),
    "kpt": ("all", "all/archfit.yaml"),
    "argocd": ("argo", "argo/build-options/archfit.yaml"),
    "helm": ("plugins", "plugins/archfit/archfit.yaml"),
    "flux": ("all", "all/archfit-flux.yaml"),
}


class Folder:
    """A folder with an application for each tool, and archfit in it without any variable of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARCHFIT_")}
        self._environ = {**kept, "PATH": f"{PROGRAM.parent}:/usr/bin:/bin", "HOME": str(path)}
        (path / "all").mkdir()
        for name, text in (
            ("web.yaml", WEB),
            ("kustomization.yaml", "resources: [web.yaml]\n"),
            ("Kptfile", KPTFILE),
        ):
            (path / "all" / name).write_text(text, encoding="utf-8")

    def archfit(
        self, *words: str, given: str = "", cwd: str = ".", program: Path = PROGRAM, **environ: str
    ) -> Ran:
        where = {"cwd": self.path / cwd, "env": {**self._environ, **environ}}
        done = subprocess.run(
            [program, *words], input=given.encode(), capture_output=True, check=False, **where
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    def set_up(self, tool: str, *words: str, **environ: str) -> Ran:
        """`archfit setup TOOL` for the application."""
        return self.archfit("setup", tool, "--into", TOOLS[tool][0], *words, given=WEB, **environ)

    def read(self, tool: str) -> str:
        """The file that the tool reads."""
        return (self.path / TOOLS[tool][1]).read_text(encoding="utf-8")

    def placed(self, tool: str) -> str:
        """What the tool makes of the application, started as the tool does, without a variable of archfit's."""
        if tool == "flux":
            return self.read(tool)
        if tool == "helm":
            return (
                self.archfit("helm", given=WEB, program=self.path / "plugins" / "archfit" / "archfit")
                .ok()
                .decode()
            )
        if tool == "argocd":
            config = str(self.path / "argo" / "sidecar" / "archfit.yaml")
            named = {"ARCHFIT_CONFIG": config, "ARCHFIT_NO_CACHE": "true", "ARGOCD_APP_NAME": "web"}
            (self.path / "plain").mkdir(exist_ok=True)
            (self.path / "plain" / "web.yaml").write_text(WEB, encoding="utf-8")
            return self.archfit("argocd", "generate", cwd="plain", **named).ok().decode()
        listed = {
            "apiVersion": "config.kubernetes.io/v1",
            "kind": "ResourceList",
            "items": [yaml.safe_load(WEB)],
        }
        listed["functionConfig"] = yaml.safe_load(self.read(tool))
        return self.archfit(given=yaml.safe_dump(listed)).ok().decode()


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


@pytest.fixture
def configure(folder):
    """Step 0, with more lines in the file; its path."""

    def configure(more: str = "") -> str:
        text = folder.archfit("setup", "cluster", given=NODES).ok().decode()
        (folder.path / "archfit.yaml").write_text(text + more, encoding="utf-8")
        return str(folder.path / "archfit.yaml")

    return configure


@pytest.mark.parametrize("tool", TOOLS)
def test_pods_are_placed_for_the_cluster_that_was_read(folder, configure, tool):
    folder.set_up(tool, ARCHFIT_CONFIG=configure()).ok()
    assert "affinity" not in folder.placed(tool)


@pytest.mark.parametrize("tool", TOOLS)
def test_noop_without_a_configuration(folder, tool):
    folder.set_up(tool).ok()
    assert "nodeAffinity" in folder.placed(tool)


@pytest.mark.parametrize("tool", ["kustomize", "kpt", "argocd", "helm"])
def test_trust_and_the_path_of_a_lock_file_are_never_written(folder, configure, tool):
    configure(f"  lockFile: archfit.lock\n{TRUST}")
    ran = folder.set_up(tool, "--config", "archfit.yaml")
    ran.ok()
    assert "operator and lockFile of archfit.yaml: not written" in ran.stderr
    assert "hush" not in folder.read(tool)
    spec = yaml.safe_load(folder.read(tool))["spec"]
    assert spec["clusterArchitectures"] == ["arm64"]
    assert "lockFile" not in spec
    configure()
    assert "not written" not in folder.set_up(tool, "--config", "archfit.yaml").stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_check_says_what_differs(folder, configure, tool):
    config = configure()
    folder.set_up(tool, "--config", "archfit.yaml").ok()
    same = folder.set_up(tool, "--check", "--config", "archfit.yaml")
    shown = same.stdout.decode() + same.stderr
    assert (
        "up to date" in shown if tool == "flux" else f"{TOOLS[tool][1]} says what archfit.yaml says" in shown
    )
    configure("  prefer: {arm64: 1}\n" if tool != "flux" else "  affinity: always\n  immutable: full\n")
    other = folder.set_up(tool, "--check", ARCHFIT_CONFIG=config)
    assert other.status
    shown = other.stdout.decode() + other.stderr
    assert (
        "belongs to other" in shown if tool == "flux" else f"says nothing for prefer, and {config} " in shown
    )


@pytest.mark.parametrize("tool", ["kustomize", "kpt"])
def test_a_file_that_says_something_else_stays_and_is_an_error(folder, configure, tool):
    folder.set_up(tool).ok()
    before = folder.read(tool)
    configure()
    ran = folder.set_up(tool, "--config", "archfit.yaml")
    assert ran.status == 1
    assert (
        "says [amd64, arm64] for clusterArchitectures, and archfit.yaml [arm64]: write the same into"
        in ran.stderr
    )
    assert folder.read(tool) == before


@pytest.mark.parametrize("tool", TOOLS)
def test_what_was_written_of_a_configuration_can_be_removed(folder, configure, tool):
    match = {"namespace": "on", "kind": "Deployment", "name": "web-*", "labels": {"tier": "1.0", "a": ""}}
    configure(f"  rules: {json.dumps([{'match': match, 'skip': True}, {'match': {}, 'only': ['arm64']}])}\n")
    folder.set_up(tool, "--config", "archfit.yaml").ok()
    if tool != "flux":
        assert yaml.safe_load(folder.read(tool))["spec"]["rules"][0]["match"] == match
    folder.set_up(tool, "--remove", "--config", "archfit.yaml").ok()
    assert not (folder.path / TOOLS[tool][1]).exists()
