"""A large list in JSON as its items, as the tree of the whole list takes twenty times the memory of its text.

    {"apiVersion": "v1", "items": [             in any layout, and the members in any order
        {"kind": "ConfigMap", ..},              each item by itself: an object with a kind and an apiVersion, or in a
        {"kind": "Deployment", ..}              list of one kind without a kind
    ], "kind": "List", "metadata": {}}          nothing behind it

All of the list is checked, items that nobody needs too: it is one document where anything in it is no usual JSON, so an
error stays the error that it is, and where an item is a list. Only the keys of items that are kept are left to their
reader. The text is decoded in windows that hold some items, or one large one.
"""

from __future__ import annotations

from archfit.patch import Path
from archfit.record import Record
from archfit.source.usual_json import LONGEST_KEY, Unusual, check_keys, is_usual, masked, passed
from archfit.typing_names import Any, Callable

_WINDOW = 1 << 18
_BLANKS = " \t\n"


class JsonItem(Record):
    """`data[start:end]` is item `number`, from 0. api_version, kind: its own, "" where it leaves that to its list."""

    number: int
    start: int
    end: int
    api_version: str
    kind: str


class JsonList(Record):
    """A list and those of its items that were asked for."""

    api_version: str
    kind: str
    items: tuple[JsonItem, ...]


class Listed(Record):
    """Where an object stands in a list that is one document to people: messages and patches count from the list.

    number: of the item. line: 1-based, of the list. api_version, kind: what the list says of an object without a kind.
    """

    number: int
    line: int
    api_version: str = ""
    kind: str = ""

    @property
    def path(self) -> Path:
        """From the document's root to the object."""
        return "items", self.number


def json_list(data: bytes, start: int, end: int, is_wanted: Callable[[str, str], bool]) -> JsonList | None:
    """The list in `data[start:end]`, None unless that is usual JSON and a list.

    is_wanted(api_version, kind): whether items of a kind are kept. Items without a kind are, always.
    """
    if not data.startswith(b"{", start):
        return None
    try:
        window = _Window(data, start, end)
        found = _list(window, is_wanted)
        # YAML allows a tab inside of brackets only.
        return None if data.find(b"\t", window.offset(), end) >= 0 or window.next() else found
    except Unusual:
        return None


def _list(window: _Window, is_wanted: Callable[[str, str], bool]) -> JsonList:
    said: dict[str, Any] = {}
    found: list[JsonItem] = []
    window.take("{")
    while True:
        key = window.key()
        # A line that begins with dashes is an error of its own.
        if key in said or key.startswith("---"):
            raise Unusual
        if key == "items":
            said[key] = None
            found = _items(window, is_wanted)
        else:
            said[key] = window.value()
            window.check_keys()
        if window.next() == "}":
            break
        window.take(",")
    window.take("}")
    api_version, kind = said.get("apiVersion"), said.get("kind")
    if "items" not in said or api_version.__class__ is not str or kind.__class__ is not str:
        raise Unusual
    return JsonList(api_version, kind, tuple(found))


def _items(window: _Window, is_wanted: Callable[[str, str], bool]) -> list[JsonItem]:
    found: list[JsonItem] = []
    window.take("[")
    if window.next() == "]":
        window.take("]")
        return found
    number = 0
    while True:
        if window.next() != "{":
            raise Unusual
        start = window.offset()
        value = window.value()
        api_version, kind = value.get("apiVersion", ""), value.get("kind", "")
        if api_version.__class__ is not str or kind.__class__ is not str or "items" in value:
            raise Unusual
        if not kind or is_wanted(api_version, kind):
            found.append(JsonItem(number, start, window.offset(), api_version, kind))
        else:
            window.check_keys()
        number += 1
        if window.next() == "]":
            break
        window.take(",")
    window.take("]")
    return found


class _Window:
    """A place in `data[start:end]`, and the text behind it that is decoded."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data, self._end = data, end
        self._text, self._at, self._last = "", 0, 0
        # What offset() said last, and for which place in the text.
        self._offset, self._at_offset = start, 0
        self._move(_WINDOW)

    def next(self) -> str:
        """The next character that is no blank, "" at the end."""
        while True:
            ahead = self._text[self._at : self._at + 80]
            said = ahead.lstrip(_BLANKS)
            self._at += len(ahead) - len(said)
            if said:
                return said[0]
            if self._at == len(self._text):
                if self._is_last:
                    return ""
                self._move(_WINDOW)

    def take(self, character: str) -> None:
        """Goes behind the character, which has to be the next. Raises Unusual."""
        if self.next() != character:
            raise Unusual
        self._at += 1

    def key(self) -> str:
        """The key that comes next; goes behind its colon. Raises Unusual."""
        if self.next() != '"':
            raise Unusual
        key: str = self.value()
        if len(key) > LONGEST_KEY or not self._text.startswith(":", self._at):
            raise Unusual
        self._at += 1
        return key

    def value(self) -> Any:
        """The value that comes next, as `passed` gives it; goes behind it. Raises Unusual."""
        self.next()
        size = _WINDOW
        while True:
            found = passed(self._text, self._at)
            # A number may go on behind the window.
            if found is not None and (found[1] < len(self._text) or self._is_last):
                self._last, self._at = self._at, found[1]
                return found[0]
            if self._is_last:
                raise Unusual
            if not self._at:
                size *= 2
            self._move(size)

    def check_keys(self) -> None:
        """Raises Unusual unless all keys in the value that was given last are usual."""
        check_keys(self._text, self._last)

    def offset(self) -> int:
        """The offset in the stream."""
        passed = self._text[self._at_offset : self._at]
        self._offset += len(passed) if passed.isascii() else len(passed.encode())
        self._at_offset = self._at
        return self._offset

    def _move(self, size: int) -> None:
        """Decodes the text from here on. Raises Unusual."""
        start = self.offset()
        end = min(start + size, self._end)
        while end < self._end and self._data[end] & 0xC0 == 0x80:
            end -= 1  # inside of a character
        part = self._data[start:end]
        if not is_usual(part):
            raise Unusual
        self._text, self._at, self._at_offset = masked(part.decode()), 0, 0
        self._is_last = end == self._end
