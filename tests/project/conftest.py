"""A copy of the repository for tests that write into it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import repository_address

from machine import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The repository's own files, to write into."""
    for path in repository_address.files(ROOT):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tmp_path
