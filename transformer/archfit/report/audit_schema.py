"""The JSON Schema of an audit (draft 2020-12), made from the records themselves: docs/audit.schema.json.

python -m archfit.report.audit_schema > docs/audit.schema.json

record -> object with all its fields in camelCase     str, int, bool -> string, integer, boolean
tuple[X, ...] -> array                                tuple[X, Y] -> array of that length
Literal -> enum                                       X | None -> anyOf
"""

from __future__ import annotations

import json
import sys
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from archfit.cluster.audit_amount import Amount
from archfit.cluster.audit_builds import ReasonCount, VerdictCount
from archfit.cluster.audit_capacity import Capacity
from archfit.cluster.audit_compare import AuditComparison
from archfit.cluster.audit_facts import AuditFacts, Standing
from archfit.cluster.audit_facts_json import SCHEMA, camel_case
from archfit.cluster.audit_prices import Costs
from archfit.cluster.audit_readiness import Apart, ImageState, Readiness, WorkloadState
from archfit.cluster.audit_work_list import WorkList
from archfit.documentation import schema_id
from archfit.record import Record

_SCALARS = {str: "string", int: "integer", bool: "boolean"}
_TEXTS = tuple[str, ...]


def schema() -> dict[str, Any]:
    """The whole schema, with a definition for each record."""
    definitions: dict[str, Any] = {}

    def of(hint: Any) -> dict[str, Any]:
        return _of(hint, definitions)

    def members(**hints: Any) -> dict[str, Any]:
        return _object({name: one if isinstance(one, dict) else of(one) for name, one in hints.items()})

    def by_architecture(hint: Any) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": of(hint)}

    of(Readiness)
    readiness = definitions.pop("Readiness")["properties"]
    readiness |= {"total": of(Amount), "share": of(str), "by": {"enum": ["cpu", "pods"]}}
    image = members(reference=str, states=by_architecture(ImageState), used=Amount, apart=Amount)
    workload = members(
        snapshot=str, namespace=str, kind=str, name=str, standing=Standing, images=_TEXTS,
        states=by_architecture(WorkloadState), notReady=by_architecture(_TEXTS), amount=Amount,
    )  # fmt: skip
    findings = members(
        architectures=_TEXTS, required=bool, assumeCpu=int, readiness=_list(of(Readiness)),
        apart=tuple[Apart, ...], workLists=tuple[WorkList, ...], capacity=Capacity,
        builds=members(verdicts=tuple[VerdictCount, ...], reasons=tuple[ReasonCount, ...]), costs=Costs,
        images=_list(image), workloads=_list(workload),
    )  # fmt: skip
    definitions["Readiness"] = _object(readiness)
    # A comparison holds readiness as the record has it.
    compared = json.loads(json.dumps(of(AuditComparison)))
    definitions["ArchitectureChange"]["properties"] |= {
        side: _object(
            {key: readiness[key] for key in ("architecture", "ready", "blocked", "unknown", "pinned")}
        )
        for side in ("before", "after")
    }
    whole = members(
        schema={"const": SCHEMA}, archfit=str, facts=AuditFacts, findings=findings,
        comparison={"anyOf": [compared, {"type": "null"}]},
    )  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("audit"),
        "title": "Report of archfit audit --format json",
        **whole,
        "$defs": dict(sorted(definitions.items())),
    }


def _of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [_of(part, definitions) for part in parts]}
    if origin is tuple and parts[-1] is ...:
        return _list(_of(parts[0], definitions))
    if origin is tuple:
        items = [_of(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if hint is NoneType:
        return {"type": "null"}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    return _record(hint, definitions)


def _record(record: type[Record], definitions: dict[str, Any]) -> dict[str, Any]:
    if record.__name__ not in definitions:
        definitions[record.__name__] = {}
        hints = get_type_hints(record)
        fields = {camel_case(name): _of(hints[name], definitions) for name in record._fields}
        definitions[record.__name__] |= _object(fields)
    return {"$ref": f"#/$defs/{record.__name__}"}


def _object(members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=1) + "\n")
