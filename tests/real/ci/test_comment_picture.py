"""The picture in docs/ci.md: small, and still made by the script that the tests have."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import comment_picture

if TYPE_CHECKING:
    from pathlib import Path


def test_the_script_makes_a_picture_of_the_size_of_the_one_in_the_docs(tmp_path: Path) -> None:
    """If the report looks different now: PYTHONPATH=tests/support:fixtures:benchmarks python -m comment_picture."""
    kept, made = comment_picture.PICTURE.read_bytes(), comment_picture.picture(tmp_path)
    assert len(kept) < 200_000
    size = (comment_picture.WIDTH, comment_picture.HEIGHT)
    assert struct.unpack(">II", kept[16:24]) == struct.unpack(">II", made[16:24]) == size
