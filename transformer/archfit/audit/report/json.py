"""An audit as JSON: the facts, which --merge and --compare read, and what follows from them, for people's own programs.

A record is an object whose keys are its fields in camelCase; every key is always there. States are objects:
architecture -> state. `schema` describes all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from typing import Any, get_type_hints

from archfit.audit.amount import Amount
from archfit.audit.builds import BuildFindings
from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import NOT_KNOWN
from archfit.audit.prices import Costs
from archfit.audit.readiness import ImageFinding, ImageState, Readiness, WorkloadFinding, WorkloadState
from archfit.audit.report.tables import images_by_state
from archfit.audit.report.words import ready_share
from archfit.base.printable import json_text
from archfit.base.record_json import (
    camel_case,
    document_schema,
    list_schema,
    members_schema,
    object_schema,
    record_value,
    schema_of,
)
from archfit.facts.facts import SCHEMA, AuditFacts, Standing
from archfit.yaml.json_output import document_head, json_output

_SUMMARY = (
    *("clusters", "architectures", "required", "assume_cpu", "daemon_sets", "readiness", "groups"),
    *("apart", "upgrades", "work_lists", "waves", "capacity"),
)
_BUILDS = ("verdicts", "reasons", "damaged")


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:
    """One JSON document in UTF-8. since: what changed since an earlier audit; null where there is none."""
    parts = chain(
        (json.dumps(document_head("audit"), separators=(",\n", ": "))[:-1], ',\n"facts": '),
        facts_text(findings.facts),
        (',\n"findings": ',),
        _findings_text(findings),
        (f',\n"comparison": {_compact(record_value(since))}}}\n',),
    )
    written = BytesIO()
    written.writelines(json_text(part).encode() for part in parts)
    return written.getvalue()


def image_objects(findings: AuditFindings, _since: AuditComparison | None) -> bytes:
    """{"images": [{"image": .., "runs": [..], "lacks": [..], "notKnown": [..]}]}."""
    images = [
        {"image": image, "runs": runs, "lacks": lacks, "notKnown": unknown}
        for image, (runs, lacks, unknown) in images_by_state(findings)
    ]
    return json_output({**document_head("audit-images"), "images": images})


def facts_text(facts: AuditFacts) -> Iterator[str]:
    """The member `facts` as JSON text, in parts of one record, each on a line of its own; nothing else is held."""
    before = "{"
    for name in AuditFacts._fields:
        yield f"{before}\n{json.dumps(camel_case(name))}: ["
        for number, record in enumerate(getattr(facts, name)):
            yield f"{',' if number else ''}\n{_compact(record_value(record))}"
        before = "],"
    yield "]}"


def _findings_text(findings: AuditFindings) -> Iterator[str]:
    """In parts: there may be as many items as a cluster has images and workloads."""
    yield _compact(summary_value(findings))[:-1]
    images = (_image(image, findings.architectures) for image in findings.images)
    workloads = (_workload(workload, findings.architectures) for workload in findings.workloads)
    for name, items in (("images", images), ("workloads", workloads)):
        yield f',"{name}":['
        for number, item in enumerate(items):
            yield f"{',' if number else ''}{_compact(item)}"
        yield "]"
    yield "}"


def summary_value(findings: AuditFindings) -> dict[str, Any]:
    """What follows from the facts, without the lists of all images and workloads."""
    value: dict[str, Any] = {camel_case(name): record_value(getattr(findings, name)) for name in _SUMMARY}
    value["readiness"] = list(map(_readiness, findings.readiness))
    for group, group_value in zip(findings.groups, value["groups"], strict=True):
        group_value["readiness"] = list(map(_readiness, group.readiness))
        for part, part_value in zip(group.clusters, group_value["clusters"], strict=True):
            part_value["readiness"] = list(map(_readiness, part.readiness))
    builds = findings.builds
    value["builds"] = {name: record_value(getattr(builds, name)) for name in _BUILDS}
    value["costs"] = record_value(findings.costs)
    return value


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _readiness(row: Readiness) -> dict[str, Any]:
    return {
        **record_value(row),
        "total": record_value(row.total),
        "share": ready_share(row),
        "by": "cpu" if row.by_cpu else "pods",
    }


def _image(image: ImageFinding, architectures: tuple[str, ...]) -> dict[str, Any]:
    return {
        "reference": image.facts.reference,
        "states": dict(zip(architectures, image.states, strict=True)),
        "failures": dict(zip(architectures, image.failures, strict=True)),
        "used": record_value(image.used),
        "apart": record_value(image.apart),
    }


def _workload(workload: WorkloadFinding, architectures: tuple[str, ...]) -> dict[str, Any]:
    facts = workload.facts
    missing = ([use.reference for use in uses] for uses in workload.not_ready)
    waves = (None if number == NOT_KNOWN else number for number in workload.waves)
    return {
        **{name: getattr(facts, name) for name in ("snapshot", "namespace", "kind", "name", "standing")},
        "images": [use.reference for use in facts.images],
        "states": dict(zip(architectures, workload.states, strict=True)),
        "notReady": dict(zip(architectures, missing, strict=True)),
        "wave": dict(zip(architectures, waves, strict=True)),
        "amount": record_value(workload.amount),
        "allowed": [name for name in architectures if workload.goes_to(name)],
        "lacks": {
            name: lack.labels for name, lack in zip(architectures, workload.lacks, strict=False) if lack
        },
    }


_TEXTS = tuple[str, ...]


def schema() -> dict[str, Any]:
    """The report of `archfit audit --format json`."""
    definitions: dict[str, Any] = {}

    def of(hint: Any) -> dict[str, Any]:
        return schema_of(hint, definitions)

    def members(**hints: Any) -> dict[str, Any]:
        return members_schema(hints, definitions)

    def by_architecture(hint: Any) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": of(hint)}

    of(Readiness)
    readiness = definitions.pop("Readiness")["properties"]
    readiness |= {"total": of(Amount), "share": of(str), "by": {"enum": ["cpu", "pods"]}}
    image = members(
        reference=str, states=by_architecture(ImageState), failures=by_architecture(str), used=Amount, apart=Amount
    )  # fmt: skip
    workload = members(
        snapshot=str, namespace=str, kind=str, name=str, standing=Standing, images=_TEXTS,
        states=by_architecture(WorkloadState), notReady=by_architecture(_TEXTS),
        wave=by_architecture(int | None), amount=Amount, allowed=_TEXTS, lacks=by_architecture(str),
    )  # fmt: skip
    hints = get_type_hints(AuditFindings)
    builds = get_type_hints(BuildFindings)
    findings = members(
        **{camel_case(name): hints[name] for name in _SUMMARY},
        builds=members(**{name: builds[name] for name in _BUILDS}),
        costs=Costs,
        images=list_schema(image),
        workloads=list_schema(workload),
    )
    definitions["Readiness"] = object_schema(readiness)
    # A comparison holds readiness as the record has it.
    compared = json.loads(json.dumps(of(AuditComparison)))
    definitions["ArchitectureChange"]["properties"] |= {
        side: object_schema(
            {key: readiness[key] for key in ("architecture", "ready", "blocked", "unknown", "pinned")}
        )
        for side in ("before", "after")
    }
    content = {
        "facts": AuditFacts,
        "findings": findings,
        "comparison": {"anyOf": [compared, {"type": "null"}]},
    }
    return document_schema(SCHEMA, "Report of archfit audit --format json", content, definitions)
