"""The chart's nightly audit: what `archfit setup fleet --engine cron` writes, in the chart's own words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from chart_runs import Chart, named
from helm_runs import start
from program import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

_ON = ("--set", "audit.enabled=true,audit.cluster=prod eu,audit.schedule=0 4 * * 1-5,registrySecret=pull")
_WRITTEN = ("--cluster", "prod eu", "--schedule", "0 4 * * 1-5", "--registry-secret", "pull")


def written(folder: Path) -> dict[tuple[str, str], Any]:
    """What setup writes."""
    words = [str(PROGRAM), "setup", "fleet", "--engine", "cron", "--into", str(folder), *_WRITTEN]
    start(words, dict(os.environ)).ok()
    return named(
        [one for path in sorted(folder.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text())]
    )


def pod(objects: dict[tuple[str, str], Any]) -> dict[str, Any]:
    spec: dict[str, Any] = objects["CronJob", "archfit-audit"]["spec"]["jobTemplate"]["spec"]["template"][
        "spec"
    ]
    return spec


@pytest.mark.parametrize("mode", ["webhook", "policy"])
def test_it_is_what_setup_fleet_writes(chart: Chart, mode: str, tmp_path: Path) -> None:
    rendered, wanted = named(chart.objects(*_ON, "--set", f"mode={mode}")), written(tmp_path / "out")
    assert (
        rendered["ClusterRole", "archfit-audit"]["rules"] == wanted["ClusterRole", "archfit-audit"]["rules"]
    )
    jobs = [one["CronJob", "archfit-audit"]["spec"] for one in (rendered, wanted)]
    assert jobs[0]["schedule"] == jobs[1]["schedule"] == "0 4 * * 1-5"
    for key in ("concurrencyPolicy", "startingDeadlineSeconds", "failedJobsHistoryLimit"):
        assert jobs[0][key] == jobs[1][key], key
    ours, theirs = pod(rendered), pod(wanted)
    for part in ("initContainers", "containers"):
        for one in (*ours[part], *theirs[part]):
            del one["image"]
        assert ours[part] == theirs[part]
    for key in ("securityContext", "nodeSelector", "enableServiceLinks", "restartPolicy"):
        assert ours[key] == theirs[key], key
    assert {one["name"] for one in ours["volumes"]} == {one["name"] for one in theirs["volumes"]}


def test_the_server_and_its_service_never_meet_its_pods(chart: Chart) -> None:
    objects = named(chart.objects(*_ON))
    labels = objects["CronJob", "archfit-audit"]["spec"]["jobTemplate"]["spec"]["template"]["metadata"][
        "labels"
    ]
    selector = objects["Service", "archfit"]["spec"]["selector"]
    assert labels["app.kubernetes.io/component"] == "audit"
    assert not selector.items() <= labels.items()


def test_the_volume_outlives_the_release_and_may_be_ones_own(chart: Chart) -> None:
    claim = named(chart.objects(*_ON))["PersistentVolumeClaim", "archfit-audit"]
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    own = named(chart.objects(*_ON, "--set", "audit.claim=shared"))
    assert not [kind for kind, _ in own if kind == "PersistentVolumeClaim"]
    (volume,) = (one for one in pod(own)["volumes"] if one["name"] == "audit")
    assert volume["persistentVolumeClaim"] == {"claimName": "shared"}


def test_it_is_off_by_default(chart: Chart) -> None:
    assert not [name for _, name in named(chart.objects()) if name.endswith("-audit")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param("audit.schedule=daily", "schedule", id="schedule"),
        pytest.param("audit.cluster=$(POD)", "cluster", id="a variable"),
        pytest.param("audit.claim=A", "claim", id="claim"),
        pytest.param("audit.sise=1Gi", "sise", id="key"),
        pytest.param("audit.claim=a,audit.storageClass=b", "take one out", id="two volumes"),
    ],
)
def test_a_mistake_is_named(chart: Chart, words: str, said: str) -> None:
    ran = chart.render("--set", f"audit.enabled=true,{words}")
    assert ran.status == 1
    assert said in ran.stderr
