"""Full disks, closed and broken streams: said as such, exit 1, and nobody is asked to report a bug."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from program import PROGRAM

POD = b"""\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - {name: a, image: 'x.example/a:1'}
"""
WORDS = ("--no-cache", "--image-platforms", "*=linux/amd64")
STATE = Path(os.environ["XDG_STATE_HOME"]) / "archfit" / "last.json"


def shell(line: str, *, text: bytes = POD) -> tuple[int, bytes, str]:
    """What `sh -c line` ends with; `A` is the program with its options."""
    function = f"A() {{ {PROGRAM} --no-cache '--image-platforms=*=linux/amd64' \"$@\"; }}; "
    done = subprocess.run(["sh", "-c", function + line], input=text, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


SMALL_DISK = "trap '' XFSZ; ulimit -f 4; "
"""No file may grow beyond 4 KiB, as on a full disk; SIGXFSZ is ignored."""


def big() -> bytes:
    return b"".join(
        POD.replace(b"name: a}\nspec", b"name: a%d}\nspec" % number) + b"---\n" for number in range(200)
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param("A 0>/dev/null", "standard input cannot be read", id="input-for-writing-only"),
        pytest.param("A --report /dev/null/r.json", "--report: cannot write '/dev/null/r.json'", id="report"),
    ],
)  # fmt: skip
def test_a_stream_that_fails_is_said(line, says):
    code, stdout, stderr = shell(line)
    assert code == 1
    assert stdout == b""
    assert says in stderr
    assert "report this" not in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    "words", ["cache info", "last", "--help", "check --help", "setup kustomize --help", "--version"]
)
def test_every_command_says_that_its_output_cannot_be_written(words):
    shell("A")
    done = subprocess.run(
        ["sh", "-c", f"{PROGRAM} {words} > /dev/full"], input=b"", capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"standard output cannot be written: No space left on device" in done.stderr


def test_an_output_file_on_a_full_disk_is_as_it_was(tmp_path):
    out = tmp_path / "out.yaml"
    code, _, stderr = shell(f"{SMALL_DISK} A > {out}", text=big())
    assert code == 1
    assert "standard output cannot be written: File too large; the output file is as it was before" in stderr
    assert out.read_bytes() == b""


def test_what_is_appended_on_a_full_disk_is_taken_back(tmp_path):
    out = tmp_path / "out.yaml"
    out.write_bytes(b"# mine\n")
    code, _, _ = shell(f"{SMALL_DISK} A >> {out}", text=big())
    assert code == 1
    assert out.read_bytes() == b"# mine\n"


def test_the_reports_exit_code_is_the_runs(tmp_path):
    report = tmp_path / "report.json"
    code, _, _ = shell(f"A --report {report} > /dev/full")
    assert code == 1
    for path in (report, STATE):
        told = json.loads(path.read_text())
        assert told["exit"] == 1
        assert "standard output cannot be written" in told["results"][-1]["message"]
        assert told["edits"] == []
    assert shell(f"A --report {report}")[0] == 0
    assert json.loads(report.read_text())["exit"] == 0


@pytest.mark.parametrize("command", ["check", "patch"])
def test_the_reports_of_other_commands_too(tmp_path, command):
    report = tmp_path / "report.json"
    done = subprocess.run(
        ["sh", "-c", f"{PROGRAM} {command} {' '.join(map(repr, WORDS))} --report {report} > /dev/full"],
        input=POD,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(report.read_text())["exit"] == 1


@pytest.mark.parametrize("line", ["A 2>&-", "A 2>/dev/full"])
def test_nobody_hears_the_messages_and_the_output_is_whole(line):
    code, stdout, _ = shell(line)
    assert code == 0
    assert stdout == shell("A")[1]
    assert b"archfit:" not in stdout


@pytest.mark.parametrize("line", ["A --tolerate nonsense 2>&-", "A --tolerate nonsense 2>/dev/full"])
def test_a_failure_that_nobody_hears_is_one(line):
    code, stdout, _ = shell(line)
    assert (code, stdout) == (2, b"")


def test_a_report_that_is_a_link_is_replaced_and_not_followed(tmp_path):
    theirs, report = tmp_path / "theirs", tmp_path / "report.json"
    theirs.write_text("theirs")
    report.symlink_to(theirs)
    assert shell(f"A --report {report}")[0] == 0
    assert theirs.read_text() == "theirs"
    assert json.loads(report.read_text())["exit"] == 0
    assert sorted(os.listdir(tmp_path)) == ["report.json", "theirs"]
