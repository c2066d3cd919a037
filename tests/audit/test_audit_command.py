"""`archfit audit`: what it reads, what it writes, and how it ends."""

import json
import re
import socket
from pathlib import Path

import pytest
from tests.audit.cluster_objects import as_json as listed
from tests.audit.cluster_objects import bare_pod as pod
from tests.audit.cluster_objects import node, workload
from tests.audit.cluster_objects import pod as owned

from archfit.audit.command import audit as run
from archfit.audit.inputs import GET
from fake_registry import Answer, FakeRegistry
from program import Ran, called

CLUSTER = listed(pod("a", "quay.io/team/both:1", "3"), pod("b", "quay.io/team/intel:1"))
READY = listed(pod("a", "quay.io/team/both:1"))
LOST = listed(pod("a", "quay.io/team/intel:1"))
UNKNOWN = listed(pod("a", "quay.io/team/private:1"))
PARTLY = listed(pod("a", "quay.io/team/both:1", "3"), pod("b", "quay.io/team/private:1"))
INTEL = "quay.io/team/intel:1"
DAEMON = listed(pod("a", "quay.io/team/both:1"), workload("DaemonSet", "agent", image=INTEL))
ONLY_DAEMON = listed(workload("DaemonSet", "agent", image=INTEL))
OTHER = listed(pod("b", "quay.io/team/both:1"))
ASLEEP = listed(
    pod("a", "quay.io/team/both:1"),
    workload("CronJob", "tick", image=INTEL),
    workload("StatefulSet", "db", replicas=0, image=INTEL),
    workload("Deployment", "web", image=INTEL),
    workload("ReplicaSet", "api-1", owner=("Deployment", "api"), replicas=0, image=INTEL),
)
ROLLING = listed(
    owned("web-1", owner=("StatefulSet", "web"), image=INTEL),
    owned("web-2", owner=("StatefulSet", "web"), image=INTEL, phase="Pending"),
)
_FAILS = {"name": "app", "state": {"waiting": {"message": "exec ./app: exec format error"}}}
FAILING = listed(
    node("n", "arm64"),
    pod("a", "quay.io/team/both:1", nodeName="n")
    | {"status": {"phase": "Running", "containerStatuses": [_FAILS]}},
)


def test_private_servers_that_pods_name_are_not_asked_and_named_once(tmp_path, monkeypatch):
    """Tenants choose the images of a cluster, and so must not choose which private servers are asked."""
    there = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.1.2.3", 443))]
    monkeypatch.setattr("archfit.registry.http.connections._resolve", lambda *_, **__: there)
    images = ("a.example:6443/a:1", "b.example/b:1", "b.example/c:1")
    pods = listed(*(pod(f"p{number}", image) for number, image in enumerate(images)))
    ran = called(run, ["--no-cache", "--format", "json"], pods, {"HOME": str(tmp_path)})
    assert ran.stderr.count("--allow-host a.example:6443 --allow-host b.example:443") == 1
    assert "no server at a private address is asked that only images name" in ran.stderr
    assert ran.stdout.count(b"and archfit does not connect to it") == len(images)


def test_the_text_begins_with_what_is_ready(audit):
    ran = audit(CLUSTER)
    assert ran.status == 0, ran.stderr
    assert "75 % ready" in ran.stdout.decode()
    assert ran.stderr.endswith("archfit: 2 workloads, 2 pods, 2 images, 0 registry requests\n")


def test_the_last_line_counts_a_workload_once(audit):
    assert audit(ROLLING).stderr.endswith("archfit: 1 workload, 2 pods, 1 image, 0 registry requests\n")


