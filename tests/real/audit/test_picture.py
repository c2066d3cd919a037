"""The pictures of a report in docs/: small, and still made by the script that the tests have."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import audit_picture

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", audit_picture.PICTURES)
def test_the_script_makes_a_picture_of_the_size_of_the_one_in_the_docs(name: str, tmp_path: Path) -> None:
    """If the page looks different now: PYTHONPATH=tests/support python -m audit_picture."""
    height = audit_picture.PICTURES[name]
    kept, made = (audit_picture.DOCS / name).read_bytes(), audit_picture.picture(tmp_path, height)
    assert len(kept) < 200_000
    assert (
        struct.unpack(">II", kept[16:24])
        == struct.unpack(">II", made[16:24])
        == (audit_picture.WIDTH, height)
    )
