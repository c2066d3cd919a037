"""Changes to text: lines, line ends, ends of streams, indicators, directives, comments, and bytes out of place.

changed(text, chance)     the text with one change
"""

import random
import re
from collections.abc import Callable

from fuzz.material import ALIASES, BLANKS, BODIES, EMPTY, ENDS, ITEMS, ODD, SEPARATORS, TAGS, TAILS, TOKENS
from fuzz.writing import COMMENTS, HEADERS

_VALUE = re.compile(r"^([ \t-]*[^\s#:'\"{\[][^:#\n]*:)([ \t]+)(\S.*)$")
_KEY = re.compile(r"^( *(?:- +)*)([A-Za-z0-9_./\"'-]+):(.*)$")


def changed(text: str, chance: random.Random) -> str:
    return chance.choice(_CHANGES)(text, chance)


def _line(lines: list[str], chance: random.Random) -> int:
    return chance.randrange(len(lines))


def _block_end(lines: list[str], start: int) -> int:
    """Behind the last line that is indented more than the line at start."""
    column = len(lines[start]) - len(lines[start].lstrip(" "))
    end = start + 1
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip(" ")) > column
    ):
        end += 1
    return end


def _no_last_break(text: str, _: random.Random) -> str:
    return text.rstrip("\n")


def _tail(text: str, chance: random.Random) -> str:
    return (text if chance.random() < 0.5 else text.rstrip("\n")) + chance.choice(TAILS)


def _scalar_at_the_end(text: str, chance: random.Random) -> str:
    """The last value becomes a block scalar, or gets one behind it, and the text ends in some way."""
    lines = text.rstrip("\n").split("\n")
    found = _KEY.match(lines[-1])
    pad = " " * (len(lines[-1]) - len(lines[-1].lstrip(" ")))
    header = chance.choice(HEADERS) + chance.choice(("", "", "", " # c", "2"))
    if found and chance.random() < 0.7:
        lines[-1] = f"{found[1]}{found[2]}: {header}"
        pad = " " * len(found[1])
    else:
        lines.append(f"{pad}zz: {header}")
    body = chance.choice(BODIES)
    lines += [pad + "  " + line if line else "" for line in body.split("\n")]
    return "\n".join(lines) + chance.choice(ENDS)


def _line_ends(text: str, chance: random.Random) -> str:
    if chance.random() < 0.7:
        return text.replace("\r\n", "\n").replace("\n", "\r\n")
    return "".join(line + chance.choice(("\n", "\r\n")) for line in text.split("\n"))


def _blank_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 3))):
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(BLANKS))
    return "\n".join(lines)


def _trailing(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines[_line(lines, chance)] += chance.choice(
        (" ", "\t", " \t", " #", "\r", *(f" {comment}" for comment in COMMENTS))
    )
    return "\n".join(lines)


def _separator(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    marks = [number for number, line in enumerate(lines) if line.startswith("---")]
    if marks and chance.random() < 0.7:
        lines[chance.choice(marks)] = chance.choice(SEPARATORS)
    else:
        tops = [number for number, line in enumerate(lines) if line[:1].isalpha()] or [0]
        lines.insert(chance.choice(tops), chance.choice(SEPARATORS))
    return "\n".join(lines)


def _block_twice(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    start = _line(lines, chance)
    end = _block_end(lines, start)
    at = chance.choice((end, start, chance.randrange(len(lines) + 1)))
    return "\n".join([*lines[:at], *lines[start:end], *lines[at:]])


def _block_gone(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    start = _line(lines, chance)
    return "\n".join(
        [*lines[:start], *lines[_block_end(lines, start) if chance.random() < 0.7 else start + 1 :]]
    )


def _block_moved(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    start = _line(lines, chance)
    end = _block_end(lines, start)
    rest = [*lines[:start], *lines[end:]]
    at = chance.randrange(len(rest) + 1)
    return "\n".join([*rest[:at], *lines[start:end], *rest[at:]])


def _indented(text: str, chance: random.Random) -> str:
    """A block, with or without its first line, moves to another column."""
    lines = text.split("\n")
    start = _line(lines, chance)
    end = _block_end(lines, start)
    first = start + chance.choice((0, 1))
    by = chance.choice((-2, -1, 1, 2, 4, 9))
    for number in range(first, end):
        if lines[number].strip():
            lines[number] = " " * by + lines[number] if by > 0 else lines[number].removeprefix(" " * -by)
    return "\n".join(lines)


def _explicit(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    start = _line(lines, chance)
    found = _KEY.match(lines[start])
    if found is None:
        return text
    head, key, value = found.groups()
    pad = " " * len(head)
    if not value.strip() and _block_end(lines, start) == start + 1:
        lines[start] = f"{head}? {key}" + chance.choice(("", f"\n{pad}:"))
    else:
        lines[start] = f"{head}? {key}\n{pad}:{value}"
    return "\n".join(lines)


def _value(become: Callable[[str, random.Random], str]) -> Callable[[str, random.Random], str]:
    def change(text: str, chance: random.Random) -> str:
        lines = text.split("\n")
        for _ in range(6):
            number = _line(lines, chance)
            found = _VALUE.match(lines[number])
            if found:
                lines[number] = found[1] + found[2] + become(found[3], chance)
                return "\n".join(lines)
        return text

    return change


def _emptied(_: str, chance: random.Random) -> str:
    return chance.choice(EMPTY)


def _anchored(value: str, chance: random.Random) -> str:
    return f"&x {value}" if chance.random() < 0.3 else chance.choice(ALIASES)


def _tagged(value: str, chance: random.Random) -> str:
    return f"{chance.choice(TAGS)} {value}"


def _odd(_: str, chance: random.Random) -> str:
    return chance.choice(ODD)


def _quoted(value: str, chance: random.Random) -> str:
    ways = ("'{}'", '"{}"', '"{}\n  x"', "{}\n  x", '"\\u0061{}"', "'{}\n\n   y'")
    return chance.choice(ways).replace("{}", value)


def _block_scalar(value: str, chance: random.Random) -> str:
    header = chance.choice(HEADERS) + chance.choice(("", "", " # c", "1", "2", " "))
    return f"{header}\n{' ' * chance.choice((1, 2, 4, 8, 12))}{value}"


def _token(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(TOKENS) + text[at + (chance.random() < 0.3) :]


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _flow_item(text: str, chance: random.Random) -> str:
    """An item more, where a list is."""
    lines = text.split("\n")
    items = [number for number, line in enumerate(lines) if line.lstrip(" ").startswith("- ")]
    if not items:
        return text
    number = chance.choice(items)
    pad = lines[number][: lines[number].index("-")]
    lines.insert(number, pad + chance.choice(ITEMS))
    return "\n".join(lines)


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _no_last_break, _tail, _scalar_at_the_end, _scalar_at_the_end, _line_ends, _blank_line, _blank_line,
    _trailing, _separator, _block_twice, _block_gone, _block_moved, _indented, _explicit, _explicit,
    _value(_emptied), _value(_emptied), _value(_anchored), _value(_anchored), _value(_tagged), _value(_odd),
    _value(_quoted), _value(_block_scalar), _token, _cut, _flow_item,
)  # fmt: skip
