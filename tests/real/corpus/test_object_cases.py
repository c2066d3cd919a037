"""What may change once it is applied, and where annotations count: streams that archfit once got wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.real.corpus.placement_cases import PLATFORMS, Case, case, described

if TYPE_CHECKING:
    from corpus_streams import Oracle

HOOK_JOB = b"""\
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {ANNOTATION}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: r/both}]}}}
"""
HOOKS = {
    "helm": b"helm.sh/hook: pre-upgrade",
    "argo": b"argocd.argoproj.io/hook: PreSync",
    "argo-replaced": b"argocd.argoproj.io/sync-options: 'Force=true,Replace=true'",
}
TOLERATING = ["Job spec.template.spec: amd64 arm64 tolerates arm64"]


def test_a_misspelt_annotation_of_a_job_template_is_an_error() -> None:
    ran = case("cronjob-jobtemplate-annotation").ran()
    assert (ran.status, ran.stdout) == (1, b"")
    assert next(line for line in ran.stderr.splitlines() if "error: " in line) == (
        'archfit: error: batch/v1/CronJob/jt spec.jobTemplate.metadata.annotations["archfit.dev/skpi"]: '
        "there is no annotation archfit.dev/skpi; did you mean archfit.dev/skip? (document 1, line 6)"
    )


def test_an_annotation_of_a_job_template_counts() -> None:
    stream = case("cronjob-jobtemplate-annotation").stream.replace(b', archfit.dev/skpi: "true"', b"")
    ran = case("cronjob-jobtemplate-annotation").ran(stream=stream)
    assert list(described(ran.ok())) == ["CronJob spec.jobTemplate.spec.template.spec: amd64"]


def test_a_job_with_a_generated_name_is_made_anew(oracle: Oracle) -> None:
    ran = case("job-generatename").ran()
    assert case("job-generatename").placed() == TOLERATING
    assert "1 Job changes, which is made anew each time" in ran.stderr
    assert "cannot be updated" not in ran.stderr
    assert oracle(case("job-generatename").stream, ran.ok(), platforms=PLATFORMS).violations == []


def test_a_job_with_a_name_is_left_as_it_is() -> None:
    stream = case("job-generatename").stream.replace(b"generateName: g-", b"name: g")
    assert case("job-generatename").ran(stream=stream).ok() == stream


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(
    ("words", "placed"),
    [
        pytest.param((), [], id="a-plain-stream-changes-nothing"),
        pytest.param(("--hooks=immutable",), [], id="nor-where-it-is-said"),
        pytest.param(("--hooks=recreated",), TOLERATING, id="made-anew"),
    ],
)
def test_a_hook_job_changes_only_where_something_makes_it_anew(
    hook: str, words: tuple[str, ...], placed: list[str], oracle: Oracle
) -> None:
    stream = HOOK_JOB.replace(b"ANNOTATION", HOOKS[hook])
    ran = Case("hook-job", ()).ran(*words, stream=stream)
    if placed:
        assert list(described(ran.ok())) == placed
        assert "1 Job changes, which is made anew each time" in ran.stderr
    else:
        assert ran.ok() == stream
    policy = {"hooks": "recreated" if placed else "immutable"}
    assert oracle(stream, ran.ok(), platforms=PLATFORMS, policy=policy).violations == []


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_job_that_runs_on_one_architecture_is_always_narrowed(hook: str) -> None:
    """It cannot run without; what a plain stream says of it is how to go on."""
    stream = HOOK_JOB.replace(b"ANNOTATION", HOOKS[hook]).replace(b"r/both", b"r/amd")
    for words, said in ((), True), (("--hooks=recreated",), False):
        ran = Case("hook-job", ()).ran(*words, stream=stream)
        assert list(described(ran.ok())) == ["Job spec.template.spec: amd64"]
        assert ("kubectl delete -n NAMESPACE job/migrate" in ran.stderr) is said


@pytest.mark.parametrize(("hooks", "status"), [("immutable", 0), ("recreated", 3)])
def test_check_asks_as_the_door_does(hooks: str, status: int) -> None:
    """What a plain stream leaves as it is, a check for Helm 4 or Argo CD would have changed."""
    from program import archfit

    stream = HOOK_JOB.replace(b"ANNOTATION", HOOKS["helm"])
    words = ("--no-cache", "--offline", "--image-platforms=*/r/both=linux/amd64,linux/arm64")
    assert archfit(stream, "check", *words, f"--hooks={hooks}").status == status
