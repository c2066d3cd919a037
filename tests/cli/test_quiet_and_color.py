"""--quiet leaves only problems on standard error; colours are for terminals, and text from outside never has them."""

import os
import pty
import subprocess

import pytest

from fake_registry import FakeRegistry
from program import PROGRAM, Ran, archfit

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.io/one:1'}]}\n"
PLACEHOLDER = POD.replace("x.io/one:1", "ko://x.io/one")
HOSTILE = POD.replace("'x.io/one:1'", r'"x.io/\e[2Jone:1"')
NODES = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n, labels: {kubernetes.io/arch: arm64, kubernetes.io/os: linux}}
  status: {nodeInfo: {architecture: arm64, operatingSystem: linux}}
"""
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n"


@pytest.fixture(scope="module")
def registry():
    with FakeRegistry() as found:
        found.index("one", "1", ["linux/amd64"])
        yield found


@pytest.fixture
def run(registry, tmp_path):
    """Runs archfit in a folder with a kustomization, a Kptfile and a lock file."""
    (tmp_path / "kustomization.yaml").write_text(KUSTOMIZATION)
    (tmp_path / "Kptfile").write_text(KPTFILE)

    def start(text: str, *words: str, **environ: str) -> Ran:
        mirror = {"ARCHFIT_MIRROR": f"*=http://{registry.host}", "ARCHFIT_NO_CACHE": "1"}
        return archfit(text.encode(), *words, cwd=tmp_path, **{**mirror, **environ})

    return start


WITH_NOTES = [
    pytest.param(POD, [], id="transform"),
    pytest.param(POD, ["transform"], id="transform-by-name"),
    pytest.param(POD, ["helm"], id="helm"),
    pytest.param(POD, ["patch"], id="patch"),
    pytest.param(POD, ["lock"], id="lock"),
    pytest.param(POD, ["audit"], id="audit"),
    pytest.param(POD, ["policy", "-"], id="policy"),
    pytest.param(PLACEHOLDER, ["check"], id="check"),
    pytest.param("", ["inspect", "x.io/one:1"], id="inspect"),
    pytest.param(NODES, ["setup", "cluster", "-o", "archfit-cluster.yaml"], id="setup-cluster"),
    pytest.param("", ["setup", "argocd"], id="setup-argocd"),
    pytest.param("", ["setup", "kustomize"], id="setup-kustomize"),
    pytest.param("", ["setup", "kpt"], id="setup-kpt"),
    pytest.param("", ["setup", "chart"], id="setup-chart"),
    pytest.param(POD, ["setup", "flux"], id="setup-flux"),
    pytest.param("", ["setup", "helm", "--into", "plugins"], id="setup-helm"),
]


def problems_alone(ran: Ran) -> bool:
    return all(
        line.startswith(("archfit: error: ", "archfit: warning: ")) for line in ran.stderr.splitlines()
    )


@pytest.mark.parametrize(("text", "words"), WITH_NOTES)
def test_quiet_leaves_out_what_is_no_problem(run, tmp_path, text, words):
    ran = run(text, *words, "-q")
    assert problems_alone(ran), ran.stderr
    for made in tmp_path.iterdir():
        if made.is_file() and made.name not in ("kustomization.yaml", "Kptfile"):
            made.unlink()
    (tmp_path / "kustomization.yaml").write_text(KUSTOMIZATION)
    (tmp_path / "Kptfile").write_text(KPTFILE)
    again = ["--force"] if {"argocd", "chart"} & set(words[1:]) else []
    loud = run(text, *words, *again)
    assert (loud.status, loud.stdout) == (ran.status, ran.stdout)
    assert not problems_alone(loud), "without -q it says nothing that -q could leave out"


@pytest.mark.parametrize("words", [["-q"], ["--quiet"], ["check", "-q"], ["lock", "--quiet"]], ids=" ".join)
def test_quiet_keeps_errors_and_warnings(run, words):
    ran = run(POD.replace("one:1", "gone:1"), *words)
    assert ran.status == 1
    assert ran.stderr.startswith("archfit: error: ")
    assert problems_alone(ran)


@pytest.mark.parametrize(
    "flags", [["-q"], ["--color", "always"], ["--config=own.yaml", "--quiet", "--color=always"]], ids=" ".join
)
@pytest.mark.parametrize(
    ("command", "rest"), [(["check"], ["-"]), (["setup", "flux"], ["--check"]), (["explain"], ["--", "-"])]
)
def test_what_every_command_takes_may_stand_before_it(run, tmp_path, flags, command, rest):
    (tmp_path / "own.yaml").write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n")
    assert run(POD, *flags, *command, *rest) == run(POD, *command, *flags, *rest)


def test_quiet_from_a_variable_and_from_a_file(run, tmp_path):
    assert run(POD, ARCHFIT_QUIET="true").stderr == ""
    assert run("", "setup", "kpt", ARCHFIT_QUIET="1").stderr == ""
    assert run("", "setup", "kpt", "--quiet").stderr == ""
    file = tmp_path / "archfit-own.yaml"
    file.write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\noperator: {quiet: true}\n")
    assert run(POD, "--config", str(file)).stderr == ""
    assert run(POD, ARCHFIT_CONFIG=str(file)).stderr == ""
    assert run(POD, "patch", ARCHFIT_CONFIG=str(file)).stderr == ""


def test_the_flag_wins_over_the_variable_that_asks_for_the_opposite(run):
    assert run(POD, "-q", ARCHFIT_VERBOSE="true").stderr == ""
    assert "archfit: " in run(POD, "-v", ARCHFIT_QUIET="true").stderr


RED, YELLOW, BOLD, END = "\x1b[1;31m", "\x1b[1;33m", "\x1b[1m", "\x1b[0m"


@pytest.mark.parametrize(
    ("words", "environ", "colours"),
    [
        pytest.param([], {}, False, id="a-pipe"),
        pytest.param(["--color=always"], {"NO_COLOR": "1", "CI": "1"}, True, id="always-and-NO_COLOR"),
        pytest.param(["--color=never"], {"FORCE_COLOR": "1"}, False, id="never"),
        pytest.param([], {"ARCHFIT_COLOR": "always"}, True, id="variable"),
    ],
)
def test_each_kind_of_message_has_its_colour(run, words, environ, colours):
    ran = run(POD, *words, **environ)
    assert ran.stderr.startswith(f"{BOLD}archfit:{END} " if colours else "archfit: ")
    failed = run(POD.replace("one:1", "gone:1"), *words, **environ)
    first = failed.stderr.splitlines()[0]
    assert first.startswith(
        f"archfit: {RED}error:{END} v1/Pod/a " if colours else "archfit: error: v1/Pod/a "
    )
    wrong = run(POD, "--strickt", *words, **environ)
    assert wrong.stderr.startswith(
        f"archfit: {RED}error:{END} there is no flag" if colours else "archfit: error: there is no flag"
    )
    blank = run("", "--on-blank=pass", *words, **environ)
    assert blank.stderr.startswith(f"archfit: {YELLOW}warning:{END} " if colours else "archfit: warning: ")
    assert b"\x1b" not in ran.stdout + failed.stdout + blank.stdout


def test_a_file_says_it_too(run, tmp_path):
    file = tmp_path / "archfit-own.yaml"
    file.write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\noperator: {color: always}\n")
    assert run(POD, "--config", str(file)).stderr.startswith(BOLD)
    assert run(POD, "--config", str(file), "--color=never").stderr.startswith("archfit: ")


def test_text_from_outside_is_escaped_before_colours_are_added(run):
    ran = run(HOSTILE, "--color=always")
    assert ran.status == 1
    assert ran.stderr.count("\x1b") == 2 * len(ran.stderr.splitlines())
    assert "x.io/\\x1b[2Jone:1" in ran.stderr


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        pytest.param({"TERM": "xterm"}, True, id="terminal"),
        pytest.param({"TERM": "xterm", "NO_COLOR": "1"}, False, id="NO_COLOR"),
    ],
)
def test_a_terminal_gets_colours(environ, colours):
    outer = {
        name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "FORCE_COLOR")
    }
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [PROGRAM, "--strickt"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=slave,
            env={**outer, **environ},
            check=False,
        )
        said = os.read(master, 4096).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 2
    assert said.startswith(f"archfit: {RED}error:{END} " if colours else "archfit: error: ")
    assert said.count("\x1b") == 2 * colours
