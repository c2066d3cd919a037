"""The real kustomize as the judge of patches."""

import pytest

from patch_runs import built, runs


@pytest.fixture(scope="session")
def patch(archfit):
    """`archfit patch`."""
    with runs(archfit, "patch") as run:
        yield run


@pytest.fixture(scope="session")
def transform(archfit):
    """What archfit itself makes of the same stream."""
    with runs(archfit) as run:
        yield lambda text, *words: run(text, *words).ok()


@pytest.fixture
def kustomize(tool):
    """The words that start it."""
    return [tool("kustomize"), "build"]


@pytest.fixture
def build(tmp_path):
    """`build(program, base, component)`, see tests/support/patch_runs.py."""
    return lambda program, base, *more, **named: built(tmp_path / "overlay", program, base, *more, **named)
