"""What to do about a document that is not YAML, by the words of the parser and by the text at its line.

Error: .., bash: helm: ..                 the message of another command
{{ .Values.image }}                       the source of a Helm chart
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
_BEGINS_ACTION = (
    rb"[.$]|(?:block|define|else|end|fail|if|include|lookup|range|required|template|toYaml|tpl|with)\b"
)
# `{{ .Values.a }}`, `{{- if ..`: actions of Go templates; `{{inputs.parameters.a}}` is Argo's.
_ACTION = re.compile(rb"\{\{-?[ \t]*(?:" + _BEGINS_ACTION + rb")").search

# `Error: INSTALLATION FAILED: ..`, `panic: ..`, `bash: helm: command not found`
_ERROR = re.compile(rb"\s*(?:(?i:error|fatal|panic|warning|traceback)\b[^\n:]*|(?:ba|da|fi|k|z)?sh):").match
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


def is_chart_source(text: bytes) -> bool:
    """Whether a text holds actions of Go templates, as the files of a chart do before they are rendered."""
    return _ACTION(text) is not None


def is_error_message(text: bytes) -> bool:
    """Whether a text begins as messages of commands do: `Error: INSTALLATION FAILED: ..`, `error: ..`."""
    return _ERROR(text) is not None


def remedy(problem: str, text: bytes) -> str:
    """A sentence, "" where nothing is known. problem: the parser's words. text: of the document."""
    if _CONFLICT(text):
        return "The file has git's conflict markers: resolve the conflict first"
    if b"\0" in text:
        order = "BE" if text.startswith(b"\0") else "LE"
        return f"It looks like UTF-16 or a binary file. Convert UTF-16: iconv -f UTF-16{order} -t UTF-8 FILE > NEW"
    return next((advice for words, advice in _REMEDIES if words in problem), "")
