"""Two steps of edits as one: cuts in a text, then additions to what they leave.

    text      a b c d e          cuts: c d          additions: C behind b
    between   a b e
    after     a b C e            composed: "C" replaces "c d"; where C is "c d" again, nothing changes

Edits that touch belong together, and of these only the lines that differ count.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterable, Iterator, Sequence
from archfit.edit.insert import TextEdit


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with the edits made, which are in the order of their places."""
    parts, at = list[str](), 0
    for edit in edits:
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def composed(text: str, cuts: Sequence[TextEdit], additions: Sequence[TextEdit]) -> list[TextEdit]:
    """The edits of `text` that do what `cuts` do, and then `additions` to the text that is left. All are in order."""
    if not cuts:
        return list(additions)
    narrowed = (_narrowed(text, edit) for edit in _joined(applied(text, cuts), cuts, additions))
    return [edit for edit in narrowed if edit.end > edit.start or edit.text]


def _joined(between: str, cuts: Sequence[TextEdit], additions: Sequence[TextEdit]) -> Iterator[TextEdit]:
    """One edit for all that touch each other. between: the text without the cuts."""
    # Of a cut: where it is in the text between, and by how much that is longer than what it took away.
    steps, shift = list[tuple[TextEdit, int, bool]](), 0
    for cut in cuts:
        start = cut.start + shift
        longer = len(cut.text) - (cut.end - cut.start)
        steps.append((TextEdit(start, start + len(cut.text), cut.text), longer, False))
        shift += longer
    steps += [(edit, 0, True) for edit in additions]
    steps.sort(key=lambda step: step[0].start)
    shift = number = 0
    while number < len(steps):
        start = end = steps[number][0].start
        inside, before = list[TextEdit](), shift
        while number < len(steps) and steps[number][0].start <= end:
            edit, longer, added = steps[number]
            end = max(end, edit.end)
            shift += longer
            inside += [edit] if added else []
            number += 1
        own = [edit.replace(start=edit.start - start, end=edit.end - start) for edit in inside]
        yield TextEdit(start - before, end - shift, applied(between[start:end], own))


def _narrowed(text: str, edit: TextEdit) -> TextEdit:
    """The edit without the lines at its beginning and end that stay as they are."""
    old = text[edit.start : edit.end].splitlines(keepends=True)
    new = edit.text.splitlines(keepends=True)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return TextEdit(
        edit.start + sum(map(len, old[:first])),
        edit.end - sum(map(len, old[len(old) - last :])),
        "".join(new[first : len(new) - last]),
    )
