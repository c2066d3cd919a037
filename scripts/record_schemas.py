"""Makes the JSON Schemas of the reports whose JSON is that of their records: transformer/archfit/cli/schemas/.

    .venv/bin/python scripts/record_schemas.py explain > transformer/archfit/cli/schemas/explain.schema.json
    .venv/bin/python scripts/record_schemas.py audit > transformer/archfit/cli/schemas/audit.schema.json

record -> object with all its fields in camelCase     str, int, bool -> string, integer, boolean
tuple[X, ...] -> array                                tuple[X, Y] -> array of that length
Literal -> enum                                       X | None -> anyOf

`FIELDS` says what a field of an explanation means, by record; a test compares it with the records.
"""

from __future__ import annotations

import json
import sys
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from archfit.audit.amount import Amount
from archfit.audit.builds import ReasonCount, VerdictCount
from archfit.audit.capacity import Capacity
from archfit.audit.clusters import Cluster
from archfit.audit.compare import AuditComparison
from archfit.audit.facts import SCHEMA, AuditFacts, Standing
from archfit.audit.plan.waves import Waves
from archfit.audit.plan.work_list import WorkList
from archfit.audit.prices import Costs
from archfit.audit.readiness import Apart, DaemonSets, ImageState, Readiness, WorkloadState
from archfit.audit.upgrades.upgrades import Upgrades
from archfit.base.documentation import schema_id
from archfit.base.record import Record
from archfit.base.record_json import camel_case
from archfit.explain.explained import PassedOver, Place
from archfit.explain.explanation import Explanation
from archfit.yaml.json_output import json_output

_TEXTS = tuple[str, ...]
_SCALARS = {str: "string", int: "integer", bool: "boolean"}

FIELDS: dict[str, dict[str, str]] = {
    "Place": {
        "file": 'The input that the object stands in, as it was named; "" for standard input.',
        "line": "The line of the object in that input, from 1.",
        "document": "The number of the document in the input, from 1.",
        "source": 'The file that Helm names above the object, "" if it names none.',
    },
    "PassedOver": {
        "apiVersion": "Of the object.",
        "kind": "Of the object.",
        "namespace": 'Of the object, "" if it names none.',
        "name": "Of the object.",
        "reason": "Why archfit leaves the object as it is, and what to do.",
        "controller": 'The object that controls this one and decides in its place, or "".',
    },
    "Explanation": {
        "apiVersion": "Of the object.",
        "kind": "Of the object.",
        "namespace": 'Of the object, "" if it names none.',
        "name": "Of the object.",
        "path": "The pod spec in the object, as spec.template.spec.",
        "row": 'The row of the table of workloads that found the pod, "" for a workload of Kubernetes itself.',
        "outcome": "The decision, as in the report of a run.",
        "reason": "The decision in one sentence.",
        "decided": "Whether archfit judged where the pod can run. If not, asks to preferences are empty.",
        "images": "The images of the pod, each once.",
        "settings": "What else counts for this pod: rules, annotations, a RuntimeClass, immutability.",
        "asks": "What nodeSelector, RuntimeClass and spec.os ask of a node's architecture and OS.",
        "allows": "The architectures that the pod's own demands leave open.",
        "terms": "The terms of the required node affinity.",
        "cluster": "The architectures that the cluster has for the pod's OS.",
        "clusterSource": "How that is known.",
        "reaches": "The architectures on which the pod can run in the end.",
        "because": "Why it reaches these, and no more.",
        "affinity": "What becomes of the required node affinity.",
        "tolerations": "What becomes of each toleration rule.",
        "preferences": "What becomes of each preference.",
        "messages": "What the decision says about other things than an image.",
        "remedies": "What would change the answer, the nearest first.",
    },
    "ImageAnswer": {
        "image": 'The image as it is written, "" where none is named.',
        "fields": "All places of the pod that name it.",
        "volume": "Whether it is an image volume.",
        "answer": 'The answer of the lookup; "" if the pod was left alone and nobody was asked.',
        "platforms": "The platforms of the answer, or those that are assumed.",
        "digest": 'Of the index or manifest that was read, or "".',
        "origin": "Where the answer comes from.",
        "ageSeconds": "How long ago the registry confirmed the tag.",
        "detail": 'Why there are no platforms, or "".',
        "final": "Whether nobody may be asked for an answer, as with --locked.",
        "runsOn": "The architectures on which the image runs; null if it restricts nothing or is not known.",
        "lacks": "What the cluster has, or the pod names, and the image does not run on.",
        "messages": "What the decision says about the image.",
    },
    "Term": {
        "number": "Its place in nodeSelectorTerms, from 1.",
        "asks": "Its expressions.",
        "allows": "The architectures that the term and the nodeSelector leave open.",
        "reaches": "Those of them on which the pod can run.",
    },
    "Step": {
        "what": 'What is added, is there, or is left out; "" if there is nothing to name.',
        "effect": "added: archfit writes it. present: it is there already. left out: it is not written. "
        "none: there is nothing to write.",
        "reason": "Why, if it does not go without saying.",
        "term": "The required term that it is about, from 1; 0 for none.",
    },
    "Message": {
        "severity": "How serious it is.",
        "field": 'The field that it is about, or "".',
        "message": "The message.",
    },
    "Remedy": {
        "command": 'What to type, or to add to the command line; "" if there is nothing to type.',
        "effect": "What it does, or what to change.",
    },
}


