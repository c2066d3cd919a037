"""A copy of the repository for tests that write into it."""

import shutil

import pytest
import repository_address

from machine import ROOT


@pytest.fixture
def copy(tmp_path):
    """The repository's own files, to write into."""
    for path in repository_address.files(ROOT):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tmp_path
