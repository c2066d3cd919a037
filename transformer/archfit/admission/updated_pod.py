"""One Pod as it is updated: what a writer recorded as added (`added_record`) is put back where the update lacks it.

The lists of a Pod are atomic: `kubectl apply`, server-side apply and `kubectl replace` write the user's whole list of
tolerations or of required terms, without what archfit added to it. The API server refuses that: of a Pod that exists,
tolerations and expressions can only be added. Nothing is decided and nothing is looked up.

    oldObject                                  the update
    has an entry, and records it               gets it back at the index that it had; what the user adds stays
    has an entry, and records it               keeps the record of oldObject, whatever the update makes of that
    records an entry that it does not have     gets nothing: a record that somebody made up never widens a Pod
    has no record, or is being deleted         is left as it is

    the update                                 what becomes of it
    opts out: archfit.dev/skip is "true"       it is left as it is
    has no required terms, archfit made them   it gets them back
    has another number of required terms       they are left as they are: the API server refuses the update

The index counts: expressions may be added to a Pod with scheduling gates only behind those that it has, and any other
Pod keeps its affinity in the very order.

Source: kubernetes, pkg/apis/core/validation, ValidatePodUpdate; plugin/pkg/admission/defaulttolerationseconds, which
acts on updates for the same reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from archfit.admission.added_record import NAME, REQUIRED_SET, TERMS, Item, items, recorded_lines
from archfit.base.patch import Add, Operation, Path, apply
from archfit.edit.stamp.annotation import ANNOTATIONS, at
from archfit.placement.annotations import PREFIX

RECORD: Path = (*ANNOTATIONS, NAME)
_SKIP: Path = (*ANNOTATIONS, f"{PREFIX}skip")
_DELETED: Path = ("metadata", "deletionTimestamp")


def put_back(value: Mapping[str, Any], old: Mapping[str, Any]) -> tuple[Operation, ...]:
    """The patch of an update. value: the Pod that it makes. old: the Pod as it is stored. Both as decoded from JSON."""
    text, skip = at(old, RECORD), at(value, _SKIP)
    opted_out = isinstance(skip, str) and skip.strip() == "true"
    if not isinstance(text, str) or isinstance(at(old, _DELETED), str) or opted_out:
        return ()
    lines = recorded_lines(text)
    there = [item for item in items(old, "webhook") if item.line in lines]
    if not there:
        return ()
    stated = {item.line for item in items(value, "webhook")}
    lost = [item for item in there if item.line not in stated]
    steps: list[Operation] = []
    if any(item.narrows for item in lost) and not _terms(value) and _made_by_archfit(old, there):
        steps.append(_above(value, REQUIRED_SET, {"nodeSelectorTerms": _terms(old)}))
    if len(_terms(value)) != len(_terms(old)):
        lost = [item for item in lost if not item.narrows]
    made = apply(value, steps)
    for path, group in groupby(lost, key=lambda item: item.path[:-1]):
        fresh = _inserted(made, path, list(group))
        made = apply(made, fresh)
        steps += fresh
    if at(value, RECORD) != text:
        steps.append(_above(value, RECORD, text))
    return tuple(steps)


def _terms(value: Mapping[str, Any]) -> list[Any]:
    terms = at(value, TERMS)
    return terms if isinstance(terms, list) and all(isinstance(term, dict) for term in terms) else []


def _made_by_archfit(old: Mapping[str, Any], there: Sequence[Item]) -> bool:
    """Whether the required terms hold nothing but recorded expressions."""
    conditions = [one for term in _terms(old) for field in term for one in term[field] or ()]
    return len(conditions) == sum(item.narrows for item in there)


def _inserted(value: Mapping[str, Any], path: Path, lost: Sequence[Item]) -> list[Add]:
    """What puts items into the list at path, each at the index that it had."""
    there = at(value, path)
    if not isinstance(there, list):
        return [_above(value, path, [item.value for item in lost])]
    indices = [min(item.index, len(there) + number) for number, item in enumerate(lost)]
    return [Add((*path, index), item.value) for index, item in zip(indices, lost, strict=True)]


def _above(value: Mapping[str, Any], path: Path, member: Any) -> Add:
    """What sets a member, with the mappings above it that are missing."""
    while not isinstance(at(value, path[:-1]), dict):
        path, member = path[:-1], {path[-1]: member}
    return Add(path, member)
