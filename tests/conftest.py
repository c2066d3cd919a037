"""What every test gets: a home of its own, loopback and nothing else, and the real parts as fixtures.

    tool("helm4")                    the path of a program, see machine.TABLE
    archfit(stream, "--strict")      the real program, tests/support/program.py
    judge.kubectl(stream)            tests/support/yaml_judge.py
    oracle(before, after, ..)        tests/support/corpus_streams.py
    textcheck(before, after)         tests/support/corpus_streams.py
    corpus_registry                  a real registry that serves every image of the corpus
    nothing_seen                     every row of archfit's is `read`, whatever is recorded
    twins_for_read                   tests/support/read_twins.py: a twin for `read` of each stream edited with `all`
    control_plane                    tests/support/control_plane.py: a real API server; one for the whole session

A part that is missing skips its tests, or fails them where ARCHFIT_TEST_MISSING=fail; there every skip is a
failure.

The marker `real` says that a test needs more than Python: other people's programs or the shared test data. It is set
here for tests/real and for each test whose fixtures lead to the fixture `real`. A test without it that asks `machine`
for a program, or starts one, fails and says so (machine.Unmarked): no test needs one by accident.

`--quick` (`make test`) skips what takes long: tests with the marker `load`, and of the real ones all but some folders.

With `-n` (pytest-xdist) the tests run in worker processes, each with a home and session fixtures of its own. One worker
runs all of a folder of tests/real, so that what the folder starts (a control plane, a registry) starts once. These
folders come first: they take longest. The tests with the marker `load` want a processor for themselves: the Makefile
runs them afterwards, without `-n`.
"""

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture.providers import Constants, HypothesisProvider
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

import machine
import published_crds
from control_plane import ControlPlane
from corpus_streams import Corpus, Oracle
from corpus_streams import textcheck as check_text
from debian_registry import DebianRegistry
from program import archfit as run_archfit
from schema_judge import SchemaJudge
from yaml_judge import Judge

