"""The JSON Schemas (draft 2020-12) of what programs read: `--report FILE`, and `archfit check --format json`.

archfit schema report > docs/report.schema.json
archfit schema check > docs/check.schema.json

The members are those of `run_report`, `decision_values` and `check_listing`. An object may hold no other member, so a
new one is in the schema, or the tests fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from archfit.documentation import page, schema_id
from archfit.report.check_listing import SCHEMA as CHECK
from archfit.report.findings import RULES

Schema = dict[str, Any]

SEVERITIES = ("error", "warning", "info")
OUTCOMES = ("Change", "AlreadySet", "NotNeeded", "OptedOut", "Unresolved", "Conflict")
ORIGINS = ("override", "lock", "cache", "stale", "registry")
_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def report_schema() -> Schema:
    """The report of a run."""
    result = _members(
        {"severity": {"enum": list(SEVERITIES)}, "message": _TEXT},
        {"object": _ref("object"), "field": _said(_TEXT, "The path from the object's root.")},
        _PLACE,
    )
    decision = _members(
        {
            "object": _ref("object"),
            "document": _PLACE["document"],
            "line": _PLACE["line"],
            "path": _said(_TEXT, "The path of the pod spec from the object's root."),
            "outcome": _said(
                {"enum": list(OUTCOMES)}, f"{page('decisions')} says when each of them follows."
            ),
            "reason": _TEXT,
            "supported": _said(
                {"anyOf": [_TEXTS, {"type": "null"}]},
                "The architectures that every image offers; null where no image restricts the pod.",
            ),
            "reachable": _said(_TEXTS, "The architectures that the pod can reach in the end."),
            "removed": {"type": "array", "items": _members({"architecture": _TEXT, "images": _TEXTS})},
            "immutable": _said({"type": "boolean"}, "Nobody can change the object once it is applied."),
            "images": {
                "type": "array",
                "items": _members({"field": _TEXT, "image": {"type": ["string", "null"]}}),
            },
            "patch": _said({"type": "array", "items": _OPERATION}, "RFC 6902, on the object's root."),
        },
        {"source": _PLACE["source"], "controller": _TEXT},
    )
    return _document(
        "report",
        "Report of a run of archfit (--report, archfit last --json)",
        {
            "archfit": _said(_TEXT, "The version that ran."),
            "time": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$"},
            "command": _said(_TEXT, "As in `archfit check`, without its options: they may hold secrets."),
            "configuration": _said(_TEXTS, "Every source of configuration used, the strongest first."),
            "exit": {"enum": [0, 1, 2, 3]},
            "results": {"type": "array", "items": result},
            "decisions": {"type": "array", "items": decision},
            "images": _said(_by_name(_ref("answer")), "The answer for each image, as the manifests name it."),
            "requests": _said(_by_name(_COUNT), "Requests to registries, by kind."),
            "edits": _said(
                {
                    "type": "array",
                    "items": _members({"start": _COUNT, "end": _COUNT, "was": _TEXT}, {"file": _TEXT}),
                },
                "Byte offsets in the output, or in that of a file. Putting every `was` back gives the input.",
            ),
        },
        {"pullsLeft": _said(_by_name(_TEXT), "The pulls that a server says are left, by its origin.")},
        {"object": _OBJECT, "answer": _ANSWER},
    )


def check_schema() -> Schema:
    """The listing of a check."""
    finding = _members(
        {
            "rule": {"oneOf": [{"const": rule, "description": text} for rule, text in RULES.items()]},
            "severity": {"enum": list(SEVERITIES)},
            "message": _TEXT,
        },
        {
            "object": _ref("object"),
            "field": _TEXT,
            "file": _said(_TEXT, "The file that the place is in."),
            "line": {"type": "integer", "minimum": 1},
            "document": {"type": "integer", "minimum": 1},
            "source": _PLACE["source"],
            "image": _TEXT,
            "missing": _said(_TEXTS, "The required platforms that the image lacks."),
            "offers": _said(_TEXTS, "The platforms that it has."),
            "keptOff": _said({"const": True}, "The pod itself keeps away from all that is missing."),
            "leftAlone": _said(_TEXT, "Why archfit leaves the pod as it is."),
            "absent": _said(_TEXT, "What the registry said that has no such image."),
            "reason": _said(_TEXT, "Why an image is not known, in a word or two."),
            "cause": _said(_TEXT, "The same in a sentence; equal causes have equal sentences."),
        },
    )
    return _document(
        "check",
        "Report of archfit check --format json",
        {
            "schema": {"const": CHECK},
            "archfit": _said(_TEXT, "The version that ran."),
            "check": _said({"enum": ["placement", "require"]}, "What was asked."),
            "exit": {"enum": [0, 1, 3]},
            "pods": _said(_COUNT, "Pod specs that were looked at."),
            "images": _said(_COUNT, "Images that were looked at, also those that are not known."),
            "notKnown": _said(_COUNT, "Those of the images of which nobody can say where they run."),
            "stated": _said(
                _COUNT,
                "Those of the images whose platforms an annotation or the configuration states: nobody was asked.",
            ),
            "leftAlone": _said(_COUNT, "Pod specs that archfit leaves as they are; --require looks at them."),
            "leftAloneByAnnotation": _said(_COUNT, "Those of them with archfit.dev/skip."),
            "notChecked": _said(_COUNT, "Pod specs that were left out."),
            "objectsNotChecked": _said(_COUNT, "Objects that may hold pods, where archfit finds none."),
            "findings": {"type": "array", "items": finding},
        },
        {
            "require": _said(_TEXTS, "The platforms of --require."),
            "running": _said(_COUNT, "With --require: the images that are known and run on all of them."),
            "lacking": _said(_COUNT, "With --require: the images that lack one of them."),
        },
        {"object": _OBJECT},
    )


def _document(
    name: str, title: str, required: Schema, optional: Schema, definitions: dict[str, Schema]
) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id(name),
        "title": title,
        **_members(required, optional),
        "$defs": definitions,
    }


def _members(required: Schema, *optional: Schema) -> Schema:
    properties = {name: schema for members in (required, *optional) for name, schema in members.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _by_name(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _answer(name: str, members: Schema) -> Schema:
    return _members({"answer": {"const": name}, **members})


def _operations(names: Sequence[str], members: Schema) -> Schema:
    return _members({"op": {"enum": list(names)}, "path": _said(_TEXT, "A JSON Pointer."), **members})


_PLACE: Schema = {
    "document": _said({"type": "integer", "minimum": 1}, "Of the stream, from 1."),
    "line": _said(_COUNT, "Of the stream, from 1."),
    "source": _said(_TEXT, "The file of Helm's line `# Source:`."),
}
_OBJECT = _members({"apiVersion": _TEXT, "kind": _TEXT, "namespace": _TEXT, "name": _TEXT})
_OPERATION: Schema = {"oneOf": [_operations(("add", "test"), {"value": {}}), _operations(("remove",), {})]}
_ANSWER: Schema = {
    "oneOf": [
        _answer(
            "Found",
            {
                "platforms": _TEXTS,
                "digest": _TEXT,
                "origin": {"enum": list(ORIGINS)},
                "ageSeconds": {"type": "integer"},
            },
        ),
        _answer("Absent", {"detail": _TEXT}),
        _answer("Unknown", {"cause": _TEXT}),
        _answer("Unasked", {"reason": _TEXT}),
        _answer("Malformed", {"reason": _TEXT}),
    ]
}
