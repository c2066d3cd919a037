"""Each example runs with the real package, in an environment of its own, with archfit as its wheel installs it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import machine
from archfit.lookup.store.open import default_path
from machine import ROOT, TOOLS
from warm_cache import warm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXAMPLES = ROOT / "examples"
IMAGES = {
    "nginx:1.27": ["linux/amd64", "linux/arm64"],
    "amd.example/app:1": ["linux/amd64"],
}


@pytest.fixture(scope="session")
def packages(real: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run_python(packages: Path, tmp_path: Path) -> Callable[..., str]:
    """`run_python("kopf", "file.py")` in the environment python-kopf; the cache knows IMAGES. Its standard output."""
    cache = tmp_path / "cache"
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(packages)}
    place = default_path(environ)
    (cache / "archfit").mkdir(parents=True)
    warm(IMAGES, place)

    def run(name: str, *words: str | Path, **more: str) -> str:
        machine.tool(f"python-{name}")
        python = TOOLS / "python" / f"python-{name}" / "bin" / "python"
        done = subprocess.run(
            [python, *words],
            cwd=tmp_path,
            env={**environ, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
