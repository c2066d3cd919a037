"""The clusters of an audit: what each is called, of when it is, and which snapshots are of one cluster.

Manifests are of no cluster at a moment: several sets of them may be of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from archfit.base.errors import InvalidInput, UsageError
from archfit.base.printable import TIME, few, visible
from archfit.facts.facts import AuditFacts, PoolFacts, Snapshot
from archfit.facts.merge import missing_shards
from archfit.startup.record import Record

Relation: TypeAlias = Literal["one", "two", "unknown"]
_SOURCES: frozenset[str] = frozenset({"flag", "context"})
_LONGEST_NAME = 120
_EPOCH = "1970-01-01T00:00:00Z"


def cluster_name(name: str) -> str:
    """The name that --cluster states. Raises UsageError for what nobody could read."""
    if not name or name != name.strip() or len(name) > _LONGEST_NAME or visible(name) != name:
        raise UsageError(
            f"--cluster: {name[:_LONGEST_NAME]!r} is no name: write 1 to {_LONGEST_NAME} printable characters that "
            "neither begin nor end with a blank, such as prod-eu"
        )
    return name


class Cluster(Record):
    """A snapshot for people and programs.

    name: no other cluster of the audit has it. architectures: of its Linux nodes, () where no nodes were read.
    pools: the architectures of Linux nodes that a pool may bring. The rest is as in Snapshot.
    """

    snapshot: str
    name: str
    uid: str
    date: str
    date_by: str
    architectures: tuple[str, ...]
    pools: tuple[str, ...] = ()
    unread_pools: tuple[str, ...] = ()


def clusters(facts: AuditFacts) -> tuple[Cluster, ...]:
    """Every snapshot, in the order of the facts."""
    names = [snapshot.name for snapshot in facts.snapshots]
    nodes: dict[str, set[str]] = {snapshot.id: set() for snapshot in facts.snapshots}
    for node in facts.nodes:
        if node.os == "linux" and node.architecture:
            nodes.setdefault(node.snapshot, set()).add(node.architecture)
    pools = brought(facts.pools)
    return tuple(
        Cluster(
            snapshot.id,
            snapshot.name
            if snapshot.name and names.count(snapshot.name) == 1
            else f"{snapshot.name} {snapshot.uid or snapshot.id}".strip(),
            snapshot.uid,
            snapshot.date,
            snapshot.date_by,
            tuple(sorted(nodes[snapshot.id])),
            tuple(sorted(pools.get(snapshot.id, ()))),
            snapshot.unread_pools,
        )
        for snapshot in facts.snapshots
    )


def brought(pools: Iterable[PoolFacts]) -> dict[str, set[str]]:
    """The architectures of Linux nodes that the pools of each snapshot may bring."""
    architectures: dict[str, set[str]] = {}
    for pool in pools:
        if not pool.problem:
            architectures.setdefault(pool.snapshot, set()).update(
                architecture for architecture in pool.architectures if "/" not in architecture
            )
    return architectures


def _node_uids(facts: AuditFacts) -> dict[str, set[str]]:
    uids: dict[str, set[str]] = {snapshot.id: set() for snapshot in facts.snapshots}
    for node in facts.nodes:
        if node.uid:
            uids.setdefault(node.snapshot, set()).add(node.uid)
    return uids


def _relation(
    snapshot: Snapshot, other: Snapshot, nodes: Mapping[str, set[str]], others: Mapping[str, set[str]]
) -> Relation:
    """Whether two snapshots are of one cluster. nodes, others: `_node_uids` of the facts of each."""
    if snapshot.id == other.id:
        return "one"
    if "manifests" in (snapshot.source, other.source):
        return "unknown"
    if snapshot.uid and other.uid:
        return "one" if snapshot.uid == other.uid else "two"
    if nodes[snapshot.id] & others[other.id]:
        return "one"
    if {snapshot.name_by, other.name_by} <= _SOURCES and snapshot.name == other.name:
        return "one"
    return "two" if snapshot.name_by == other.name_by == "flag" else "unknown"


def check_whole(facts: AuditFacts, file: str) -> None:
    """Raises InvalidInput for a record of a snapshot that the facts lack, and for a date that is none."""
    known = {snapshot.id for snapshot in facts.snapshots}
    wrong = [
        f"facts.{name}[{number}].snapshot is {visible(record.snapshot)!r}, which facts.snapshots lacks"
        for name in ("nodes", "workloads", "builds", "shards", "pools")
        for number, record in enumerate(getattr(facts, name))
        if record.snapshot not in known
    ]
    for number, snapshot in enumerate(facts.snapshots):
        try:
            datetime.strptime(snapshot.date or _EPOCH, TIME)  # noqa: DTZ007 - it ends in Z
        except ValueError:
            wrong.append(f"facts.snapshots[{number}].date is no time, as {_EPOCH}")
    if wrong:
        raise InvalidInput(f"{file}: {wrong[0]}: make it again with archfit audit --format json")


def check_moments(facts: AuditFacts, files: Mapping[str, Sequence[str]]) -> None:
    """Raises InvalidInput for merged facts that hold one cluster twice, or shards of several snapshots.

    files: of which files each snapshot is, by its id.
    """
    nodes = _node_uids(facts)
    incomplete = {shard.snapshot for shard in missing_shards(facts)}
    parted = {shard.snapshot for shard in facts.shards}
    for place, other in enumerate(facts.snapshots):
        for snapshot in facts.snapshots[:place]:
            known = _relation(snapshot, other, nodes, nodes)
            earlier, later = sorted((snapshot, other), key=lambda each: (each.date, files[each.id]))
            first, second = (
                f"{few(files[each.id], 1)} ({each.date or 'without a date'})" for each in (earlier, later)
            )
            if known != "two" and {snapshot.id, other.id} <= parted and {snapshot.id, other.id} & incomplete:
                raise InvalidInput(
                    f"{first} and {second} are shards of different snapshots: make all shards from one snapshot "
                    "(archfit audit SNAPSHOT --shard I --shards N), and merge those"
                )
            if known == "one":
                raise InvalidInput(
                    f"{first} and {second} are two moments of one cluster, {visible(later.name or later.id)}, whose "
                    f"pods would count twice: name one of them, or compare them: archfit audit --merge "
                    f"{files[later.id][0]} --compare {files[earlier.id][0]}"
                )


def pairs(old: AuditFacts, new: AuditFacts) -> dict[str, str]:
    """Of each snapshot of `old` the one of `new` that is of the same cluster, by their ids.

    Where nobody knows, single snapshots are of one cluster, and those whose files have one name that no other has.
    """
    before, now = _node_uids(old), _node_uids(new)
    partners: dict[str, str] = {}
    for snapshot in old.snapshots:
        known = {other.id: _relation(snapshot, other, before, now) for other in new.snapshots}
        same = [other for other in new.snapshots if known[other.id] == "one"]
        if not same:
            alone = len(old.snapshots) == len(new.snapshots) == 1
            same = [
                other
                for other in new.snapshots
                if known[other.id] == "unknown" and (alone or (snapshot.name and snapshot.name == other.name))
            ]
            same = same if [each.name for each in old.snapshots].count(snapshot.name) == 1 else []
        if len(same) == 1 and same[0].id not in partners.values():
            partners[snapshot.id] = same[0].id
    return partners


def check_comparison(old: AuditFacts, new: AuditFacts, file: str) -> None:
    """Raises InvalidInput where no cluster is in both, so that nothing can be compared. file: of `old`."""
    if old.snapshots and new.snapshots and not pairs(old, new):
        before, now = (few(sorted(map(_named, clusters(facts))), 1) for facts in (old, new))
        raise InvalidInput(
            f"--compare: {file} is of the cluster {before}, and this audit is of {now}: name a report of the same "
            "cluster"
        )


def _named(cluster: Cluster) -> str:
    is_uid = cluster.uid in ("", cluster.name)
    return visible(cluster.name) + ("" if is_uid else f" (uid {cluster.uid})")
