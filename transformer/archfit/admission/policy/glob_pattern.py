"""Globs of `fnmatch` as regular expressions of RE2, which CEL's `matches` takes.

    *        .*           ?        .           [abc]     [abc]        [!a-c]    [^a-c]
    [        itself, where no ] follows                               [c-a]     matches nothing

The expression is anchored, and `.` matches every character. Source: Python, fnmatch.translate; RE2, syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NOTHING = r"[^\x00-\x{10FFFF}]"
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


def is_literal(glob: str) -> bool:
    """Whether the glob matches itself alone."""
    return not any(mark in glob for mark in "*?[")


def pattern(glob: str, *, literal: str = "") -> str:
    """An anchored regular expression. literal: what stands before the glob and is no part of it."""
    return f"(?s)^{quoted(literal)}{''.join(_parts(glob))}$"


def quoted(plain: str) -> str:
    """A text that matches itself."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in plain)


def _parts(glob: str) -> Iterator[str]:
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*":
            yield ".*"
        elif character == "?":
            yield "."
        elif character == "[":
            closing = _closing(glob, at)
            if closing < 0:
                yield r"\["
                continue
            yield _class(glob[at:closing])
            at = closing + 1
        else:
            yield quoted(character)


def _closing(glob: str, at: int) -> int:
    """Where the class that begins at `at` ends, -1 where it does not."""
    start = at + (glob[at : at + 1] == "!")
    return glob.find("]", start + (glob[start : start + 1] == "]"))


def _class(inside: str) -> str:
    negated = inside.startswith("!")
    ranges = list(_ranges(inside[negated:]))
    if not ranges:
        return "." if negated else _NOTHING
    body = "".join(_member(low) if low == high else f"{_member(low)}-{_member(high)}" for low, high in ranges)
    return f"[{'^' if negated else ''}{body}]"


def _ranges(members: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(r"(.)-(.)|(.)", members, re.DOTALL):
        low, high = (found[1], found[2]) if found[1] is not None else (found[3], found[3])
        if low <= high:
            yield low, high


def _member(character: str) -> str:
    return character if character.isalnum() and character.isascii() else f"\\x{{{ord(character):X}}}"
