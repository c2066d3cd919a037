"""How the readiness of one cluster changed from audit to audit. Pure; `history_file` keeps the points.

    Point       one audit: date, cluster, and counts for each architecture; no name of a workload or of an image
    Trend       the points of one cluster up to this audit, for one architecture

    moments     of each audit its date and its readiness
    delta       64.4 % now, 62.2 % in the audit before: 22 tenths of a percentage point

A point counts for a trend if it counted pods without CPU requests alike (`assume_cpu`) and knows the architecture. Two
points are of one cluster as two snapshots are (`clusters.relation`): by the uid of kube-system, else by a name that the
user or kubectl's context gave.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from archfit.audit.facts import AuditFacts
from archfit.audit.merge import missing_shards
from archfit.audit.readiness import DaemonSets, Readiness
from archfit.startup.record import Record

MOST_MOMENTS = 40


class DaemonCounts(Record):
    """How many DaemonSets would start on nodes of an architecture, by state; as in `readiness.DaemonSets`."""

    architecture: str
    ready: int
    blocked: int
    unknown: int


class Point(Record):
    """One audit of a cluster. date: in UTC, as `2026-11-23T00:30:00Z`. snapshot: the id of what was read.

    cluster_by: where the name is from, as in Snapshot. uid: of the namespace kube-system, "" where it was not read.
    namespace: of --namespace, "" for all. assume_cpu: 1/1000 CPU for each pod that requests none.
    readiness, daemon_sets: one for each architecture of the report.
    """

    date: str
    cluster: str
    cluster_by: Literal["flag", "context", "uid"]
    uid: str
    snapshot: str
    namespace: str
    assume_cpu: int
    readiness: tuple[Readiness, ...]
    daemon_sets: tuple[DaemonCounts, ...]

    @property
    def is_known(self) -> bool:
        """Whether any image was answered, or nothing could move."""
        return any(one.share[1] or not one.total.pods for one in self.readiness)

    def renews(self, other: Point) -> bool:
        """Whether both are of one snapshot, counted alike."""
        return (self.snapshot, self.date, self.assume_cpu) == (other.snapshot, other.date, other.assume_cpu)

    def with_architectures_of(self, other: Point) -> Point:
        """It, with what `other` knows of architectures that this one does not have."""
        own = {one.architecture for one in self.readiness}
        return self.replace(
            readiness=(*self.readiness, *(one for one in other.readiness if one.architecture not in own)),
            daemon_sets=(
                *self.daemon_sets,
                *(one for one in other.daemon_sets if one.architecture not in own),
            ),
        )

    def is_of_cluster(self, other: Point) -> bool:
        """Whether both are known to be of one cluster; names that files gave count for nothing."""
        if self.uid and other.uid:
            return self.uid == other.uid
        return self.cluster == other.cluster and "uid" not in (self.cluster_by, other.cluster_by)


class Moment(Record):
    """The readiness for one architecture at a time; the date as in Point."""

    date: str
    readiness: Readiness

    @property
    def tenths(self) -> int | None:
        """The share in tenths of a percent, rounded down as `amount.percent` does; None where it is not known."""
        ready, known = self.readiness.share
        return ready * 1000 // known if known else None


class Trend(Record):
    """The moments of one architecture, oldest first: at most MOST_MOMENTS. The last one is this audit.

    number: of all moments, with those that are left out. since: the date of the first one of all.
    """

    moments: tuple[Moment, ...]
    number: int
    since: str

    @property
    def before(self) -> Moment | None:
        """The audit before this one."""
        return self.moments[-2] if len(self.moments) > 1 else None

    @property
    def delta(self) -> int | None:
        """Tenths of a percentage point since the audit before; None where one is not known, or counted otherwise."""
        if self.before is None:
            return None
        now, then = self.moments[-1], self.before
        if now.tenths is None or then.tenths is None or now.readiness.by_cpu != then.readiness.by_cpu:
            return None
        return now.tenths - then.tenths

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The smallest and the largest of the shares, in tenths of a percent."""
        known = [one for one in self.shares if one is not None]
        return (min(known), max(known)) if known else None

    @property
    def shares(self) -> tuple[int | None, ...]:
        """Of each moment, in tenths of a percent; None where it is not known, or counted otherwise than now."""
        by_cpu = self.moments[-1].readiness.by_cpu
        return tuple(one.tenths if one.readiness.by_cpu == by_cpu else None for one in self.moments)


def point_of(
    facts: AuditFacts,
    readiness: tuple[Readiness, ...],
    daemon_sets: tuple[DaemonSets, ...],
    assume_cpu: int,
    namespace: str,
) -> Point | str:
    """The point of an audit, or why it has none, with the remedy. namespace: of --namespace."""
    if len(facts.snapshots) != 1:
        return f"this audit is of {len(facts.snapshots)} clusters: keep a history for each of them, in its own audit"
    if missing_shards(facts):
        return "shards are missing, so this audit is of a part: name their reports with --merge, too"
    (snapshot,) = facts.snapshots
    named = snapshot.name_by in ("flag", "context")
    if not named and not snapshot.uid:
        return "nothing says of which cluster this audit is: add --cluster NAME"
    if not snapshot.date:
        return "nothing says of when this audit is: set SOURCE_DATE_EPOCH to its time"
    point = Point(
        snapshot.date,
        snapshot.name if named else snapshot.uid,
        "flag" if snapshot.name_by == "flag" else "context" if named else "uid",
        snapshot.uid,
        snapshot.id,
        namespace,
        assume_cpu,
        readiness,
        tuple(DaemonCounts(one.architecture, one.ready, one.blocked, one.unknown) for one in daemon_sets),
    )
    return point if point.is_known else "no image was answered, so there is nothing to count"


def trend_of(now: Point, points: Iterable[Point], architecture: str) -> Trend:
    """The trend up to an audit. points: of the history, of the same cluster, in any order."""
    earlier = sorted(
        (one for one in points if one.date < now.date and one.assume_cpu == now.assume_cpu),
        key=lambda one: one.date,
    )
    known = ((point.date, {one.architecture: one for one in point.readiness}) for point in (*earlier, now))
    moments = [Moment(date, own[architecture]) for date, own in known if architecture in own]
    return Trend(tuple(moments[-MOST_MOMENTS:]), len(moments), moments[0].date)
