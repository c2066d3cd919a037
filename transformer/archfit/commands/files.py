"""Files that the user names."""

from __future__ import annotations


def read_file(path: str) -> bytes:
    """The bytes of a file. Raises OSError."""
    with open(path, "rb") as file:
        return file.read()
