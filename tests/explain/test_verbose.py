"""-v on every command that decides: the trees of `archfit explain` on standard error, and nothing else changes."""

import os
import re
from functools import partial

import pytest
from tests.explain.explained_cases import workload

import archfit
from archfit.explain.text import MOST_LINES
from archfit.lookup.store.open import default_path
from file_runs import OPTIONS, run
from interpreter_steps import steps
from warm_cache import warm

STREAM = (
    f"{workload(images=('nginx:1', 'api:1'))}---\n{workload('nodeName: n', images=('nginx:1',))}".encode()
)
CONFLICT = workload(images=("api:1", "tool:1")).encode()
WIDGET = workload(kind="example.com/v1 Widget").encode()


@pytest.fixture(autouse=True)
def _cache():
    cached = {"nginx:1": ["linux/amd64", "linux/arm64"], "api:1": ["linux/amd64"], "tool:1": ["linux/arm64"]}
    warm(cached, default_path(os.environ))


def trees(text: str) -> list[str]:
    """The lines that are of a tree; ages of answers are left out."""
    lines = re.sub(r"\d+ seconds? old", "SECONDS old", text).splitlines()
    return [line for line in lines if line.startswith(("├", "│", "└", "   "))]


@pytest.mark.parametrize("command", [[], ["transform"], ["helm"], ["check"], ["patch"]], ids=" ".join)
def test_the_trees_are_those_of_explain(archfit, command):
    plain, verbose = archfit(STREAM, *command), archfit(STREAM, *command, "-v")
    assert (verbose.status, verbose.stdout) == (plain.status, plain.stdout)
    shown = archfit(STREAM, "explain", *(["--hooks", "recreated"] if command == ["helm"] else []))
    assert trees(verbose.stderr) == trees(shown.stdout.decode()) != []
    assert trees(plain.stderr) == []
    heads = [line for line in shown.stdout.decode().splitlines() if "    line " in line]
    rest = [line for line in verbose.stderr.splitlines() if line not in heads and not trees(line)]
    assert (len(heads), rest) == (2, plain.stderr.splitlines())


def test_the_variable_says_the_same(archfit):
    assert trees(archfit(STREAM, ARCHFIT_VERBOSE="true").stderr) == trees(archfit(STREAM, "-v").stderr) != []


def test_files_and_folders_are_named_in_them(archfit, tmp_path):
    (tmp_path / "rendered").mkdir()
    for number in (1, 2):
        (tmp_path / "rendered" / f"{number}.yaml").write_bytes(STREAM)
    ran, shown = (archfit(b"", *words, "rendered", cwd=tmp_path) for words in (["-v"], ["explain"]))
    assert trees(ran.stderr) == trees(shown.stdout.decode()) != []
    assert ran.stderr.count("    rendered/2.yaml:2    changes") == 1


def test_argo_cd_shows_them_in_its_log(archfit, tmp_path):
    (tmp_path / "web.yaml").write_bytes(STREAM)
    ran = archfit(b"", "argocd", "generate", "-v", cwd=tmp_path)
    assert ran.status == 0
    assert trees(ran.stderr) == trees(archfit(STREAM, "-v").stderr)
    assert b"affinity" in ran.stdout


@pytest.mark.parametrize("command", [[], ["helm"], ["patch"]], ids=" ".join)
def test_after_a_failure_the_errors_come_behind_the_trees(archfit, command):
    ran = archfit(CONFLICT, *command, "-v")
    assert (ran.status, ran.stdout) == (1, b"")
    lines = ran.stderr.splitlines()
    assert any("it can run on" in line for line in lines)
    behind = lines[max(n for n, line in enumerate(lines) if trees(line)) + 1 :]
    assert behind[0].startswith("archfit: error: ")
    assert behind[1] == "archfit: 1 problem; nothing was written"


def test_a_stream_without_pods_has_no_trees(archfit):
    for stream in (b"", b"apiVersion: v1\nkind: ConfigMap\n", WIDGET):
        assert archfit(stream, "-v").stderr == archfit(stream).stderr


def test_a_long_stream_is_cut_between_trees_and_says_so(archfit):
    many = b"---\n".join(workload(metadata=f"name: w{n}", images=("nginx:1",)).encode() for n in range(100))
    ran = archfit(many, "-v")
    assert len(trees(ran.stderr)) < MOST_LINES
    shown = ran.stderr.count("├─ images")
    assert 40 < shown < 100
    assert (
        f"archfit: no more than {MOST_LINES} lines: archfit explain also shows the last {100 - shown} pods"
        in ran.stderr
    )


def test_a_function_shows_them_once_and_not_in_its_results(archfit):
    items = b"\n".join(
        b"  " + line if line else line for line in workload(images=("api:1",)).encode().splitlines()
    )
    stream = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n-" + items[1:] + b"\n"
    ran = archfit(stream, ARCHFIT_VERBOSE="true", ARCHFIT_MIRROR="docker.io=https://x.invalid")
    assert ran.stdout.count("├─".encode()) == 0
    assert ran.stderr.count("├─ images") == 1


@pytest.mark.parametrize("words", [("explain",), ("--verbose",)], ids=" ".join)
def test_twice_the_images_are_twice_the_work(words):
    """Work is counted, not timed: the lines of archfit that run."""
    counts = []
    for number in (50, 100, 150):
        stream = workload(images=tuple(f"x.io/both:{tag}" for tag in range(number))).encode()
        counts.append(steps(partial(run, (*words, *OPTIONS), stream), within=archfit.__path__[0]))
    first, second, third = counts
    assert third - second <= 1.2 * (second - first)
