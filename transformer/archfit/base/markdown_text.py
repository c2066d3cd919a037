"""GitHub Flavored Markdown: text that stands for itself, and tables.

Names from manifests and clusters are escaped: no markup, link, mention or table border of theirs takes effect (GFM
0.29, section 2.4). A table ends after 100 rows and says how many are left out, so that it fits in a comment (65,536
characters).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from archfit.base.printable import count, visible

MOST_ROWS = 100
_LONGEST = 20_000
_SENTENCE = 2_000
_MARKUP = re.compile(r"[\\`*_{}\[\]<>+!|~&]|:(?=//)|(?<=www)\.")
# GitHub looks for mentions and issues in the finished page, where an entity is a character again; a comment parts them.
_MENTION = re.compile(r"(@|#|(?<=GH)-)(?=\w)", re.IGNORECASE)


def escaped(text: str, longest: int = _SENTENCE) -> str:
    """Text that stands for itself in Markdown. longest: in characters; the middle of a longer one is left out."""
    text = visible(text)
    if len(text) > longest:
        text = f"{text[: longest * 3 // 5]}...{text[-longest * 3 // 10 :]}"
    parted = _MENTION.sub(lambda match: f"{match[1]}\0", text)
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", parted).replace("\0", "<!-- -->")


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0, longest: int = 200
) -> Iterator[str]:
    """A blank line and the lines of a table, nothing without rows.

    numbers: how many of the last columns are aligned to the right. longest: cell, in characters.
    """
    if not rows:
        return
    yield ""
    yield f"| {' | '.join(heads)} |"
    marks = ["---"] * (len(heads) - numbers) + ["--:"] * numbers
    yield f"| {' | '.join(marks)} |"
    length = shown = 0
    for row in rows[:MOST_ROWS]:
        line = f"| {' | '.join(escaped(cell, longest) for cell in row)} |"
        length += len(line)
        if length > _LONGEST and shown:
            break
        shown += 1
        yield line
    if shown < len(rows):
        yield ""
        yield f"{count(len(rows) - shown, 'row')} left out."
