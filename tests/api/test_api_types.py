"""`py.typed`: a program that checks its types strictly learns of a mistake before it runs."""

import os
import re
import sys
from pathlib import Path

import machine

PROGRAM = Path(__file__).parent / "typed_program.py"
_ERROR = re.compile(r":(\d+): error: .*\[([a-z-]+)\]$")


def test_mypy_finds_each_mistake_in_a_program_and_no_other(tmp_path):
    words = ["--strict", "--no-error-summary", "--config-file", os.devnull, "--cache-dir", str(tmp_path)]
    done = machine.run([sys.executable, "-m", "mypy", *words, str(PROGRAM)], cwd=tmp_path)
    errors = [match.groups() for line in done.stdout.splitlines() if (match := _ERROR.search(line))]
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    wanted = [
        (str(number), line.partition("# E: ")[2])
        for number, line in enumerate(lines, 1)
        if "# E: " in line and number > 5
    ]
    assert errors == wanted, done.stdout + done.stderr
