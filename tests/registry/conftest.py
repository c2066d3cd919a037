"""Servers on loopback in the place of registries, and runs that ask the first of them for every image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_registry import FakeRegistry
from lookup_runs import Runs


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def stranger() -> Iterator[FakeRegistry]:
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def runs(fake: FakeRegistry, tmp_path: Path) -> Runs:
    return Runs(tmp_path, fake.url)
