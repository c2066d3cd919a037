r"""A configuration file's YAML as plain values, with the line of every part.

    read("spec:\n  exclude: [Job]\n")
        values   {"spec": {"exclude": ["Job"]}}
        lines    {("spec",): 1, ("spec", "exclude"): 2, ("spec", "exclude", 0): 2}

Plain words resolve as PyYAML's safe loader does it for null, booleans and decimal integers; everything else
stays text, so that 1.10 is not 1.1 and 12:30 not 750. Keys are always text. What readers of YAML disagree on is
an error: duplicate keys, `<<`, tags, several documents, more than 32 levels. Built from the
parser's events, so that no nesting can exhaust the stack.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.options.text_form import Problem
from archfit.startup import c_parser
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DEPTH_LIMIT = 32
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {
    spelling: word in {"true", "yes", "on"}
    for word in ("true", "yes", "on", "false", "no", "off")
    for spelling in (word, word.capitalize(), word.upper())
}
_MOST_DIGITS = 18
_TEXT_TAGS = {None, "!", "tag:yaml.org,2002:str"}


class ConfigYaml(Record):
    """values: of the whole file, None when it is empty. lines: 1-based, by path from the root."""

    values: object
    lines: dict[Path, int]


class _Open:
    """A collection that is being read. `key` is the one that waits for its value."""

    def __init__(self, value: dict[str, object] | list[object], path: Path, anchor: str | None) -> None:
        self.value = value
        self.path = path
        self.anchor = anchor
        self.key: str | None = None


def read(text: str) -> ConfigYaml:
    """The one document of the text. Raises Problem with its line."""
    parser, marked, unreadable = _parser()
    reader = _Reader()
    try:
        next_event, name = parser(text).get_event, ""
        while name != "StreamEnd":
            event = next_event()
            name = type(event).__name__.removesuffix("Event")
            reader.take(name, event)
    except marked as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or ""
        remedy = (
            "indent with blanks instead of tabs" if "any token" in problem or "tab" in problem else "fix it"
        )
        raise Problem(f"is not YAML ({problem}): {remedy}", (), mark.line + 1 if mark else 0) from None
    except unreadable as error:
        raise Problem(f"is not YAML ({getattr(error, 'reason', 'unreadable')}): fix it") from None
    return ConfigYaml(reader.root, reader.lines)


def _parser() -> tuple[Callable[[str], Any], type[Any], type[Any]]:
    """(what reads a text, its error with a mark, its error for a character)."""
    parser, _events, marked, unreadable = c_parser.load()
    return parser, marked, unreadable


class _Reader:
    """Puts events together; one method per event that matters."""

    def __init__(self) -> None:
        self.root: object = None
        self.lines: dict[Path, int] = {}
        self.open: list[_Open] = []
        self.anchors: dict[str, object] = {}
        self.documents = 0

    def take(self, name: str, event: Any) -> None:
        line = event.start_mark.line + 1
        if name == "DocumentStart":
            self.documents += 1
            if self.documents > 1:
                raise Problem("a second document begins here: keep one in the file", (), line)
        elif name == "Scalar":
            self.scalar(event, line)
        elif name == "Alias":
            if event.anchor not in self.anchors:
                raise Problem(f"*{event.anchor} has no anchor before it: write the value out", (), line)
            self.place(self.anchors[event.anchor], line)
        elif name in {"MappingStart", "SequenceStart"}:
            if event.tag not in {None, "!"}:
                raise Problem(f"the tag {event.tag!r} means nothing here: leave it out", (), line)
            if len(self.open) == DEPTH_LIMIT:
                raise Problem(f"is nested deeper than {DEPTH_LIMIT} levels: no option needs that", (), line)
            value: dict[str, object] | list[object] = {} if name == "MappingStart" else []
            path = self.place(value, line)
            self.open.append(_Open(value, path, event.anchor))
        elif name in {"MappingEnd", "SequenceEnd"}:
            done = self.open.pop()
            if done.anchor:
                self.anchors[done.anchor] = done.value

    def scalar(self, event: Any, line: int) -> None:
        if event.tag not in _TEXT_TAGS:
            raise Problem(f"the tag {event.tag!r} means nothing here: leave it out", (), line)
        plain = event.tag is None and event.implicit[0]
        parent = self.open[-1] if self.open else None
        if parent and isinstance(parent.value, dict) and parent.key is None:
            self.key(parent, event.value, plain, line)
            return
        value = resolved(event.value) if plain else event.value
        if event.anchor:
            self.anchors[event.anchor] = value
        self.place(value, line)

    def key(self, parent: _Open, name: str, plain: bool, line: int) -> None:
        if plain and name == "<<":
            raise Problem("merge keys (<<) are not read here: write the keys out", parent.path, line)
        if name in parent.value:
            first = self.lines[(*parent.path, name)]
            raise Problem(
                f"the key {name!r} is here a second time, after line {first}: keep one", parent.path, line
            )
        parent.key = name
        self.lines[(*parent.path, name)] = line

    def place(self, value: object, line: int) -> Path:
        """Puts a value into its parent and gives its path."""
        if not self.open:
            self.root = value
            return ()
        parent = self.open[-1]
        if isinstance(parent.value, list):
            path = (*parent.path, len(parent.value))
            parent.value.append(value)
            self.lines[path] = line
            return path
        if parent.key is None:
            raise Problem("a key has to be a plain word: write it as key: value", parent.path, line)
        path = (*parent.path, parent.key)
        parent.value[parent.key] = value
        parent.key = None
        return path


def resolved(text: str) -> object:
    """What a plain scalar stands for: None, a boolean, an integer, or itself."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return text
    return int(text) if digits == "0" or digits[0] != "0" else text
