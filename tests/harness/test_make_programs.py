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
    programs = ROOT / "lab"
    packages = {path.parent.name for path in programs.glob("*/__main__.py")}
    modules = {path.stem for path in programs.glob("policy_*.py")}
    assert {name for _, name in STARTED} == packages | modules


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
    assert started.stdout.startswith("usage: ")
    assert name in {"operators", "policy_cost", "whole"} or "--seed" in started.stdout
