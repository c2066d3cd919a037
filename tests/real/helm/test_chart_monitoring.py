"""Alerts and dashboard of charts/archfit: promtool takes them, each alert fires when it should, each metric exists."""

import json
import re
from typing import Any

import pytest
import yaml

from chart_runs import CHART, Chart, named
from dashboards import complaints, exposed_by, promtool, queries, read, recorded, wrong
from webhook_server import WebhookServer

_ON = ("--set", "metrics.prometheusRule.enabled=true")
_DASHBOARD = ("--set", "metrics.dashboard.enabled=true")


@pytest.fixture(scope="module")
def exposed(tmp_path_factory, real):
    """The metrics of a real `archfit serve`, by the names of their samples."""
    with WebhookServer(tmp_path_factory.mktemp("serve")) as server:
        text = server.probe("/metrics")[1]
    found = exposed_by(text)
    assert len(found) > 20
    return found


def rules(chart: Chart, *words: str) -> list[dict[str, Any]]:
    (group,) = named(chart.objects(*_ON, *words))["PrometheusRule", "archfit"]["spec"]["groups"]
    return group["rules"]


def dashboard() -> dict[str, Any]:
    return read(CHART / "dashboards" / "archfit.json")


def asked() -> list[str]:
    return queries(dashboard(), namespace="archfit", job="archfit")


def test_promtool_takes_the_alerts_and_the_queries(chart, tmp_path):
    for words in ((), ("--set", "mode=policy")):
        found = rules(chart, *words)
        assert f"SUCCESS: {len(found)} rules found" in promtool(
            tmp_path, "check", {"groups": [{"name": "archfit", "rules": found}]}
        )
    assert f"SUCCESS: {len(asked())} rules found" in promtool(tmp_path, "check", recorded(asked()))


def test_every_metric_that_is_asked_for_is_one_of_the_server(chart, exposed):
    expressions = [rule["expr"] for rule in rules(chart)] + asked()
    expressions += [rule["expr"] for rule in rules(chart, "--set", "mode=policy")]
    for variable in dashboard()["templating"]["list"][1:]:
        expressions.append(re.sub(r"label_values\((.*), \w+\)", r"\1", variable["query"]["query"]))
    assert [one for expression in expressions for one in wrong(expression, exposed)] == []


_OTHER = 'job="archfit", namespace="archfit", pod="b"'
_SERVER, _JOB = 'job="archfit", namespace="archfit", pod="a"', 'namespace="archfit", cronjob="archfit-policy"'
_REQUESTS, _REPLIES = "archfit_admission_requests_total", "archfit_registry_requests_total"
_REFUSALS, _ERRORS = "archfit_memory_refusals_total", "archfit_http_errors_total"
_STILL, _GROWS = "5+0x60", "5+3x60"


def series(name: str, values: str, labels: str = "", of: str = _SERVER) -> dict[str, str]:
    return {"series": f"{name}{{{of}{labels and ', '}{labels}}}", "values": values}


def reloads(what: str, failures: str) -> list[dict[str, str]]:
    name = f"archfit_{what}_reloads_total"
    return [series(name, failures, 'result="failure"'), series(name, _GROWS, 'result="success"')]


def requests(outcome: str, values: str) -> list[dict[str, str]]:
    others = [
        series(_REQUESTS, "0+20x60", 'outcome="changed"'),
        series(_REQUESTS, _GROWS, 'outcome="ignored"'),
    ]
    return [*others, series(_REQUESTS, values, f'outcome="{outcome}"')]


def replies(none: str, ok: str) -> list[dict[str, str]]:
    host = 'host="quay.io"'
    return [series(_REPLIES, none, f'{host}, code="none"'), series(_REPLIES, ok, f'{host}, code="200"')]


def cron_job(scheduled: str, succeeded: str) -> list[dict[str, str]]:
    found = [series("kube_cronjob_status_last_schedule_time", scheduled, of=_JOB)]
    return [
        *found,
        *([series("kube_cronjob_status_last_successful_time", succeeded, of=_JOB)] if succeeded else []),
    ]


