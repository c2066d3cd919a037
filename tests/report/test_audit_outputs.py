"""An audit as text, JSON, CSV and Markdown: what is in it, and that names from a cluster are only text."""

from __future__ import annotations

import csv
import io
import json

import pytest
from markdown_it import MarkdownIt

import audit_clusters
from archfit.cluster.audit_compare import compare
from archfit.cluster.audit_facts import AuditFacts
from archfit.cluster.audit_facts_json import from_json
from archfit.cluster.audit_findings import findings
from archfit.cluster.audit_merge import sorted_facts
from archfit.report import audit_csv, audit_json, audit_markdown, audit_text

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
    lines = audit_text.render(SHOP, tables=False).decode().splitlines()
    assert lines[2].startswith("arm64   62.2 % ready   36.1 of 58 requested CPU is ready for arm64")
    assert any("search-indexer:0.8.2" in line and "frees 8.25 CPU alone" in line for line in lines)
    assert (
        "linux/arm64: 4 nodes, 16.4 of 31.64 CPU requested, 15.24 free (4 tainted for their architecture)"
        in lines
    )
    assert "2 pods without a CPU request: they weigh nothing; --assume-cpu 100m gives them a weight." in lines
    assert len(lines) < 45


def test_what_is_not_known_is_said():
    text = audit_text.render(SHOP).decode()
    assert "1 image could not be looked up: its pods do not count as ready." in text
    assert "1 image is gone from its registry: no new node can pull it." in text


def test_a_list_without_nodes_says_what_is_then_not_known():
    facts = audit_clusters.shop()
    bare = facts.replace(nodes=(), snapshots=(facts.snapshots[0].replace(nodes=False),))
    assert "prod-eu holds no nodes" in audit_text.render(findings(bare)).decode()


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
    assert value["comparison"]["changes"][0]["regressed"][0]["name"] == "pdf-render"
    assert json.loads(audit_json.render(SHOP))["comparison"] is None


def test_json_keeps_hostile_names_exact():
    assert from_json(audit_json.render(HOSTILE), "a.json").workloads == tuple(
        sorted(HOSTILE.facts.workloads, key=lambda one: (one.namespace, one.kind, one.name))
    )


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
