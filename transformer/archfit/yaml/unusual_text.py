r"""YAML's grammar as regular expressions, for text that the searches before it do not decide.

They are compiled at import and load `re`, which takes 3 ms: a tenth of a short run.
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


def block_end(text: bytes, first: int, column: int) -> int:
    """Where the block of items ends that begins at `first`."""
    match = re.compile(
        rb"\n {%d}(?![- \t#\r\n])|\n {%d}-(?![ \r\n])" % (column, column)
        + (rb"|\n {0,%d}(?![ \t#\r\n])" % (column - 1) if column else b"")
    ).search(text, first)
    return match.start() + 1 if match and match.end() < len(text) else len(text)


_INT = re.compile(r"[-+]?(?:0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)", re.ASCII).fullmatch
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.ASCII,
).fullmatch


def number_kind(text: str) -> Literal["int", "float", ""]:
    """What number a plain scalar is, "" if it is none."""
    if _INT(text):
        return "int"
    return "float" if _FLOAT(text) else ""


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
