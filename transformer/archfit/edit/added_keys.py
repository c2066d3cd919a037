"""The proof of the usual edit: new keys at the end of one block mapping, as whole lines. Little is read again.

    spec:
      template:
        spec:                             the way to the mapping, by the columns of its keys
          containers:                     ┐
            - image: nginx                │ the mapping's lines; those right of its column are left out
          tolerations:                    │ ┐ the new lines
            - key: kubernetes.io/arch     ┘ ┘
    status: {}                            further left than its column, or nothing

What is left is parsed: one line for each key on the way and in the mapping, and the new lines. It has to say the same
way, the keys that the mapping had, and the new ones with the values of the patch. This is enough: the new lines begin
where the parser saw the mapping end, at the mapping's own column, which ends every plain scalar, block scalar and block
collection that is still open (YAML 1.2.2, 6.1 and 8). So nothing before them reads differently. The line behind them is
further left, so it belongs to what it belonged to. A quoted scalar or a flow collection over several lines does not end
there, but leaves its first half in what is parsed, which is then no such mapping.

An item of a list has its dash further left than all of its keys: the line of its first key stays with it.

Whatever is unusual is not proven here, and `prove` reads the whole text: an edit inside of a line, several places,
lists on the way, anchors, aliases, tags, keys that stand twice, tabs, other line breaks than LF, a block scalar at the
end.
"""

from __future__ import annotations

from archfit.base.errors import ArchfitError
from archfit.base.patch import Operation, Remove, apply
from archfit.edit.insert import value_at
from archfit.workloads.documents import Document
from archfit.yaml.compose import parse
from archfit.yaml.values import typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from archfit.edit.insert import TextEdit

_UNUSUAL = "\t\r\x85\u2028\u2029\ufeff"
_WIDEST = 40
_MOST_PARSED, _LONGEST_PARSED = 256, 4096


class _Parsed(dict):  # type: ignore[type-arg]  # Any is not imported at run time
    """The value that a text says, None where it is no YAML, or has tags, anchors or a key twice.

    Workloads of one stream are often alike, and so is what is left of them: each text is parsed once.
    """

    def __missing__(self, text: str) -> Any:
        try:
            tree = parse(text)
        except ArchfitError:
            return None
        value = None if tree.properties or tree.duplicates else tree.value
        if len(text) < _LONGEST_PARSED:
            if len(self) >= _MOST_PARSED:
                self.clear()
            self[text] = value
        return value


_parsed = _Parsed()


def proves(document: Document, patch: Sequence[Operation], text: str, edits: Sequence[TextEdit]) -> bool:
    """Whether the edits of the document's text say what its patch does. False: `prove` has to find out.

    text: the document's, unedited. edits: at least one.
    """
    at, added = edits[0].start, "".join([edit.text for edit in edits])
    holder = patch[0].path[:-1]
    site = document.sites.at.get(holder)
    if (
        document.properties
        or document.duplicates
        or site is None
        or site.kind != "mapping"
        or site.block_scalar
        or any(isinstance(step, Remove) or step.path[: len(holder)] != holder for step in patch)
        or any(edit.start != at or edit.end != at or not edit.text.endswith("\n") for edit in edits)
        or any(mark in text for mark in _UNUSUAL)
        or not _ends_line(text[site.end : at])
    ):
        return False
    column = site.column
    margin = " " * column
    if not 0 < column <= _WIDEST or any(not line.startswith(margin) for line in added.split("\n")[:-1]):
        return False
    try:
        mapping = value_at(document.value, holder)
        below = len(holder)
        expected = apply(
            mapping,
            [
                step.replace(path=step.path[below:], value=typed(step.value))
                for step in patch
                if not isinstance(step, Remove)
            ],
        )
    except ArchfitError:
        return False
    found = _parsed[_outline(text, column, at) + added]
    first: list[str | int] = []
    if document.span.item:
        if found.__class__ is not list or len(found) != 1:
            return False
        found, first = found[0], list(document.value)[:1]
    for step in holder:
        # The dash of an item stands on the line of its first key, which is left with it.
        if found.__class__ is not dict or (list(found) != [step] and list(found) != [*first, step]):
            return False
        found, first = found[step], []
    return (
        found.__class__ is dict
        and found.keys() == expected.keys()
        and all(found[key] == expected[key] for key in found if key not in mapping)
        and all(expected[key] is mapping[key] for key in mapping)
    )


def _ends_line(text: str) -> bool:
    """Whether text is the end of a line, perhaps with a comment, and blank lines below it."""
    line, newline, below = text.partition("\n")
    return newline != "" and line.strip(" ")[:1] in ("", "#") and not below.strip(" \n") and below[-1:] != " "


def _outline(text: str, column: int, at: int) -> str:
    """What is left of the text above `at`: a line for each column on the way to the mapping there, and its keys' lines.

    column: of the mapping's keys. Comments and blank lines are left out, and items of a list at the same column.
    """
    margin = " " * (column + 1)
    # Most lines are right of the column; a list comprehension drops them at 50 ns a line.
    lines = [line for line in text[: at - 1].split("\n") if line[: column + 1] != margin]
    left: list[str] = []
    limit = column + 1
    for line in lines[::-1]:
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        if indent >= limit or not bare or bare[0] == "#":
            continue
        if indent < column:
            limit = indent
        elif bare[0] == "-" and bare[1:2] in ("", " "):
            continue
        left.append(f"{line}\n")
        if not indent:
            break
    return "".join(reversed(left))
