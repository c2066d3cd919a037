"""Jobs under real Helms: which are placed, and what makes the template of one that exists differ.

An API server refuses a Job whose `spec.template` is not the one that it has. So what helps is what gives the same
template, and a Job's template is compared here with the one that was applied before.
"""

import json
import os
import shutil
from typing import Any

import pytest

import program

CHART = """\
apiVersion: v2
name: work
version: 0.1.0
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {}
{}spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: a, image: x.example/app:1}}]
"""
JOBS = "---\n".join(
    (
        JOB.format("migrate", ""),
        JOB.format("hook", "  annotations: {helm.sh/hook: pre-upgrade}\n"),
        JOB.format("argo", "  annotations: {argocd.argoproj.io/hook: PreSync}\n"),
    )
)
OFFLINE = {"ARCHFIT_OFFLINE": "true", "ARCHFIT_NO_CACHE": "true"}
AMD64 = {**OFFLINE, "ARCHFIT_IMAGE_PLATFORMS": "x.example/app=linux/amd64"}
BOTH = {**OFFLINE, "ARCHFIT_IMAGE_PLATFORMS": "x.example/app=linux/amd64,linux/arm64"}


@pytest.fixture
def chart(tmp_path):
    (tmp_path / "work" / "templates").mkdir(parents=True)
    (tmp_path / "work" / "Chart.yaml").write_text(CHART, encoding="utf-8")
    (tmp_path / "work" / "templates" / "jobs.yaml").write_text(JOBS, encoding="utf-8")
    return tmp_path / "work"


def specs(judge: Any, stream: bytes) -> dict[str, Any]:
    """Each Job's pod spec by its name, as kubectl reads it."""
    found = {}
    for document in judge.kubectl(stream):
        if document:
            found[document["metadata"]["name"]] = document["spec"]["template"]["spec"]
    return found


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(name for name in before if before[name] != after[name])


def test_helm_4_places_hooks_and_helm_3_never_shows_them(helm, judge, chart):
    """A multi-arch image: only what is recreated gets the toleration, and to Helm an Argo hook is a plain Job."""
    before = specs(judge, helm.plain(chart))
    after = specs(judge, helm.template(chart, **BOTH).ok())
    assert changed(before, after) == ([] if helm.name == "helm3" else ["hook"])
    narrowed = specs(judge, helm.template(chart, **AMD64).ok())
    assert changed(before, narrowed) == (
        ["argo", "migrate"] if helm.name == "helm3" else ["argo", "hook", "migrate"]
    )


def test_what_makes_the_template_of_a_job_differ_and_what_does_not(helm, judge, chart, tmp_path):
    lock = tmp_path / "archfit.lock"
    held = {**OFFLINE, "ARCHFIT_LOCK_FILE": str(lock)}
    digest = "sha256:" + "0" * 64
    lock.write_text(
        '{\n  "version": 1,\n  "images": {\n    "x.example/app:1": '
        f'{{"digest": "{digest}", "kind": "index", "platforms": ["linux/amd64"]}}\n  }}\n}}\n',
        encoding="utf-8",
    )

    def job(*words: str, **environ: str) -> Any:
        return specs(judge, helm.template(chart, *words, **environ).ok())["migrate"]

    chart_as_it_is = specs(judge, helm.plain(chart))["migrate"]
    excluded = "--post-renderer-args=--exclude=Job/*/migrate"
    assert job(**AMD64) != chart_as_it_is  # archfit comes: refused
    assert job(excluded, **AMD64) == chart_as_it_is  # and then this helps
    applied = job(**AMD64)
    assert job(**AMD64) == applied  # every upgrade after that
    assert job(**BOTH) != applied  # the image gains an architecture: refused
    assert job(excluded, **BOTH) != applied  # and this does not help any more
    assert job(**held) == applied  # the answer is held
    platforms = "--post-renderer-args=--image-platforms=x.example/app=linux/amd64"
    assert job(platforms, **BOTH) == applied  # the same, without a file
    text = JOBS.replace("  name: migrate\n", "  name: migrate\n  annotations: {archfit.dev/only: amd64}\n")
    (chart / "templates" / "jobs.yaml").write_text(text, encoding="utf-8")
    assert job(**BOTH) == applied  # on the Job itself: its metadata may change


def test_archfit_last_names_the_jobs_of_the_plugins_run(helms, chart, tmp_path):
    helm = helms("helm4")
    helm.template(chart, XDG_STATE_HOME=str(tmp_path), **AMD64).ok()
    last = program.archfit(b"", "last", **{**os.environ, "XDG_STATE_HOME": str(tmp_path)}).ok().decode()
    (line,) = [line for line in last.splitlines() if "the API server may refuse" in line]
    assert "the API server may refuse the change of 2 objects: batch/v1/Job/" in line
    assert "kubectl delete -n NAMESPACE job/" in line
    assert "Job/hook" not in line


def test_a_plugin_that_cannot_start_leaves_the_report_before_with_its_time(helms, chart, tmp_path):
    """What `archfit last` shows then is another run: its first line says when that was."""
    helm = helms("helm4")
    state = {"XDG_STATE_HOME": str(tmp_path)}
    helm.template(chart, **AMD64, **state).ok()
    report = (tmp_path / "archfit" / "last.json").read_bytes()
    gone = tmp_path / "plugins"
    shutil.copytree(helm.folder / "plugins", gone)
    launcher = gone / "archfit" / "archfit"
    text = launcher.read_text(encoding="utf-8")
    launcher.write_text(text.replace("exec ", "exec /nowhere"), encoding="utf-8")
    failed = helm.template(chart, HELM_PLUGINS=str(gone), **AMD64, **state)
    assert failed.status != 0
    assert (tmp_path / "archfit" / "last.json").read_bytes() == report
    first = program.archfit(b"", "last", **{**os.environ, **state}).ok().decode().splitlines()[0]
    assert first.startswith(f"archfit transform at {json.loads(report)['time']} (")
