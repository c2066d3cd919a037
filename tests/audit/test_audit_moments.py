"""`archfit audit` of clusters at moments: names, dates, and what may be merged and compared."""

import csv
import io
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.audit.cluster_objects import CREATED
from tests.audit.cluster_objects import as_json as listed
from tests.audit.cluster_objects import bare_pod as pod
from tests.audit.cluster_objects import node as plain_node

from program import Ran

Audit = Callable[..., Ran]

BOTH, INTEL = "quay.io/team/both:1", "quay.io/team/intel:1"
HEARTBEAT = "2026-11-22T03:14:15Z"
EPOCH = {"SOURCE_DATE_EPOCH": "1795401600"}
STATED = "2026-11-23T02:40:00Z"


def node(name: str, uid: str, architecture: str = "amd64") -> dict[str, Any]:
    value = plain_node(name, architecture)
    value["metadata"]["uid"] = uid
    value["status"]["conditions"][1]["lastHeartbeatTime"] = HEARTBEAT
    return value


def kube_system(uid: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}}


@pytest.fixture
def report(audit, tmp_path):
    """`report("a.json", objects, "--cluster", "x")` writes a report; its name."""

    def made(name: str, objects: tuple[dict[str, Any], ...], *words: str, **environ: str) -> str:
        (tmp_path / name).write_bytes(audit(listed(*objects), "--format", "json", *words, **environ).ok())
        return name

    return made


def cluster_of(ran: Ran) -> dict[str, Any]:
    (cluster,) = json.loads(ran.ok())["findings"]["clusters"]
    return dict(cluster)


@pytest.mark.parametrize(
    ("objects", "environ", "date", "date_by", "said"),
    [
        pytest.param((pod("a", BOTH),), {}, CREATED, "input", "read 2026-11-20 08:00 UTC or later", id="a pod's start"),
        pytest.param((pod("a", BOTH), node("n", "1")), {}, HEARTBEAT, "input", "read 2026-11-22 03:14 UTC or later", id="a heartbeat"),
        pytest.param((pod("a", BOTH),), EPOCH, STATED, "stated", "read 2026-11-23 02:40 UTC", id="stated"),
        pytest.param(({k: v for k, v in pod("a", BOTH).items() if k != "status"} | {"metadata": {"name": "a"}},), {}, "", "", "date not known", id="a manifest has none"),
        pytest.param((pod("a", BOTH) | {"metadata": {"name": "a", "uid": "a", "creationTimestamp": "9999-99-99T99:99:99Z"}},), {}, "", "", "date not known", id="no day of any year"),
    ],
)  # fmt: skip
def test_a_report_says_of_when_it_is(audit, objects, environ, date, date_by, said):
    found = cluster_of(audit(listed(*objects), "--format", "json", **environ))
    assert (found["date"], found["dateBy"]) == (date, date_by)
    for form in ("text", "markdown", "html"):
        report = audit(listed(*objects), "--format", form, **environ).ok().decode()
        assert said in report.replace("&#95;", "_")


def test_every_format_names_the_cluster_its_date_and_its_architectures(audit):
    objects = listed(pod("a", BOTH), node("n", "1"), node("m", "2", "arm64"))
    words = ("--cluster", "prod-eu")
    for form in ("text", "markdown", "html"):
        text = audit(objects, *words, "--format", form, **EPOCH).ok().decode()
        for word in ("prod-eu", "amd64, arm64", "2026-11-23 02:40 UTC"):
            assert word in text, (form, word)
    (row,) = csv.DictReader(io.StringIO(audit(objects, *words, "--format", "csv", **EPOCH).ok().decode()))
    assert (row["cluster"], row["date"], row["cluster_architectures"]) == ("prod-eu", STATED, "amd64 arm64")
    found = cluster_of(audit(objects, *words, "--format", "json", **EPOCH))
    assert (found["name"], found["architectures"]) == ("prod-eu", ["amd64", "arm64"])


@pytest.mark.parametrize("name", ["=cmd()", "<b>prod</b>", "münchen/1", "[a](b)"])
def test_an_odd_name_is_text_in_every_format(audit, name):
    assert cluster_of(audit(listed(pod("a", BOTH)), "--cluster", name, "--format", "json"))["name"] == name
    page = audit(listed(pod("a", BOTH)), "--cluster", name, "--format", "html").ok().decode()
    assert "<b>prod" not in page
    table = audit(listed(pod("a", BOTH)), "--cluster", name, "--format", "csv").ok().decode()
    assert not [cell for row in csv.reader(io.StringIO(table)) for cell in row if cell.startswith("=")]


