"""An audit as GitHub Flavored Markdown, for pull requests and wikis.

Names from the cluster are escaped (`base.markdown_text`). Its tables are bounded, so that the whole fits in a comment
(65,536 characters).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.report import open_questions, tables, words
from archfit.audit.report.pool_words import pool_table, unread_pools
from archfit.audit.report.table import Table
from archfit.base import markdown_text
from archfit.base.markdown_text import MOST_ROWS, escaped
from archfit.base.printable import count


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:
    """The text in UTF-8. since: what changed since an earlier audit."""
    text = "".join(f"{line}\n" for line in (*_lines(findings), *_changes(since)))
    return text.encode()


def _lines(findings: AuditFindings) -> Iterator[str]:
    first = findings.readiness[0]
    share, name = words.ready_share(first), escaped(words.of_cluster(findings))
    if share == words.NOT_KNOWN:
        yield f"## It is not known what of {name} is ready for {escaped(first.architecture)}"
    elif share.endswith("%"):
        yield f"## {name}: {share} is ready for {escaped(first.architecture)}"
    else:
        yield f"## {name}: no pod could move to {escaped(first.architecture)}"
    yield ""
    for cluster in findings.clusters[:MOST_ROWS]:
        yield f"- {escaped(cluster.name)}: {escaped(words.cluster_words(cluster))}"
    yield ""
    yield f"{escaped(words.ready_sentence(first))}."
    if findings.upgrades:
        yield ""
        yield f"{escaped(words.upgrade_sentence(findings))}."
    for sentence in words.daemon_sentences(findings):
        yield ""
        yield f"**{escaped(sentence)}**"
    yield from _table(tables.daemon_sets(findings))
    yield from _table(tables.readiness(findings))
    for plan in words.plans(findings):
        yield from _table(tables.waves(plan), f"Waves to {escaped(plan.architecture)}")
    for work, readiness in zip(findings.work_lists, findings.readiness, strict=True):
        yield from _table(tables.work_list(work, readiness), f"Work list for {escaped(work.architecture)}")
    yield from _table(tables.groups(findings), "Readiness by group")
    yield from _table(tables.nodes(findings), "Nodes")
    yield from _table(pool_table(findings), "Pools that may bring nodes")
    sentences = list(_sentences(findings))
    if sentences:
        yield ""
    for sentence in sentences[:MOST_ROWS]:
        yield f"- {escaped(sentence)}"
    waiting = [
        workload
        for workload in findings.workloads
        if workload.is_required(first.architecture)
        and workload.states[0] != "ready"
        and workload.facts.standing != "daemonset"
    ]
    if waiting:
        number = count(len({workload.owner for workload in waiting}), "workload")
        yield ""
        yield f"<details><summary>{number} not ready for {escaped(first.architecture)}</summary>"
        yield from _table(tables.workloads(findings, waiting))
        yield ""
        yield "</details>"


def _sentences(findings: AuditFindings) -> Iterator[str]:
    """What the tables do not say, each a line of a list."""
    yield from unread_pools(findings)
    yield from words.loss_sentences(findings)
    for node in findings.capacity.mislabelled:
        label = f"the label kubernetes.io/arch={node.label}" if node.label else "no label kubernetes.io/arch"
        yield f"Node {node.name} has {label}, its kubelet reports {node.kubelet}."
    for saving in findings.costs.savings:
        when = "ready now" if saving.when == "now" else "with the work list done"
        yield f"{saving.source} to {saving.target}, {when}: {saving.arithmetic}."
    if findings.builds.verdicts:
        yield f"{words.verdict_sentence(findings)}."
    yield from open_questions.unknown_reasons(findings)
    yield from open_questions.not_known(findings)


def _table(table: Table, heading: str = "") -> Iterator[str]:
    """The heading and the table, nothing without rows. Numbers that end a row are aligned to the right."""
    shown = table.of("markdown")
    kinds = [column.kind for column in shown.columns]
    if shown.rows and heading:
        yield ""
        yield f"### {heading}"
    yield from markdown_text.table(
        [column.markdown or "" for column in shown.columns],
        shown.texts(),
        numbers=len(list(takewhile(lambda kind: kind in ("number", "count"), reversed(kinds)))),
    )


def _changes(since: AuditComparison | None) -> Iterator[str]:
    if since is None:
        return
    yield ""
    yield "### Since the audit before"
    yield ""
    for sentence in words.change_sentences(since):
        yield f"- {escaped(sentence)}"
    for change in since.changes:
        yield from _table(tables.changes(change))
