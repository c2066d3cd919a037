"""What several of these suites share."""

from __future__ import annotations

import pytest

import machine
from container_image import ContainerImage


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> ContainerImage:
    """The image of the Dockerfile, built once."""
    return ContainerImage(machine.ROOT / "Dockerfile", tmp_path_factory.mktemp("image"))
