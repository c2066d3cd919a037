"""Objects out of files that are too large to be held: JSON lists, JSON lines, `jq --slurp`, YAML.

JSON is decoded in a window that holds one item and one read (1 MiB), whatever the size of the file. YAML is held as
bytes and parsed item by item. An item is JSON's own values; numbers stay exact.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NoReturn

from archfit.base.errors import InvalidInput
from archfit.workloads.builtin import PODLESS, group_of
from archfit.workloads.pod_specs import typed_item
from archfit.yaml.compose import parse
from archfit.yaml.scan import spans
from archfit.yaml.stream import check_utf8, split
from archfit.yaml.values import plain

_READ = 1 << 20
_BLANK = re.compile(r"[ \t\r\n]*").match
_LAST_WORD = re.compile(r"[\w.+-]*\s*\Z", re.ASCII).match
_BOM = b"\xef\xbb\xbf"
_NEEDED = frozenset({("", "Node"), ("", "NodeList")})
_DECODER = json.JSONDecoder()


def items(file: BinaryIO, name: str = "", *, podless: bool = False) -> Iterator[tuple[Any, str]]:
    """(object, where) of every object in the file. name: of the file, "" for standard input.

    podless: YAML of kinds without pods is read, too.
    where: `FILE:LINE` of a YAML document or item, else the name. Raises InvalidInput: what is wrong, and the file.
    """
    shown = name or "standard input"
    head = b""
    while len(head.strip()) <= len(_BOM):
        more = file.read(_READ)
        if not more:
            break
        head += more
    if head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"["):
        for value in _Json(file, head.removeprefix(_BOM), shown).objects():
            yield value, name
    else:
        passed_over = (lambda _api_version, _kind: False) if podless else _is_passed_over
        yield from _yaml(b"".join((head, *iter(lambda: file.read(_READ), b""))), name, shown, passed_over)


class _Json:
    """A window on JSON text."""

    def __init__(self, file: BinaryIO, head: bytes, shown: str) -> None:
        self._file = file
        self._shown = shown
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._before = 0  # characters that have left the window
        self._ended = False
        self._count = 0
        self._extend(head)

    def objects(self) -> Iterator[Any]:
        """Every object, items of lists one by one."""
        while self._next():
            opening = self._text[self._at]
            if opening == "[":
                yield from self._array({})
            elif opening == "{":
                yield from self._object()
            else:
                self._wrong("something else than an object stands here")

    def _object(self) -> Iterator[Any]:
        """The object that begins here, or the items of the list."""
        members: dict[str, Any] = {}
        streamed = False
        self._at += 1
        while self._expect() != "}":
            key = self._value()
            if not isinstance(key, str) or self._expect() != ":":
                self._wrong("a name of a member and ':' must stand here")
            self._at += 1
            kind = members.get("kind")
            if (
                key == "items"
                and self._expect() == "["
                and (kind is None or (isinstance(kind, str) and kind.endswith("List")))
            ):
                streamed = True
                yield from self._array(members)
            else:
                members[key] = self._value()
            self._end_member("}", "object")
        self._at += 1
        kind = members.get("kind", "List")
        if not streamed or not (isinstance(kind, str) and kind.endswith("List")):
            yield members

    def _array(self, members: dict[str, Any]) -> Iterator[Any]:
        around = {"apiVersion": "v1", **members}
        self._at += 1
        while self._expect() != "]":
            value = self._value()
            self._count += 1
            if isinstance(value, dict) and not value.get("kind"):
                value = typed_item(value, around)
                value = value if "kind" in value else {**value, **self._shape(value)}
            yield value
            self._end_member("]", "list")
        self._at += 1

    def _end_member(self, end: str, whole: str) -> None:
        if self._expect() == ",":
            self._at += 1
            if self._expect() == end:
                self._wrong(f"a ',' stands before the end of the {whole}")
        elif self._expect() != end:
            self._wrong(f"',' or '{end}' must stand here")

    def _shape(self, value: dict[str, Any]) -> dict[str, str]:
        """The kind of an item without one, in a list whose own kind stands behind its items."""
        spec, status = value.get("spec"), value.get("status")
        if isinstance(spec, dict) and "containers" in spec:
            return {"kind": "Pod", "apiVersion": "v1"}
        if isinstance(status, dict) and "nodeInfo" in status:
            return {"kind": "Node", "apiVersion": "v1"}
        raise InvalidInput(
            f"{self._shown}: an item has no kind, and its list does not say it before its items: write the list with "
            "kubectl get -o json"
        )

    def _value(self) -> Any:
        """The value that begins here; the window grows until it holds all of it."""
        self._expect()
        wanted = _READ
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended and (
                    error.msg.startswith("Unterminated") or _LAST_WORD(self._text, error.pos)
                ):
                    self._cut_off()
                if self._ended:
                    self._wrong(error.msg, error.pos)
            except RecursionError:
                self._wrong("this is nested too deeply")
            except ValueError:
                self._wrong("a number has too many digits")
            else:
                # A number may go on behind the window.
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            self._more(wanted)
            wanted *= 2

    def _expect(self) -> str:
        """The character that stands here, blanks passed over."""
        if not self._next():
            self._cut_off()
        return self._text[self._at]

    def _next(self) -> bool:
        while True:
            blank = _BLANK(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text):
                return True
            if self._ended:
                return False
            self._more(_READ)

    def _more(self, size: int) -> None:
        chunk = self._file.read(size)
        self._before += self._at
        self._text, self._at = self._text[self._at :], 0
        self._extend(chunk)

    def _extend(self, chunk: bytes) -> None:
        self._ended = not chunk
        try:
            self._text += self._utf8.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data":
                self._cut_off()
            raise InvalidInput(
                f"{self._shown} is not UTF-8 behind character {self._before + len(self._text)}: write it again with "
                "kubectl get -o json"
            ) from None

    def _cut_off(self) -> NoReturn:
        raise InvalidInput(
            f"{self._shown} ends in the middle of its JSON, after {self._count} items: it was not written whole. Write "
            "it again"
        )

    def _wrong(self, what: str, at: int | None = None) -> NoReturn:
        at = self._at if at is None else at
        if self._ended and at >= len(self._text.rstrip()):
            self._cut_off()
        raise InvalidInput(f"{self._shown} is not JSON at character {self._before + at + 1}: {what}")


def _yaml(
    data: bytes, name: str, shown: str, passed_over: Callable[[str, str], bool]
) -> Iterator[tuple[Any, str]]:
    try:
        check_utf8(data)
        for piece in split(data):
            for span in spans(data, piece, passed_over):
                try:
                    value = plain(parse(span.text(data)).value)
                except InvalidInput as error:
                    raise InvalidInput(error.message, line=span.line + max(error.line - 1, 0)) from None
                where = f"{name}:{span.line}" if name else f"line {span.line}"
                yield (value[0] if span.item else value), where
    except InvalidInput as error:
        raise InvalidInput(f"{shown}: {error}") from None


def _is_passed_over(api_version: str, kind: str) -> bool:
    key = group_of(api_version), kind
    return key in PODLESS and key not in _NEEDED
