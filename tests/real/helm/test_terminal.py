"""Helm 4 throws a plugin's standard error away: a failure is written on the terminal that the user sits at."""

import io
import json
import os
import pty
import select
import subprocess
import sys

import pytest

from archfit import run
from archfit.base import terminal
from archfit.rewrite import command as transform
from helm_runs import CHARTS, Helm

# Makes the standard input of a new session its controlling terminal, then becomes the program.
AT_A_TERMINAL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
GONE = ("--set", "sidecar=registry.k8s.io/gone:1")


def at_a_terminal(helm: Helm, *words: str) -> tuple[int, bytes, str, str]:
    """`helm template demo small WORDS`: exit status, stdout, stderr (both pipes), and what the terminal showed."""
    mine, theirs = pty.openpty()
    program = [helm.program, "template", "demo", str(CHARTS / "small"), "--post-renderer", "archfit", *words]
    done = subprocess.run(
        [sys.executable, "-c", AT_A_TERMINAL, *program],
        stdin=theirs,
        capture_output=True,
        start_new_session=True,
        env=helm.environ,
        check=False,
    )
    shown = b""
    while select.select([mine], [], [], 0)[0]:
        shown += os.read(mine, 65536)
    os.close(mine)
    os.close(theirs)
    return done.returncode, done.stdout, done.stderr.decode(), shown.decode()


def test_the_error_appears_on_the_terminal(helm4):
    status, stdout, stderr, shown = at_a_terminal(helm4, *GONE)
    assert (status, stdout) == (1, b"")
    assert "gone" not in stderr
    (line,) = shown.splitlines()
    assert line.startswith(
        "archfit: error: apps/v1/Deployment/demo spec.template.spec.containers[1].image: registry.k8s.io/gone:1: "
    )
    assert line.endswith("(archfit last shows the whole report)")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        pytest.param("--afinity=always", "there is no flag '--afinity': write --affinity", id="flag"),
        pytest.param("--config=/none", "cannot read '/none'", id="configuration"),
        pytest.param("--report=/none/at/all", "cannot write '/none/at/all'", id="report"),
    ],
)
def test_so_does_wrong_usage(helm4, word, said):
    status, stdout, _, shown = at_a_terminal(helm4, f"--post-renderer-args={word}")
    assert (status, stdout) == (1, b"")
    (line,) = shown.splitlines()
    assert line.startswith("archfit: error: ")
    assert said in line


def test_a_run_that_does_its_work_says_nothing_there(helm4):
    status, stdout, _, shown = at_a_terminal(helm4)
    assert (status, shown) == (0, "")
    assert stdout == helm4.template("small").ok()


def test_helm_3_shows_standard_error_so_nothing_is_written_there(helm3):
    status, stdout, stderr, shown = at_a_terminal(helm3, *GONE)
    assert (status, stdout, shown) == (1, b"", "")
    assert "registry.k8s.io/gone:1: there is no such image" in stderr


@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        pytest.param({"HELM_PLUGIN_NAME": "archfit"}, True, id="a-plugin"),
        pytest.param({}, False, id="a-pipe"),
    ],
)
def test_it_is_one_line_without_control_characters(tmp_path, monkeypatch, environ, shown):
    screen = tmp_path / "tty"
    monkeypatch.setattr(terminal, "TERMINAL", str(screen))
    terminal.write_to_terminal("error: a\n\x1b[2Jb", io.StringIO(), environ)
    assert screen.exists() is shown
    if shown:
        text = screen.read_text(encoding="utf-8")
        assert text == "archfit: error: a \\x1b[2Jb (archfit last shows the whole report)\n"


def test_no_terminal_is_no_trouble(tmp_path, monkeypatch):
    monkeypatch.setattr(terminal, "TERMINAL", str(tmp_path / "none" / "tty"))
    terminal.write_to_terminal("error: a", io.StringIO(), {"HELM_PLUGIN_NAME": "archfit"})
    assert list(tmp_path.iterdir()) == []


def test_a_bug_leaves_a_report_without_a_word_of_the_stream(tmp_path, monkeypatch):
    def broken(*_arguments: object) -> None:
        raise RuntimeError("password: hunter2")

    monkeypatch.setattr(run, "transform", broken)
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    with pytest.raises(RuntimeError):
        transform.transform(["--strict"], io.BytesIO(b"kind: A\n"), io.BytesIO(), io.StringIO(), environ)
    text = (tmp_path / "archfit" / "last.json").read_text(encoding="utf-8")
    assert json.loads(text)["results"][0]["message"].startswith("archfit itself failed (RuntimeError at ")
    assert "hunter2" not in text
