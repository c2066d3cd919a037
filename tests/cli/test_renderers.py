"""`--helm CHART ..` and `--kustomize DIR ..`: which words go where, and what becomes of what the renderer writes."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from archfit.cli.inputs.renderer_command import Rendering, taken_apart
from file_runs import AMD, OPTIONS, Site, placed
from program import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

SWITCHES = {
    "--diff": True,
    "-o": False,
    "--output": False,
    "--timeout": False,
    "--color": False,
    "--update": True,
}


@pytest.mark.parametrize(
    ("argv", "own", "flag", "theirs"),
    [
        pytest.param("--helm ./c", "", "--helm", "./c", id="chart"),
        pytest.param("--helm=./c", "", "--helm", "./c", id="equals"),
        pytest.param("--helm web ./c -n shop", "", "--helm", "web ./c -n shop", id="name-and-chart"),
        pytest.param("--helm c -f v.yaml --set a=b", "", "--helm", "c -f v.yaml --set a=b", id="helms-flags"),
        pytest.param("--diff --helm c -f v", "--diff", "--helm", "c -f v", id="before"),
        pytest.param("--helm c -f v --diff", "--diff", "--helm", "c -f v", id="behind"),
        pytest.param("--helm c -o x -f v", "-o x", "--helm", "c -f v", id="behind-with-its-value"),
        pytest.param("--helm c --output=x -f v", "--output=x", "--helm", "c -f v", id="behind-with-equals"),
        pytest.param("--timeout 5s --helm c", "--timeout 5s", "--helm", "c", id="both-have-it-before"),
        pytest.param("--helm c --timeout 5s --color=never", "", "--helm", "c --timeout 5s --color=never", id="both-have-it"),
        pytest.param("--helm c --version 1.2", "", "--helm", "c --version 1.2", id="version"),
        pytest.param("--helm c -- --diff -o y", "", "--helm", "c --diff -o y", id="dashes"),
        pytest.param("--helm c --diff -- -f v", "--diff", "--helm", "c -f v", id="flag-then-dashes"),
        pytest.param("--helm c --update -f v", "--update", "--helm", "c -f v", id="optional-value"),
        pytest.param("--kustomize k --enable-helm -o x", "-o x", "--kustomize", "k --enable-helm", id="kustomize"),
    ],
)  # fmt: skip
def test_which_words_go_where(argv: str, own: str, flag: str, theirs: str) -> None:
    assert taken_apart(argv.split(), SWITCHES) == (own.split(), Rendering(flag, tuple(theirs.split())))


@pytest.mark.parametrize("argv", ["", "a.yaml --diff", "-- --helm c", "--helmet c"])
def test_noop_without_the_flag_the_words_stay(argv: str) -> None:
    assert taken_apart(argv.split(), SWITCHES) == (argv.split(), None)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A folder with programs named helm and kustomize, that write their words to a file and AMD to standard output."""
    made = Site(tmp_path)
    made.write({"amd.yaml": AMD})
    for name in ("helm", "kustomize"):
        program(
            made, name, 'for word; do printf "%s\\n" "$word"; done > words; cat amd.yaml; echo careful >&2\n'
        )
    return made


def program(site: Site, name: str, script: str) -> None:
    path = site.folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture(autouse=True)
