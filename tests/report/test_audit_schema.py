"""docs/audit.schema.json describes what `archfit audit --format json` writes."""

from __future__ import annotations

import json

import jsonschema
import pytest

import audit_clusters
from archfit.cluster.audit_compare import compare
from archfit.cluster.audit_facts import AuditFacts
from archfit.cluster.audit_findings import findings
from archfit.cluster.audit_prices import parse_prices
from archfit.report.audit_json import render
from archfit.report.audit_schema import schema


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(AuditFacts(), id="nothing"),
        pytest.param(audit_clusters.shop(), id="a-shop"),
        pytest.param(audit_clusters.hostile(), id="hostile-names"),
        pytest.param(audit_clusters.large(60), id="many"),
    ],
)
def test_every_report_follows_the_schema(facts):
    found = findings(facts, (), parse_prices(["amd64=2,arm64=1"]))
    for since in (None, compare(facts.replace(images=()), found)):
        jsonschema.validate(json.loads(render(found, since)), schema())


def test_a_report_with_an_unknown_member_does_not_follow_it():
    value = json.loads(render(findings(AuditFacts())))
    value["facts"]["secrets"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, schema())