def explain_schema() -> dict[str, Any]:
    """The output of `archfit explain --format json`."""
    definitions: dict[str, Any] = {}
    for record in (Place, PassedOver, Explanation):
        schema_of(record, definitions)
    for name, texts in FIELDS.items():
        for field, text in texts.items():
            definitions[name]["properties"][field] = {
                **definitions[name]["properties"][field],
                "description": text,
            }
    place = definitions.pop("Place")["properties"]
    pod = object_schema({**place, **definitions.pop("Explanation")["properties"]})
    passed = definitions.pop("PassedOver")["properties"]
    del passed["place"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id("explain"),
        "title": "Output of archfit explain --format json",
        **object_schema(
            {
                "archfit": {"type": "string", "description": "The version that ran."},
                "exit": {"enum": [0, 1], "description": "The exit code."},
                "pods": {**list_schema(pod), "description": "The pods, in the order of the input."},
                "passedOver": {
                    **list_schema(object_schema({**place, **passed})),
                    "description": "Objects that may hold pods and that archfit leaves as they are.",
                },
            }
        ),
        "$defs": dict(sorted(definitions.items())),
    }


def audit_schema() -> dict[str, Any]:
    """The report of `archfit audit --format json`."""
    definitions: dict[str, Any] = {}

    def of(hint: Any) -> dict[str, Any]:
        return schema_of(hint, definitions)

    def members(**hints: Any) -> dict[str, Any]:
        return object_schema({name: one if isinstance(one, dict) else of(one) for name, one in hints.items()})

    def by_architecture(hint: Any) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": of(hint)}

    of(Readiness)
    readiness = definitions.pop("Readiness")["properties"]
    readiness |= {"total": of(Amount), "share": of(str), "by": {"enum": ["cpu", "pods"]}}
    image = members(
        reference=str, states=by_architecture(ImageState), failures=by_architecture(str), used=Amount, apart=Amount
    )  # fmt: skip
    part = members(cluster=str, readiness=list_schema(of(Readiness)))
    group = members(by=str, name=str, readiness=list_schema(of(Readiness)), clusters=list_schema(part))
    workload = members(
        snapshot=str, namespace=str, kind=str, name=str, standing=Standing, images=_TEXTS,
        states=by_architecture(WorkloadState), notReady=by_architecture(_TEXTS),
        wave=by_architecture(int | None), amount=Amount,
    )  # fmt: skip
    findings = members(
        clusters=tuple[Cluster, ...], architectures=_TEXTS, required=bool, assumeCpu=int,
        daemonSets=tuple[DaemonSets, ...], readiness=list_schema(of(Readiness)), groups=list_schema(group),
        apart=tuple[Apart, ...], upgrades=Upgrades | None, workLists=tuple[WorkList, ...], waves=tuple[Waves, ...],
        capacity=Capacity, builds=members(verdicts=tuple[VerdictCount, ...], reasons=tuple[ReasonCount, ...]),
        costs=Costs, images=list_schema(image), workloads=list_schema(workload),
    )  # fmt: skip
    definitions["Readiness"] = object_schema(readiness)
    # A comparison holds readiness as the record has it.
    compared = json.loads(json.dumps(of(AuditComparison)))
    definitions["ArchitectureChange"]["properties"] |= {
        side: object_schema(
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
        hints = get_type_hints(
            record, localns={"Literal": Literal}
        )  # aliases of `results` are texts at run time
        fields = {camel_case(name): schema_of(hints[name], definitions) for name in record._fields}
        definitions[record.__name__] |= object_schema(fields)
    return {"$ref": f"#/$defs/{record.__name__}"}


def object_schema(members: dict[str, Any]) -> dict[str, Any]:
    """An object that has all of these members and no others."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def list_schema(items: dict[str, Any]) -> dict[str, Any]:
    """An array of any length."""
    return {"type": "array", "items": items}


if __name__ == "__main__":
    sys.stdout.buffer.write(json_output({"explain": explain_schema, "audit": audit_schema}[sys.argv[1]]()))
