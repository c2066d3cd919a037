"""`archfit patch` and the transform beside it, and kustomize as their judge."""

import pytest
from registry import Registry

from patching import built

IMAGES = {"x.example/amd:1": ["linux/amd64"], "x.example/both:1": ["linux/amd64", "linux/arm64"]}


@pytest.fixture(scope="session")
def patch(archfit):
    with Registry(IMAGES) as served:
        yield lambda text, *words, **more: archfit(
            text, "patch", "--no-cache", *served.mirrors(), *words, **more
        )


@pytest.fixture(scope="session")
def transform(archfit):
    with Registry(IMAGES) as served:
        yield lambda text, *words: archfit(text, "--no-cache", *served.mirrors(), *words).ok()


@pytest.fixture
def kustomize(tool):
    return [tool("kustomize"), "build"]


@pytest.fixture
def build(tmp_path):
    """`build(program, base, component)`, see tests/support/patching.py."""
    return lambda program, base, *more, **named: built(tmp_path / "overlay", program, base, *more, **named)
