"""The chart's audits: each night with one pod, or in parts."""

from typing import Any

import pytest

from archfit.cluster.pools.live import KINDS
from chart_runs import GIVEN, named

_CRON = (
    *("--set", "audit.cron.enabled=true,audit.cluster=prod eu,audit.cron.schedule=0 4 * * 1-5"),
    *("--set", "registrySecret=pull,audit.cacheSecret=cache"),
)
_JOB = ("--set", "mode=audit,audit.job.enabled=true,audit.job.shards=12,audit.job.parallelism=3")


def pod(objects: dict[tuple[str, str], Any]) -> dict[str, Any]:
    spec: dict[str, Any] = objects["CronJob", "archfit-audit"]["spec"]["jobTemplate"]["spec"]["template"][
        "spec"
    ]
    return spec


def commands(spec: dict[str, Any]) -> dict[str, list[str]]:
    """Of each step of a pod, in their order, without `archfit audit`."""
    steps = [*spec.get("initContainers", ()), *spec["containers"]]
    assert all(step["command"][:2] == ["archfit", "audit"] for step in steps)
    return {step["name"]: step["command"][2:] for step in steps}


def who_has(spec: dict[str, Any], volume: str) -> set[str]:
    """The steps that a volume is mounted into."""
    steps = [*spec.get("initContainers", ()), *spec["containers"]]
    return {one["name"] for one in steps if volume in {mount["name"] for mount in one["volumeMounts"]}}


@pytest.mark.parametrize("mode", ["webhook", "policy", "audit"])
def test_each_night_one_pod_audits_and_writes_its_reports(chart, mode):
    words = (*GIVEN, *_CRON) if mode == "webhook" else _CRON
    rendered = named(chart.objects(*words, "--set", f"mode={mode}"))
    assert rendered["CronJob", "archfit-audit"]["spec"]["schedule"] == "0 4 * * 1-5"
    merge = ["--merge", "/audit/report.json"]
    assert commands(pod(rendered)) == {
        "audit": ["--live", "--cluster", "prod eu", "--format", "json", "-o", "/audit/report.json"],
        "metrics": [*merge, "--format", "openmetrics", "-o", "/audit/archfit.prom"],
        "page": [*merge, "--format", "html", "-o", "/audit/report.html"],
        "archfit": merge,
    }
    assert who_has(pod(rendered), "registries") == who_has(pod(rendered), "cache") == {"audit"}


def test_an_audit_in_parts_is_three_jobs_that_helm_runs_in_their_order(chart):
    rendered = named(chart.objects(*_JOB, "--set", "registrySecret=pull,audit.cacheSecret=cache"))
    jobs = {
        name.removeprefix("archfit-audit-"): value
        for (kind, name), value in rendered.items()
        if kind == "Job"
    }
    hooks = {name: one["metadata"]["annotations"] for name, one in jobs.items()}
    assert {name: one["helm.sh/hook-weight"] for name, one in hooks.items()} == {
        "snapshot": "1",
        "shards": "2",
        "merge": "3",
    }
    assert {one["helm.sh/hook"] for one in hooks.values()} == {"post-install,post-upgrade"}
    pods = {name: one["spec"]["template"]["spec"] for name, one in jobs.items()}
    index = "$(JOB_COMPLETION_INDEX)"
    parts = [f"/audit/shard-{number}.json" for number in range(12)]
    assert {name: commands(spec) for name, spec in pods.items()} == {
        "snapshot": {
            "archfit": ["--live", "--offline", "--no-cache", "--format", "json", "-o", "/audit/snapshot.json"]
        },
        "shards": {
            "archfit": [
                *("/audit/snapshot.json", "--shard", index, "--shards", "12"),
                *("--format", "json", "-o", f"/audit/shard-{index}.json"),
            ]
        },
        "merge": {
            "merge": ["--format", "json", "-o", "/audit/report.json", "--merge", *parts],
            "page": ["--merge", "/audit/report.json", "--format", "html", "-o", "/audit/report.html"],
            "archfit": ["--merge", "/audit/report.json"],
        },
    }
    shards = jobs["shards"]["spec"]
    assert (shards["completionMode"], shards["completions"], shards["parallelism"]) == ("Indexed", 12, 3)
    # Only what reads the cluster has a token, and only what asks registries has credentials.
    assert [name for name, spec in pods.items() if spec["automountServiceAccountToken"]] == ["snapshot"]
    secrets = {
        name: {one["secret"]["secretName"] for one in spec["volumes"] if "secret" in one}
        for name, spec in pods.items()
    }
    assert secrets == {"snapshot": set(), "shards": {"pull", "cache"}, "merge": set()}
    claim = rendered["PersistentVolumeClaim", "archfit-audit"]["spec"]
    assert claim["accessModes"] == ["ReadWriteMany"]
    assert not {kind for kind, _ in rendered} & {"Deployment", "Service", "MutatingWebhookConfiguration"}


