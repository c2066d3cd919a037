"""Records as JSON values, and the JSON Schemas of these: objects with all fields in camelCase; a tuple is a list.

str, int, bool -> string, integer, boolean     tuple[X, ...] -> array     tuple[X, Y] -> array of that length
Literal -> enum                                X | None -> anyOf
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from archfit.base.documentation import schema_id
from archfit.startup.record import Record

_SCALARS = {str: "string", int: "integer", bool: "boolean"}


def record_value(value: Any) -> Any:
    """Records as objects whose keys are their fields in camelCase, tuples as lists."""
    if isinstance(value, Record):
        return {camel_case(name): record_value(getattr(value, name)) for name in type(value)._fields}
    return [record_value(item) for item in value] if isinstance(value, tuple) else value


@cache
def camel_case(field: str) -> str:
    """`requested_cpu` as `requestedCpu`."""
    first, *others = field.split("_")
    return first + "".join(other.capitalize() for other in others)


def schema_of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type. definitions: takes those of its records, by name."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(part, definitions) for part in parts]}
    if origin is tuple and parts[-1] is ...:
        return list_schema(schema_of(parts[0], definitions))
    if origin is tuple:
        items = [schema_of(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if hint is NoneType:
        return {"type": "null"}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    return _record(hint, definitions)


def _record(record: type[Record], definitions: dict[str, Any]) -> dict[str, Any]:
    if record.__name__ not in definitions:
        definitions[record.__name__] = {}
        hints = get_type_hints(record, localns=vars(typing))  # aliases of `results` are texts at run time
        fields = {camel_case(name): schema_of(hints[name], definitions) for name in record._fields}
        definitions[record.__name__] |= object_schema(fields)
    return {"$ref": f"#/$defs/{record.__name__}"}


def object_schema(members: dict[str, Any]) -> dict[str, Any]:
    """An object that has all of these members and no others."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def members_schema(hints: Mapping[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """An object with these members, each a type or a schema. A name with `?` at its end may be missing."""
    members = {
        name.rstrip("?"): hint if isinstance(hint, dict) else schema_of(hint, definitions)
        for name, hint in hints.items()
    }
    return {**object_schema(members), "required": [name for name in hints if not name.endswith("?")]}


def document_schema(
    schema: str, title: str, hints: Mapping[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    """The published schema of a JSON document of archfit's own. schema: its first member, archfit.dev/NAME/VERSION.

    hints: the members behind the first two, as `members_schema` takes them.
    """
    version = {"type": "string", "description": "The version that ran."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id(schema.split("/")[1]),
        "title": title,
        **members_schema({"schema": {"const": schema}, "archfit": version, **hints}, definitions),
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def list_schema(items: dict[str, Any]) -> dict[str, Any]:
    """An array of any length."""
    return {"type": "array", "items": items}
