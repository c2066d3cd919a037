"""Each example runs with the real package, in an environment of its own, with archfit as its wheel installs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import machine
from archfit.lookup.store.open import default_path
from machine import ROOT, TOOLS
from warm_cache import warm

EXAMPLES = ROOT / "examples"
IMAGES = {"nginx:1.27": ["linux/amd64", "linux/arm64"], "amd.example/app:1": ["linux/amd64"]}


@pytest.fixture(scope="session")
def packages(real, tmp_path_factory):
    """A folder with archfit and what it needs, installed from the checkout without an index."""
    folder = tmp_path_factory.mktemp("packages")
    words = [
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        "--find-links",
        machine.tool("wheelhouse"),
    ]
    command = [sys.executable, "-m", "pip", "install", *words, "--target", str(folder), str(ROOT)]
    done = machine.run(command)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def environ(packages, tmp_path):
    """The variables of an example: archfit is installed, and the cache knows IMAGES."""
    cache = tmp_path / "cache"
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(packages)}
    (cache / "archfit").mkdir(parents=True)
    warm(IMAGES, default_path(environ))
    return environ


def python_of(name: str) -> Path:
    """The Python of the environment python-NAME, whose other programs are beside it."""
    machine.tool(f"python-{name}")
    return TOOLS / "python" / f"python-{name}" / "bin" / "python"


@pytest.fixture
def run_python(environ, tmp_path):
    """`run_python("cdk8s", "file.py")` in the environment python-cdk8s. Its standard output."""

    def run(name: str, *words: str | Path, **more: str) -> str:
        done = machine.run([python_of(name), *words], cwd=tmp_path, env={**environ, **more}, timeout=500)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def started(environ, tmp_path):
    """`started("kopf", "-m", "kopf", ..)` runs until the test ends. The file with what it says."""
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: str | Path, **more: str) -> Path:
        said = tmp_path / f"{name}.log"
        with said.open("wb") as log:
            command = [python_of(name), *words]
            running.append(
                subprocess.Popen(command, cwd=tmp_path, env={**environ, **more}, stdout=log, stderr=log)
            )
        return said

    yield start
    for process in running:
        process.terminate()
        process.wait(120)