def test_what_is_ready_for_each_architecture_stands_before_prices(audit):
    """The first screen is cut from below: no arithmetic takes the place of an answer that was asked for."""
    cluster = listed(
        node("n", "amd64"), node("m", "arm64"), pod("a", "quay.io/team/both:1", "3", nodeName="n")
    )
    prices = (f"--price={name}=0.0{number}" for number, name in enumerate(("arm64", "amd64"), 3))
    text = audit(cluster, "--require", "arm64,amd64", *prices).stdout.decode()
    assert text.index("\narm64 ") < text.index("\namd64 ") < text.index("\nReady now, ")


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("report.html", "html"),
        ("REPORT.HTM", "html"),
        ("report.json", "json"),
        ("report.csv", "csv"),
        ("report.md", "markdown"),
        ("report.markdown", "markdown"),
        ("report.txt", "text"),
        ("archfit.prom", "openmetrics"),
        ("report.d/report", "text"),
        ("report.1", "text"),
    ],
)
def test_the_name_of_the_report_chooses_its_format(audit, tmp_path, name, form):
    """What stood in a file of that name is replaced."""
    (tmp_path / "report.d").mkdir()
    (tmp_path / name).write_text("old")
    ran = audit(CLUSTER, "-o", name)
    assert ran.status == 0, ran.stderr
    assert (tmp_path / name).read_bytes() == audit(CLUSTER, "--format", form).ok()
    assert "--output" not in ran.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(
            [],
            "IMAGE                 RUNS ON      LACKS  NOT KNOWN\n"
            "quay.io/team/both:1   arm64 amd64  -      -\n"
            "quay.io/team/gone:1   -            -      arm64 amd64\n"
            "quay.io/team/intel:1  amd64        arm64  -\n",
            id="text",
        ),
        pytest.param(
            ["--format", "csv", "--require", "arm64"],
            "image,runs,lacks,notKnown\r\nquay.io/team/both:1,arm64,,\r\n"
            "quay.io/team/gone:1,,,arm64\r\nquay.io/team/intel:1,,arm64,\r\n",
            id="csv",
        ),
    ],
)
def test_one_line_an_image(audit, words, expected):
    images = [pod(name, f"quay.io/team/{name}:1") for name in ("both", "intel", "gone")]
    assert audit(listed(*images), "--images", *words).stdout.decode() == expected
    told = json.loads(audit(listed(*images), "--images", "--format", "json").stdout)
    assert told["images"][0] == {
        "image": "quay.io/team/both:1",
        "runs": ["arm64", "amd64"],
        "lacks": [],
        "notKnown": [],
    }
    assert (
        "--images: is written as text, csv, json, not as html"
        in audit(CLUSTER, "--images", "-o", "a.html").stderr
    )


def test_a_format_that_the_name_contradicts_wins_and_is_said(audit, tmp_path):
    ran = audit(CLUSTER, "-o", "report.html", "--format", "csv")
    assert ran.status == 0
    assert (tmp_path / "report.html").read_bytes() == audit(CLUSTER, "--format", "csv").ok()
    assert "--output: 'report.html' ends in .html, but --format says csv, so it is csv" in ran.stderr


def test_all_tables_are_in_the_text_where_they_are_asked_for(audit):
    assert "\nWORKLOADS\n" in audit(CLUSTER, "--all").ok().decode()
    assert "\nWORKLOADS\n" not in audit(CLUSTER).ok().decode()


def test_a_report_replaces_no_input(audit, tmp_path):
    (tmp_path / "pods.json").write_bytes(CLUSTER)
    (tmp_path / "link").symlink_to("pods.json")
    ran = audit(b"", "pods.json", "-o", "link")
    assert (ran.status, ran.stdout) == (2, b"")
    assert "--output: 'link' is an input or the output: name another file" in ran.stderr
    assert (tmp_path / "pods.json").read_bytes() == CLUSTER


