"""Values and expressions as CEL writes them, and globs of `fnmatch` as regular expressions of RE2 (`pattern`).

Source: cel-spec, langdef.md (syntax, aggregate values); Python, fnmatch.translate; RE2, syntax.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from archfit.startup.record import Record

Literal: TypeAlias = "str | int | bool | Iterable[Literal] | Mapping[str, Literal]"

_PLACE = re.compile(r"%([a-z_]+)")
_HEAD = re.compile(r"^(\S+): (.+)\n", re.MULTILINE)
_ESCAPED = re.compile(r"[^ -~]|[\\']")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text(value: str) -> str:
    """A string literal."""
    return f"'{_ESCAPED.sub(_escape, value)}'"


def _escape(mark: re.Match[str]) -> str:
    return _ESCAPES.get(mark[0], f"\\U{ord(mark[0]):08x}")


def literal(value: Literal) -> str:
    """The value in one line; members of mappings keep their order."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{text(key)}: {literal(member)}' for key, member in value.items())}}}"
    return f"[{', '.join(map(literal, value))}]"


def mixed(value: Mapping[str, Literal]) -> str:
    """A mapping whose members have several types."""
    return f"{{{', '.join(f'{text(key)}: dyn({literal(member)})' for key, member in value.items())}}}"


def rows(entries: Iterable[str], opening: str = "[", closing: str = "]") -> str:
    """A list or mapping with one entry on each line."""
    lines = ",\n".join(f"  {entry}" for entry in entries)
    return f"{opening}\n{lines}\n{closing}" if lines else f"{opening}{closing}"


def cel(source: str, /, **parts: str) -> str:
    """The expression without the margin that it has in the source, `%name` replaced by the part of that name.

    The lines of a part are indented as the line that it stands in.
    """
    lines = []
    for line in textwrap.dedent(source).strip().splitlines():
        margin = line[: len(line) - len(line.lstrip())]
        pieces = _PLACE.split(line)
        pieces[1::2] = [parts[name].replace("\n", f"\n{margin}") for name in pieces[1::2]]
        lines.append("".join(pieces))
    return "\n".join(lines)


class Variable(Record):
    """A variable of a policy. comment: what it holds, for people who read the policy before they apply it."""

    name: str
    comment: str
    expression: str


def variables(source: str, /, **parts: str) -> Iterator[Variable]:
    """The variables of a source. parts: as for `cel`.

    name: comment
      expression, indented
    """
    pieces = _HEAD.split(textwrap.dedent(source))[1:]
    for name, comment, expression in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        yield Variable(cel(name, **parts), comment, cel(expression, **parts))


def all_of(conditions: Iterable[str]) -> str:
    """All hold; `true` for none."""
    return _joined(conditions, "&&", "true")


def any_of(conditions: Iterable[str]) -> str:
    """At least one holds; `false` for none."""
    return _joined(conditions, "||", "false")


def _joined(conditions: Iterable[str], operator: str, nothing: str) -> str:
    parts = list(conditions)
    if len(parts) == 1:
        return parts[0]
    return f" {operator} ".join(f"({part})" for part in parts) or nothing


def choice(cases: Iterable[tuple[str, str]], otherwise: str) -> str:
    """`condition ? value : ...`, the first condition that holds."""
    chain = "".join(f"{condition}\n  ? {value}\n: " for condition, value in cases)
    return f"{chain}{otherwise}"


_NOTHING = r"[^\x00-\x{10FFFF}]"
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")


def is_literal(glob: str) -> bool:
    """Whether the glob matches itself alone."""
    return not any(mark in glob for mark in "*?[")


def pattern(glob: str, *, literal: str = "") -> str:
    """An anchored regular expression, whose `.` matches every character.

    literal: what stands before the glob and is no part of it. A range as [c-a] matches nothing.
    """
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
    for part in re.finditer(r"(.)-(.)|(.)", members, re.DOTALL):
        low, high = (part[1], part[2]) if part[1] is not None else (part[3], part[3])
        if low <= high:
            yield low, high


def _member(character: str) -> str:
    return character if character.isalnum() and character.isascii() else f"\\x{{{ord(character):X}}}"