def path(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{site.folder / 'bin'}:/usr/bin:/bin")


def test_what_the_renderer_writes_is_transformed_and_its_warnings_are_shown(site: Site) -> None:
    ran = site.run("--helm", "web", "./my chart", "-f", "v 1.yaml", "--set", "a=$(b)")
    assert (ran.status, ran.stdout) == (0, placed(AMD))
    assert ran.stderr.startswith("careful\n")
    words = site.files()["words"].decode().splitlines()
    assert words == ["template", "web", "./my chart", "-f", "v 1.yaml", "--set", "a=$(b)"]


def test_the_command_that_a_post_renderer_without_a_stream_names_renders_the_chart(site: Site) -> None:
    ran = site.run("helm", "./my chart")
    told = ran.stderr.partition("to render a chart, run ")[2]
    path = f"{site.folder / 'bin'}:{PROGRAM.parent}:/usr/bin:/bin"
    environ = {"PATH": path, "HOME": str(site.folder), "ARCHFIT_IMAGE_PLATFORMS": "x.io/amd=linux/amd64"}
    typed = subprocess.run(["sh", "-c", told], cwd=site.folder, env=environ, capture_output=True, check=True)
    assert typed.stdout == placed(AMD)
    assert site.files()["words"] == b"template\n./my chart\n"


def test_kustomize_and_without_it_kubectl(site: Site) -> None:
    assert site.run("--kustomize", "overlay", "--enable-helm").stdout == placed(AMD)
    assert site.files()["words"] == b"build\noverlay\n--enable-helm\n"
    os.rename(site.folder / "bin" / "kustomize", site.folder / "bin" / "kubectl")
    assert site.run("--kustomize", "overlay", PATH=str(site.folder / "bin") + ":/bin").stdout == placed(AMD)
    assert site.files()["words"] == b"kustomize\noverlay\n"


def test_helm_may_read_its_values_from_standard_input(site: Site) -> None:
    program(site, "helm", "cat")
    assert site.run("--helm", "c", "-f", "-", stdin=AMD).stdout == placed(AMD)
    assert site.run("--helm", "c", stdin=AMD).stdout == b""


@pytest.mark.parametrize("where", ["-o", "--diff"])
def test_a_rendered_chart_goes_to_a_file_or_a_diff(site: Site, where: str) -> None:
    words = ["-o", "out.yaml"] if where == "-o" else ["--diff"]
    ran = site.run(*words, "--helm", "./c")
    assert ran.status == 0, ran.stderr
    if where == "-o":
        assert site.files()["out.yaml"] == placed(AMD)
    else:
        assert ran.stdout.startswith(b"--- a/helm-template\n+++ b/helm-template\n@@ ")


@pytest.mark.parametrize(
    ("command", "status"), [("check", 3), ("patch", 0), ("explain", 0), ("lock", 1), ("audit", 0)]
)
def test_other_commands_render_too(site: Site, command: str, status: int) -> None:
    options = () if command in ("lock", "audit") else OPTIONS
    if command == "lock":
        options = ("--no-cache", "--mirror=*=http://127.0.0.1:9", "--timeout=1s")
    if command == "audit":
        options = ("--image-platforms=x.io/amd=linux/amd64", "--offline", "--no-cache")
    ran = site.run(command, *options, "--helm", "web", "./c", options=False)
    assert ran.status == status, ran.stderr
    assert site.files()["words"] == b"template\nweb\n./c\n"
    assert "careful" in ran.stderr
    assert b"amd" in ran.stdout or command == "lock"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--helm"], "--helm: has no value: write --helm CHART", id="no-chart"),
        pytest.param(["--helm", "--diff"], "--helm: has no value: write --helm CHART", id="flag-for-chart"),
        pytest.param(["--kustomize="], "--kustomize: has no value: write --kustomize DIR", id="no-dir"),
        pytest.param(["--helm", "c", "--helm", "d"], "one renderer at a time", id="twice"),
        pytest.param(["--helm", "c", "--kustomize", "d"], "one renderer at a time", id="both"),
        pytest.param(["a.yaml", "--helm", "c"], "'a.yaml': name files, or a chart with --helm, but not both", id="file-too"),
        pytest.param(["--in-place", "--helm", "c"], "--in-place: --helm renders no file: write -o FILE", id="in-place"),
        pytest.param(["-o", "out/", "--helm", "c"], "'out/' is a folder, and --helm gives one stream: name a file", id="folder"),
    ],
)  # fmt: skip
def test_wrong_usage_starts_nothing(site: Site, words: list[str], said: str) -> None:
    ran = site.run(*words, options=False)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr


@pytest.mark.parametrize(
    "words", [["--helm", "c"], ["--kustomize", "c"], ["check", "--helm", "c"]], ids=" ".join
)
def test_a_renderer_that_fails_says_why_and_nothing_is_written(site: Site, words: list[str]) -> None:
    for name in ("helm", "kustomize"):
        program(site, name, "cat amd.yaml; echo 'Error: \x1b[31mno such value' >&2; exit 7")
    ran = site.run(*words)
    assert (ran.status, ran.stdout) == (1, b"")
    assert "failed (exit status 7), so nothing was written:\nError: \\x1b[31mno such value\n" in ran.stderr


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--helm", "helm is not on PATH: install it"),
        ("--kustomize", "neither kustomize nor kubectl is on PATH"),
    ],
)
def test_a_renderer_that_is_missing(site: Site, flag: str, said: str) -> None:
    ran = site.run(flag, "./my chart", "--set=password=hunter2", PATH="/nowhere")
    assert "hunter2" not in ran.stderr
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr
    assert "'./my chart' .. | archfit" in ran.stderr
    assert "'./my chart' | archfit" in site.run(flag, "./my chart", PATH="/nowhere").stderr


@pytest.mark.parametrize(
    ("script", "limit", "most", "said"),
    [
        ("cat amd.yaml; exec sleep 600", "renderer_command.LONGEST_SECONDS", 0.3, "helm template: it did not end in time"),
        ("exec yes", "renderer_process.MOST_BYTES", 1 << 20, "it wrote more than 1 MiB"),
    ],
    ids=["no-end", "too-much"],
)  # fmt: skip
def test_a_renderer_that_does_not_end_or_writes_without_end_is_ended(
    site: Site, monkeypatch: pytest.MonkeyPatch, script: str, limit: str, most: float, said: str
) -> None:
    program(site, "helm", f"echo $$ > pid; {script}")
    monkeypatch.setattr(f"archfit.cli.inputs.{limit}", most)
    ran = site.run("--helm", "c")
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(site.files()["pid"]), 0)


def test_sigterm_ends_the_renderer_too(site: Site) -> None:
    os.mkfifo(site.folder / "started")
    program(site, "helm", "echo $$ > started; exec sleep 600")
    process = subprocess.Popen(
        [PROGRAM, "--helm", "c"], cwd=site.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    child = int((site.folder / "started").read_text(encoding="utf-8"))
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=30)
    assert (process.returncode, out, said) == (
        143,
        "",
        "archfit: error: SIGTERM ended archfit, so it wrote nothing\n",
    )
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_the_report_of_a_rendered_run(site: Site) -> None:
    assert site.run("--report", "r.json", "--helm", "c").status == 0
    report = json.loads(site.files()["r.json"])
    assert report["command"] == "archfit transform"
    assert [one["outcome"] for one in report["decisions"]] == ["Change"]
