"""libyaml's parser can be loaded before PyYAML's package, after it, and again."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOAD = "from archfit.yaml import c_parser; assert c_parser.load()[1].Event"
PACKAGE = "import yaml; assert yaml.safe_load('a: [1]') == {'a': [1]}"


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((LOAD, LOAD), id="twice"),
        pytest.param((PACKAGE, LOAD), id="after-the-package"),
        pytest.param((LOAD, PACKAGE), id="before-the-package"),
        pytest.param((LOAD, PACKAGE, LOAD), id="before-and-after-the-package"),
    ],
)
def test_the_parser_is_loaded(steps: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(steps)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
