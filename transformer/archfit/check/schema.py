"""The JSON Schema of `archfit check --format json`."""

from __future__ import annotations

from typing import Any, Literal

from archfit.base.record_json import document_schema, list_schema, members_schema, schema_of
from archfit.base.results import ObjectRef
from archfit.check.findings import RULES
from archfit.images.candidates import NewerTag
from archfit.images.tag_list import Read
from archfit.yaml.json_output import shape

_TEXTS = list_schema({"type": "string"})
_PLACE = {"type": "integer", "minimum": 1}
_COUNTS = {
    "pods": "Pod specs that were looked at.",
    "images": "Images that were looked at, also those that are not known.",
    "notKnown": "Those of the images of which nobody can say where they run.",
    "stated": "Those of the images whose platforms an annotation or the configuration states: nobody was asked.",
    "listed?": "Those of the images that have a required platform by their index alone: nobody may be asked for "
    "the build.",
    "leftAlone": "Pod specs that archfit leaves as they are; --require looks at them.",
    "leftAloneByAnnotation": "Those of them with archfit.dev/skip.",
    "notChecked": "Pod specs that were left out.",
    "objectsNotChecked": "Objects that may hold pods, where archfit finds none.",
    "running?": "With --require: the images that are known and run on all of them.",
    "lacking?": "With --require: the images that lack one of them.",
}


def schema() -> dict[str, Any]:
    """The output of `archfit check --format json`."""
    definitions: dict[str, Any] = {}
    finding = {
        "rule": {"oneOf": [{"const": name, "description": text} for name, text in RULES.items()]},
        "severity": Literal["error", "warning", "info"],
        "message": str,
        "object?": ObjectRef,
        "field?": str,
        "file?": _described(str, "The file that the place is in."),
        "line?": _PLACE,
        "document?": _PLACE,
        "source?": _described(str, "The file of Helm's line `# Source:`."),
        "image?": str,
        "missing?": {**_TEXTS, "description": "The required platforms that the image lacks."},
        "offers?": {**_TEXTS, "description": "The platforms that it has."},
        "keptOff?": {"const": True, "description": "The pod itself keeps away from all that is missing."},
        "leftAlone?": _described(str, "Why archfit leaves the pod as it is."),
        "absent?": _described(str, "What the registry said that has no such image."),
        "notThere?": _described(str, "What the index of the image lists, and the registry does not have."),
        "programs?": _described(str, "Which entries of the image start a program of another machine."),
        "reason?": _described(str, "Why an image is not known, in a word or two."),
        "cause?": _described(str, "The same in a sentence; equal causes have equal sentences."),
        "newer?": {
            **list_schema(schema_of(NewerTag, definitions)),
            "description": "With --newer-tags: the nearest tag that has what the image lacks; none where none is "
            "known.",
        },
        "newerRead?": _described(Read, "What was read of the list of tags."),
        "newerWhy?": _described(str, "Why it was not read to its end."),
    }
    content = {
        "check": _described(Literal["placement", "require"], "What was asked."),
        "require?": {**_TEXTS, "description": "The platforms of --require."},
        "exit": {"enum": [0, 1, 3]},
        **{name: {"type": "integer", "minimum": 0, "description": text} for name, text in _COUNTS.items()},
        "findings": list_schema(members_schema(finding, definitions)),
    }
    return document_schema(shape("check"), "Report of archfit check --format json", content, definitions)


def _described(hint: Any, text: str) -> dict[str, Any]:
    return {**schema_of(hint, {}), "description": text}
