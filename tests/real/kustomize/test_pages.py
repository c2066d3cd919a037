"""docs/kustomize.md, kpt.md, flux.md and patch.md: every `sh` block runs, and they show the files that are written."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from registry import Registry

import machine
from archfit.integrations.kustomize.setup_files import kpt_config, kustomize_config
from helm_runs import CHARTS
from kustomize_site import Site

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: h.example/web:2
"""


def page(name):
    return (machine.ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def blocks(name):
    """Every `sh` block of a page."""
    return re.findall(r"^```sh\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def mirrors():
    known = machine.ROOT / "fixtures" / "demo" / "platforms.json"
    images = {"h.example/web:2": ["linux/amd64"], **json.loads(known.read_text(encoding="utf-8"))}
    with Registry(images) as served:
        yield served.mirrors()


@pytest.fixture
def shell(tmp_path, mirrors):
    """Runs a block in a folder that has what the pages name."""
    site = Site(tmp_path, mirrors)
    for name in ("overlay", "contained", "plain", "overlays/prod", "clusters/prod"):
        site.write(f"{name}/web.yaml", WEB)
        site.write(f"{name}/kustomization.yaml", "resources: [web.yaml]\n")
    site.write("package/web.yaml", WEB)
    site.write("values.yaml", "{}\n")
    site.write("package/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: package\n")
    shutil.copytree(CHARTS / "small", site.folder / "chart")
    programs = tmp_path / "bin"
    for name, tool in (("kustomize", "kustomize"), ("helm", "helm3"), ("kubectl", "kubectl"), ("kpt", "kpt")):
        found = machine.find(tool)
        if found:
            (programs / name).symlink_to(found)

    def shell(block):
        done = subprocess.run(
            ["/bin/sh", "-c", f"set -eu\n{block}"],
            cwd=site.folder,
            env={**os.environ, **site.environ},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (done.stderr + done.stdout).decode()
        return done.stdout.decode(), site.folder

    return shell


def test_kustomize_on_path_and_checked(shell, tool):
    tool("kustomize")
    first, second, _ = blocks("kustomize")
    out, folder = shell(first)
    assert "nodeAffinity" in out
    assert out.count("\nok: ") == 3
    out, _ = shell(second)
    assert "nodeAffinity" in (folder / "rendered.yaml").read_text(encoding="utf-8")


def test_kustomize_in_a_container(shell, tool):
    tool("kubectl")
    assert "nodeAffinity" in shell(blocks("kustomize")[2])[0]


def test_flux(shell, tool):
    tool("kustomize"), tool("helm3")
    _, patches = blocks("flux")
    _, folder = shell(patches)
    for name in ("archfit-flux.yaml", "release/archfit-flux.yaml"):
        assert "op: add" in (folder / name).read_text(encoding="utf-8")


def test_flux_rendered_in_ci(shell, tool):
    tool("kustomize")
    first, _ = blocks("flux")
    shell(blocks("kustomize")[0] + first)


def test_patches_are_written_and_applied(shell, tool):
    tool("kustomize"), tool("helm3")
    component, flux, fleet, sveltos, kubevela, _live = blocks("patch")
    out, _ = shell(component)
    assert "nodeAffinity" in out
    out, _ = shell(flux)
    assert out.count("op: add") > 1
    _, folder = shell(fleet)
    assert "op: add" in (folder / "archfit" / "kustomization.yaml").read_text(encoding="utf-8")
    shell(sveltos), shell(kubevela)
    for name in ("sveltos-patches.yaml", "kubevela-traits.yaml"):
        assert "op: add" in (folder / name).read_text(encoding="utf-8")


if machine.find("kpt"):

    def test_kpt(shell):
        (block,) = blocks("kpt")
        out, folder = shell(block)
        assert out.count("ok: ") == 3
        assert "archfit.dev/added" in (folder / "package" / "web.yaml").read_text(encoding="utf-8")


def test_the_pages_show_what_is_written():
    assert kustomize_config("").partition("\n")[2] in page("kustomize")
    assert "    - exec: archfit\n      configPath: archfit.yaml\n" in page("kpt")
    examples = machine.ROOT / "kustomize-plugin" / "examples"
    for name, made in (("exec", kustomize_config("")), ("kpt", kpt_config())):
        shipped = (examples / name / "archfit.yaml").read_text(encoding="utf-8")
        assert shipped == made.partition("\n")[2], name


def test_no_block_is_left_out():
    assert [len(blocks(name)) for name in ("kustomize", "kpt", "flux")] == [3, 1, 2]
    assert Path(machine.ROOT / "docs" / "patch.md").exists()
