"""An audit as one table (RFC 4180): a row for each use of an image in a workload; DaemonSets come first.

CPU and memory are those of the whole workload, with its pods added up, so they repeat in each of its rows. cpu is in
CPUs with a point. A cell that a spreadsheet would read as a formula (=, +, -, @) begins with an apostrophe (OWASP, CSV
injection).
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Mapping

from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.groups import group_name
from archfit.audit.plan.waves import NOT_KNOWN
from archfit.audit.readiness import WorkloadFinding
from archfit.audit.report.tables import images_by_state
from archfit.audit.report.words import ready_share, several, unknown_share
from archfit.base.printable import visible
from archfit.facts.facts import ImageFacts

_HEADS = (
    "cluster", "date", "cluster_architectures", "namespace", "kind", "name", "standing", "pods", "cpu", "memory_bytes",
    "container", "role", "image", "answer", "runs_on", "origin", "newer_tag", "newer_step", "programs",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(findings: AuditFindings, since: AuditComparison | None = None) -> bytes:  # noqa: ARG001
    """The table in UTF-8, with line ends as RFC 4180 has them. It is of one moment: `since` changes nothing."""
    out = io.StringIO(newline="")
    table = csv.writer(out)
    shares = _shares(findings)
    keys = sorted({key for workload in findings.workloads for key, _ in workload.facts.labels})
    table.writerow(
        [
            *_HEADS,
            *(f"{what}_{name}" for what in ("workload", "image", "wave") for name in findings.architectures),
            *(
                f"{by}_{what}_{name}"
                for by in shares
                for name in findings.architectures
                for what in ("ready", "not_known")
            ),
            *map(spreadsheet_cell, keys),
        ]
    )
    names = several(findings)
    known = {
        cluster.snapshot: (cluster.name, cluster.date, " ".join(cluster.architectures))
        for cluster in findings.clusters
    }
    images = {image.facts.reference: image for image in findings.images}
    for workload in sorted(findings.workloads, key=lambda row: row.facts.standing != "daemonset"):
        facts, amount = workload.facts, workload.amount
        common = (
            *known.get(facts.snapshot, ("", "", "")), facts.namespace, facts.kind, facts.name, facts.standing,
            f"{amount.pods}", f"{amount.cpu / 1000:.3f}", f"{amount.memory}",
        )  # fmt: skip
        for use in facts.images:
            image = images[use.reference]
            architectures = " ".join(image.facts.architectures) if image.facts.restricts else "anywhere"
            row = (
                *common, use.container, use.role, use.reference, image.facts.answer, architectures, image.facts.origin,
                *_newer(image.facts), " ".join(f"{name}={state}" for name, state, _ in image.facts.programs),
                *workload.states, *image.states,
                *("" if wave in (None, NOT_KNOWN) else f"{wave}" for wave in workload.waves),
                *(share for by in shares for share in _share(workload, by, shares[by], names)),
                *(dict(facts.labels).get(key, "") for key in keys),
            )  # fmt: skip
            table.writerow([spreadsheet_cell(cell) for cell in row])
    return out.getvalue().encode()


def _newer(image: ImageFacts) -> tuple[str, str]:
    for tag in image.newer:
        return tag.tag, tag.step if tag.exact else f"{tag.step} at most"
    return "", ""


def _shares(findings: AuditFindings) -> dict[str, dict[tuple[str, str], tuple[str, ...]]]:
    """Of each --by: the name of a group, and the cluster where there are several -> what is ready and not known."""
    shares: dict[str, dict[tuple[str, str], tuple[str, ...]]] = defaultdict(dict)
    for group in findings.groups:
        if group.by != "cluster":
            parts = [(part.cluster, part.readiness) for part in group.clusters] or [("", group.readiness)]
            for cluster, own in parts:
                shares[group.by][group.name, cluster] = tuple(
                    text for row in own for text in (ready_share(row), unknown_share(row))
                )
    return shares


def _share(
    workload: WorkloadFinding,
    by: str,
    shares: Mapping[tuple[str, str], tuple[str, ...]],
    names: Mapping[str, str],
) -> tuple[str, ...]:
    cluster = names.get(workload.facts.snapshot, "")
    return shares.get((group_name(workload, by, names), cluster)) or ("",) * 2 * len(workload.states)


def image_rows(findings: AuditFindings, _since: AuditComparison | None) -> bytes:
    """One row an image, as `tables.images_by_state` has them."""
    out = io.StringIO(newline="")
    rows = [(image, *map(" ".join, names)) for image, names in images_by_state(findings)]
    table = [("image", "runs", "lacks", "notKnown"), *rows]
    csv.writer(out).writerows(map(spreadsheet_cell, row) for row in table)
    return out.getvalue().encode()


def spreadsheet_cell(text: str) -> str:
    """The text as no spreadsheet reads it as a formula."""
    text = visible(text)
    return f"'{text}" if text.startswith(_FORMULA) else text
