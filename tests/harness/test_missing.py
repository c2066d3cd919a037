"""A part that is missing is named, or fails the run where nothing may be missing. Tests stay on loopback."""

import os
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import machine

Run = Callable[..., tuple[int, str]]

SUITE = """
import pytest
from corpus_streams import each_stream

def test_tool(tool): tool("nothing")
def test_corpus(corpus): pass
@each_stream
def test_stream(stream): pass
@pytest.mark.skip(reason="not today")
def test_marked(): pass
def test_here(): pass
"""
TABLE = """
import machine
machine.TABLE["nothing"] = machine.Tool("nothing", "go", "example.com/x", "v1", "x")
"""
MARKERS = """
import subprocess
import pytest
import machine

@pytest.fixture
def own(real): return real.tool
def test_asks(): machine.tool("nothing")
def test_starts(): subprocess.run(["git", "--version"])
@pytest.mark.real
def test_is_marked(): machine.tool("nothing")
def test_is_marked_by_a_fixture(tool): tool("nothing")
def test_is_marked_by_its_own(own): own("nothing")
"""
WORKERS = ("-n", "2", "--dist", "loadfile")


@pytest.fixture
def run(tmp_path):
    """Run a small suite under the project's conftest.py with some of pytest's options; exit status and output."""

    def run(suite: str, *how: str, **environ: str) -> tuple[int, str]:
        (tmp_path / "test_suite.py").write_text(suite, encoding="utf-8")
        (tmp_path / "more.py").write_text(TABLE, encoding="utf-8")
        folders = [
            machine.ROOT / "tests",
            machine.ROOT / "tests" / "support",
            machine.ROOT / "fixtures",
            tmp_path,
        ]
        plugins = ["-p", "more", "-p", "conftest"]
        done = machine.run(
            [sys.executable, "-m", "pytest", *plugins, *how, "--rootdir", tmp_path, "-q", tmp_path],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), **environ},
            cwd=tmp_path,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_users_clone_tests_what_it_can_and_names_the_rest(run, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    status, output = run(SUITE, *WORKERS, TEST_SHARED=nowhere, ARCHFIT_TEST_MISSING="")
    assert status == 0, output
    named = [line.strip() for line in output.partition("not run on this machine")[2].splitlines()[1:4]]
    remedy = "is missing: set TEST_SHARED to the folder of shared test data"
    assert named[0] == f"2 {nowhere}/corpus {remedy}"
    assert sorted(named[1:]) == ["1 not today", "1 programs are missing, or of another version: nothing"]
    assert "1 passed, 4 skipped" in output


def test_where_nothing_may_be_missing_every_skip_is_a_failure(run, tmp_path):
    status, output = run(SUITE, TEST_SHARED=str(tmp_path / "nowhere"), ARCHFIT_TEST_MISSING="fail")
    assert status == 1, output
    assert "skipped where nothing may be skipped: not today" in output
    assert "nothing is missing: go install example.com/x@v1" in output
    assert re.search(r"1 failed, 1 passed, 3 errors", output)


def test_who_asks_for_a_program_without_the_marker_fails(run):
    status, output = run(MARKERS, ARCHFIT_TEST_MISSING="skip")
    assert status == 1, output
    assert "2 failed, 3 skipped" in output
    for test, what in (("test_asks", "nothing"), ("test_starts", "git")):
        assert f"test_suite.py::{test} needs {what} and lacks the marker `real`" in output


def test_the_environment_is_not_the_users():
    assert [name for name in os.environ if name.startswith(("ARCHFIT_", "HELM_"))] == []
    assert Path.home() != Path(machine.ENVIRON.get("HOME", "/"))
    assert {Path(os.environ[name]).parent for name in os.environ if name.startswith("XDG_")} == {Path.home()}


@pytest.mark.parametrize("host", ["192.0.2.1", "example.com", "::2"])
def test_other_machines_are_out_of_reach(host):
    with pytest.raises(RuntimeError, match="loopback"):
        socket.create_connection((host, 80), timeout=1)
