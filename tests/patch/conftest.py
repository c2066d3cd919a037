"""`archfit patch` and the transform beside it."""

import pytest

from patch_runs import runs


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
