"""Folders that Helm writes, charts that archfit renders, and the words that both Helms take."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import machine
from archfit.cli.inputs.renderer_command import BOTH_HAVE
from archfit.cli.usage.command_row import RENDERERS, flags_of
from archfit.cli.usage.command_table import COMMANDS
from file_runs import Site
from helm_runs import CHARTS
from warm_cache import warm
from yaml_judge import typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml_judge import Judge

CHART = CHARTS / "shop"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "work").mkdir()
    return Site(tmp_path / "work")


@pytest.fixture(scope="session")
def words(real: object, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Flags of runs that know every image of the charts."""
    known = json.loads((machine.ROOT / "fixtures" / "demo" / "platforms.json").read_text(encoding="utf-8"))
    path = tmp_path_factory.mktemp("cache") / "cache.sqlite"
    warm({name: platforms for name, platforms in known.items() if platforms}, str(path))
    return [f"--cache={path}", "--offline", "--on-unknown=leave"]


def on_path(folder: Path, name: str, program: str) -> str:
    """PATH with the program under a name."""
    folder.mkdir(exist_ok=True)
    (folder / name).symlink_to(program)
    return f"{folder}:/usr/bin:/bin"


@pytest.mark.parametrize("version", ["helm3", "helm4"])
@pytest.mark.parametrize(
    "more",
    [[], ["-n", "shop", "--set", "a=b", "--set-string=c=d"], ["--show-only", "templates/deployment.yaml"]],
    ids=["plain", "flags", "one-template"],
)
def test_helm_through_archfit_is_helm_template_and_a_pipe(
    tool: Callable[[str], str], site: Site, words: list[str], tmp_path: Path, version: str, more: list[str]
) -> None:
    path = on_path(tmp_path / "bin", "helm", tool(version))
    rendered = subprocess.run(
        [tool(version), "template", "web", str(CHART), *more], capture_output=True, check=False
    )
    ran = site.run(*words, "--helm", "web", str(CHART), *more, options=False, PATH=path)
    if rendered.returncode:
        assert ran.status == 1
        assert rendered.stderr.decode().splitlines()[0].split(":")[0] in ran.stderr
        return
    piped = site.run(*words, stdin=rendered.stdout, options=False)
    assert (piped.status, ran.status) == (0, 0), ran.stderr
    assert ran.stdout == piped.stdout != rendered.stdout


def test_kustomize_through_archfit_is_kustomize_build_and_a_pipe(
    tool: Callable[[str], str], site: Site, words: list[str], tmp_path: Path
) -> None:
    rendered = subprocess.run([tool("helm3"), "template", "web", str(CHART)], capture_output=True, check=True)
    site.write(
        {"k/all.yaml": rendered.stdout, "k/kustomization.yaml": b"resources: [all.yaml]\nnamePrefix: a-\n"}
    )
    built = subprocess.run(
        [tool("kustomize"), "build", str(site.folder / "k")], capture_output=True, check=True
    )
    piped = site.run(*words, stdin=built.stdout, options=False)
    for name in ("kustomize", "kubectl"):
        on_path(tmp_path / name, name, tool(name))
        ran = site.run(*words, "--kustomize", "k", options=False, PATH=str(tmp_path / name))
        assert (ran.status, ran.stdout) == (0, piped.stdout), ran.stderr


@pytest.mark.parametrize("version", ["helm3", "helm4"])
def test_the_folder_of_helms_output_dir_is_the_stream_of_helm_template(
    tool: Callable[[str], str], site: Site, words: list[str], judge: Judge, version: str
) -> None:
    chart = [tool(version), "template", "web", str(CHART)]
    subprocess.run([*chart, "--output-dir", str(site.folder / "rendered")], capture_output=True, check=True)
    stream = subprocess.run(chart, capture_output=True, check=True).stdout
    placed = site.run(*words, stdin=stream, options=False).stdout
    ran = site.run(*words, "rendered", options=False)
    assert ran.status == 0, ran.stderr
    for reader in ("kubectl", "kustomize", "helm4"):
        assert sorted(map(typed, judge.read(reader, ran.stdout))) == sorted(
            map(typed, judge.read(reader, placed))
        )
    assert site.run("check", *words, "rendered", options=False).status == 3
    assert site.run("--in-place", *words, "rendered", options=False).status == 0
    assert site.run("check", *words, "rendered", options=False).status == 0


def flags_in(text: str) -> list[str]:
    """The flags of a program's help."""
    pairs = re.findall(r"^ +(?:(-\w), )?(--[a-z0-9-]+)", text, re.MULTILINE)
    return [flag for pair in pairs for flag in pair if flag]


def test_flags_that_both_have_are_those_of_helm(tool: Callable[[str], str]) -> None:
    """A flag of archfit that Helm takes too has to be on the list, whatever command it belongs to."""
    texts = [
        subprocess.run([tool(name), "template", "--help"], capture_output=True, text=True, check=True).stdout
        for name in ("helm3", "helm4")
    ]
    helms = {flag for text in texts for flag in flags_in(text)}
    commands = [command for command in COMMANDS if set(RENDERERS) <= set(command.flags)]
    assert len(commands) > 5
    own = {flag for command in commands for flag in flags_of(command)}
    assert own & helms - {"-h", "--help"} == BOTH_HAVE & own
    build = subprocess.run(
        [tool("kustomize"), "build", "--help"], capture_output=True, text=True, check=True
    ).stdout
    kustomizes = set(flags_in(build))
    assert own & kustomizes - {"-h", "--help"} == {"-o", "--output"}
