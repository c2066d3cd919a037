"""The configuration file as JSON Schema, draft 2020-12, from the rows of `options.table`."""

from __future__ import annotations

from collections.abc import Sequence

from archfit.base.documentation import schema_id
from archfit.options.config_file import API_VERSION, KIND
from archfit.options.layers import ANNOTATIONS
from archfit.options.option_types import Schema
from archfit.options.table import BY_KEY, OPERATOR, SPEC, TABLE, Option


def schema() -> Schema:
    """The configuration file as JSON Schema, draft 2020-12."""
    operator = _properties(OPERATOR)
    operator["enforced"] = {
        "type": "array",
        "items": {
            "enum": [*(option.key for option in TABLE), *(key for key in ANNOTATIONS if key not in BY_KEY)]
        },
        "description": "Options that no flag, variable or application may change. imagePlatforms covers the annotation "
        "archfit.dev/image-platforms, too; skip covers archfit.dev/skip.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("archfit"),
        "title": "archfit configuration",
        "type": "object",
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "metadata": {"type": "object", "description": "Not read."},
            "spec": _part("Placement: anyone may supply it.", _properties(SPEC)),
            "operator": _part("Trust: counts only in a file that a flag or variable names.", operator),
        },
        "required": ["apiVersion", "kind"],
        "additionalProperties": False,
    }


def _properties(rows: Sequence[Option]) -> dict[str, Schema]:
    return {
        option.key: {
            **option.type.schema,
            "description": option.help,
            **({} if option.default is None else {"default": option.default}),
        }
        for option in rows
    }


def _part(description: str, properties: dict[str, Schema]) -> Schema:
    return {
        "type": ["object", "null"],
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }
