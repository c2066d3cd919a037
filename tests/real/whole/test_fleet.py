"""The audits that the chart installs, as they run: real controllers, and a stand-in for the kubelet that runs the pods.

The turns that take minutes are in the part `fleet` of `make -C lab whole` (lab/whole/fleet).
"""

import pytest

from chart_runs import CHART, Chart
from container_process import require
from whole.fleet import turns
from whole.fleet.refusals import REFUSALS, refused
from whole.fleet.site import IMAGE, NAMESPACE, NIGHTLY, FleetSite
from whole.fleet.turns import Turn, shop


@pytest.fixture(scope="module")
def site(real, tmp_path_factory):
    require(tmp_path_factory.mktemp("container"))
    with FleetSite(tmp_path_factory.mktemp("fleet"), shop(16)) as running:
        yield running


@pytest.fixture(scope="module")
def out(site):
    """The Jobs for eight shards."""
    return turns.written(site)


@pytest.fixture
def turn(site, out):
    """With a snapshot of now."""
    made = Turn(site, out)
    made.snapshot()
    return made


def test_shards_that_were_killed_and_evicted_run_again_and_nothing_is_missing(turn):
    first, second = turn.busy(2)
    measured = turn.shards(turn.moment(first, turn.kill), turn.moment(second, turn.evict))
    turn.merged(asked_alike=False)
    assert turn.wrong == []
    assert (measured["indexes"], measured["failed"]) == ("0-7", 1)  # an eviction is no failure


def test_eight_shards_ask_as_often_as_one_audit(turn):
    turns.quiet(turn)
    assert turn.wrong == []


def test_a_wrong_configuration_ends_the_job_at_once(turn):
    measured = turns.wrong_usage(turn)
    assert turn.wrong == []
    assert measured["indexes"] == ""


def test_a_snapshot_that_is_refused_leaves_the_volume_as_it_was(turn):
    _measured, wrong = refused(turn.site, turn.out, REFUSALS["the API server says 403"])
    assert wrong == []


def test_one_helm_command_runs_the_three_jobs_and_waits_for_the_report(turn):
    site = turn.site
    repository, _, tag = IMAGE.rpartition(":")
    values = "mode=audit,audit.job.enabled=true,audit.job.shards=2,audit.claim=archfit-audit"
    words = ("--set", f"{values},image.repository={repository},image.tag={tag}", "--timeout", "10m")
    settings = ("--set-file", f"configuration={site.folder}/archfit.yaml")
    access = {"KUBECONFIG": str(site.plane.kubeconfig)}
    chart = Chart("helm4")
    place = ("parts", str(CHART), "--namespace", NAMESPACE)
    notes = chart.run("install", *place, *words, *settings, **access).ok().decode()
    assert "kubectl -n archfit logs job/parts-archfit-audit-merge" in notes
    said = site.plane.kubectl("logs", "-n", NAMESPACE, "job/parts-archfit-audit-merge").stdout
    assert "ready" in said
    assert len(site.report("report.json")["facts"]["shards"]) == 2


def test_the_nightly_audit_writes_its_files_each_time(site):
    """By the command that the chart prints, twice; the schedule itself is in `make -C lab whole`."""
    site.write("cron")
    for job in ("first", "second"):
        site.plane.kubectl("create", "job", "-n", NAMESPACE, f"--from=cronjob/{NIGHTLY}", job)
        assert site.ended(job) == "Complete"
    said = site.plane.kubectl("logs", "-n", NAMESPACE, "job/second").stdout
    assert "ready" in said
    assert {path.name for path in site.audit.iterdir()} == {"report.json", "report.html", "archfit.prom"}
