"""The union of facts: of shards of one snapshot, and of several clusters.

    merge([a, b]) == merge([b, a])
    merge([a, merge([b, c])]) == merge([merge([a, b]), c])
    merge([a, a]) == merge([a])

Records with different keys are all kept. Of two with one key the larger counts, by the order of this table and then by
all of their fields, so that the choice depends on nothing but the two:

    ImageFacts     Found > Absent > Malformed > Unasked > Unknown > Unread; then the fields of the answer; then the one
                   with a newer tag, the one whose tags were read to the end, in part, at all; then the other fields
    BuildFacts     proven > mismatch > ambiguous > unknown > unread; then the fields
    Snapshot       the one with nodes; then the latest date, the one with a uid, the smallest name
    others         the fields
    Shard          every one; where all of a snapshot are there, they are still listed: see `missing_shards`

So a shard that did not ask never hides the answer of one that did.

Which shard asks for an image:

    shard = the first 8 bytes of SHA-256("host/repository"), big-endian, modulo the number of shards

All tags and digests of a repository are in one shard, so that the tokens, limits and single flights of a registry are
not spread over all of them; what is no reference is hashed as it is written. The hash is the same on every machine and
in every version of archfit.

A shard starts from what the lists say: `as_listed` takes back what an earlier run asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from archfit.audit.facts import (
    AuditFacts,
    BuildFacts,
    ImageFacts,
    NodeFacts,
    PoolFacts,
    Shard,
    Snapshot,
    WorkloadFacts,
)
from archfit.base.errors import InvalidReference
from archfit.images.reference import parse
from archfit.startup.record import Record

_Fact = TypeVar("_Fact", Snapshot, NodeFacts, PoolFacts, WorkloadFacts, BuildFacts, ImageFacts)
_ANSWERS = ("Unread", "Unknown", "Unasked", "Malformed", "Absent", "Found")
_READS = ("no", "partial", "complete")
_VERDICTS = ("unread", "unknown", "ambiguous", "mismatch", "proven")


def merge(parts: Iterable[AuditFacts]) -> AuditFacts:
    """All facts of all parts, sorted. Associative, commutative and idempotent. Holds one part at a time."""
    snapshots: dict[Any, Snapshot] = {}
    nodes: dict[Any, NodeFacts] = {}
    workloads: dict[Any, WorkloadFacts] = {}
    builds: dict[Any, BuildFacts] = {}
    images: dict[Any, ImageFacts] = {}
    shards: set[Shard] = set()
    pools: dict[Any, PoolFacts] = {}
    for part in parts:
        _choose(snapshots, part.snapshots, snapshot_key, _snapshot_rank)
        _choose(nodes, part.nodes, node_key, _fields)
        _choose(workloads, part.workloads, workload_key, _fields)
        _choose(builds, part.builds, build_key, _build_rank)
        _choose(images, part.images, image_key, _image_rank)
        shards.update(part.shards)
        _choose(pools, part.pools, pool_key, _fields)
    return AuditFacts(
        _sorted(snapshots),
        _sorted(nodes),
        _sorted(workloads),
        _sorted(builds),
        _sorted(images),
        tuple(sorted(shards, key=_fields)),
        _sorted(pools),
    )


def sorted_facts(facts: AuditFacts) -> AuditFacts:
    """The same facts in the order that every report and file has; of records with one key one is left."""
    return merge((facts,))


def missing_shards(facts: AuditFacts) -> tuple[Shard, ...]:
    """The shards that were not merged, of every snapshot and number of shards that one was of."""
    return tuple(
        Shard(snapshot, index, number)
        for snapshot, number in sorted({(shard.snapshot, shard.number) for shard in facts.shards})
        for index in range(number)
        if Shard(snapshot, index, number) not in facts.shards
    )


def snapshot_key(one: Snapshot) -> tuple[str, ...]:
    """The key of `facts`."""
    return (one.id,)


def node_key(one: NodeFacts) -> tuple[str, ...]:
    """The key of `facts`."""
    return one.snapshot, one.name


def pool_key(one: PoolFacts) -> tuple[Any, ...]:
    """The key of `facts`."""
    return one.snapshot, one.kind, one.name, one.architectures, one.problem


def workload_key(one: WorkloadFacts) -> tuple[Any, ...]:
    """The key of `facts`."""
    images = tuple((image.container, image.role, image.image, image.reference) for image in one.images)
    return one.snapshot, one.namespace, one.kind, one.name, one.standing, images


def build_key(one: BuildFacts) -> tuple[str, ...]:
    """The key of `facts`."""
    return (
        one.snapshot,
        one.namespace,
        one.kind,
        one.name,
        one.container,
        one.image,
        one.image_id,
        one.node_os,
        one.node_architecture,
        one.runtime,
    )


def image_key(one: ImageFacts) -> tuple[str, ...]:
    """The key of `facts`."""
    return (one.reference,)


def _choose(
    chosen: dict[Any, _Fact],
    facts: Iterable[_Fact],
    key: Callable[[_Fact], Any],
    rank: Callable[[_Fact], Any],
) -> None:
    for fact in facts:
        at = key(fact)
        before = chosen.get(at)
        if before is None or (before != fact and rank(before) < rank(fact)):
            chosen[at] = fact


def _sorted(chosen: dict[Any, _Fact]) -> tuple[_Fact, ...]:
    return tuple(chosen[at] for at in sorted(chosen))


def _snapshot_rank(one: Snapshot) -> tuple[Any, ...]:
    # The smallest name counts: each letter is turned round, and what is longer is smaller.
    return one.nodes, one.date, one.uid, [-ord(letter) for letter in one.name] + [1], _fields(one)


def _build_rank(one: BuildFacts) -> tuple[Any, ...]:
    return _VERDICTS.index(one.verdict), _fields(one)


def _image_rank(one: ImageFacts) -> tuple[Any, ...]:
    newer = len(ImageFacts._fields) - ImageFacts._fields.index("newer")
    fields = _fields(one)
    read = bool(one.newer), _READS.index(one.newer_read), bool(one.newer_for)
    return _ANSWERS.index(one.answer), fields[:-newer], read, fields[-newer:]


def _fields(one: Record) -> tuple[Any, ...]:
    return tuple(
        workload_key(one)[-1] if name == "images" and isinstance(one, WorkloadFacts)
        else tuple(map(_fields, getattr(one, name))) if name == "newer"
        else getattr(one, name)
        for name in type(one)._fields
    )  # fmt: skip


def shard_of(reference: str, shards: int) -> int:
    """The shard, from 0, of so many. reference: as in ImageFacts."""
    try:
        name = parse(reference).name
    except InvalidReference:
        name = reference
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % shards


def as_listed(facts: AuditFacts) -> AuditFacts:
    """The facts as they were before anything was looked up. Applied twice it changes nothing more."""
    return facts.replace(
        # Without a reference there is nothing to ask for.
        images=tuple(
            ImageFacts(image.reference, "Unread") if image.reference else image for image in facts.images
        ),
        builds=tuple(
            build.replace(verdict="unread", platform="", manifest="", index="", reason="", moved="")
            for build in facts.builds
        ),
        shards=(),
    )