_DAY = 86400
# Alert -> the series of an hour under which it fires at the end, and those under which it does not.
CASES: dict[str, tuple[list[dict[str, str]], list[list[dict[str, str]]]]] = {
    "ArchfitAbsent": (
        [series("up", "0x60")],
        [[series("up", "1x60")], [series("up", "0x60"), series("up", "1x60", of=_OTHER)]],
    ),
    "ArchfitFails": (requests("error", _GROWS), [requests("error", _STILL)]),
    "ArchfitDeniesPods": (requests("denied", _GROWS), [requests("denied", _STILL)]),
    "ArchfitPodsUnresolved": (
        requests("unresolved", _GROWS),
        [requests("unresolved", text) for text in ("0+1x60", _STILL)],
    ),
    "ArchfitMissesDeadlines": (
        [*requests("unchanged", _GROWS), series("archfit_admission_deadlines_total", _GROWS)],
        [[*requests("unchanged", _GROWS), series("archfit_admission_deadlines_total", _STILL)]],
    ),
    "ArchfitRegistryFails": (
        replies(none=_GROWS, ok="0+1x60"),
        [replies(none="0+1x60", ok=_GROWS), [series(_REPLIES, _GROWS, 'host="quay.io", code="404"')]],
    ),
    "ArchfitOutOfMemory": (
        [series(_REFUSALS, _GROWS, 'share="bodies"')],
        [[series(_REFUSALS, _STILL, 'share="bodies"'), series(_REFUSALS, _GROWS, 'share="verdicts"')]],
    ),
    "ArchfitAnswersWithErrors": (
        [series(_ERRORS, _GROWS, 'code="503"')],
        [[series(_ERRORS, _STILL, 'code="503"'), series(_ERRORS, _GROWS, 'code="404"')]],
    ),
    "ArchfitConnectionsRunOut": (
        [series("archfit_connections_closed_total", _GROWS, 'what="handshake"')],
        [[series("archfit_connections_closed_total", _STILL, 'what="handshake"')]],
    ),
    "ArchfitLookupsCutOff": (
        [series("archfit_lookups_cut_off_total", _GROWS)],
        [[series("archfit_lookups_cut_off_total", _STILL)]],
    ),
    "ArchfitLookupsRefused": (
        [series("archfit_lookups_refused_total", _GROWS)],
        [[series("archfit_lookups_refused_total", _STILL)]],
    ),
    "ArchfitCertificateExpires": (
        [series("archfit_certificate_expiry_timestamp_seconds", f"{6 * _DAY}x60")],
        [[series("archfit_certificate_expiry_timestamp_seconds", f"{30 * _DAY}x60")]],
    ),
    "ArchfitCertificateNotRead": (reloads("certificate", _GROWS), [reloads("certificate", _STILL)]),
    "ArchfitLockFileNotRead": (reloads("lock_file", _GROWS), [reloads("lock_file", _STILL)]),
}
_SUSPEND = "kube_cronjob_spec_suspend"
POLICY_CASES: dict[str, tuple[list[dict[str, str]], list[list[dict[str, str]]]]] = {
    "ArchfitPolicyStale": (cron_job("7200x120", "3600x120"), [cron_job("7200x120", "7230x120")]),
    "ArchfitPolicySuspended": ([series(_SUSPEND, "1x120", of=_JOB)], [[series(_SUSPEND, "0x120", of=_JOB)]]),
}


def fires(alert: str, given: list[dict[str, str]], at: str, number: int) -> dict[str, Any]:
    """A test of promtool: that so many of the alert fire."""
    ask = {"expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})', "eval_time": at}
    expected = [{"labels": "{}", "value": number}] if number else []
    return {"interval": "1m", "input_series": given, "promql_expr_test": [{**ask, "exp_samples": expected}]}


@pytest.mark.parametrize(
    ("words", "cases", "at"),
    [
        pytest.param((), CASES, "59m", id="webhook"),
        pytest.param(("--set", "mode=policy"), POLICY_CASES, "119m", id="policy"),
    ],
)
def test_each_alert_fires_when_it_should_and_not_otherwise(chart, tmp_path, words, cases, at):
    found = rules(chart, *words)
    assert sorted(rule["alert"] for rule in found) == sorted(cases)
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "a", "rules": found}]}))
    tests = [fires(alert, fire, at, 1) for alert, (fire, _) in cases.items()]
    tests += [fires(alert, calm, at, 0) for alert, (_, twins) in cases.items() for calm in twins]
    # Nothing was ever there: no replica, no success of the cron job.
    never = {"ArchfitAbsent": [], "ArchfitPolicyStale": cron_job("60x120", "")}
    tests += [fires(alert, given, at, 1) for alert, given in never.items() if alert in cases]
    given = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    assert "SUCCESS" in promtool(tmp_path, "test", given)


def test_alerts_and_dashboard_are_off_by_default_and_carry_the_users_labels(chart):
    kinds = {kind for kind, _ in named(chart.objects())}
    assert "PrometheusRule" not in kinds
    words = (*_ON, *_DASHBOARD, "--set", "metrics.prometheusRule.labels.release=prometheus")
    more = ("--set-json", 'metrics.dashboard.annotations={"grafana_folder":"archfit"}')
    rendered = named(chart.objects(*words, *more))
    assert rendered["PrometheusRule", "archfit"]["metadata"]["labels"]["release"] == "prometheus"
    found = rendered["ConfigMap", "archfit-dashboard"]
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert found["metadata"]["annotations"] == {"grafana_folder": "archfit"}
    assert json.loads(found["data"]["archfit.json"]) == dashboard()


def test_grafanas_own_schema_takes_the_dashboard(tmp_path, real):
    assert complaints(dashboard(), tmp_path) == ""


def test_the_alerts_are_about_the_releases_own_service(chart):
    rendered = named(chart.objects(*_ON, release="web", namespace="hooks"))
    (group,) = rendered["PrometheusRule", "web-archfit"]["spec"]["groups"]
    of = 'job="web-archfit", namespace="hooks"'
    assert all(
        text.startswith(of) for rule in group["rules"] for text in re.findall(r"\{([^}]*)\}", rule["expr"])
    )
    assert ("Service", "web-archfit") in rendered
