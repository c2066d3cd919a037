"""Patches before they are printed: python-jsonpatch has to make of each object what archfit's own `patch.apply` makes.

    object ─┬─ patch.apply ──── after ─┐
            └─ jsonpatch ────── after ─┴─ equal, else an error: nothing is printed

python-jsonpatch fails at a `test` of a missing member, which RFC 6902 has no word for (see `patches`); archfit's own
`apply` judges those.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jsonpatch

from archfit.base.patch import Operation, PatchConflict, Test, apply, to_json
from archfit.base.results import Result
from archfit.edit.object_patches import Entry
from archfit.yaml.values import plain


def wrong_patches(found: Iterable[Entry]) -> list[Result]:
    """Errors for patches that the two read differently, or that cannot be applied. Each is a bug of archfit's."""
    return [
        _wrong(entry, why) for entry in found if entry.patch and (why := difference(entry.value, entry.patch))
    ]


def difference(value: Any, patch: Iterable[Operation]) -> str:
    """What python-jsonpatch makes differently of a value as the parser gives it, "" if nothing."""
    patch = tuple(patch)
    steps = [step for step in patch if not (isinstance(step, Test) and step.value is None)]
    try:
        ours = apply(value, patch)
        theirs = jsonpatch.apply_patch(plain(value), plain(to_json(steps)))
    except (PatchConflict, jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        return f"it cannot be applied ({type(error).__name__})"
    return "" if _text(plain(ours)) == _text(theirs) else "python-jsonpatch makes another object of it"


def _text(value: Any) -> str:
    """JSON tells 1 from true and from 1.0, and takes one NaN for another."""
    return json.dumps(value, sort_keys=True)


def _wrong(entry: Entry, why: str) -> Result:
    message = (
        f"the patch is wrong: {why}. archfit itself failed: please report this, if you can with the input"
    )
    return Result("error", message, entry.ref, location=entry.location)
