"""Folders that Helm writes."""

import json
import subprocess

import pytest

import machine
from file_runs import Site
from helm_runs import CHARTS
from warm_cache import warm
from yaml_judge import typed

CHART = CHARTS / "shop"


@pytest.fixture
def site(tmp_path):
    (tmp_path / "work").mkdir()
    return Site(tmp_path / "work")


@pytest.fixture(scope="session")
def words(real, tmp_path_factory):
    """Flags of runs that know every image of the charts."""
    known = json.loads((machine.ROOT / "fixtures" / "demo" / "platforms.json").read_text(encoding="utf-8"))
    path = tmp_path_factory.mktemp("cache") / "cache.sqlite"
    warm({name: platforms for name, platforms in known.items() if platforms}, str(path))
    return [f"--cache={path}", "--offline", "--on-unknown=leave"]


@pytest.mark.parametrize("version", ["helm3", "helm4"])
def test_the_folder_of_helms_output_dir_is_the_stream_of_helm_template(tool, site, words, judge, version):
    chart = [tool(version), "template", "web", str(CHART)]
    subprocess.run([*chart, "--output-dir", str(site.folder / "rendered")], capture_output=True, check=True)
    stream = subprocess.run(chart, capture_output=True, check=True).stdout
    placed = site.run(*words, stdin=stream, options=False).stdout
    ran = site.run(*words, "rendered", options=False)
    assert ran.status == 0, ran.stderr
    for reader in ("kubectl", "kustomize", "helm4"):
        assert sorted(map(typed, judge.read(reader, ran.stdout))) == sorted(
            map(typed, judge.read(reader, placed))
        )
    assert site.run("check", *words, "rendered", options=False).status == 3
    assert site.run("--in-place", *words, "rendered", options=False).status == 0
    assert site.run("check", *words, "rendered", options=False).status == 0
