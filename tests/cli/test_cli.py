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
    ("words", "status", "stderr"),
    [
        pytest.param(
            ["transfrm"],
            2,
            "archfit: error: 'transfrm' is not a command: did you mean 'transform'?",
            id="typo",
        ),
        pytest.param(["--on-conflikt=leave"], 2, "--on-conflict", id="flag-typo"),
        pytest.param(["--on-conflict=maybe"], 2, "--on-conflict", id="value"),
        pytest.param(["setup"], 2, "name what to set up", id="setup-alone"),
        pytest.param(["last", "week"], 2, "takes no argument but --format", id="last-argument"),
        pytest.param(["--config", "/nowhere.yaml"], 2, "cannot read '/nowhere.yaml'", id="config-missing"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_what_to_write(archfit, words, status, stderr):
    ran = archfit(CONFIG_MAP, *words)
    assert (ran.status, ran.stdout) == (status, b"")
    assert stderr in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("words", [[], ["transform"]], ids=["bare", "by-name"])
def test_a_stream_with_nothing_to_do_is_returned_as_it_is(archfit, words):
    ran = archfit(CONFIG_MAP, *words)
    assert (ran.status, ran.stdout, ran.stderr) == (0, CONFIG_MAP, "")


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


def test_a_reader_that_goes_away_is_a_failure():
    """An exit code of 0 would say that the whole stream was read."""
    big = CONFIG_MAP + b"#" * (1 << 20) + b"\n"
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([PROGRAM], input=big, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (
        1,
        "archfit: error: the reader of the output closed it before the end",
    )


def test_a_report_that_cannot_be_written_fails_before_the_output(archfit, tmp_path):
    ran = archfit(CONFIG_MAP, "--report", str(tmp_path / "no" / "report.json"))
    assert (ran.status, ran.stdout) == (1, b"")
    assert "--report: cannot write" in ran.stderr


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


def test_last_without_a_run_says_so(archfit, tmp_path):
    ran = archfit(b"", "last", XDG_STATE_HOME=str(tmp_path))
    assert (ran.status, ran.stdout) == (1, b"")
    assert "no run has left a report yet" in ran.stderr


def test_a_state_directory_that_cannot_be_written_changes_nothing(archfit):
    ran = archfit(CONFIG_MAP, XDG_STATE_HOME="/proc/nowhere")
    assert (ran.status, ran.stdout, ran.stderr) == (0, CONFIG_MAP, "")


def test_an_error_is_one_whole_sentence_and_stands_before_the_summary(archfit):
    ran = archfit(POD, "--offline", "--no-cache")
    error, number, read_on = ran.stderr.splitlines()
    assert error.startswith("archfit: error: v1/Pod/a spec.containers[0].image: x.example/a:1: ")
    assert error.endswith("(document 1, line 7)")
    assert number == "archfit: 1 problem; nothing was written"
    assert read_on == "archfit: see docs/troubleshooting.md"


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
