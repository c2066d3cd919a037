r"""A configuration file's YAML as plain values, with the line of every part.

    parse_config("spec:\n  exclude: [Job]\n")
        values   {"spec": {"exclude": ["Job"]}}
        lines    {("spec",): 1, ("spec", "exclude"): 2, ("spec", "exclude", 0): 2}

Plain words resolve as PyYAML's safe loader does it for null, booleans and decimal integers; everything else
stays text, so that 1.10 is not 1.1 and 12:30 not 750. Keys are always text. What readers of YAML disagree on is
an error: duplicate keys, `<<`, tags, several documents, more than 32 levels.
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.base.patch import Path
from archfit.startup import c_parser
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_Parser, _events, _MarkedError, _ReaderError = c_parser.load()

DEPTH_LIMIT = 32
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {
    spelling: word in {"true", "yes", "on"}
    for word in ("true", "yes", "on", "false", "no", "off")
    for spelling in (word, word.capitalize(), word.upper())
}
_MOST_DIGITS = 18
_NO_TAGS = {None, "!"}
_TEXT_TAGS = {*_NO_TAGS, "tag:yaml.org,2002:str"}


class ConfigYaml(Record):
    """values: of the whole file, None when it is empty. lines: 1-based, by path from the root."""

    values: object
    lines: dict[Path, int]


def parse_config(text: str) -> ConfigYaml:
    """The one document of the text. Raises Problem with its line."""
    try:
        reader = _Reader(text)
        return ConfigYaml(reader.document(), reader.lines)
    except _MarkedError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or ""
        remedy = (
            "indent with blanks instead of tabs" if "any token" in problem or "tab" in problem else "fix it"
        )
        raise Problem(f"is not YAML ({problem}): {remedy}", (), mark.line + 1 if mark else 0) from None
    except (_ReaderError, UnicodeEncodeError) as error:
        raise Problem(f"is not YAML ({getattr(error, 'reason', 'unreadable')}): fix it") from None


class _Reader:
    """Puts the events of a text together. What is open at one time is bounded by DEPTH_LIMIT."""

    def __init__(self, text: str) -> None:
        self._next_event = _Parser(text).get_event
        self._anchors: dict[str, object] = {}
        self.lines: dict[Path, int] = {}

    def document(self) -> object:
        value: object = None
        documents = 0
        while not isinstance(event := self._next_event(), _events.StreamEndEvent):
            if isinstance(event, _events.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise Problem("a second document begins here: keep one in the file", (), _line(event))
            elif isinstance(event, _events.NodeEvent):
                value = self._value(event, ())
        return value

    def _check(self, event: Any, depth: int) -> None:
        """Raises Problem for a node that stands for no plain value."""
        line = _line(event)
        if isinstance(event, _events.AliasEvent):
            if event.anchor not in self._anchors:
                raise Problem(f"*{event.anchor} has no anchor before it: write the value out", (), line)
            return
        is_scalar = isinstance(event, _events.ScalarEvent)
        if event.tag not in (_TEXT_TAGS if is_scalar else _NO_TAGS):
            raise Problem(f"the tag {event.tag!r} means nothing here: leave it out", (), line)
        if depth == DEPTH_LIMIT and not is_scalar:
            raise Problem(f"is nested deeper than {DEPTH_LIMIT} levels: no option needs that", (), line)

    def _value(self, event: Any, path: Path) -> object:
        self._check(event, len(path))
        if isinstance(event, _events.AliasEvent):
            return self._anchors[event.anchor]
        value: object
        if isinstance(event, _events.ScalarEvent):
            value = resolved(event.value) if _is_plain(event) else event.value
        else:
            value = self._mapping(path) if isinstance(event, _events.MappingStartEvent) else self._list(path)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, path: Path) -> dict[str, object]:
        members: dict[str, object] = {}
        while not isinstance(event := self._next_event(), _events.MappingEndEvent):
            line = _line(event)
            self._check(event, len(path) + 1)
            if not isinstance(event, _events.ScalarEvent):
                raise Problem("a key has to be a plain word: write it as key: value", path, line)
            key = event.value
            if _is_plain(event) and key == "<<":
                raise Problem("merge keys (<<) are not read here: write the keys out", path, line)
            here = (*path, key)
            if key in members:
                first = self.lines[here]
                raise Problem(
                    f"the key {key!r} is here a second time, after line {first}: keep one", path, line
                )
            self.lines[here] = line
            members[key] = self._value(self._next_event(), here)
        return members

    def _list(self, path: Path) -> list[object]:
        items: list[object] = []
        while not isinstance(event := self._next_event(), _events.SequenceEndEvent):
            here = (*path, len(items))
            self.lines[here] = _line(event)
            items.append(self._value(event, here))
        return items


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _is_plain(scalar: Any) -> bool:
    """Whether it is a bare word: no text in quotes or blocks, and without a tag."""
    return scalar.tag is None and bool(scalar.implicit[0])


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
