"""The word that was meant: the one place that compares a misspelt word with the known ones."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], likeness: float = 0.7) -> str:
    """The known word that `word` is most likely meant to be, "" where none comes near. likeness: from 0 to 1."""
    import difflib  # needed for an error message only

    def bare(text: str) -> str:
        return text.lower().replace("-", "").replace("_", "")

    spelled = {bare(name): name for name in known}
    return next((spelled[close] for close in difflib.get_close_matches(bare(word), spelled, 1, likeness)), "")


def expected(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the nearest known one, or all of them."""
    known = tuple(known)
    near = nearest(word, known)
    return f"write {near!r}" if near else f"known are {', '.join(known)}"


def refused(word: str, choices: Iterable[str]) -> str:
    """A sentence about a value that is none of a few."""
    choices = tuple(choices)
    near = nearest(word, choices, 0.6)
    return f"{word!r} is not one of {', '.join(choices)}: write {repr(near) if near else 'one of them'}"
