"""`archfit setup argocd`: the files, what Kustomize makes of them, and what --check finds wrong."""

import os
from pathlib import Path

import pytest

from archfit.integrations.argocd import setup
from argocd_caller import tools_folder
from helm_runs import start
from program import PROGRAM, Ran

DEFAULT = setup.files(discover=False, sidecar_image=setup.SIDECAR_IMAGE, bundle_image=setup.BUNDLE_IMAGE)


def _setup(*words: str, environ: dict[str, str] | None = None, cwd: Path | None = None) -> Ran:
    return start([str(PROGRAM), "setup", "argocd", *words], {**os.environ, **(environ or {})}, cwd)


def test_setup_writes_every_file_once_and_never_over_somebodys(tmp_path):
    _setup("--into", "argo", cwd=tmp_path).ok()
    folder = tmp_path / "argo"
    assert {name: (folder / name).read_text(encoding="utf-8") for name in DEFAULT} == DEFAULT
    assert "up to date: argo" in _setup("--into", "argo", cwd=tmp_path).stderr
    mine = folder / "sidecar" / "archfit.yaml"
    mine.write_text("mine", encoding="utf-8")
    ran = _setup("--into", "argo", "--discover", cwd=tmp_path)
    assert ran.status == 1
    assert "exists and differs: nothing was written" in ran.stderr
    assert "discover:" not in (folder / "sidecar" / "plugin.yaml").read_text(encoding="utf-8")
    _setup("--into", "argo", "--discover", "--force", "--image", "example.com/x:2", cwd=tmp_path).ok()
    assert "discover:" in (folder / "sidecar" / "plugin.yaml").read_text(encoding="utf-8")
    assert "image: example.com/x:2\n" in (folder / "sidecar" / "repo-server.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("flag", ["--into", "--image", "--bundle-image"])
def test_empty_values_are_wrong_usage(flag):
    assert _setup(f"{flag}=").status == 2


@pytest.mark.parametrize("folder", ["sidecar", "build-options"])
def test_the_recipes_configuration_is_read_and_never_leaves(tmp_path, archfit, folder):
    config = tmp_path / "archfit.yaml"
    config.write_text(
        DEFAULT[f"{folder}/archfit.yaml"].replace("/var/cache/archfit", str(tmp_path)), encoding="utf-8"
    )
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: x.example/a:1}]}\n"
    out = archfit(pod, "--config", str(config), "--offline", "--image-platforms=x.example/a=linux/amd64").ok()
    assert b"amd64" in out
    unknown = archfit(pod, "--config", str(config), "--offline")
    assert (unknown.status, unknown.stdout) == (1, b"")  # what is deployed stays
    assert archfit(pod, "--config", str(config), "--on-unknown=leave").status == 2


@pytest.fixture
def installed(tmp_path, real):
    """What a sidecar is: the files, programs on PATH, a cache."""
    _setup("--into", str(tmp_path / "argo")).ok()
    config = tmp_path / "archfit.yaml"
    config.write_text(
        DEFAULT["sidecar/archfit.yaml"].replace("/var/cache/archfit", str(tmp_path)), encoding="utf-8"
    )
    environ = {"PATH": str(tools_folder(tmp_path / "bin")), "ARCHFIT_CONFIG": str(config)}

    def check(change=None, **more: str) -> Ran:
        plugin = tmp_path / "argo" / "sidecar" / "plugin.yaml"
        if change:
            plugin.write_text(change(plugin.read_text(encoding="utf-8")), encoding="utf-8")
        return _setup("--check", "--into", str(tmp_path / "argo"), environ={**environ, **more})

    return check


def test_check_finds_nothing_wrong_with_what_setup_wrote(installed):
    ran = installed()
    assert ran.status == 0, ran.stdout.decode()
    assert all(line.startswith("ok: ") for line in ran.stdout.decode().splitlines())
    assert b"starts archfit argocd generate" in ran.stdout


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        pytest.param(lambda text: text.replace("command: [archfit, argocd, generate]", "args: [generate]"), {}, "spec.generate.command is empty", id="no-command"),
        pytest.param(lambda text: text.replace("[archfit, argocd, generate]", "archfit argocd generate"), {}, "spec.generate.command is empty", id="a-line-for-a-list"),
        pytest.param(lambda text: text + "  - x\n", {}, "plugin.yaml line ", id="no-YAML"),
        pytest.param(lambda _: "", {}, "spec.generate.command is empty", id="empty"),
        pytest.param(lambda text: text.replace("[archfit, argocd, generate]", "[archfitt]"), {}, "archfitt is not on PATH", id="program"),
        pytest.param(None, {"PATH": "/nowhere"}, "helm is not on PATH", id="no-helm"),
        pytest.param(None, {"ARCHFIT_CONFIG": "archfit.yaml"}, "absolute path", id="a-relative-configuration"),
        pytest.param(None, {"ARCHFIT_CONFIG": "/nowhere.yaml"}, "cannot read", id="no-configuration"),
        pytest.param(None, {"ARCHFIT_CONFIG": "", "ARCHFIT_ON_UNKNOWN": "leave"}, "onUnknown is leave", id="leave"),
        pytest.param(
            None,
            {"ARCHFIT_CONFIG": "", "ARCHFIT_ON_UNKNOWN": "assume", "ARCHFIT_ASSUME": "amd64"},
            "onUnknown is assume: when a registry does not answer and the cache is lost, Argo CD rolls pods",
            id="assume",
        ),
        pytest.param(None, {"ARCHFIT_TIMEOUT": "90s"}, "ends the plugin after 60 s", id="timeout"),
        pytest.param(None, {"ARCHFIT_CACHE": "/etc/hostname/a"}, "cannot be written by user", id="cache"),
    ],
)  # fmt: skip
def test_check_names_what_is_wrong(installed, change, more, said):
    ran = installed(change, **more)
    assert ran.status == 3
    wrong = [line for line in ran.stdout.decode().splitlines() if line.startswith("wrong: ")]
    assert any(said in line for line in wrong), ran.stdout.decode()


def test_check_without_an_installation_says_where_it_looked(tmp_path):
    ran = _setup("--check", "--into", str(tmp_path))
    assert ran.status == 3
    assert (
        f"wrong: {tmp_path}/sidecar/plugin.yaml cannot be read (No such file or directory)"
        in ran.stdout.decode()
    )
