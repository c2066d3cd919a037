"""`archfit last`: when, which command, which version; the Jobs that may be refused."""

import json
from typing import Any

import pytest

from archfit import __version__
from archfit.cli.last import lines

TIME = "2026-07-28T10:15:00Z"
SECONDS = 1785233700
JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: x.example/r/IMAGE}]}}}
"""
KNOWN = (
    "--no-cache",
    "--offline",
    "--image-platforms=*/r/amd=linux/amd64",
    "--image-platforms=*/r/both=linux/amd64,linux/arm64",
)


def a_report(**fields: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"archfit": "0.1.0", "exit": 0, "requests": {}, "configuration": []}
    return {**empty, "results": [], "decisions": [], "time": TIME, "command": "archfit check", **fields}


@pytest.mark.parametrize(
    ("later", "age"),
    [
        pytest.param(0, "just now", id="now"),
        pytest.param(1, "1 second ago", id="a-second"),
        pytest.param(119, "119 seconds ago", id="not-two-minutes"),
        pytest.param(7200, "2 hours ago", id="hours"),
        pytest.param(86400 * 3 + 5, "3 days ago", id="days"),
        pytest.param(-50, "just now", id="a-clock-that-was-set-back"),
    ],
)
def test_the_head_says_when_what_and_which_version(later, age):
    first, second, *_ = lines(a_report(), SECONDS + later)
    assert first == f"archfit check at {TIME} ({age}), version 0.1.0"
    assert second == "exit 0, requests: 0"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        pytest.param((), "archfit transform", id="transform"),
        pytest.param(("check",), "archfit check", id="check"),
        pytest.param(("patch",), "archfit patch", id="patch"),
    ],
)
@pytest.mark.parametrize("refused", [True, False], ids=["refused", "noop"])
def test_last_names_the_jobs_that_may_be_refused(words, command, archfit, tmp_path, refused):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    data = JOB.replace(b"IMAGE", b"amd" if refused else b"both")
    ran = archfit(data, *words, *KNOWN, **state)
    text = archfit(b"", "last", **state).ok().decode()
    head = text.splitlines()[0]
    assert head.startswith(f"{command} at 20")
    assert head.endswith(f"), version {__version__}")
    said = "Delete it first: kubectl delete -n shop job/migrate; or"
    assert (said in text) is refused
    if command != "archfit check":
        assert (said in ran.stderr) is refused


def test_a_run_that_failed_is_the_last_one_too(archfit, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    archfit(JOB, *KNOWN, **state)
    archfit(JOB, "--strct", **state)
    assert archfit(b"", "last", **state).ok().decode().splitlines()[1].startswith("exit 2")
    report = json.loads((tmp_path / "archfit" / "last.json").read_bytes())
    assert list(report)[:3] == ["schema", "archfit", "time"]


def test_no_option_of_the_command_reaches_the_report(archfit, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    archfit(JOB, *KNOWN, "--mirror", "x.example=https://secret-word.example", **state)
    assert b"secret-word" not in (tmp_path / "archfit" / "last.json").read_bytes()
