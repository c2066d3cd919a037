"""The command line: exit codes, streams, and nothing on stdout that is not the stream."""

import json
import os
import pty
import subprocess
import sys

import pytest

from archfit import __version__
from program import PROGRAM

CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {password: hunter2}\n"
POD = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - {name: a, image: 'x.example/a:1'}\n"


@pytest.mark.parametrize(
    "start",
    ["from archfit.cli.main import run; run()", "import archfit.__main__"],
    ids=["archfit", "python -m archfit"],
)
def test_windows_gets_one_line(start):
    words = [sys.executable, "-c", f"import sys; sys.platform = 'win32'; {start}"]
    ran = subprocess.run(words, input=POD, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.decode()) == (
        1,
        b"",
        "archfit: error: archfit runs on Linux and macOS; on Windows, install and run it in WSL (`wsl --install`)\n",
    )


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        pytest.param(["--version"], f"archfit {__version__}\n", id="version"),
        pytest.param(["-V"], f"archfit {__version__}\n", id="version-in-short"),
        pytest.param(["--strict", "-h"], "usage: archfit [transform]", id="help-behind-a-flag"),
        pytest.param(["--help"], "usage: archfit [transform]", id="help"),
        pytest.param(["transform", "-h"], "usage: archfit [transform]", id="transform-help"),
        pytest.param(["setup", "--help"], "usage: archfit setup", id="setup-help"),
        pytest.param(["setup", "cluster", "--help"], "usage: archfit setup cluster", id="setup-cluster-help"),
        pytest.param(["last", "--help"], "usage: archfit last", id="last-help"),
        pytest.param(["lock", "--check", "--help"], "usage: archfit lock", id="lock-help"),
        pytest.param(["lock", "--check", "-V"], "archfit ", id="lock-version"),
    ],
)
def test_help_and_version_never_read_standard_input(words, begins):
    """An open pipe that nobody writes to would make them wait for ever."""
    reader, writer = os.pipe()
    try:
        done = subprocess.run([PROGRAM, *words], stdin=reader, capture_output=True, timeout=60, check=True)
    finally:
        os.close(reader)
        os.close(writer)
    assert done.stdout.decode().startswith(begins)


def test_on_a_terminal_it_explains_itself_and_writes_no_stream():
    master, slave = pty.openpty()
    try:
        done = subprocess.run([PROGRAM], stdin=slave, capture_output=True, timeout=60, check=False)
    finally:
        os.close(master)
        os.close(slave)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith("usage: archfit [transform]")


def test_the_report_goes_to_a_device_as_well(archfit):
    ran = archfit(CONFIG_MAP, "--report", "/dev/null")
    assert (ran.status, ran.stdout) == (0, CONFIG_MAP)


def test_a_failed_run_leaves_a_report_and_last_shows_it(archfit, tmp_path):
    report = tmp_path / "report.json"
    ran = archfit(POD, "--offline", "--no-cache", "--report", str(report))
    assert (ran.status, ran.stdout) == (1, b"")
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["exit"] == 1
    assert found["images"]["x.example/a:1"]["answer"] == "Unknown"
    assert found["configuration"] == ["flags (--no-cache, --offline, --report)"]
    last = archfit(b"", "last").ok().decode()
    head, outcome, configuration, error, *_ = last.splitlines()
    assert head.startswith(f"archfit transform at {found['time']} (")
    assert head.endswith(f"), version {__version__}")
    assert outcome == "exit 1, requests: 0"
    assert configuration == "configuration: flags (--no-cache, --offline, --report)"
    assert error.startswith("error: v1/Pod/a spec.containers[0].image: ")
    assert archfit(b"", "last", "--json").ok() == report.read_bytes()


def test_a_state_directory_that_cannot_be_written_changes_nothing(archfit):
    ran = archfit(CONFIG_MAP, XDG_STATE_HOME="/proc/nowhere")
    assert (ran.status, ran.stdout, ran.stderr) == (0, CONFIG_MAP, "")


def test_a_bug_is_exit_1_and_shows_nothing_of_the_stream():
    """The exception's own text could hold a Secret."""
    program = (
        "import sys, archfit.run as t\n"
        "def broken(*_): raise ValueError('hunter2')\n"
        "t.transform = broken\n"
        "from archfit.cli.main import main\n"
        "sys.exit(main([]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input=CONFIG_MAP, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().startswith(
        "archfit: error: archfit itself failed (ValueError at <string>:2); nothing was written."
    )
    assert b"hunter2" not in done.stderr
