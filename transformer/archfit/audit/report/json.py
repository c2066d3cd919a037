"""An audit as JSON: the facts, from which reports are merged and compared, and what follows from them.

    {"schema": "archfit.dev/audit/v1alpha2", "archfit": VERSION, "facts": {..}, "findings": {..},
     "comparison": null}

`facts` is what `--merge` and `--compare` read. `findings` is for people's own programs, and is derived anew from the
facts whenever archfit reads the file. A record is an object whose keys are its fields in camelCase; every key is always
there. States are objects: architecture -> state. `archfit schema audit` describes all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import Any

from archfit import __version__
from archfit.audit.compare import AuditComparison
from archfit.audit.facts import SCHEMA, AuditFacts
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import NOT_KNOWN
from archfit.audit.readiness import ImageFinding, Readiness, WorkloadFinding
from archfit.audit.report.words import ready_share
from archfit.base.printable import json_text
from archfit.base.record_json import camel_case, record_value


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:
    """One JSON document in UTF-8. since: what changed since an earlier audit; null where there is none."""
    parts = chain(
        (f'{{"schema": "{SCHEMA}",\n"archfit": "{__version__}",\n"facts": ',),
        facts_text(findings.facts),
        (',\n"findings": ',),
        _findings_text(findings),
        (f',\n"comparison": {_compact(record_value(since))}}}\n',),
    )
    written = BytesIO()
    written.writelines(json_text(part).encode() for part in parts)
    return written.getvalue()


def facts_text(facts: AuditFacts) -> Iterator[str]:
    """The member `facts` as JSON text, in parts of one record, each on a line of its own; nothing else is held."""
    before = "{"
    for name in AuditFacts._fields:
        yield f"{before}\n{json.dumps(camel_case(name))}: ["
        first = True
        for one in getattr(facts, name):
            yield ("\n" if first else ",\n") + json.dumps(
                record_value(one), ensure_ascii=True, separators=(",", ":")
            )
            first = False
        before = "],"
    yield "]}"


def to_json(facts: AuditFacts) -> bytes:
    """A file that holds facts and nothing else. The same facts give the same bytes."""
    head = f'{{"schema": {json.dumps(SCHEMA)},\n"facts": '
    return "".join((head, *facts_text(facts), "}\n")).encode()


def findings_value(findings: AuditFindings) -> dict[str, Any]:
    """What follows from the facts; images by their reference, workloads by their key."""
    return {**_short(findings), **{name: list(items) for name, items in _long(findings)}}


def _findings_text(findings: AuditFindings) -> Iterator[str]:
    """`findings_value` as JSON in parts: there may be as many items as a cluster has images and workloads."""
    yield _compact(_short(findings))[:-1]
    for name, items in _long(findings):
        yield f',"{name}":['
        for number, item in enumerate(items):
            yield f"{',' if number else ''}{_compact(item)}"
        yield "]"
    yield "}"


def _short(findings: AuditFindings) -> dict[str, Any]:
    return {
        "clusters": record_value(findings.clusters),
        "architectures": list(findings.architectures),
        "required": findings.required,
        "assumeCpu": findings.assume_cpu,
        "daemonSets": record_value(findings.daemon_sets),
        "readiness": [_readiness(one) for one in findings.readiness],
        "groups": [
            {
                **record_value(group),
                "readiness": [_readiness(part) for part in group.readiness],
                "clusters": [
                    {"cluster": own.cluster, "readiness": [_readiness(part) for part in own.readiness]}
                    for own in group.clusters
                ],
            }
            for group in findings.groups
        ],
        "apart": record_value(findings.apart),
        "upgrades": record_value(findings.upgrades),
        "workLists": record_value(findings.work_lists),
        "waves": record_value(findings.waves),
        "capacity": record_value(findings.capacity),
        "builds": {
            "verdicts": record_value(findings.builds.verdicts),
            "reasons": record_value(findings.builds.reasons),
        },
        "costs": record_value(findings.costs),
    }


def _long(findings: AuditFindings) -> tuple[tuple[str, Iterable[dict[str, Any]]], ...]:
    return (
        ("images", (_image(image, findings.architectures) for image in findings.images)),
        ("workloads", (_workload(workload, findings.architectures) for workload in findings.workloads)),
    )


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _readiness(one: Readiness) -> dict[str, Any]:
    return {
        **record_value(one),
        "total": record_value(one.total),
        "share": ready_share(one),
        "by": "cpu" if one.by_cpu else "pods",
    }


def _image(one: ImageFinding, architectures: tuple[str, ...]) -> dict[str, Any]:
    return {
        "reference": one.facts.reference,
        "states": dict(zip(architectures, one.states, strict=True)),
        "failures": dict(zip(architectures, one.failures, strict=True)),
        "used": record_value(one.used),
        "apart": record_value(one.apart),
    }


def _workload(one: WorkloadFinding, architectures: tuple[str, ...]) -> dict[str, Any]:
    facts = one.facts
    missing = ([use.reference for use in uses] for uses in one.not_ready)
    waves = (None if number == NOT_KNOWN else number for number in one.waves)
    return {
        "snapshot": facts.snapshot,
        "namespace": facts.namespace,
        "kind": facts.kind,
        "name": facts.name,
        "standing": facts.standing,
        "images": [use.reference for use in facts.images],
        "states": dict(zip(architectures, one.states, strict=True)),
        "notReady": dict(zip(architectures, missing, strict=True)),
        "wave": dict(zip(architectures, waves, strict=True)),
        "amount": record_value(one.amount),
    }
