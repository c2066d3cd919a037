"""`archfit version [--json]`: what is installed."""

import json
import os
import shutil
import sys
from importlib.metadata import requires, version
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from archfit import __version__
from archfit.cli import installation
from archfit.cli.installation import lines
from machine import ROOT, run


def facts(archfit):
    return json.loads(archfit(b"", "version", "--json").ok())


def test_the_json_has_every_fact(archfit):
    found = facts(archfit)
    assert found["archfit"] == __version__
    assert found["python"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert found["cParser"] is True
    assert found["schemas"] == {
        "configuration": "archfit.dev/v1alpha1",
        "audit": "archfit.dev/audit/v1alpha2",
        "lock": 1,
        "cache": 2,
    }
    assert found["dependencies"]["h11"] == version("h11")
    assert found["extras"]["redis"] == {"installed": True, "packages": {"redis": version("redis")}}


def test_the_text_shows_the_same(archfit):
    shown = archfit(b"", "version").ok().decode()
    assert shown == "".join(f"{line}\n" for line in lines(facts(archfit)))
    assert shown.startswith(f"archfit               {__version__}\n")
    assert f"extra redis           redis {version('redis')}\n" in shown


def test_the_names_are_those_that_pip_would_read(archfit):
    """The judge is `packaging`."""
    declared = [Requirement(line) for line in requires("archfit") or []]
    found = facts(archfit)
    assert list(found["dependencies"]) == [one.name for one in declared if one.marker is None]
    for extra, state in found["extras"].items():
        chosen = [one.name for one in declared if one.marker and one.marker.evaluate({"extra": extra})]
        assert list(state["packages"]) == chosen
    assert set(found["extras"]) == {"redis", "audit", "serve", "zstd"}


@pytest.mark.parametrize(
    ("origin", "kind"),
    [
        pytest.param(None, "wheel", id="from-an-index"),
        pytest.param('{"url": "file:///x.whl", "archive_info": {}}', "wheel", id="from-a-file"),
        pytest.param('{"url": "file:///x", "dir_info": {"editable": true}}', "checkout", id="editable"),
        pytest.param("{", "wheel", id="a-broken-file"),
    ],
)
def test_the_kind_follows_from_what_the_installer_wrote(origin, kind):
    assert installation._kind(SimpleNamespace(read_text=lambda _name: origin)) == kind


def test_a_program_with_its_own_python_is_a_bundle(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installation._kind(None) == "bundle"


def test_without_metadata_it_says_so(tmp_path):
    """Sources on PYTHONPATH, and libraries of which only the modules are there."""
    libraries = tmp_path / "libraries"
    shutil.copytree(ROOT / "transformer" / "archfit", libraries / "archfit")
    for name in ("yaml",):
        source = os.path.dirname(__import__(name).__file__)
        shutil.copytree(source, libraries / name)
    done = run(
        [sys.executable, "-S", "-m", "archfit", "version"], env={**os.environ, "PYTHONPATH": str(libraries)}
    )
    assert done.returncode == 0, done.stderr
    assert f"installed             checkout, {libraries / 'archfit'}\n" in done.stdout
    assert "dependencies          unknown\n" in done.stdout


def test_a_missing_package_is_named():
    shown = list(
        lines(
            {
                **installation.installation(),
                "cParser": False,
                "dependencies": {"h11": None},
                "extras": {
                    "redis": {"installed": False, "packages": {"redis": None}},
                    "serve": {"installed": False, "packages": {"uvicorn": "1", "uvloop": None}},
                },
            }
        )
    )
    assert "dependencies          h11 is missing" in shown
    assert "extra redis           not installed" in shown
    assert "extra serve           uvicorn 1, uvloop is missing" in shown
    assert "YAML parser           Python, which is slow: install PyYAML from its wheel" in shown
