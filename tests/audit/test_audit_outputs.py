"""An audit as text, JSON with its schema, CSV and Markdown: what is in it, and that names are only text."""

import csv
import io
import json

import jsonschema
import pytest
from markdown_it import MarkdownIt
from tests.audit import audit_clusters
from tests.audit.audit_clusters import BOTH

from archfit.audit.compare import compare
from archfit.audit.findings import findings
from archfit.audit.prices import parse_prices
from archfit.audit.report import csv as audit_csv
from archfit.audit.report import json as audit_json
from archfit.audit.report import markdown as audit_markdown
from archfit.audit.report import openmetrics as audit_openmetrics
from archfit.audit.report import page, tables
from archfit.audit.report import text as audit_text
from archfit.audit.report.json import schema
from archfit.facts.facts import AuditFacts
from archfit.facts.merge import sorted_facts
from archfit.facts.reports import from_json

SHOP = findings(audit_clusters.shop())
HOSTILE = findings(audit_clusters.hostile())
FORMS = {"text": audit_text, "json": audit_json, "csv": audit_csv, "markdown": audit_markdown}


def before():
    """The shop before its mailer ran on arm64, and while pdf-render still did."""
    one, both = ("amd64",), audit_clusters.BOTH
    changed = {"mailer:2.2": one, "pdf-render:1.4": both}
    facts = audit_clusters.shop()
    images = tuple(
        image.replace(architectures=changed.get(image.reference.rpartition("/")[2], image.architectures))
        for image in facts.images
    )
    return facts.replace(images=images)


def test_the_first_screen_has_the_number_the_work_and_the_nodes():
    lines = audit_text.render(SHOP).decode().splitlines()
    assert lines[2].startswith("On arm64 nodes: 1 DaemonSet does not run there (monitoring/apm-agent)")
    assert any(line.startswith("arm64   62.2 % ready") for line in lines)
    first = next(place for place, line in enumerate(lines) if "search-indexer:0.8.2" in line)
    assert lines[first].endswith(" % ready then")
    assert lines[first + 1].strip().startswith("frees 8.25 CPU alone: look for a newer tag")
    text = " ".join("\n".join(lines).split())
    assert "linux/arm64: 4 nodes, 16.4 of 31.64 CPU requested, 15.24 free (4 tainted" in text
    whole = " ".join(audit_text.render(SHOP, everything=True).decode().split())
    assert "2 pods without a CPU request: they weigh nothing; --assume-cpu 100m gives them a weight." in whole


def _fleet(number: int) -> AuditFacts:
    """So many clusters of a shop."""
    shop = audit_clusters.shop()
    (snapshot,) = shop.snapshots
    names = [f"cluster-{place}-of-a-large-fleet.example.com" for place in range(number)]
    return shop.replace(
        snapshots=tuple(snapshot.replace(id=name, name=name) for name in names),
        nodes=tuple(node.replace(snapshot=name) for name in names for node in shop.nodes),
        workloads=tuple(one.replace(snapshot=name) for name in names for one in shop.workloads),
    )


