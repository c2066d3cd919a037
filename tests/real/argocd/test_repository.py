"""Links out of an application's repository are refused before a renderer starts; those that stay inside are fine."""

from pathlib import Path

import pytest

from archfit.base.errors import UsageError
from archfit.integrations.argocd import repository as bounds
from archfit.integrations.argocd.repository import check_links
from argocd_caller import repository
from argocd_sources import BOTH, CHART

KUSTOMIZE = {"kustomization.yaml": "resources: [web.yaml]\n", "web.yaml": BOTH}


def _renderer(folder: Path) -> Path:
    """A program that notes that it was started."""
    program = folder / "renderer"
    program.write_text(f"#!/bin/sh\ntouch {folder}/started\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("files", [pytest.param(CHART, id="helm"), pytest.param(KUSTOMIZE, id="kustomize")])
@pytest.mark.parametrize(
    ("place", "to"),
    [
        pytest.param("files/secret.txt", "../../../outside/secret.txt", id="a-file"),
        pytest.param("templates", "../../outside", id="a-folder"),
        pytest.param("deep/er/link", "/etc", id="absolute"),
        pytest.param("gone", "/nowhere/at/all", id="nothing-there"),
        pytest.param("twice", "../beside/link", id="through-another-link"),
        pytest.param("behind", "../beside", id="below-a-folder-behind-a-link"),
    ],
)
def test_a_link_that_leads_out_stops_before_the_renderer(plugin, tmp_path, files, place, to):
    app = (
        repository(tmp_path / "repo", {name: text for name, text in files.items() if "templates" not in name})
        / "app"
    )
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("hunter2", encoding="utf-8")
    (tmp_path / "repo" / "beside").mkdir()
    (tmp_path / "repo" / "beside" / "link").symlink_to(tmp_path / "outside" / "secret.txt")
    (app / place).parent.mkdir(parents=True, exist_ok=True)
    (app / place).symlink_to(to)
    program = _renderer(tmp_path)
    ran = plugin.run("generate", f"--helm={program}", f"--kustomize={program}", cwd=app)
    assert (ran.status, ran.stdout) == (2, b"")
    assert "leads out of the application's repository" in ran.stderr
    assert "replace the link" in ran.stderr
    assert (place if place != "behind" else "link") in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "started").exists()


def test_noop_links_that_stay_inside_are_rendered(plugin, tmp_path):
    repo = repository(tmp_path / "repo", CHART)
    template = repo / "app" / "templates" / "app.yaml"
    (repo / "shared").mkdir()
    template.rename(repo / "shared" / "app.yaml")
    template.symlink_to("../../shared/app.yaml")
    (repo / "app" / "more").symlink_to("../shared")
    assert b"kind: Deployment" in plugin.run("generate", cwd=repo / "app").ok()


def test_before_dependencies_are_built_the_whole_repository_is_looked_at(plugin, tmp_path):
    repo = repository(tmp_path / "repo", CHART)
    (repo / "sub").mkdir()
    (repo / "sub" / "link").symlink_to("/etc/hostname")
    program = _renderer(tmp_path)
    ran = plugin.run("generate", "--helm-dependencies", f"--helm={program}", cwd=repo / "app")
    assert (ran.status, ran.stdout) == (2, b"")
    assert "'sub/link'" in ran.stderr
    assert not (tmp_path / "started").exists()
    plugin.run("generate", cwd=repo / "app").ok()


def test_the_walk_has_an_end(tmp_path, monkeypatch):
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "up").symlink_to("..")
    check_links(str(tmp_path), str(tmp_path))
    monkeypatch.setattr(bounds, "MAX_ENTRIES", 9)
    with pytest.raises(UsageError, match="more than 9 files"):
        check_links(str(tmp_path), str(tmp_path))
