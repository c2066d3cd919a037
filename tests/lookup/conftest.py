"""A registry on loopback, and runs that ask it for every image."""

import pytest

from fake_registry import FakeRegistry
from lookup_runs import Runs


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        yield fake


@pytest.fixture
def runs(tmp_path, served):
    return Runs(tmp_path, served.url)
