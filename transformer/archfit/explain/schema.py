"""The JSON Schema of `archfit explain --format json`. A test compares `FIELDS` with the records."""

from __future__ import annotations

from typing import Any

from archfit.base.record_json import document_schema, list_schema, object_schema, schema_of
from archfit.explain.explanation import Explanation
from archfit.workloads.unsupported.untouched import Untouched
from archfit.yaml.json_output import shape

FIELDS: dict[str, dict[str, str]] = {
    "Location": {
        "file": 'The input that the object stands in, as it was named; "" for standard input.',
        "line": "The line of the object in that input, from 1.",
        "document": "The number of the document in the input, from 1.",
        "source": 'The file that Helm names above the object, "" if it names none.',
    },
    "ObjectRef": {
        "apiVersion": "Of the object.",
        "kind": "Of the object.",
        "namespace": 'Of the object, "" if it names none.',
        "name": "Of the object.",
    },
    "Untouched": {
        "reason": "Why archfit leaves the object as it is, and what to do.",
        "controller": 'The object that controls this one and decides in its place, or "".',
    },
    "Explanation": {
        "path": "The pod spec in the object, as spec.template.spec.",
        "row": 'The row of the table of workloads that found the pod, "" for a workload of Kubernetes itself.',
        "outcome": "The decision, as in the report of a run.",
        "reason": "The decision in one sentence.",
        "decided": "Whether archfit judged where the pod can run. If not, asks to reasons are empty.",
        "images": "The images of the pod, each once.",
        "settings": "What else counts for this pod: rules, annotations, a RuntimeClass, immutability.",
        "asks": "What nodeSelector, RuntimeClass and spec.os ask of a node's architecture and OS.",
        "allows": "The architectures that the pod's own demands leave open.",
        "terms": "The terms of the required node affinity.",
        "cluster": "The architectures that the cluster has for the pod's OS.",
        "clusterSource": "How that is known.",
        "reaches": "The architectures on which the pod can run in the end.",
        "because": "Why it reaches these, and no more.",
        "reasons": "What becomes of the required node affinity, of each toleration rule, and of each preference.",
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
        "partOf": "The tag beside a digest that is one platform of it, with the digest of its index; else empty.",
    },
    "RequiredTerm": {
        "number": "Its place in nodeSelectorTerms, from 1.",
        "asks": "Its expressions.",
        "allows": "The architectures that the term and the nodeSelector leave open.",
        "reaches": "Those of them on which the pod can run.",
    },
    "Reason": {
        "about": "affinity, tolerations or preferences.",
        "what": 'What is added, is there, or is left out; "" if there is nothing to name.',
        "effect": "added: archfit writes it. present: it is there already. left out: it is not written. "
        "none: there is nothing to write.",
        "reason": "Why, if it does not go without saying.",
        "term": "The required term that it is about, from 1; 0 for none.",
    },
    "PodMessage": {
        "severity": "How serious it is.",
        "field": 'The field that it is about, or "".',
        "message": "The message.",
    },
    "Remedy": {
        "command": 'What to type, or to add to the command line; "" if there is nothing to type.',
        "effect": "What it does, or what to change.",
    },
}
"""What a field means, by record."""


def schema() -> dict[str, Any]:
    """The output of `archfit explain --format json`."""
    definitions: dict[str, Any] = {}
    for record in (Untouched, Explanation):
        schema_of(record, definitions)
    described: dict[str, dict[str, Any]] = {}
    for name, texts in FIELDS.items():
        properties = definitions[name]["properties"]
        described[name] = {field: {**properties[field], "description": text} for field, text in texts.items()}
        properties |= described[name]
    for name in ("Location", "ObjectRef", "Untouched", "Explanation"):
        del definitions[name]
    head = {**described["Location"], **described["ObjectRef"]}
    content = {
        "exit": {"enum": [0, 1], "description": "The exit code."},
        "pods": {
            **list_schema(object_schema({**head, **described["Explanation"]})),
            "description": "The pods, in the order of the input.",
        },
        "passedOver": {
            **list_schema(object_schema({**head, **described["Untouched"]})),
            "description": "Objects that may hold pods and that archfit leaves as they are.",
        },
    }
    return document_schema(shape("explain"), "Output of archfit explain --format json", content, definitions)
