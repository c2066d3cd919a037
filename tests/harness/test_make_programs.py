"""Every program that lab/Makefile starts finds its modules."""

import os
import re
import sys

import pytest

from machine import ROOT, run

MAKEFILE = (ROOT / "lab" / "Makefile").read_text(encoding="utf-8")
PATHS = re.search(r"PYTHONPATH=(\S+)", MAKEFILE)
STARTED = re.findall(r"\$\(RUN\) -m ([\w.]+)", MAKEFILE)


@pytest.mark.parametrize("name", STARTED)
def test_a_program_starts(name):
    assert PATHS
    started = run(
        [sys.executable, "-m", name, "--help"], cwd=ROOT, env={**os.environ, "PYTHONPATH": PATHS[1]}
    )
    assert started.returncode == 0, started.stderr
    assert started.stdout.startswith("usage: make")
