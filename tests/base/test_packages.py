"""The command that adds a package to this installation; `real/release/test_install_page.py` runs it."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from archfit.base import packages

ROOT = Path(__file__).parents[2]
INSTALLER = re.compile("(pip install|pipx|uv tool|uv pip|easy_install) ")


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stated = {
        name: tuple(line.partition(";")[0] for line in lines)
        for name, lines in project["optional-dependencies"].items()
    }
    assert stated == packages.EXTRAS


@pytest.mark.parametrize(
    ("marks", "has_pip", "command"),
    [
        pytest.param((), True, "PYTHON -m pip install 'redis>=7.2'", id="pip"),
        pytest.param((), False, "uv pip install --python PYTHON 'redis>=7.2'", id="without-pip"),
        pytest.param(("uv-receipt.toml",), True, "uv pip install --python PYTHON 'redis>=7.2'", id="uv-tool"),
        pytest.param(("pipx_metadata.json",), True, "pipx inject archfit 'redis>=7.2'", id="pipx"),
    ],
)
def test_the_command_is_that_of_what_installed_archfit(tmp_path, monkeypatch, marks, has_pip, command):
    prefix = tmp_path / "archfit"
    prefix.mkdir()
    for mark in marks:
        (prefix / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(packages, "find_spec", lambda _name: has_pip or None)
    assert packages.install_command("redis>=7.2") == command.replace("PYTHON", sys.executable)


def test_a_bundle_takes_no_packages(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert packages.install_command("redis") == "install archfit with Python instead of the bundle"


def test_no_other_remedy_names_an_installer():
    """`install_command` knows pipx, uv and pip; a remedy of its own would be wrong for two of them.

    The one of `archfit doctor` is for a checkout that is not installed at all.
    """
    found = [
        (path.name, node.value)
        for path in sorted((ROOT / "transformer").rglob("*.py"))
        if INSTALLER.search(source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value
        if INSTALLER.search(node.value)
    ]
    assert {name for name, _ in found} == {"packages.py", "python_checks.py"}
    assert [text for name, text in found if name == "python_checks.py"] == ["pipx install ."]
