"""A registry on loopback, and runs that ask it for every image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_registry import FakeRegistry
from lookup_runs import Runs


@pytest.fixture
def served() -> Iterator[FakeRegistry]:
    with FakeRegistry() as fake:
        yield fake


@pytest.fixture
def runs(tmp_path: Path, served: FakeRegistry) -> Runs:
    return Runs(tmp_path, served.url)
