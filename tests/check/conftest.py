"""`archfit check` in this process, with a registry on loopback."""

import contextlib
from pathlib import Path

import pytest
from registry import Registry

import file_runs
from program import Ran

IMAGES = {
    "x.example/amd:1": ["linux/amd64"],
    "x.example/both:1": ["linux/amd64", "linux/arm64"],
    "x.example/win:1": ["windows/amd64"],
    "x.example/v7:1": ["linux/amd64", "linux/arm/v7"],
}


@pytest.fixture(scope="session")
def mirrors():
    """The flags that lead to IMAGES."""
    with Registry(IMAGES) as served:
        yield served.mirrors()


@pytest.fixture(scope="session")
def check(mirrors):
    def run(text: bytes, *words: str, cwd: Path | str = ".", **environ: str) -> Ran:
        with contextlib.chdir(cwd):
            return file_runs.run(("check", "--no-cache", *mirrors, *words), text, **environ)

    return run