# A busy machine is no failure: what a property costs is counted elsewhere. The same run twice draws the same.
settings.register_profile(
    "archfit", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("archfit")
# Hypothesis draws from the texts and numbers of every loaded module, also of those that other tests loaded.
HypothesisProvider._local_constants = Constants()

_REAL = Path(__file__).parent / "real"
# The folders of tests/real that `make test` runs where the programs are here.
_QUICK = {"files", "helm", "kustomize", "readers", "redis", "registries"}

_FOREIGN = ("ARCHFIT_", "HELM_", "KUSTOMIZE_", "ARGOCD_", "XDG_")
_FOREIGN_NAMES = {"DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "KUBECONFIG", "KREW_ROOT", "NETRC"}
_FOREIGN_NAMES |= {
    name for proxy in ("http_proxy", "https_proxy", "all_proxy") for name in (proxy, proxy.upper())
}


# What a test without the marker `real` may start, beside what it wrote to a temporary folder itself.
_PLAIN_PROGRAMS = {"archfit", "sh", Path(sys.executable).name, "python", "python3"}


class OffLoopback(RuntimeError):
    """A test tried to reach another machine."""


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook (PEP 578): sockets reach loopback only, and a test without `real` starts Python only."""
    if event == "subprocess.Popen":
        started = Path(os.fsdecode(arguments[0] or arguments[1][0]))
        if started.name not in _PLAIN_PROGRAMS and not started.is_relative_to(tempfile.gettempdir()):
            machine.refuse_unmarked(str(started))
        return
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    text = host.decode() if isinstance(host, bytes) else host
    if text and text not in {"localhost", "::1", "0.0.0.0", "::"} and not text.startswith("127."):
        raise OffLoopback(f"{event} for {text!r}: all test traffic stays on loopback")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what takes long; build no program")


def pytest_configure(config: pytest.Config) -> None:
    """Move into an empty home and forget what the user's environment says. Register the markers."""
    # Most of the time of a collection is spent on compiling the tests; the next run, or the next worker, need not.
    sys.dont_write_bytecode = False
    for marker in (
        "real: needs other people's programs or the shared test data; tests/conftest.py sets it",
        "load: bounds memory, time or growth under large input, or draws hundreds of pods; each takes seconds",
    ):
        config.addinivalue_line("markers", marker)
    machine.builds = not config.getoption("--quick")
    if _starts_workers(config):
        return  # the workers need the user's environment, as `machine` reads it; no test runs here
    home = Path(tempfile.mkdtemp(prefix="archfit-home-"))
    config.stash[_HOME] = home
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name in _FOREIGN_NAMES:
            del os.environ[name]
    # Without bytecode on disk, every start of the program would compile the package anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # A program that does not write in time shows it on every machine.
    os.environ.pop("PYTHONUNBUFFERED", None)
    os.environ["HOME"] = str(home)
    for name in ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR"):
        folder = home / name.lower()
        folder.mkdir(mode=0o700)
        os.environ[f"XDG_{name}"] = str(folder)
    sys.addaudithook(_guard)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _starts_workers(config):
        shutil.rmtree(config.stash[_HOME], ignore_errors=True)


def _starts_workers(config: pytest.Config) -> bool:
    """Whether this process only hands out tests to the workers of pytest-xdist."""
    return config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    """With `--dist loadfile`: each folder of tests/real, else each file, goes to one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::", 1)[0]
            return path.rpartition("/")[0] if path.startswith("tests/real/") else path

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set the marker `real` before `-m` chooses; --quick skips what takes long. In a worker, tests/real comes first."""
    for item in items:
        if item.path.is_relative_to(_REAL) or "real" in getattr(item, "fixturenames", ()):
            item.add_marker("real")
        if config.getoption("--quick") and (reason := _too_long(item)):
            item.add_marker(pytest.mark.skip(reason=reason))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not item.path.is_relative_to(_REAL))


def _too_long(item: pytest.Item) -> str:
    """Why `make test` leaves a test out, "" where it runs."""
    if item.get_closest_marker("load"):
        return "bound memory, time or growth, and run alone"
    folder = item.path.relative_to(_REAL).parts[0] if item.path.is_relative_to(_REAL) else ""
    if (folder and folder not in _QUICK) or "control_plane" in getattr(item, "fixturenames", ()):
        return "take minutes: a control plane, whole systems, Node.js, other people's data"
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell `machine` which test runs."""
    machine.unmarked = "" if item.get_closest_marker("real") else item.nodeid
    try:
        return (yield)
    finally:
        machine.unmarked = ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where nothing may be missing, a skip is a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for modules that skip themselves while they are collected."""
    report = yield
    if report.skipped:
        _refuse(report)
    return report


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    if machine.MISSING == "fail":
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {_reason(report)}"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    said = report.longrepr
    return str(said[2] if isinstance(said, tuple) else said).removeprefix("Skipped: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in a few lines what did not run, and what it lacked. `ARGS=-rs` names each test."""
    programs, others = Counter[str](), Counter[str]()
    for report in terminalreporter.stats.get("skipped", ()):
        what, lacks, _ = _reason(report).partition(" is missing: ")
        if lacks and (what in machine.TABLE or what.startswith("the Go program ")):
            programs[what.removeprefix("the Go program ")] += 1
        else:
            others[_reason(report)] += 1
    if programs:
        others[f"programs are missing, or of another version: {', '.join(sorted(programs))}"] = (
            programs.total()
        )
    if others:
        terminalreporter.section("not run on this machine")
        for reason, count in others.most_common():
            terminalreporter.line(f"{count:6} {reason}")
        if config.getoption("--quick"):
            terminalreporter.line("make test-all runs them too: it fetches and builds the programs first.")


@pytest.fixture
def nothing_seen(monkeypatch):
    """As if no operator were recorded: every row of archfit's is `read`."""
    from archfit.workloads import custom_rows
    from seen_rows import rows_as_seen

    monkeypatch.setattr(custom_rows, "_ROWS", rows_as_seen({}))


@pytest.fixture
def twins_for_read(monkeypatch):
    """Each stream that the test edits with `customResources: all` is judged with `read`, too."""
    from read_twins import twins

    with twins(monkeypatch):
        yield


@pytest.fixture(scope="session")
def real():
    """`machine`, for each fixture that needs a program or shared test data: its tests get the marker `real`."""
    return machine


@pytest.fixture(scope="session")
def tool(real):
    """`tool("helm4")` is the path of a program of machine.TABLE."""
    return real.tool


@pytest.fixture(scope="session")
def archfit():
    """`archfit(stream, "--strict")` runs the real program, see tests/support/program.py."""
    return run_archfit


@pytest.fixture(scope="session")
def judge(real):
    """The independent readers of YAML."""
    with Judge(real.go_build(real.ROOT / "tests" / "judges" / "yaml", "judge")) as running:
        yield running


@pytest.fixture(scope="session")
def schema_judge(real):
    """What an API server says about objects, by the definitions that operators publish."""
    with SchemaJudge(real.go_build(real.ROOT / "tests" / "judges" / "schema", "schema_judge")) as running:
        running.load(published_crds.files())
        yield running


@pytest.fixture(scope="session")
def corpus(real):
    """The shared corpus: its streams and the platforms of their images."""
    return Corpus(real.shared("corpus"))


@pytest.fixture(scope="session")
def oracle(real):
    """The scheduler's own code as a judge of a stream before and after."""
    folder = real.SHARED / "corpus"
    return Oracle(Corpus(folder).platforms if folder.is_dir() else {})


@pytest.fixture(scope="session")
def textcheck():
    """The byte-level judge: the faults of an edited stream."""
    return check_text


@pytest.fixture(scope="session")
def corpus_registry(real, corpus, tmp_path_factory):
    """Debian's registry, serving every image of the corpus."""
    folder = tmp_path_factory.mktemp("registry")
    with DebianRegistry(folder, corpus.platforms) as running:
        yield running


@pytest.fixture(scope="session")
def control_plane(real, tmp_path_factory):
    """A real API server with etcd. A test that changes its flags or stops it starts one of its own."""
    real.refuse_unmarked("a control plane")
    with ControlPlane(tmp_path_factory.mktemp("control-plane")) as running:
        yield running


_HOME: pytest.StashKey[Path] = pytest.StashKey()
