"""A mistake in the value of an option, and the word that was meant.

The message is a sentence: what is wrong and what to write. The caller (flags, variables, file) writes the source of the
value before it.
"""

from __future__ import annotations

from collections.abc import Iterable

from archfit.errors import UsageError
from archfit.patch import Path


class Problem(UsageError):
    """A value is wrong. `path` leads from the option's value to the wrong part; `line` is 0 where unknown."""

    def __init__(self, message: str, path: Path = (), line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line


def nearest(word: str, known: Iterable[str], likeness: float = 0.7) -> str:
    """The known word that `word` is most likely meant to be, "" where none comes near."""
    import difflib  # needed for an error message only

    def bare(text: str) -> str:
        return text.lower().replace("-", "").replace("_", "")

    spelled = {bare(name): name for name in known}
    return next((spelled[found] for found in difflib.get_close_matches(bare(word), spelled, 1, likeness)), "")


def expected(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the nearest known one, or all of them."""
    known = tuple(known)
    near = nearest(word, known)
    return f"write {near!r}" if near else f"known are {', '.join(known)}"
