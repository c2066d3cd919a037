"""Servers on loopback in the place of registries, and runs that ask the first of them for every image."""

import pytest

from fake_registry import FakeRegistry
from lookup_runs import Runs


@pytest.fixture
def fake():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def stranger():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def runs(fake, tmp_path):
    return Runs(tmp_path, fake.url)
