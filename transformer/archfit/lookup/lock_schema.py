"""The JSON Schema (draft 2020-12) of the lock file, see `lockfile`: `archfit schema lock > docs/lock.schema.json`.

A schema cannot say all that `lockfile.parse` asks for: references are written in full, and a pinned one has its own
digest.
"""

from __future__ import annotations

from typing import Any

from archfit.documentation import schema_id
from archfit.images.reference_grammar import DIGEST
from archfit.lookup.lockfile import VERSION

_PLATFORM = "^[^/]+/[^/]+(/[^/]+)?$"
_DIGEST = f"^({DIGEST})$"


def lock_schema() -> dict[str, Any]:
    """The lock file."""
    entry = {
        "type": "object",
        "properties": {
            "digest": {"type": "string", "pattern": _DIGEST},
            "kind": {
                "enum": ["index", "manifest", "artifact"],
                "description": "Several platforms, one image, or no image: an artifact restricts nothing.",
            },
            "platforms": {
                "type": "array",
                "items": {"type": "string", "pattern": _PLATFORM},
                "uniqueItems": True,
                "maxItems": 256,
            },
        },
        "required": ["digest", "kind", "platforms"],
        "additionalProperties": False,
        "if": {"properties": {"kind": {"const": "artifact"}}},
        "then": {"properties": {"platforms": {"maxItems": 0}}},
        "else": {"properties": {"platforms": {"minItems": 1}}},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("lock"),
        "title": "archfit.lock: what registries answered about images",
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "images": {
                "type": "object",
                "description": "By reference, written in full, as docker.io/library/nginx:1.27.",
                "additionalProperties": entry,
            },
        },
        "required": ["version", "images"],
        "additionalProperties": False,
    }
