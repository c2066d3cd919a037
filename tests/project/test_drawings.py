"""The pictures in docs/ that a script draws are those that it draws now."""

import importlib.util
import json
from xml.etree import ElementTree as ET

import pytest

from install_tools import SCRIPTS
from machine import ROOT

FOLDER = ROOT / "scripts" / "site"


@pytest.mark.parametrize("name", ["diff", "decision"])
def test_a_drawing_is_what_its_script_draws(name):
    """If not: .venv/bin/python scripts/site/draw_NAME.py > docs/NAME.svg"""
    spec = importlib.util.spec_from_file_location(f"draw_{name}", FOLDER / f"draw_{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawing = (ROOT / "docs" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawing == module.drawing()
    assert ET.fromstring(drawing).tag == "{http://www.w3.org/2000/svg}svg"


def test_each_script_that_the_site_holds_is_pinned():
    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert set(wanted) == set(SCRIPTS)
    assert all(version[0].isdigit() for version in wanted.values())
