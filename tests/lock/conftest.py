"""A registry with three images, and `archfit lock` in a folder of its own."""

import pytest
from registry import Registry

from lock_runs import Locking

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]


@pytest.fixture
def registry():
    with Registry({"nginx:1.27": BOTH, "redis": BOTH, "quay.io/team/app:1": AMD}) as served:
        yield served


@pytest.fixture
def locking(tmp_path, registry):
    return Locking(tmp_path, registry)