def test_node_pools_are_read_only_where_it_is_said(chart):
    def groups(*words: str) -> set[str]:
        rules = named(chart.objects(*_CRON, *words))["ClusterRole", "archfit-audit"]["rules"]
        return {group for rule in rules for group in rule["apiGroups"]}

    pools = {group for group, _resource, _kind in KINDS}
    assert not groups() & pools
    assert groups("--set", "audit.nodePools=true") >= pools


def test_the_server_and_its_service_never_meet_its_pods(chart):
    objects = named(chart.objects(*_CRON))
    labels = objects["CronJob", "archfit-audit"]["spec"]["jobTemplate"]["spec"]["template"]["metadata"][
        "labels"
    ]
    selector = objects["Service", "archfit"]["spec"]["selector"]
    assert labels["app.kubernetes.io/component"] == "audit"
    assert not selector.items() <= labels.items()


def test_the_volume_outlives_the_release_and_may_be_ones_own(chart):
    claim = named(chart.objects(*_CRON))["PersistentVolumeClaim", "archfit-audit"]
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    own = named(chart.objects(*_CRON, "--set", "audit.claim=shared"))
    assert not [kind for kind, _ in own if kind == "PersistentVolumeClaim"]
    (volume,) = (one for one in pod(own)["volumes"] if one["name"] == "audit")
    assert volume["persistentVolumeClaim"] == {"claimName": "shared"}


def test_it_is_off_by_default(chart):
    assert not [name for _, name in named(chart.objects()) if name.endswith("-audit")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param("audit.cron.schedule=daily", "at '/audit/cron/schedule'", id="schedule"),
        pytest.param("audit.cluster=$(POD)", "at '/audit/cluster'", id="a variable"),
        pytest.param("audit.claim=A", "at '/audit/claim'", id="claim"),
        pytest.param("audit.sise=1Gi", "'sise' not allowed", id="key"),
        pytest.param("audit.enabled=true", "'enabled' not allowed", id="the switch of before"),
        pytest.param("audit.job.shards=0", "at '/audit/job/shards'", id="no shard"),
        pytest.param("audit.job.shards=501", "at '/audit/job/shards'", id="too many shards"),
        pytest.param("audit.job.parallelism=0", "at '/audit/job/parallelism'", id="none at once"),
        pytest.param("audit.claim=a,audit.storageClass=b", "take one out", id="two volumes"),
        pytest.param("audit.job.enabled=true", "audit: cron and job would write the same", id="both"),
        pytest.param("audit.cron.enabled=false", "mode: audit installs nothing yet", id="neither"),
        pytest.param("mode=policy,audit.job.enabled=true", "audit.job.enabled: each upgrade", id="upgrades"),
        pytest.param("replicas=3", "replicas: the mode audit has no use for it", id="of another mode"),
        pytest.param("extraArgs={--strict}", "extraArgs: the mode audit has no use for it", id="arguments"),
    ],
)
def test_a_mistake_is_named(chart, words, said):
    ran = chart.render("--set", f"mode=audit,audit.cron.enabled=true,{words}")
    assert ran.status == 1
    assert said in ran.stderr
