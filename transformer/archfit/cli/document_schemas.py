"""The JSON Schemas of the smaller documents that commands write with --format json.

Those of `report` and `lock` are files in schemas/; those of `check`, `explain` and `audit` stand with these.
"""

from __future__ import annotations

from typing import Any, Literal

from archfit.base.record_json import document_schema, list_schema, members_schema, schema_of
from archfit.images.candidates import NewerTag
from archfit.images.tag_list import Read
from archfit.programs.program import State
from archfit.yaml.json_output import shape


def schema(name: str, title: str) -> dict[str, Any]:
    """The schema of that name."""
    return document_schema(shape(name), title, _CONTENTS[name], {})


def _object(hints: dict[str, Any]) -> dict[str, Any]:
    return members_schema(hints, {})


def _list(hints: dict[str, Any]) -> dict[str, Any]:
    return list_schema(_object(hints))


def _by_name(hint: Any) -> dict[str, Any]:
    """An object whose keys are names."""
    values = hint if isinstance(hint, dict) else schema_of(hint, {})
    return {"type": "object", "additionalProperties": values}


_TEXTS = tuple[str, ...]
_CACHE_COUNTS = ("tags", "digests", "builds", "lists", "servers", "claims", "others")
_INSTALLATION = {
    "archfit": str,
    "install": _object({"kind": Literal["bundle", "checkout", "wheel"], "place": str}),
    "python": _object({"version": str, "implementation": str, "program": str}),
    "platform": _object({"system": str, "release": str, "machine": str}),
    "cParser": bool,
    "dependencies": _by_name(str | None),
    "extras": _by_name(_object({"installed": bool, "packages": _by_name(str | None)})),
    "schemas": _object({"configuration": str, "audit": str, "lock": int, "cache": int}),
}
_NEWER_TAG: dict[str, Any] = {}
schema_of(NewerTag, _NEWER_TAG)
_MANIFEST_ENTRY = {
    "kind": str, "mediaType": str, "digest": str, "size": int | None, "platform?": str, "osVersion?": str,
    "of?": str, "counts": bool,
}  # fmt: skip
_INSPECTED = {
    "image": str, "reference": str, "outcome": Literal["Found", "Absent", "Unknown", "Unasked", "Malformed"],
    "error?": str, "digest?": str, "kind?": Literal["index", "single", "artifact"], "source?": str,
    "ageSeconds?": int, "mediaType?": str, "size?": int, "artifactType?": str, "platforms?": _TEXTS,
    "architectures?": _TEXTS | None, "notes?": _TEXTS,
    "programs?": _list({"platform": str, "state": State, "words": str}),
    "stated?": _TEXTS, "lacks?": _TEXTS, "newer?": list_schema(_NEWER_TAG["NewerTag"]), "newerRead?": Read,
    "newerWhy?": str, "entries?": _list(_MANIFEST_ENTRY),
}  # fmt: skip
_LOCK_CHANGE = {
    "reference": str, "change": Literal["added", "moved", "corrected", "dropped"], "from": str | None,
    "to": str | None, "gained": _TEXTS, "lost": _TEXTS,
}  # fmt: skip
_PATCHED = {
    "object": _object({"apiVersion?": str, "kind?": str, "namespace?": str, "name?": str}),
    "file?": str, "document": int, "line": int, "source?": str,
    "patch": _list({"op": Literal["add", "remove", "test"], "path": str, "value?": {}}),
}  # fmt: skip
_COMPARED_POD = {
    "object": _object({"apiVersion": str, "kind": str, "namespace": str, "name": str}),
    "file?": str,
    "location": _object({"document": int, "line": int, "source?": str}),
    "outcome": Literal["same", "left-alone", "different", "not-compared"],
    "reason": str,
    "expected?": {"type": "object"},
    "actual?": {"type": "object"},
}
_DIAGNOSTIC = {
    "subject": str, "state": Literal["ok", "note", "missing", "wrong"], "text": str, "remedy": str | None,
}  # fmt: skip
_ENTRY_POINT = {
    "entryPoint": str, "needs": str, "here": Literal["yes", "no", "wrong", "-"], "remedy": str | None,
}  # fmt: skip
_CONTENTS: dict[str, dict[str, Any]] = {
    "audit-images": {"images": _list({"image": str, "runs": _TEXTS, "lacks": _TEXTS, "notKnown": _TEXTS})},
    "cache": {
        "place": str,
        **dict.fromkeys(
            [f"{name}?" for name in ("format", "size", *_CACHE_COUNTS, "unreadable", "removed", "left")], int
        ),
        **dict.fromkeys(["oldest?", "newest?"], str | None),
    },
    "doctor": {
        "installation": _object(_INSTALLATION),
        "findings": _list(_DIAGNOSTIC),
        "entryPoints": _list(_ENTRY_POINT),
        "wrong": int,
    },
    "inspect": {"images": _list(_INSPECTED), "requests": _by_name(int)},
    "lock-changes": {"lockFile": str, "images": int, "written": bool, "changes": _list(_LOCK_CHANGE)},
    "login-check": {
        "for": str,
        "good": bool,
        "servers": _list({"server": str, "credential": str | None, "good": bool, "answer": str}),
    },
    "patch": {"patches": _list(_PATCHED)},
    "policy-check": {"policy": str, "pods": _list(_COMPARED_POD)},
    "version": _INSTALLATION,
}
"""What follows the head, by the name of the schema."""
