"""Edits that a broken editor would make, drawn at random: at a wrong place, at a wrong column, or of a wrong text.

    for case in drawn(documents, random.Random(1), 1000):
        proves(case.document, case.patch, case.text, case.edits)     may be true only where
        prove(case.document, case.patch, case.after)                 raises nothing

The documents change, too: lines are moved, commented, begin a quoted scalar, a flow collection or a block scalar.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

from archfit.base.errors import ArchfitError
from archfit.base.patch import Add, Operation, Test
from archfit.edit.insert import TextEdit, insertions
from archfit.workloads.documents import Document
from archfit.workloads.inventory import scan_piece
from archfit.yaml import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_AFFINITY: Any = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}
            ]
        }
    }
}
_TOLERATIONS: Any = [
    {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
]
_LINES = (
    "# c", "", "x: |", "y: >-", 'z: "a', 'b"', "q: 'it", "'", "f: {a: b,", "}", "- a", "w: |+", "k: plain", "  more",
)  # fmt: skip
LIST = "apiVersion: v1\nkind: List\nitems:\n"
_ADDED_LINES = ("", " ", "    ", "# c", "        # c", "---", "...", "<<: *a", "? a")
_CHARACTERS = "\t\"':#&*|>-[]{}, \n!?%@`x"


class BrokenEdit(NamedTuple):
    """A document, its patch, and edits of its text, which may be wrong. whole: they are as the editor made them."""

    document: Document
    text: str
    patch: list[Operation]
    edits: list[TextEdit]
    whole: bool

    @property
    def after(self) -> str:
        """The edited text."""
        parts, at = [], 0
        for edit in sorted(self.edits, key=lambda edit: edit.start):
            parts += [self.text[at : edit.start], edit.text]
            at = edit.end
        return "".join([*parts, self.text[at:]])


def documents_of(data: bytes) -> Iterator[tuple[Document, str]]:
    """The documents of a stream with one pod spec of Kubernetes' own, each with its text; nothing if it is no YAML."""
    try:
        read = stream.read(data, "pass")
        found = [document for piece in read.pieces for document in scan_piece(read.data, piece).documents]
        for document in found:
            if len(document.pods) == 1 and document.pods[0].placement_paths is None:
                yield document, document.span.text(read.data)
    except ArchfitError:
        return


def drawn(
    documents: Sequence[tuple[Document, str]], chance: random.Random, count: int
) -> Iterator[BrokenEdit]:
    """Cases made from the documents; count: how many are tried, as some documents take no edit."""
    for _ in range(count):
        document, text = chance.choice(documents)
        if chance.random() < 0.7:
            changed = (LIST if document.span.item else "") + _changed_document(text, chance)
            other = list(documents_of(changed.encode(errors="replace")))
            if len(other) != 1:
                continue
            document, text = other[0]
        patch = _patch(document, chance)
        try:
            edits = insertions(text, document.value, document.sites, patch)
        except ArchfitError:
            continue
        if edits:
            whole = chance.random() < 0.2
            yield BrokenEdit(document, text, patch, edits if whole else _broken(text, edits, chance), whole)


def _patch(document: Document, chance: random.Random) -> list[Operation]:
    path = document.pods[0].path
    spec = document.value
    for step in path:
        spec = spec[step]
    patch: list[Operation] = []
    for key, value in (("affinity", _AFFINITY), ("tolerations", _TOLERATIONS)):
        if key not in spec and (not patch or chance.random() < 0.5):
            patch += [Test((*path, key), None), Add((*path, key), value)]
    return patch


def _broken(text: str, edits: list[TextEdit], chance: random.Random) -> list[TextEdit]:
    for _ in range(chance.randrange(1, 3)):
        number, how = chance.randrange(len(edits)), chance.random()
        edit = edits[number]
        if how < 0.5:
            edits[number] = edit.replace(text=_broken_lines(edit.text, chance))
        elif how < 0.9:
            starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
            near = edit.start - chance.choice((-300, -100, -50, -20, 20, 50))
            at = chance.choice((chance.choice(starts), min(starts, key=lambda start: abs(start - near))))
            edits = [edit.replace(start=at, end=at) for edit in edits]
        else:
            at = chance.randrange(len(text))
            edits[number] = edit.replace(start=at, end=at)
    return edits


def _broken_lines(text: str, chance: random.Random) -> str:
    lines, columns = text.split("\n"), chance.choice((1, 2, 4))
    at, line = chance.randrange(len(text) + 1), chance.randrange(len(lines))
    choices = (
        "\n".join(" " * columns + one if one else one for one in lines),
        "\n".join(one[columns:] if not one[:columns].strip() else one for one in lines),
        text[:at] + text[at + 1 :],
        text[:at] + chance.choice(_CHARACTERS) + text[at:],
        "\n".join([*lines[:line], *lines[line + 1 :]]),
        "\n".join([*lines[:line], lines[line], *lines[line:]]),
        "\n".join([*lines[:line], chance.choice(_ADDED_LINES), *lines[line:]]),
        text[at:],
    )
    return chance.choice(choices)


def _changed_document(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(chance.randrange(3)):
        number = chance.randrange(len(lines))
        line, key = lines[number], lines[number].partition(":")[0]
        lines[number : number + 1] = chance.choice(
            (
                [" " * chance.randrange(12) + chance.choice(_LINES), line],
                [f"{line} # c"],
                [" " * chance.randrange(12) + line.lstrip()],
                [f"{key}: |{chance.choice(('', '+', '-', '2'))}"],
                [f'{key}: "{line[len(key) + 1 :]}'],
                [f"{key}: {{x: {line[len(key) + 1 :]}"],
                [f'{line}"'],
                [f"{line}}}"],
                [line, ""],
                [line, line],
            )
        )
    return "\n".join(lines)