_A = pod("a", BOTH)
YESTERDAY, TODAY = (pod("a", BOTH), pod("gone", BOTH)), (pod("a", BOTH), pod("new", BOTH))
MOMENTS = [
    pytest.param((kube_system("k"),), (kube_system("k"),), (), (), True, id="one kube-system"),
    pytest.param((node("n", "1"),), (node("n", "1"),), (), (), True, id="one node"),
    pytest.param((), (), ("--cluster", "eu"), ("--cluster", "eu"), True, id="one stated name"),
    pytest.param((kube_system("k"),), (kube_system("l"),), (), (), False, id="two kube-systems"),
    pytest.param((kube_system("k"),), (kube_system("l"),), ("--cluster", "eu"), ("--cluster", "eu"), False, id="two clusters of one name"),
    pytest.param((node("n", "1"),), (node("n", "2"),), (), (), False, id="two nodes of one name"),
    pytest.param((), (), ("--cluster", "eu"), ("--cluster", "us"), False, id="two stated names"),
    pytest.param((), (), (), (), False, id="nobody knows"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "later", "words", "others", "same"), MOMENTS)
def test_two_moments_of_one_cluster_are_not_merged(audit, report, more, later, words, others, same):
    files = [
        report("old.json", (*YESTERDAY, *more), *words),
        report("new.json", (*TODAY, *later), *others, **EPOCH),
    ]
    ran = audit(b"", "--format", "json", "--merge", *files)
    if not same:
        assert sum(one["pods"] for one in json.loads(ran.ok())["facts"]["workloads"]) == 4
        return
    assert (ran.status, ran.stdout) == (1, b"")
    assert "old.json (2026-11-2" in ran.stderr
    assert f"and new.json ({STATED}) are two moments of one cluster" in ran.stderr
    assert "archfit audit --merge new.json --compare old.json" in ran.stderr
    assert audit(b"", "--merge", "new.json", "--compare", "old.json").status == 0
    assert audit(b"", "--merge", "new.json", "new.json").status == 0


def test_reports_of_which_nobody_knows_the_cluster_are_named(audit, report):
    files = [report("old.json", YESTERDAY), report("new.json", TODAY)]
    assert "nothing says of which clusters these are: " in audit(b"", "--merge", *files).stderr
    stated = [report("a.json", YESTERDAY, "--cluster", "a"), report("b.json", TODAY, "--cluster", "b")]
    assert "nothing says" not in audit(b"", "--merge", *stated).stderr


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        pytest.param("snapshots", {"date": "yesterday"}, "a.json: facts.snapshots[0].date is no time, as 1970-01-01T00:00:00Z", id="a date that is none"),
        pytest.param("workloads", {"snapshot": "x"}, "a.json: facts.workloads[0].snapshot is 'x', which facts.snapshots lacks", id="a workload of no snapshot"),
        pytest.param("nodes", {"snapshot": "x"}, "facts.nodes[0].snapshot is 'x', which facts.snapshots lacks", id="a node of no snapshot"),
    ],
)  # fmt: skip
def test_a_report_that_somebody_changed_is_refused_with_the_place(
    audit, report, tmp_path, part, change, said
):
    value = json.loads((tmp_path / report("a.json", (_A, node("n", "1")))).read_bytes())
    value["facts"][part][0] |= change
    (tmp_path / "a.json").write_text(json.dumps(value))
    for words in (("--merge", "a.json"), ("a.json",)):
        ran = audit(b"", *words, "--format", "openmetrics")
        assert (ran.status, ran.stdout) == (1, b"")
        assert f"{said}: make it again with archfit audit --format json" in ran.stderr


def shards(
    audit: Audit, report: Any, tmp_path: Path, snapshot: str, objects: Any, **environ: str
) -> list[str]:
    report(snapshot, objects, **environ)
    names = []
    for index in range(3):
        names.append(f"{snapshot}-{index}.json")
        words = (snapshot, "--shards", "3", "--shard", str(index), "--format", "json")
        (tmp_path / names[-1]).write_bytes(audit(b"", *words).ok())
    return names


def test_shards_of_two_snapshots_are_not_merged(audit, report, tmp_path):
    old = shards(audit, report, tmp_path, "old", YESTERDAY)
    new = shards(audit, report, tmp_path, "new", TODAY, **EPOCH)
    ran = audit(b"", "--merge", old[0], *new[1:])
    assert (ran.status, ran.stdout) == (1, b"")
    assert (
        f"old-0.json ({CREATED}) and new-1.json and 1 more ({STATED}) are shards of different" in ran.stderr
    )
    assert audit(b"", "--merge", *new).status == 0


