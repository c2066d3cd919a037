"""What several of these suites share."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from places import unpack

import machine
from container_image import ContainerImage


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The image of the Dockerfile, built once."""
    if not machine.builds:
        machine.missing("the image of the Dockerfile", "make test-all builds it")
    return ContainerImage(machine.ROOT / "Dockerfile", tmp_path_factory.mktemp("image"))


class Released(NamedTuple):
    """dist: the folder that `make release-check` filled. status, said: how it ended and what it printed."""

    dist: Path
    status: int
    said: str


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """`make release-check`, run once."""
    for name in ("twine", "cyclonedx-py", "krew", "helm4"):
        machine.tool(name)
    dist = tmp_path_factory.mktemp("dist")
    done = machine.run(
        [sys.executable, machine.ROOT / "scripts" / "release", "--dist", dist], env=machine.ENVIRON
    )
    return Released(dist, done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def binary(released, tmp_path_factory):
    """The folder of the binary's archive, unpacked."""
    found = list(released.dist.glob("binary/*.tar.gz"))
    assert len(found) == 1, released.said
    folder = tmp_path_factory.mktemp("binary")
    return unpack(found[0], folder) / "archfit"
