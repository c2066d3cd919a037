"""The programs that `make` starts find all their modules with the path that the Makefile gives them."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from machine import ROOT

STARTED = re.findall(r"PYTHONPATH=(\S+) \$\(RUN\) -m (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))


def test_the_makefile_starts_every_program() -> None:
    assert {name for _, name in STARTED} == {
        path.parent.name for path in (ROOT / "tests" / "programs").glob("*/__main__.py")
    }


@pytest.mark.parametrize(("path", "name"), STARTED, ids=[name for _, name in STARTED])
def test_a_program_starts(path: str, name: str) -> None:
    started = subprocess.run(
        [sys.executable, "-m", name, "--help"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 0, started.stderr
    assert "--seed" in started.stdout
