"""The command that adds a package to this installation; `real/release/test_install_page.py` runs it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from archfit.base import packages

ROOT = Path(__file__).parents[2]


def test_the_extras_are_those_of_the_project() -> None:
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
def test_the_command_is_that_of_what_installed_archfit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: tuple[str, ...], *, has_pip: bool, command: str
) -> None:
    prefix = tmp_path / "archfit"
    prefix.mkdir()
    for mark in marks:
        (prefix / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(packages, "find_spec", lambda _name: has_pip or None)
    assert packages.install_command("redis>=7.2") == command.replace("PYTHON", sys.executable)


def test_a_bundle_takes_no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert packages.install_command("redis") == "install archfit with Python instead of the bundle"
