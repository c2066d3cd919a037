"""lab/Makefile starts every program of lab/, each finds its modules, and lab/README.md has a row for each."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from machine import ROOT

MAKEFILE = (ROOT / "lab" / "Makefile").read_text(encoding="utf-8")
PATHS = re.search(r"PYTHONPATH=(\S+)", MAKEFILE)
STARTED = re.findall(r"\$\(RUN\) -m ([\w.]+)", MAKEFILE)


def test_the_makefile_starts_every_program() -> None:
    programs = ROOT / "lab"
    packages = {".".join(path.parent.relative_to(programs).parts) for path in programs.rglob("__main__.py")}
    modules = {
        path.stem for path in programs.glob("*.py") if 'prog="make' in path.read_text(encoding="utf-8")
    }
    assert set(STARTED) == packages | modules | {"fuzz.readers"}


@pytest.mark.parametrize("name", STARTED)
def test_a_program_starts(name: str) -> None:
    assert PATHS
    started = subprocess.run(
        [sys.executable, "-m", name, "--help"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PATHS[1]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 0, started.stderr
    assert started.stdout.startswith("usage: make")


def test_every_target_has_a_row_in_the_readme() -> None:
    targets = re.findall(r"^([a-z-]+): ready ##", MAKEFILE, re.MULTILINE)
    rows = re.findall(
        r"^\| `make -C lab ([a-z-]+)", (ROOT / "lab" / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(rows) == sorted(targets)
