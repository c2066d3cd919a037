"""A mistake in the value of an option.

The message is a sentence: what is wrong and what to write. The caller (flags, variables, file) writes the source of the
value before it.
"""

from __future__ import annotations

from archfit.errors import UsageError
from archfit.patch import Path


class Problem(UsageError):
    """A value is wrong. `path` leads from the option's value to the wrong part; `line` is 0 where unknown."""

    def __init__(self, message: str, path: Path = (), line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