def test_a_missing_shard_is_said_in_the_report_and_fails_what_is_required(audit, report, tmp_path):
    names = shards(audit, report, tmp_path, "s", (pod("a", BOTH), pod("b", INTEL)))
    whole = audit(b"", "--merge", *names, "--require", "amd64")
    assert whole.status == 0, whole.stderr
    for missing in range(3):
        left = [name for place, name in enumerate(names) if place != missing]
        for form in ("text", "markdown", "html"):
            text = audit(b"", "--format", form, "--merge", *left).ok().decode()
            assert f"not known: {missing} of 3" in " ".join(text.split())
    assert audit(b"", "--require", "amd64", "--merge", names[0]).status in (1, 3)


@pytest.mark.parametrize(
    ("before", "now", "status", "said"),
    [
        pytest.param("k", "k", 3, "1 workload that ran on arm64", id="one cluster"),
        pytest.param("k", "l", 1, "--compare: old.json is of the cluster eu (uid k), and this audit is of eu (uid l)", id="two"),
    ],
)  # fmt: skip
def test_clusters_of_one_name_are_not_compared(audit, report, before, now, status, said):
    report("old.json", (pod("a", BOTH), kube_system(before)), "--cluster", "eu")
    current = listed(pod("a", INTEL), kube_system(now))
    ran = audit(current, "--cluster", "eu", "--compare", "old.json", "--fail-on-regression")
    assert ran.status == status
    assert said in ran.stderr


def test_audits_without_a_cluster_in_both_are_not_compared(audit, report):
    names = [
        report(f"{uid}.json", (pod("a", BOTH), kube_system(uid)), "--cluster", f"c{uid}")
        for uid in ("1", "2", "3")
    ]
    audit(b"", "--format", "json", "-o", "before.json", "--merge", *names[:2]).ok()
    ran = audit(b"", "--merge", names[2], "--compare", "before.json", "--fail-on-regression")
    assert (ran.status, ran.stdout) == (1, b"")
    assert (
        "before.json is of the cluster c1 (uid 1) and 1 more, and this audit is of c3 (uid 3)" in ran.stderr
    )


def test_a_regression_is_not_hidden_by_a_cluster_of_the_same_name(audit, report):
    """Two clusters of a fleet that are called the same: each is compared with itself."""
    one, two = (pod("a", BOTH), kube_system("1")), (pod("a", INTEL), kube_system("2"))
    report("1.json", one, "--cluster", "local")
    report("2.json", two, "--cluster", "local")
    report("3.json", (pod("a", INTEL), kube_system("1")), "--cluster", "local", **EPOCH)
    audit(b"", "--format", "json", "-o", "before.json", "--merge", "1.json", "2.json").ok()
    ran = audit(b"", "--merge", "3.json", "2.json", "--compare", "before.json", "--fail-on-regression")
    assert ran.status == 3
    assert "1 workload that ran on arm64 does not run there now" in ran.stderr
    gone = audit(b"", "--merge", "2.json", "--compare", "before.json").ok().decode()
    assert "local 1: in the audit before alone, so its workloads are gone." in gone


KUBECTL = """\
#!/bin/sh
cd {folder}
case "$*" in
  *current-context*) echo '{context}'; test -n '{context}' ;;
  'get namespaces'*) shift 2; echo "shop $*" ;;
  */namespaces/kube-system) /bin/cat kube-system || {{ echo 'Error from server (Forbidden): no' >&2; exit 1; }} ;;
  */apis) echo '{{"groups": []}}' ;;
  */api/v1/pods*)
    set -- page-*; /bin/mv "$1" now; /bin/cat now
    test -s now || {{ echo 'Error from server (Expired): too old' >&2; exit 1; }} ;;
  *) echo '{{"items": []}}' ;;
esac
"""


