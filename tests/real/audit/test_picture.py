"""The picture in docs/audit.md: small, and still made by the script that the tests have."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import audit_picture

if TYPE_CHECKING:
    from pathlib import Path


def test_the_script_makes_a_picture_of_the_size_of_the_one_in_the_docs(tmp_path: Path) -> None:
    """If the page looks different now: PYTHONPATH=tests/support python -m audit_picture."""
    kept, made = audit_picture.PICTURE.read_bytes(), audit_picture.picture(tmp_path)
    assert len(kept) < 200_000
    size = (audit_picture.WIDTH, audit_picture.HEIGHT)
    assert struct.unpack(">II", kept[16:24]) == struct.unpack(">II", made[16:24]) == size
