"""The words of an audit about pools: what may bring nodes of an architecture, and whom its taints keep off.

A taint is named only where it keeps pods off that do not tolerate it. Of workloads count those that could move to
another architecture. The remedy stands where the value of the taint spells the one architecture that the pool brings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from archfit.audit.capacity import PoolTaint
from archfit.audit.findings import AuditFindings
from archfit.audit.report.table import Cell, Column, Table
from archfit.audit.report.words import several
from archfit.facts.facts import PoolFacts
from archfit.options.settings import GKE
from archfit.options.taints import architecture_of

_DEFAULT = f"{GKE.toleration.key}={GKE.toleration.value}:{GKE.toleration.effect}"


def pool_sentences(findings: AuditFindings) -> Iterator[str]:
    """A sentence for each pool."""
    names, taints = several(findings), _taints(findings)
    for pool in findings.facts.pools:
        at = f"{names[pool.snapshot]}: " if names else ""
        if pool.problem:
            yield f"{at}{pool.kind} {pool.name}: {pool.problem}."
            continue
        limits = "".join(f", limit {amount} {what}" for what, amount in pool.limits)
        weight = f", weight {pool.weight}" if pool.weight else ""
        closed = "".join(f"; {words}" for words in taints[_key(pool)])
        architectures = " and ".join(pool.architectures)
        yield f"{at}{architectures} allowed by {pool.kind} {pool.name} ({pool.basis}){limits}{weight}{closed}."


def unread_pools(findings: AuditFindings) -> Iterator[str]:
    """What of the pools of each cluster was not read."""
    for cluster in findings.clusters:
        if cluster.unread_pools:
            at = f"{cluster.name}: " if several(findings) else ""
            those = ", ".join(cluster.unread_pools)
            yield f"{at}Not read: {those}. Whether they bring nodes is not known."


def pool_table(findings: AuditFindings) -> Table:
    """Every pool that was read."""
    names, taints = several(findings), _taints(findings)
    columns = (
        Column("Cluster" if names else None), Column("Pool", markdown="Pool"),
        Column("May bring", markdown="May bring"), Column("Known by", markdown="Known by"),
        Column("Limit", markdown="Limit"), Column("Weight", "number", markdown="Weight"),
        Column("Taints", markdown="Taints"),
    )  # fmt: skip
    rows = tuple(
        (
            Cell(names.get(pool.snapshot, "")), Cell(f"{pool.kind} {pool.name}"),
            Cell(", ".join(pool.architectures) or "-"), Cell(pool.problem or pool.basis),
            Cell(", ".join(f"{amount} {what}" for what, amount in pool.limits)),
            Cell(str(pool.weight or ""), str(pool.weight)), Cell("; ".join(taints[_key(pool)])),
        )
        for pool in findings.facts.pools
    )  # fmt: skip
    return Table("pools", "Pools that may bring nodes", columns, rows)


def _key(pool: PoolFacts | PoolTaint) -> tuple[object, ...]:
    return pool.snapshot, pool.kind, pool.name, pool.architectures


def _taints(findings: AuditFindings) -> Mapping[tuple[object, ...], list[str]]:
    words: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for taint in findings.capacity.pool_taints:
        words[_key(taint)].append(_taint_words(taint))
    return words


def _taint_words(taint: PoolTaint) -> str:
    if taint.tolerating == taint.workloads:
        return f"taint {taint.taint}" + (
            ": all workloads that could move tolerate it" if taint.workloads else ""
        )
    who, verb = "no workload that could move", "tolerates"
    if taint.tolerating:
        who, verb = f"{taint.tolerating} of {taint.workloads} workloads that could move", "tolerate"
    key, _, rest = taint.taint.partition("=")
    architecture = architecture_of(key, rest.rpartition(":")[0])
    remedy = f" (--tolerate '{taint.taint}@{architecture}')" if taint.architectures == (architecture,) else ""
    if taint.taint == _DEFAULT:
        remedy = " (archfit writes this toleration by default)"
    return f"taint {taint.taint}: {who} {verb} it{remedy}"
