"""The JSON Schema of `archfit audit --format json`."""

from __future__ import annotations

import json
from typing import Any

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
from archfit.base.record_json import list_schema, object_schema, schema_of

_TEXTS = tuple[str, ...]


def schema() -> dict[str, Any]:
    """The report of `archfit audit --format json`."""
    definitions: dict[str, Any] = {}

    def of(hint: Any) -> dict[str, Any]:
        return schema_of(hint, definitions)

    def members(**hints: Any) -> dict[str, Any]:
        return object_schema(
            {name: hint if isinstance(hint, dict) else of(hint) for name, hint in hints.items()}
        )

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
