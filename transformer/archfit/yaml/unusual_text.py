r"""YAML's grammar as regular expressions, for the text that the fast paths before it do not decide.

    number_kind         1_000, 0x1f, 1e3, -.inf     `values.resolve` knows words, integers, 0.5, 100m and 1.2.3 itself
    with_surrogates_masked    "\ud83d\ude00"        `compose.parse` asks for JSON that holds such an escape
    check_scalars       [a?b], "a\/b"               what libyaml reads and go-yaml does not

Keys that are written otherwise than usual, for `skip` and `container`:

    kind: Service                  usual: `skip` and `container` find it with `find`, and this module is not loaded
    "kind": Service                a key in quotes
    "k\x69nd": Service             with an escape
    ? kind, !!str kind, &a kind    an explicit key, a tag, an anchor
    *a : Service                   an alias
    <<: {kind: Service}            a merge, which may hold any of them
    "kind" : "Service"             in JSON, a blank before the colon

These expressions define what both paths find. They are compiled at import and load `re`, which takes 3 ms: a tenth of
a short run.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from archfit.base.errors import InvalidInput
from archfit.yaml.tree import MappingEnd, MappingStart, Scalar, SequenceEnd, SequenceStart, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Literal

_BEGINS_WITH_A_KEY = re.compile(
    rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:[A-Za-z][A-Za-z0-9_.-]*|\"[^\"\\\n]*\"|'[^'\n]*')[ \t]*:(?=[ \t\r\n]|\Z)"
).match


def _otherwise_written(keys: bytes) -> bytes:
    """The pattern of a line that may begin with one of the keys in quotes, or with an escape, a tag or a merge."""
    return rb"['\"](?:" + keys + rb")['\"]|\"[^\"\n]*\\|[?*&!]|<<"


# What its first byte rules out costs a third less.
_IDENTITY_KEY = (
    rb"(?=[ka'\"?*&!<])(?:(kind|apiVersion)|" + _otherwise_written(b"kind|apiVersion|items") + rb")"
)
_STARTS_WITH_ONE = re.compile(_IDENTITY_KEY).match

_ITEMS_KEY = re.compile(rb"(?:\A|\n)items:[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*( *)-(?=[ \r\n])").search
_INDENTED = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]").match
# A key that may be "items" once more, which kubectl would take.
_ITEMS_AGAIN = re.compile(rb"(?:\A|\n)(?:" + _otherwise_written(b"items") + rb")").search


def begins_with_a_key(data: bytes, start: int, end: int) -> bool:
    """Whether a key is the first thing in `data[start:end]` behind blank lines and comments."""
    return _BEGINS_WITH_A_KEY(data, start, end) is not None


def identity_lines(data: bytes, start: int, end: int, column: int) -> tuple[int, int] | None:
    """Offsets of the only lines at this column that begin with `kind` and `apiVersion`.

    None where one is missing or stands twice, or where a key with quotes, an escape, a tag or an anchor, or a merge,
    may be one of them once more (kubectl takes the last) or `items`.
    """
    lines: dict[bytes, int] = {}
    first = start + column
    at_start = None if data[start:first].strip(b" -") else _STARTS_WITH_ONE(data, first, end)
    others = re.compile(b"\n" + b" " * column + _IDENTITY_KEY).finditer(data, start, end)
    for match in others if at_start is None else (at_start, *others):
        if match[1] is None or match[1] in lines:
            return None
        lines[match[1]] = match.start(1)
    return (lines[b"kind"], lines[b"apiVersion"]) if len(lines) == 2 else None


def items_key(text: bytes) -> tuple[int, int, int] | None:
    """Where the line `items:` begins, where that of the first item does, and the column of its dash.

    None where a list has no such lines or is indented.
    """
    match = _ITEMS_KEY(text)
    if match is None or _INDENTED(text):
        return None
    return (
        match.start() + text.startswith(b"\n", match.start()),
        match.end() - 1 - len(match[1]),
        len(match[1]),
    )


def block_end(text: bytes, first: int, column: int) -> int:
    """Where the block of items ends that begins at `first`."""
    match = re.compile(
        rb"\n {%d}(?![- \t#\r\n])|\n {%d}-(?![ \r\n])" % (column, column)
        + (rb"|\n {0,%d}(?![ \t#\r\n])" % (column - 1) if column else b"")
    ).search(text, first)
    return match.start() + 1 if match and match.end() < len(text) else len(text)


def may_name_items(text: bytes) -> bool:
    """Whether a line may begin with the key `items` in quotes, with an escape, a tag or an anchor."""
    return _ITEMS_AGAIN(text) is not None


_INT = re.compile(r"[-+]?(?:0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)", re.ASCII).fullmatch
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.ASCII,
).fullmatch
_SURROGATE = re.compile(r"\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}").sub


def number_kind(text: str) -> Literal["int", "float", ""]:
    """What number a plain scalar is, "" if it is none."""
    if _INT(text):
        return "int"
    return "float" if _FLOAT(text) else ""


def with_surrogates_masked(text: str) -> str:
    """JSON without halves of surrogate pairs: it writes what is beyond U+FFFF with them, and libyaml refuses them."""
    return _SURROGATE(_mask, text)


def _mask(match: re.Match[str]) -> str:
    return match[0] if match[0] == "\\\\" else "\\uFFFD"


def check_scalars(tree: Tree) -> None:
    r"""Raises InvalidInput for a scalar that kubectl and kustomize refuse, or read as something else.

    In flow style a `?` ends a plain scalar for go-yaml, as in YAML 1.1. `\/` is an escape of JSON alone.
    """
    questions = {at for at, event in _scalars_at(tree, "?") if not event.style}
    if questions:
        depth = 0
        for at, event in enumerate(tree.events):
            if isinstance(event, (MappingStart, SequenceStart)):
                depth = depth + 1 if depth or event.flow_style else 0
            elif isinstance(event, (MappingEnd, SequenceEnd)):
                depth = max(depth - 1, 0)
            elif depth and at in questions:
                raise InvalidInput(
                    "a value in brackets holds a '?', which kubectl and kustomize do not read. Put it in quotes",
                    line=event.start_mark.line + 1,
                )
    if "\\/" not in tree.text or tree.text.lstrip()[:1] in ("{", "["):
        return
    for event in dict(_scalars_at(tree, "\\/")).values():
        written = tree.text[event.start_mark.index : event.end_mark.index]
        if event.style == '"' and "\\/" in written.replace("\\\\", ""):
            raise InvalidInput(
                "the escape '\\/', which kubectl and kustomize know in JSON alone. Write '/'",
                line=event.start_mark.line + 1,
            )


def _scalars_at(tree: Tree, mark: str) -> Iterator[tuple[int, Any]]:
    """(index of its event, scalar) of each place that holds the mark."""
    at = tree.text.find(mark)
    while at >= 0:
        number = bisect_right(tree.events, at, key=_start) - 1
        event = tree.events[number]
        if isinstance(event, Scalar) and at < event.end_mark.index:
            yield number, event
        at = tree.text.find(mark, at + 1)


def _start(event: Any) -> int:
    return int(event.start_mark.index)
