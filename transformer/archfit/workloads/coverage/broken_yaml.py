"""What to do about a document that is not YAML, by the words of the parser and by the text at its line.

<<<<<<< HEAD                              a merge conflict of git
NUL bytes                                 a binary file
found character that cannot start ..      a tab as indentation, or @ ` % at the beginning of a value
mapping values are not allowed ..         `a: b: c`, or a key that is indented too far
did not find expected key                 indentation that fits nothing above

The text itself is never quoted: it may be part of a Secret.
"""

from __future__ import annotations

import re

_CONFLICT = re.compile(rb"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE).search
_INDENTATION = "The indentation does not fit the lines above: indent members of one object alike, with blanks"
_REMEDIES = (
    ("tab character", "Indent with blanks: YAML takes no tabs"),
    (
        "cannot start any token",
        "A tab or a mark such as @ or ` begins here: indent with blanks, and put such a text in quotes",
    ),
    ("mapping values are not allowed", "Put a text that holds ': ' in quotes, or correct the indentation"),
    ("while scanning a quoted scalar", "Close the quote, and double a ' inside of '..'"),
    ("did not find expected ',' or", "Add the comma or the bracket that is missing"),
    ("did not find expected key", _INDENTATION),
    ("did not find expected '-' indicator", _INDENTATION),
    (
        "could not find expected ':'",
        "Write ': ' behind the key, or indent the line as part of the text above",
    ),
)


def remedy(problem: str, text: bytes) -> str:
    """A sentence, "" where nothing is known. problem: the parser's words. text: of the document."""
    if _CONFLICT(text):
        return "The file has git's conflict markers: resolve the conflict first"
    if b"\0" in text:
        return "It looks like a binary file, or like UTF-16: name rendered manifests in UTF-8"
    return next((advice for words, advice in _REMEDIES if words in problem), "")
