"""An audit as GitHub Flavored Markdown, for pull requests and wikis.

    ## 62.2 % of prod-eu is ready for arm64
    table of readiness ─ work list ─ nodes ─ <details> with the workloads that are not ready ─ what is not known

Names from the cluster are escaped (`report.markdown_text`). Its tables are bounded, so that the whole fits in a comment
(65,536 characters).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archfit.cluster.audit_amount import cpu_text, memory_text
from archfit.cluster.audit_compare import AuditComparison
from archfit.cluster.audit_findings import AuditFindings
from archfit.printable import count
from archfit.report.audit_words import (
    IMAGE_WORDS,
    NOT_KNOWN,
    change_groups,
    change_sentences,
    cluster_words,
    daemon_sentences,
    group_rows,
    loss_sentence,
    not_known,
    of_cluster,
    ready_sentence,
    ready_share,
    share_after,
    title,
    unknown_reasons,
    used_by,
)
from archfit.report.markdown_text import MOST_ROWS, escaped, table


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:
    """The text in UTF-8. since: what changed since an earlier audit."""
    text = "".join(f"{line}\n" for line in (*_lines(findings), *_changes(since)))
    return text.encode()


def _lines(findings: AuditFindings) -> Iterator[str]:
    first = findings.readiness[0]
    share, cluster = ready_share(first), escaped(of_cluster(findings))
    if share == NOT_KNOWN:
        yield f"## It is not known what of {cluster} is ready for {escaped(first.architecture)}"
    elif share.endswith("%"):
        known = " of what is known" if first.unknown.pods else ""
        yield f"## {cluster}: {share}{known} is ready for {escaped(first.architecture)}"
    else:
        yield f"## {cluster}: no pod could move to {escaped(first.architecture)}"
    yield ""
    for one in findings.clusters[:MOST_ROWS]:
        yield f"- {escaped(one.name)}: {escaped(cluster_words(one))}"
    yield ""
    yield f"{escaped(ready_sentence(first))}."
    yield from _daemon_sets(findings)
    yield from table(
        ("Architecture", "Ready", "CPU ready", "CPU blocked", "CPU not known", "Pods ready", "Workloads ready"),
        [
            (
                one.architecture, ready_share(one), cpu_text(one.ready.cpu), cpu_text(one.blocked.cpu),
                cpu_text(one.unknown.cpu), f"{one.ready.pods} of {one.total.pods}",
                f"{one.ready.workloads} of {one.total.workloads}",
            )
            for one in findings.readiness
        ],
        numbers=6,
    )  # fmt: skip
    for work, readiness in zip(findings.work_lists, findings.readiness, strict=True):
        if work.items:
            yield ""
            yield f"### Work list for {escaped(work.architecture)}"
        yield from table(
            ("", "Image", "Runs on", "Frees CPU alone", "Pods", "Frees with a second image", "Ready then", "Used by"),
            [
                (
                    f"{item.rank}", item.reference, ", ".join(item.offers) or IMAGE_WORDS[item.state],
                    cpu_text(item.alone.cpu), f"{item.alone.pods}",
                    f"+{cpu_text(item.together.cpu)} with {item.partner}" if item.partner else "",
                    share_after(readiness, item), used_by(item, 3),
                )
                for item in work.items
            ],
        )  # fmt: skip
    rows = list(group_rows(findings))
    if rows:
        yield ""
        yield "### Readiness by group"
    yield from table(("By", "Name", "Ready", f"For {first.architecture}"), rows)
    if findings.capacity.groups:
        yield ""
        yield "### Nodes"
    yield from table(
        ("System", "Nodes", "CPU", "Requested", "Free", "Memory", "Requested", "Cordoned", "Spot"),
        [
            (
                f"{one.os}/{one.architecture}", f"{one.nodes}", cpu_text(one.cpu), cpu_text(one.requested_cpu),
                cpu_text(one.free_cpu), memory_text(one.memory), memory_text(one.requested_memory), f"{one.cordoned}",
                f"{one.spot}",
            )
            for one in findings.capacity.groups
        ],
        numbers=8,
    )  # fmt: skip
    sentences = [loss_sentence(loss) for loss in findings.capacity.losses]
    sentences += [
        f"Node {one.name} has the label kubernetes.io/arch={one.label}, its kubelet reports {one.kubelet}."
        for one in findings.capacity.mislabelled
    ]
    sentences += [
        f"{saving.source} to {saving.target}, {'ready now' if saving.when == 'now' else 'with the work list done'}: "
        f"{saving.arithmetic}."
        for saving in findings.costs.savings
    ]
    if findings.builds.verdicts:
        words = ", ".join(f"{one.containers} {one.verdict}" for one in findings.builds.verdicts)
        sentences.append(f"Containers by build: {words}.")
    sentences += (*unknown_reasons(findings), *not_known(findings))
    if sentences:
        yield ""
    for sentence in sentences[:MOST_ROWS]:
        yield f"- {escaped(sentence)}"
    rows = [
        (
            title(one),
            f"{one.amount.pods}",
            cpu_text(one.amount.cpu),
            ", ".join(dict.fromkeys(_missing(one.not_ready))),
        )
        for one in findings.workloads
        if one.is_required(first.architecture)
        and one.states[0] != "ready"
        and one.facts.standing != "daemonset"
    ]
    if rows:
        yield ""
        yield f"<details><summary>{count(len(rows), 'workload')} not ready for {escaped(first.architecture)}</summary>"
        yield from table(("Workload", "Pods", "CPU", "Images"), rows)
        yield ""
        yield "</details>"


def _daemon_sets(findings: AuditFindings) -> Iterator[str]:
    """What comes before the first node."""
    for sentence in daemon_sentences(findings):
        yield ""
        yield f"**{escaped(sentence)}**"
    rows = [
        (
            one.architecture,
            f"{of.namespace}/{of.kind}/{of.name}",
            NOT_KNOWN if of.state == "unknown" else of.state,
            ", ".join(of.images),
        )
        for one in findings.daemon_sets
        for of in one.not_ready
    ]
    yield from table(("Architecture", "DaemonSet", "State", "Images"), rows)


def _changes(since: AuditComparison | None) -> Iterator[str]:
    if since is None:
        return
    yield ""
    yield "### Since the audit before"
    yield ""
    for sentence in change_sentences(since):
        yield f"- {escaped(sentence)}"
    for change in since.changes:
        rows = [
            (words, f"{one.namespace}/{one.kind}/{one.name}", cpu_text(one.amount.cpu), ", ".join(one.images))
            for words, found in change_groups(change)
            for one in found
        ]
        yield from table((f"For {change.architecture}", "Workload", "CPU", "Images"), rows)


def _missing(not_ready: Sequence[Sequence[object]]) -> list[str]:
    return [str(getattr(use, "reference", "")) for use in (not_ready[0] if not_ready else ())]