def test_files_and_standard_input_are_read_together(audit, tmp_path):
    (tmp_path / "a.json").write_bytes(listed(pod("a", "quay.io/team/both:1", "3")))
    apart = audit(listed(pod("b", "quay.io/team/intel:1")), "--format", "json", "a.json", "-").ok()
    together = audit(CLUSTER, "--format", "json").ok()
    assert json.loads(apart)["findings"]["readiness"] == json.loads(together)["findings"]["readiness"]


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        pytest.param(CLUSTER, ("--require", "arm64"), 3, "arm64: 1 workload cannot run there (shop/Pod/b)", id="blocked"),
        pytest.param(READY, ("--require", "arm64"), 0, "", id="all ready"),
        pytest.param(CLUSTER, ("--require", "amd64"), 0, "", id="ready for the other one"),
        pytest.param(UNKNOWN, ("--require", "arm64"), 3, "1 workload not known to run there", id="an image is not known"),
        pytest.param(UNKNOWN, ("--require", "arm64", "--allow-unknown"), 0, "", id="what is not known may pass"),
        pytest.param(UNKNOWN, (), 0, "", id="an image that is not known fails nothing by itself"),
        pytest.param(CLUSTER, ("--min-ready", "80%"), 3, "75 % is ready for arm64, not 80 %", id="too little"),
        pytest.param(CLUSTER, ("--min-ready", "75"), 0, "", id="enough"),
        pytest.param(PARTLY, ("--min-ready", "80%"), 3, "75 % is ready for arm64 (25 % is not known), not 80 %", id="what is not known is not ready"),
        pytest.param(PARTLY, ("--min-ready", "100%", "--allow-unknown"), 0, "", id="all that is known is ready"),
        pytest.param(CLUSTER, ("--min-ready", "100%", "--require", "amd64"), 0, "", id="of what is required"),
        pytest.param(ONLY_DAEMON, ("--min-ready", "80%"), 3, "--min-ready: no workload could move, so there is no share that is ready for arm64, not 80 %", id="no share of nothing"),
        pytest.param(ONLY_DAEMON, ("--min-ready", "0"), 0, "", id="no share is asked for"),
        pytest.param(
            UNKNOWN, ("--min-ready", "80%", "--allow-unknown"), 3,
            "--min-ready: no workload that could move is known, so there is no share that is ready for arm64",
            id="no share of what is not known",
        ),
        pytest.param(DAEMON, ("--require", "arm64"), 3, "1 workload cannot run there (shop/DaemonSet/agent)", id="a DaemonSet"),
        pytest.param(ASLEEP, ("--require", "arm64"), 3, "3 workloads cannot run there (shop/CronJob/tick,", id="without pods"),
        pytest.param(ROLLING, ("--require", "arm64"), 3, "1 workload cannot run there (shop/StatefulSet/web)", id="pods in two phases"),
        pytest.param(FAILING, ("--require", "arm64"), 3, "1 workload cannot run there", id="a pod fails there"),
    ],
)  # fmt: skip
def test_the_exit_code_says_whether_what_was_asked_for_holds(audit, text, words, status, said):
    ran = audit(text, *words)
    assert (ran.status, bool(ran.stdout)) == (status, True), ran.stderr
    assert said in ran.stderr


@pytest.mark.parametrize(
    ("before", "now", "status", "said"),
    [
        pytest.param(READY, LOST, 3, "1 workload that ran on arm64 does not run there now", id="an image lost arm64"),
        pytest.param(LOST, READY, 0, "", id="an image gained arm64"),
        pytest.param(READY, READY, 0, "", id="nothing changed"),
        pytest.param(UNKNOWN, READY, 0, "", id="ready now is no regression"),
        pytest.param(READY, OTHER, 3, "--fail-on-regression: no workload is in both audits, so nothing was compared for arm64", id="nothing in common"),
        pytest.param(READY, UNKNOWN, 3, "of no workload is it known in both audits whether it runs on arm64", id="no longer known"),
        pytest.param(UNKNOWN, LOST, 3, "of no workload is it known in both audits whether it runs on arm64", id="not known before"),
    ],
)  # fmt: skip
def test_a_regression_is_told_and_fails_where_asked(audit, tmp_path, before, now, status, said):
    (tmp_path / "old.json").write_bytes(audit(before, "--format", "json").ok())
    assert audit(now, "--compare", "old.json").status == 0
    ran = audit(now, "--compare", "old.json", "--fail-on-regression")
    assert (ran.status, bool(ran.stdout)) == (status, True)
    assert said in ran.stderr


