"""`archfit schema audit` describes what `archfit audit --format json` writes."""

from __future__ import annotations

import json

import jsonschema
import pytest
from tests.audit import audit_clusters

from archfit.audit.compare import compare
from archfit.audit.facts import AuditFacts
from archfit.audit.findings import findings
from archfit.audit.prices import parse_prices
from archfit.audit.report.json import render, schema

SCHEMA = schema()


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
        jsonschema.validate(json.loads(render(found, since)), SCHEMA)


def test_a_report_with_an_unknown_member_does_not_follow_it():
    value = json.loads(render(findings(AuditFacts())))
    value["facts"]["secrets"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA)