@pytest.fixture
def live(audit, tmp_path):
    """`live(*words, ..)` audits a cluster whose kubectl gives these pages of pods. A token None is a 410."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def audited(
        *words: str,
        context: str = "dev",
        uid: str = "k-1",
        pods: Any = ([_A],),
        tokens: Any = ("",),
        **environ: str,
    ) -> Ran:
        if uid:
            (folder / "kube-system").write_text(json.dumps(kube_system(uid)))
        for number, (items, token) in enumerate(zip(pods, tokens, strict=True)):
            page = json.dumps({"items": items, "metadata": {"continue": token}})
            (folder / f"page-{number}").write_text("" if token is None else page)
        (folder / "kubectl").write_text(KUBECTL.format(folder=folder, context=context))
        (folder / "kubectl").chmod(0o755)
        return audit(b"", "--live", *words, PATH=str(folder), **environ)

    return audited


@pytest.mark.parametrize(
    ("words", "context", "uid", "name", "by"),
    [
        pytest.param(("--cluster", "prod"), "dev", "k-1", "prod", "flag", id="stated"),
        pytest.param(
            ("--context", "staging"), "dev", "k-1", "staging", "context", id="the context that is named"
        ),
        pytest.param((), "dev", "k-1", "dev", "context", id="the context at hand"),
        pytest.param((), "", "k-1", "k-1", "uid", id="the uid of kube-system"),
    ],
)
def test_a_live_cluster_has_a_name(live, words, context, uid, name, by):
    ran = live("--format", "json", *words, context=context, uid=uid, **EPOCH)
    (snapshot,) = json.loads(ran.ok())["facts"]["snapshots"]
    assert (cluster_of(ran)["name"], snapshot["nameBy"], snapshot["uid"], snapshot["date"]) == (
        name,
        by,
        uid,
        STATED,
    )


def test_a_live_cluster_without_any_name_is_said(live):
    ran = live(context="", uid="")
    assert ran.status == 0, ran.stderr
    assert (
        "the cluster has no name, so no later report can be compared with this one: add --cluster"
        in ran.stderr
    )


@pytest.mark.parametrize(
    ("words", "there"),
    [
        pytest.param(("-n", "TYPO"), "the namespace 'TYPO'", id="a misspelt namespace"),
        pytest.param(("--context=a b",), "the cluster", id="all of them, elsewhere"),
    ],
)
def test_a_live_cluster_without_pods_says_where_it_looked_and_what_to_type(live, tmp_path, words, there):
    """The command asks the same cluster."""
    ran = live(*words, pods=([],))
    assert (ran.status, ran.stdout) == (2, b"")
    told = re.search(f"there are no pods in {there}: (.*) shows which there are", ran.stderr)
    typed = subprocess.check_output(["/bin/sh", "-c", told[1]], env={"PATH": f"{tmp_path}/bin"}, text=True)
    assert typed.split() == ["shop", *"".join(word for word in words if "context" in word).split()]


def test_a_live_report_is_of_now_and_the_same_at_a_stated_time(live):
    found = cluster_of(live("--format", "json"))
    assert found["dateBy"] == "read"
    assert found["date"] >= "2026"
    assert live("--format", "json", **EPOCH).ok() == live("--format", "json", **EPOCH).ok()


def test_pods_of_a_listing_that_ended_in_410_do_not_count(live):
    ran = live(
        "--format", "json",
        pods=([pod("a", BOTH), pod("deleted", BOTH)], [], [pod("a", BOTH), pod("b", BOTH)], [pod("c", BOTH)]), tokens=("t", None, "u", ""),
    )  # fmt: skip
    assert sorted(one["name"] for one in json.loads(ran.ok())["facts"]["workloads"]) == ["a", "b", "c"]


def labelled(name: str, image: str, **labels: str) -> dict[str, Any]:
    one = pod(name, image)
    return {**one, "metadata": {**one["metadata"], "labels": labels, "annotations": {"cost/centre": name}}}


TEAMS = (
    labelled("a", BOTH, team="web"),
    labelled("b", INTEL, team="web"),
    labelled("c", INTEL, team="search"),
    labelled("d", BOTH),
)


def shares(ran: Ran) -> dict[str, str]:
    return {one["name"]: one["readiness"][0]["share"] for one in json.loads(ran.ok())["findings"]["groups"]}


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("namespace", {"shop": "50 %"}),
        ("label=team", {"search": "0 %", "web": "50 %", "": "100 %"}),
        ("annotation=cost/centre", {"a": "100 %", "b": "0 %", "c": "0 %", "d": "100 %"}),
    ],
)
def test_readiness_stands_for_each_namespace_and_team(audit, by, wanted):
    assert shares(audit(listed(*TEAMS), "--format", "json", "--by", by)) == wanted
    for form in ("text", "markdown", "html"):
        text = audit(listed(*TEAMS), "--format", form, "--by", by).ok().decode().replace("&#61;", "=")
        assert by in text, form
    assert shares(audit(listed(*TEAMS), "--format", "json")) == {}


def test_the_teams_of_shards_and_merged_clusters_are_those_of_the_reports(audit, report):
    one = report("1.json", TEAMS, "--cluster", "eu", "--by", "label=team")
    two = report("2.json", (labelled("e", BOTH, team="web"),), "--cluster", "us", "--by", "label=team")
    ran = audit(b"", "--merge", one, two, "--by", "label=team", "--format", "json")
    assert shares(ran) == {"eu": "50 %", "us": "100 %", "search": "0 %", "web": "66.6 %", "": "100 %"}
    rows = list(csv.DictReader(io.StringIO(audit(b"", "--merge", one, two, "--format", "csv").ok().decode())))
    assert {row["name"]: row["label=team"] for row in rows}["c"] == "search"


def test_in_a_merge_each_team_has_its_readiness_in_each_cluster(audit, report):
    one = report("1.json", TEAMS, "--cluster", "eu", "--by", "label=team")
    two = report("2.json", (labelled("e", BOTH, team="web"),), "--cluster", "us", "--by", "label=team")
    words = ("--merge", one, two, "--by", "label=team", "--by", "namespace")
    groups = json.loads(audit(b"", *words, "--format", "json").ok())["findings"]["groups"]
    parts = {
        (group["by"], group["name"], part["cluster"]): part["readiness"][0]["share"]
        for group in groups
        for part in group["clusters"]
    }
    assert parts == {
        ("label=team", "web", "eu"): "50 %",
        ("label=team", "web", "us"): "100 %",
        ("label=team", "search", "eu"): "0 %",
        ("label=team", "", "eu"): "100 %",
        ("namespace", "shop", "eu"): "50 %",
        ("namespace", "shop", "us"): "100 %",
    }
    rows = csv.DictReader(io.StringIO(audit(b"", *words, "--format", "csv").ok().decode()))
    ready = {row["name"]: (row["label=team_ready_arm64"], row["namespace_ready_arm64"]) for row in rows}
    assert (ready["b"], ready["e"]) == (("50 %", "50 %"), ("100 %", "100 %"))
    assert "| label=team | web | us | 100 % |" in audit(
        b"", *words, "--format", "markdown"
    ).ok().decode().replace("&#61;", "=")
    assert "    in us: 100 % ready; 1 of 1 requested CPU" in audit(b"", *words, "--all").ok().decode()
    assert "    in us" not in audit(b"", *words).ok().decode()


def test_of_one_cluster_a_team_has_no_parts(audit):
    ran = audit(listed(*TEAMS), "--by", "label=team", "--format", "json")
    assert [group["clusters"] for group in json.loads(ran.ok())["findings"]["groups"]] == [[], [], []]
    assert (
        "| Cluster |" not in audit(listed(*TEAMS), "--by", "label=team", "--format", "markdown").ok().decode()
    )


def test_reports_that_do_not_hold_the_label_say_how_to_make_them(audit, report):
    ran = audit(b"", "--merge", report("1.json", TEAMS), "--by", "label=team")
    assert (ran.status, ran.stdout) == (2, b"")
    assert (
        "no workload of the reports has the label 'team': make each of them with --by label=team"
        in ran.stderr
    )


def test_an_image_of_the_work_list_names_who_uses_it(audit):
    many = [pod(f"p{number:02}", INTEL) for number in range(12)]
    (item,) = json.loads(audit(listed(*many), "--format", "json").ok())["findings"]["workLists"][0]["items"]
    assert item["owners"] == [f"shop/Pod/p{number:02}" for number in range(5)]
    assert item["ownerCount"] == 12
    for form, words in {
        "text": "look for a newer tag; shop/Pod/p00 and 11 more",
        "markdown": "shop/Pod/p00, shop/Pod/p01, shop/Pod/p02 and 9 more",
        "html": "shop/Pod/p03, shop/Pod/p04 and 7 more",
    }.items():
        assert words in audit(listed(*many), "--format", form).ok().decode()


PRICED = ("--price", "amd64=0.05,arm64=0.04")


def test_prices_are_in_the_currency_that_the_user_names(audit):
    objects = listed(pod("a", BOTH, nodeName="n"), node("n", "1"))
    for form in ("text", "markdown", "html", "json"):
        text = " ".join(audit(objects, *PRICED, "--currency", "EUR", "--format", form).ok().decode().split())
        assert "= 0.01 EUR per hour; x 730 hours = 7.30 EUR per month" in text, form
        plain = " ".join(audit(objects, *PRICED, "--format", form).ok().decode().split())
        assert "= 0.01 per hour; x 730 hours = 7.30 per month" in plain, form
    assert (
        "<b>7.30 EUR</b> per month"
        in audit(objects, *PRICED, "--currency", "EUR", "--format", "html").ok().decode()
    )