def test_kinds_whose_pods_nobody_can_count_are_named(audit):
    """An audit that leaves pods out says so."""
    kinds = ("Battery", "Crane", "Crane", "Dam")
    more = [
        {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "x"}, "spec": {}}
        for kind in kinds
    ]
    ran = audit(listed(pod("a", "quay.io/team/both:1"), *more))
    assert (
        "does not know where these kinds hold pods: Battery (1), Crane (2), Dam (1); describe them"
        in ran.stderr
    )
    assert ran.status == 0


@pytest.mark.parametrize(
    ("variable", "value", "shard"),
    [("JOB_COMPLETION_INDEX", "1", [1, 2]), ("CI_NODE_INDEX", "1", [0, 2])],
    ids=["an Indexed Job counts from 0", "GitLab counts from 1"],
)
def test_the_shard_is_what_the_engine_says(audit, variable, value, shard):
    ran = audit(CLUSTER, "--shards", "2", "--format", "json", **{variable: value})
    facts = json.loads(ran.ok())["facts"]
    snapshot = facts["snapshots"][0]["id"]
    assert facts["shards"] == [{"snapshot": snapshot, "index": shard[0], "number": shard[1]}]


@pytest.mark.parametrize(
    ("text", "words", "status", "said"),
    [
        pytest.param(b"", (), 2, "there are no pods in the input: pass kubectl get", id="nothing"),
        pytest.param(listed({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}), (), 2, "there are no pods in the input, but 1 ConfigMap", id="no pods"),
        pytest.param(
            b"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: w}\nspec: {interval: 1m}\n", (), 2,
            f"but 1 HelmRelease: pass {GET}. HelmRelease: Flux renders its chart in the cluster: archfit patch", id="what another renders",
        ),
        pytest.param(CLUSTER[:-72], (), 1, "standard input ends in the middle of its JSON", id="cut off"),
        pytest.param(CLUSTER, ("missing.json",), 2, "cannot read 'missing.json'", id="no such file"),
        pytest.param(CLUSTER, ("-", "-"), 2, "name it once", id="standard input twice"),
        pytest.param(CLUSTER, ("-", "/dev/stdin"), 2, "name it once", id="standard input twice by its device"),
        pytest.param(CLUSTER, ("--merge", "missing.json"), 2, "cannot read 'missing.json'", id="no such report"),
        pytest.param(CLUSTER, ("--live", "a.json"), 2, "files and --live are two inputs", id="two inputs"),
        pytest.param(CLUSTER, ("--context", "x"), 2, "--context: says which cluster --live reads", id="not live"),
        pytest.param(CLUSTER, ("--fail-on-regression",), 2, "Add --compare REPORT", id="a regression since when"),
        pytest.param(CLUSTER, ("--compare", "no.json"), 2, "cannot read 'no.json'", id="no report to compare"),
        pytest.param(CLUSTER, ("--shard", "1"), 2, "add --shards N", id="a shard of what"),
        pytest.param(CLUSTER, ("--shards", "2"), 2, "which shard is this? Add --shard I", id="which shard"),
        pytest.param(CLUSTER, ("--shards", "2", "--shard", "2"), 2, "shard 2 is not one of 2", id="too large"),
        pytest.param(CLUSTER, ("--shards", "0", "--shard", "0"), 2, "is not between 1 and", id="no shards"),
        pytest.param(CLUSTER, ("--shards", "x", "--shard", "0"), 2, "'x' is not a number", id="no number"),
        pytest.param(CLUSTER, ("--min-ready", "a lot"), 2, "write it as 80%", id="no share"),
        pytest.param(CLUSTER, ("--min-ready", "0.8"), 2, "'0.8' may be a share of 1 or of 100: write 80% or 0.8%", id="a fraction"),
        pytest.param(CLUSTER, ("--min-ready", "1"), 2, "'1' may be a share of 1 or of 100: write 100% or 1%", id="all or one percent"),
        pytest.param(CLUSTER, ("--min-ready", "1.0"), 2, "write 100% or 1%", id="all or one percent with a point"),
        pytest.param(CLUSTER, ("--min-ready", "101%"), 2, "write it as 80%", id="more than all"),
        pytest.param(CLUSTER, ("--assume-cpu", "much"), 2, "write it as 100m", id="no quantity"),
        pytest.param(CLUSTER, ("--require", "arm65"), 2, "--require: ", id="not a label"),
        pytest.param(CLUSTER, ("--prices", "missing.csv"), 2, "cannot read 'missing.csv'", id="no price list"),
        pytest.param(CLUSTER, ("--format", "pdf"), 2, "--format: 'pdf' is not one of text, json, csv", id="no such form"),
        pytest.param(CLUSTER, ("--all", "--format", "csv"), 2, "--all: adds the tables to the text; csv has everything without it: leave it out", id="all"),
        pytest.param(CLUSTER, ("--allow-unknown",), 2, "--allow-unknown: of what? Add --require ARCH or --min-ready SHARE", id="unknown of what"),
        pytest.param(CLUSTER, ("--cluster", ""), 2, "--cluster: '' is no name", id="an empty name"),
        pytest.param(CLUSTER, ("--cluster", " a"), 2, "--cluster: ' a' is no name", id="a blank before a name"),
        pytest.param(CLUSTER, ("--cluster", "a\nb"), 2, r"--cluster: 'a\nb' is no name", id="a name of two lines"),
        pytest.param(CLUSTER, ("--cluster", "\u202eue"), 2, "is no name: write 1 to 120 printable", id="a name turned round"),
        pytest.param(CLUSTER, ("--cluster", "x" * 121), 2, "is no name: write 1 to 120 printable", id="a name too long"),
        pytest.param(CLUSTER, ("--merge", "a.json", "--cluster", "x"), 2, "state it when each of them is made", id="a name for a merge"),
        pytest.param(CLUSTER, ("--live", "--shards", "2"), 2, "each shard would read the cluster at another moment. Read it once: archfit audit --live --offline", id="shards of what runs"),
        pytest.param(CLUSTER, ("--by", "team"), 2, "--by: 'team' is no way to group: write namespace, label=KEY", id="by a word"),
        pytest.param(CLUSTER, ("--by", "label="), 2, "--by: 'label=' is no way to group", id="by no key"),
        pytest.param(CLUSTER, ("--by", "label=taem"), 2, "--by label=taem: no pod has the label 'taem': correct it; kubectl get pods -A --show-labels shows them", id="a label that no pod has"),
        pytest.param(CLUSTER, ("--by", "annotation=x"), 2, "no pod has the annotation 'x'", id="an annotation that no pod has"),
        pytest.param(CLUSTER, ("--currency", "EUR"), 2, "--currency: of what? Add --price", id="a currency without a price"),
        pytest.param(CLUSTER, ("--price", "amd64=0.05,arm64=0.04", "--currency", "a b"), 2, "'a b' is no currency: write a word", id="a currency of two words"),
        pytest.param(CLUSTER, ("--price", "amd64=0.05,arm64=0.04", "--currency", ""), 2, "'' is no currency: write a word", id="an empty currency"),
        pytest.param(CLUSTER, ("--newer-tags=0",), 2, "--newer-tags: 0 repositories would be asked", id="no newer tags"),
        pytest.param(CLUSTER, ("--newer-tags=-1",), 2, "--newer-tags: '-1' is not a number", id="newer tags: less than none"),
        pytest.param(CLUSTER, ("--newer-tags=many",), 2, "--newer-tags: 'many' is not a number", id="newer tags: a word"),
        pytest.param(CLUSTER, ("--newer-tags=",), 2, "--newer-tags: '' is not a number", id="newer tags: empty"),
        pytest.param(CLUSTER, ("--newer-tags=1e3",), 2, "--newer-tags: '1e3' is not a number", id="newer tags: an exponent"),
        pytest.param(CLUSTER, ("--newer-tags", "--merge", "a.json"), 2, "--newer-tags: --merge asks nothing", id="newer tags of a merge"),
        pytest.param(CLUSTER, ("--format", "rules", "--wave", "5"), 2, "--wave: '5' is not between 0 and 4", id="the wave that stays"),
        pytest.param(CLUSTER, ("--format", "rules", "--wave", "x"), 2, "--wave: 'x' is not a number", id="no number of a wave"),
        pytest.param(CLUSTER, ("--wave", "1", "--format", "text"), 2, "--wave: says whose rules are written", id="a wave of another format"),
        pytest.param(CLUSTER, ("--all", "--format", "rules"), 2, "--all: adds the tables to the text", id="all tables of rules"),
        pytest.param(CLUSTER, ("--logs", "a.json"), 2, "--logs: says what --live reads: add --live", id="logs without live"),
        pytest.param(CLUSTER, ("-o", "missing/report"), 1, "cannot write 'missing/report'", id="no such folder"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_message_and_no_output(audit, text, words, status, said):
    ran = audit(text, *words)
    assert (ran.status, ran.stdout) == (status, b"")
    assert said in ran.stderr


@pytest.mark.parametrize("text", ["now", "-1"])
def test_a_stated_time_that_is_no_number_is_refused(audit, text):
    ran = audit(CLUSTER, SOURCE_DATE_EPOCH=text)
    assert (ran.status, ran.stdout) == (2, b"")
    assert f"SOURCE_DATE_EPOCH: '{text}' is not a number" in ran.stderr


def refused(folder: Path, *words: str) -> Ran:
    """Two pods of one image, whose registry answers 403."""
    with FakeRegistry() as registry:
        registry.always(Answer(403))
        words = ("--no-cache", "--mirror", f"*={registry.url}", *words)
        return called(run, words, listed(pod("a", INTEL), pod("b", INTEL)), {"HOME": str(folder)})


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown", "html", "openmetrics"])
def test_where_no_registry_answers_the_report_says_so_and_the_run_fails(tmp_path, form):
    ran = refused(tmp_path, "--format", form)
    report = ran.stdout.decode()
    assert ran.status == 1
    assert "error: no image was answered, so nothing is known: 1 image not known:" in ran.stderr
    says = {
        "text": "not known",
        "json": '"share":"not known"',
        "csv": "Unknown",
        "markdown": "## It is not known what of",
        "html": '<span class="big">not known</span>',
        "openmetrics": 'ready_pods{cluster="standard input",architecture="arm64",namespace="shop",state="unknown"} 2\n',
    }
    assert says[form] in report
    assert not re.search(r"(?<!\d)0 % (is ready|ready|of)", report)


def test_what_nobody_was_asked_for_fails_nothing(audit, tmp_path):
    (tmp_path / "a.json").write_bytes(audit(UNKNOWN, "--format", "json").ok())
    assert b'"share":"not known"' in (tmp_path / "a.json").read_bytes()
    assert audit(b"", "--merge", "a.json").status == 0


def test_a_shard_without_an_answer_is_not_the_whole(tmp_path):
    ran = refused(tmp_path, "--shards", "1", "--shard", "0")
    assert (ran.status, b"not known" in ran.stdout) == (0, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(READY, True, id="all was asked for and runs"),
        pytest.param(DAEMON, False, id="a DaemonSet does not run"),
        pytest.param(ASLEEP, False, id="what sleeps does not run"),
    ],
)
def test_the_page_says_nothing_is_to_do_only_where_all_runs(audit, text, said):
    page = audit(text, "--format", "html").ok().decode()
    assert ("Nothing: each image of what runs or will run was looked up" in page) is said
    assert said or "No workload that could move waits for an image." in page or "Work list for" in page


def test_namespaces_that_are_summed_are_said(audit, monkeypatch):
    other = pod("c", "quay.io/team/both:1")
    other["metadata"]["namespace"] = "data"
    text = listed(pod("a", "quay.io/team/both:1", "3"), other)
    assert "openmetrics" not in audit(text, "--format", "openmetrics").stderr
    monkeypatch.setattr("archfit.audit.report.openmetrics.MOST_NAMESPACES", 1)
    ran = audit(text, "--format", "openmetrics")
    assert ran.status == 0
    assert (
        "warning: --format openmetrics: the 1 largest namespaces have series of their own; 1 namespace"
        in ran.stderr
    )