SIZES = {
    "nothing": AuditFacts(),
    "a shop": audit_clusters.shop(),
    "hostile names": audit_clusters.hostile(),
    "3,000 workloads": audit_clusters.large(3000),
    "60 clusters": _fleet(60),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("since", [False, True], ids=["alone", "compared"])
def test_the_text_fits_a_screen_of_80_columns_and_40_lines(size, since):
    found = findings(SIZES[size])
    text = audit_text.render(found, compare(before(), found) if since else None).decode()
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "All tables: --all"
    whole = audit_text.render(found, everything=True).decode()
    assert all(snapshot.name in whole for snapshot in found.facts.snapshots[:60] if size == "60 clusters")
    assert ("WORKLOADS" in whole) == bool(found.workloads)


def test_what_the_screen_leaves_out_is_counted():
    found = findings(audit_clusters.large(3000))
    text = audit_text.render(found).decode()
    part = text.partition("Work list for arm64: ")[2].partition("\n\n")[0]
    shown = len([line for line in part.splitlines() if "registry.example" in line])
    assert f"\n  and {len(found.work_lists[0].items) - shown} more: --all" in part


@pytest.mark.parametrize("by", [1, 2])
@pytest.mark.parametrize("size", ["a shop", "3,000 workloads", "60 clusters"])
def test_each_group_that_was_asked_for_has_a_row(size, by):
    found = findings(SIZES[size], by=["namespace", "label=team"][:by])
    lines = audit_text.render(found).decode().splitlines()
    headings = [place for place, line in enumerate(lines) if line.startswith("By ")]
    assert len(headings) >= by
    assert all(" % ready; " in lines[place + 1] for place in headings)
    assert len(lines) <= 40


def test_what_is_not_known_is_said():
    text = audit_text.render(SHOP).decode()
    assert "1 image not known: 401 Unauthorized (registry.shop.example/fraud-score:7.1)." in text
    assert "1 image is gone from its registry: no new node can pull it." in text


def test_a_list_without_nodes_says_what_is_then_not_known():
    facts = audit_clusters.shop()
    bare = facts.replace(nodes=(), snapshots=(facts.snapshots[0].replace(nodes=False),))
    assert "prod-eu holds no nodes" in audit_text.render(findings(bare)).decode()
    assert "nodes not known; " in page.render(findings(bare)).decode()


def _in_two_rows(*images: dict[str, tuple[str, ...] | str], standing: str = "running") -> AuditFacts:
    """A workload with a row for each of the lists of images, and one more that is ready."""
    rows = [("web", 1, 100, own) for own in images]
    facts = audit_clusters.facts_of(*rows, standing=standing)
    other = audit_clusters.facts_of(("other", 1, 100, {"x": BOTH}))
    return facts.replace(workloads=(*facts.workloads, *other.workloads), images=other.images + facts.images)


ROLLOUT = _in_two_rows({"x": BOTH}, {"y": ("amd64",)})
IDLE = _in_two_rows({"x": BOTH}, {"y": ("amd64",)}, standing="idle")
WORKLOADS = [
    pytest.param(ROLLOUT, audit_text, "2 of 3 pods, 1 of 2 workloads;", id="text"),
    pytest.param(ROLLOUT, audit_markdown, "| 2 of 3 | 1 of 2 |", id="Markdown"),
    pytest.param(ROLLOUT, audit_markdown, "<summary>1 workload not ready for arm64</summary>", id="Markdown's list"),
    pytest.param(ROLLOUT, page, "<dt>Workloads</dt><dd>1 <span>of 2</span>", id="page"),
    pytest.param(ROLLOUT, audit_openmetrics, 'ready_workloads{cluster="small",architecture="arm64",namespace="a",state="ready"} 1\n', id="metrics"),
    pytest.param(ROLLOUT, audit_openmetrics, 'ready_workloads{cluster="small",architecture="arm64",namespace="a",state="blocked"} 1\n', id="metrics, blocked"),
    pytest.param(ROLLOUT, audit_json, '"ready":{"workloads":1,"pods":2,', id="JSON"),
    pytest.param(IDLE, audit_text, "Counted apart: 1 workload without pods now (2 pods)", id="counted apart"),
    pytest.param(_in_two_rows({"y": ("amd64",)}, {"y": ("amd64",), "x": BOTH}), audit_json, '"part":{"workloads":1,"pods":2,', id="work list"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "form", "words"), WORKLOADS)
def test_a_workload_with_several_rows_counts_once_as_the_worst_of_them(facts, form, words):
    """Two revisions of a Deployment are one workload, in every form."""
    assert words in form.render(findings(facts)).decode()


ODD_NODES = audit_clusters.facts_of(
    ("web", 1, 0, {"x": ("amd64",), "y": ("amd64",), "z": ("amd64",)}),
    without_cpu=1,
    nodes=(
        audit_clusters.node("bare", "", kubelet_architecture="amd64"),
        audit_clusters.node("win", "arm64").replace(os="windows"),
    ),
).replace(builds=(audit_clusters.shop().builds[0].replace(node_os="", node_architecture="", evidence="e"),))
SENTENCES = [
    pytest.param(audit_text, "linux, no architecture label: 1 node, ", id="nodes in text"),
    pytest.param(audit_markdown, "| linux, no architecture label | 1 |", id="nodes in Markdown"),
    pytest.param(page, '<span class="label"><bdi>linux, no architecture label</bdi>', id="nodes in a chart"),
    pytest.param(audit_markdown, "Node bare has no label kubernetes.io/arch, its kubelet reports amd64.", id="a label that is not there"),
    pytest.param(page, '<h2 id="daemonsets-title">Before the first arm64 node</h2>', id="a Windows node is no such node"),
    pytest.param(page, '<bdi>not known</bdi></td><td class="n" data-s="12">', id="a build on a node that is not known"),
    pytest.param(audit_text, "1 pod without a CPU request: it weighs nothing;", id="one pod weighs nothing"),
    pytest.param(page, "1 pod needs three images or more at once.", id="one pod needs three images"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "words"), SENTENCES)
def test_what_is_said_of_nodes_and_pods_is_what_there_is(form, words):
    written = form.render(findings(ODD_NODES)).decode()
    assert words in written if form is page else words in " ".join(written.split())


@pytest.mark.parametrize("form", FORMS)
def test_every_form_takes_an_audit_of_nothing(form):
    assert FORMS[form].render(findings(AuditFacts()))


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_comparison_names_what_regressed(form):
    now = findings(audit_clusters.shop())
    text = FORMS[form].render(now, compare(before(), now)).decode()
    assert "Since the audit before" in text
    assert "payments/Deployment/pdf-render" in text.partition("Since the audit before")[2]


def test_json_holds_the_facts_and_is_read_back():
    data = audit_json.render(SHOP, compare(before(), SHOP))
    assert from_json(data, "a.json") == sorted_facts(SHOP.facts)
    value = json.loads(data)
    assert value["findings"]["readiness"][0]["share"] == "62.2 %"
    assert value["findings"]["workLists"][0]["items"][0]["alone"]["cpu"] == 8250
    regressed = value["comparison"]["changes"][0]["regressed"]
    assert [one["name"] for one in regressed] == ["statements", "pdf-render"]
    assert json.loads(audit_json.render(SHOP))["comparison"] is None


@pytest.mark.parametrize("form", ["text", "csv", "markdown"])
def test_no_control_or_bidi_character_of_a_name_is_written(form):
    text = FORMS[form].render(HOSTILE).decode().replace("\r\n", "\n")
    assert all(one.isprintable() or one == "\n" for one in text)
    assert not any(line.startswith(("::", "##[")) for line in text.splitlines())


def test_csv_has_a_row_for_each_use_and_no_formula():
    rows = list(csv.reader(io.StringIO(audit_csv.render(HOSTILE).decode(), newline="")))
    assert len(rows) == 1 + len(audit_clusters.HOSTILE)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_csv_has_the_states_of_workload_and_image():
    rows = list(csv.DictReader(io.StringIO(audit_csv.render(SHOP).decode(), newline="")))
    one = next(row for row in rows if row["name"] == "billing")
    assert (one["workload_arm64"], one["image_arm64"], one["image_amd64"], one["cpu"]) == (
        "blocked",
        "no",
        "yes",
        "3.000",
    )


@pytest.mark.parametrize(
    ("images", "heading", "title"),
    [
        pytest.param({"x": BOTH}, "## small: 100 % is ready for arm64", "of the requested CPU is ready", id="all"),
        pytest.param({"x": BOTH, "y": "Unknown"}, "## It is not known what of small is ready for arm64", "what is ready for arm64", id="nothing is known"),
        pytest.param({}, "## small: no pod could move to arm64", "no pod could move to arm64", id="nothing could move"),
    ],
)  # fmt: skip
def test_the_first_number_says_of_what_it_is(images, heading, title):
    found = findings(audit_clusters.facts_of(*([("web", 1, 100, images)] if images else [])))
    assert audit_markdown.render(found).decode().splitlines()[0] == heading
    assert title in page.render(found).decode()


def test_what_is_not_known_is_no_part_of_what_is_ready_and_no_sentence_is_cut():
    rows = (("web", 1, 100, {"x": BOTH}), ("db", 1, 100, {"y": "Unknown"}))
    found = findings(audit_clusters.facts_of(*rows))
    assert audit_markdown.render(found).decode().startswith("## small: 50 % is ready for arm64\n")
    assert "of the requested CPU is ready for arm64" in page.render(found).decode()
    groups = tables.groups(findings(audit_clusters.facts_of(*rows), by=["namespace"])).of("page")
    assert [cell.text for cell in groups.rows[0][2:4]] == ["50 %", "50 %"]
    name = "x.example/" + "a" * 300
    gone = findings(audit_clusters.facts_of(("web", 1, 100, {name: "Unknown"})))
    assert f"({name})" in audit_markdown.render(gone).decode()


def test_markdown_renders_hostile_names_as_text():
    text = audit_markdown.render(HOSTILE).decode()
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table"]).parse(text)
    inline = [child for token in tokens if token.type == "inline" for child in token.children or ()]
    kinds = {child.type for child in inline}
    assert not kinds & {"link_open", "image", "code_inline", "em_open", "strong_open"}
    assert {child.content for child in inline if child.type == "html_inline"} <= {"<!-- -->"}
    blocks = [token.content for token in tokens if token.type == "html_block"]
    assert all(
        block.startswith(("<details><summary>", "</details>")) and block.count("<") <= 3 for block in blocks
    )


def test_markdown_mentions_nobody():
    """GitHub looks for @name and #1 in the text of the finished page; a comment parts them."""
    text = audit_markdown.render(HOSTILE).decode()
    assert "@team" not in text
    assert "#1 " not in text
    assert "@<!-- -->team #<!-- -->1" in text


def test_markdown_fits_a_comment():
    text = audit_markdown.render(findings(audit_clusters.large(3000))).decode()
    assert len(text) < 65_536
    assert "rows left out." in text


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
        jsonschema.validate(json.loads(audit_json.render(found, since)), SCHEMA)


def test_a_report_with_an_unknown_member_does_not_follow_it():
    value = json.loads(audit_json.render(findings(AuditFacts())))
    value["facts"]["secrets"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, SCHEMA)
