r"""Escapes untrusted text for terminals, CI logs and JSON. Every output passes it; JSON keeps the exact strings.

Escaped are characters that `str.isprintable` refuses (C0, C1, bidi and zero-width marks, separators of lines, lone
surrogates), and what would be a command to the CI system that shows the log: `::` at the beginning of a line, `##[` and
`##vso[` anywhere. The middle of a line of more than 4,000 characters is left out.

Sources: actions/runner, src/Runner.Common/ActionCommand.cs (`::` after blanks, `##[` anywhere); Azure Pipelines,
logging commands; Unicode UAX #9 and TR #36.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence
    from typing import TextIO

LONGEST_LINE = 4000
TIME = "%Y-%m-%dT%H:%M:%SZ"
"""A moment in UTC (RFC 3339), for strftime and strptime."""
_HEAD = 2800
_TAIL = 1100
_HASHES = r"##(?=\w*\[)"  # `re` is loaded where a text needs it: 2.3 ms of a run whose texts are plain


def visible(text: str, kept: str = "") -> str:
    """The text on one line, with escapes for what would not be seen; bounded. kept: characters that stay anyway."""
    text = _shortened(text)
    if not text.isprintable():
        text = "".join(
            character
            if character.isprintable() or character in kept
            else character.encode("unicode_escape").decode()
            for character in text
        )
    if "##" in text:
        import re

        text = re.sub(_HASHES, r"#\\x23", text)
    if text.lstrip().startswith("::"):
        text = text.replace("::", r"\x3a:", 1)
    return _shortened(text)


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 image`, `2 images`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def span(seconds: float) -> str:
    """A length of time in the largest unit of which it has two: `36 hours`, `2 days`."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return count(round(seconds / length), unit)
    return count(round(seconds), "second")


def few(names: Sequence[str], most: int, number: int = 0) -> str:
    """The first names, and how many are left out: `a, b and 3 more`. number: of all, where `names` are not all."""
    left = (number or len(names)) - len(names[:most])
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def lines(text: str) -> str:
    """The text, whose lines are each `visible`."""
    return "\n".join([visible(line, "\t") for line in text.split("\n")])


def encoded(text: str) -> bytes:
    """`lines` in UTF-8."""
    return lines(text).encode()


def json_text(text: str) -> str:
    """JSON text that means the same. What JSON itself leaves raw is escaped as RFC 8259 section 7 has it."""
    if "##" not in text and text.isprintable():
        return text
    import re

    text = re.sub(_HASHES, r"#\\u0023", text)
    return re.sub(r"[^\n -~]", _json_escaped, text)


NAMED = ("error: ", "warning: ", "info: ", "wrong: ")
"""Kinds of messages, of which several programs write to one terminal."""


class Messages:
    """A stream for messages: what is written to it is made visible. stream: where it goes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._begins = True

    def write(self, text: str) -> int:
        shown = lines(text).split("\n")
        for at in range(0 if self._begins else 1, len(shown)):
            if shown[at].startswith(NAMED):
                shown[at] = f"archfit: {shown[at]}"
        self._begins = not shown[-1]
        self.stream.write("\n".join(shown))
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()


def messages(stream: TextIO) -> TextIO:
    """The stream, which cleans what is written to it."""
    return Messages(stream)  # type: ignore[return-value]  # it has the methods that commands call


def beneath(stream: TextIO) -> TextIO:
    """The stream that takes control characters: for archfit's own, as of the line of progress."""
    while isinstance(stream, Messages):
        stream = stream.stream
    return stream


def _json_escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_LINE:
        return text
    left_out = len(text) - _HEAD - _TAIL
    return f"{text[:_HEAD]} [{left_out} characters left out] {text[-_TAIL:]}"
