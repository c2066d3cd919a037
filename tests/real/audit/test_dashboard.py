"""docs/grafana.json: Grafana's schema takes it, it asks for what archfit writes, and each panel has data in Prometheus.

Grafana itself is not run here.
"""

import re
import time
from typing import Any

import httpx
import pytest
from tests.audit import audit_clusters
from tests.real.audit.metric_servers import node_exporter, prometheus

import machine
from archfit.audit.findings import findings
from archfit.audit.report.openmetrics import render
from dashboards import complaints, exposed_by, queries, read, wrong

DASHBOARD = read(machine.ROOT / "docs" / "grafana.json")
_PATIENCE_SECONDS = 60.0


def _shop() -> bytes:
    facts = audit_clusters.shop()
    stated = facts.snapshots[0].replace(date="2026-11-24T00:30:00Z")
    return render(findings(facts.replace(snapshots=(stated,))))


def asked() -> list[str]:
    return queries(DASHBOARD, cluster="prod-eu", architecture="arm64")


def test_each_query_and_variable_asks_for_what_an_audit_writes():
    exposed = exposed_by(_shop().decode())
    variables = [
        re.sub(r"label_values\((.*), \w+\)", r"\1", one["query"]["query"])
        for one in DASHBOARD["templating"]["list"][1:]
    ]
    found = [*asked(), *variables]
    assert len(found) > 10
    assert all("archfit_audit_" in one for one in found)
    assert [one for expression in found for one in wrong(expression, exposed)] == []


def test_grafanas_own_schema_takes_it(tmp_path, real):
    assert complaints(DASHBOARD, tmp_path) == ""


def test_each_panel_has_data_once_prometheus_has_read_an_audit(tmp_path, real):
    for name in ("textfile", "prometheus"):
        (tmp_path / name).mkdir()
    (tmp_path / "textfile" / "archfit.prom").write_bytes(_shop())
    with (
        node_exporter(tmp_path / "textfile") as source,
        prometheus(tmp_path / "prometheus", source.removeprefix("http://")) as url,
    ):
        for expression in asked():
            assert _data(url, expression), expression
        (ready,) = _data(url, asked()[0])
    assert ready["metric"] == {"cluster": "prod-eu"}
    assert float(ready["value"][1]) == pytest.approx(36.1 / 58)


def _data(url: str, expression: str) -> list[dict[str, Any]]:
    """What an instant query gives, once there is anything."""
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while True:
        asked_for = {"query": expression}
        answer = httpx.get(f"{url}/api/v1/query", params=asked_for, trust_env=False)
        found: list[dict[str, Any]] = answer.json()["data"]["result"] if answer.is_success else []
        if found or time.monotonic() > give_up:
            return found
        time.sleep(0.1)
