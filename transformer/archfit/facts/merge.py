"""The union of facts: of shards of one snapshot, and of several clusters. Associative, commutative and idempotent.

Records with different keys are all kept. Of two with one key the larger counts, by a rank (`_RULES`) and then by all of
their fields, so that the choice depends on nothing but the two, and a shard that did not ask never hides the answer of
one that did.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from archfit.base.errors import InvalidReference
from archfit.facts.facts import AuditFacts, BuildFacts, ImageFacts, Shard, Snapshot, WorkloadFacts
from archfit.images.reference import parse
from archfit.startup.record import Record

_ANSWERS = ("Unread", "Unknown", "Unasked", "Malformed", "Absent", "Found")
_READS = ("no", "partial", "complete")
_VERDICTS = ("unread", "unknown", "ambiguous", "mismatch", "proven")
_USE = attrgetter("container", "role", "image", "reference")
build_key = attrgetter(
    "snapshot", "namespace", "kind", "name", "container", "image", "image_id", "node_os", "node_architecture", "runtime"
)  # fmt: skip


def merge(parts: Iterable[AuditFacts]) -> AuditFacts:
    """All facts of all parts, sorted by their keys. Holds one part at a time."""
    chosen: dict[str, dict[Any, Any]] = {name: {} for name in AuditFacts._fields}
    for part in parts:
        for name, facts in chosen.items():
            key, rank = _RULES[name]
            for fact in getattr(part, name):
                at = key(fact)
                before = facts.get(at)
                if before is None or (before != fact and rank(before) < rank(fact)):
                    facts[at] = fact
    return AuditFacts(**{name: tuple(facts[at] for at in sorted(facts)) for name, facts in chosen.items()})


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


def workload_key(workload: WorkloadFacts) -> tuple[Any, ...]:
    """By which pods are counted together."""
    images = tuple(map(_USE, workload.images))
    return workload.snapshot, workload.namespace, workload.kind, workload.name, workload.standing, images


def _snapshot_rank(snapshot: Snapshot) -> tuple[Any, ...]:
    # The smallest name counts: each letter is turned round, and what is longer is smaller.
    name = [-ord(letter) for letter in snapshot.name] + [1]
    return snapshot.nodes, snapshot.date, snapshot.uid, name, _fields(snapshot)


def _build_rank(build: BuildFacts) -> tuple[Any, ...]:
    return _VERDICTS.index(build.verdict), _fields(build)


def _image_rank(image: ImageFacts) -> tuple[Any, ...]:
    newer = ImageFacts._fields.index("newer")
    fields = _fields(image)
    tags = bool(image.newer), _READS.index(image.newer_read), bool(image.newer_for)
    return _ANSWERS.index(image.answer), fields[:newer], tags, fields[newer:]


def _fields(record: Record) -> tuple[Any, ...]:
    return tuple(_comparable(getattr(record, name)) for name in type(record)._fields)


def _comparable(value: Any) -> Any:
    if isinstance(value, Record):
        return _fields(value)
    return tuple(map(_comparable, value)) if isinstance(value, tuple) else value


_RULES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "snapshots": (attrgetter("id"), _snapshot_rank),
    "nodes": (attrgetter("snapshot", "name"), _fields),
    "pools": (attrgetter("snapshot", "kind", "name", "architectures", "problem"), _fields),
    "workloads": (workload_key, _fields),
    "builds": (build_key, _build_rank),
    "images": (attrgetter("reference"), _image_rank),
    "shards": (_fields, _fields),
}
"""Of each kind of facts its key, and by which of two with one key the larger counts."""


def shard_of(reference: str, shards: int) -> int:
    """The shard, from 0, of so many: the same on every machine and in every version. reference: as in ImageFacts.

    Images of one repository are of one shard; what is no reference is hashed as it is written.
    """
    try:
        name = parse(reference).name
    except InvalidReference:
        name = reference
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % shards


def as_listed(facts: AuditFacts) -> AuditFacts:
    """The facts as they were before anything was looked up, from which a shard starts."""
    return facts.replace(
        # Without a reference there is nothing to ask for.
        images=tuple(
            ImageFacts(image.reference, "Unread", starts=image.starts) if image.reference else image
            for image in facts.images
        ),
        builds=tuple(
            build.replace(verdict="unread", platform="", manifest="", index="", reason="", moved="")
            for build in facts.builds
        ),
        shards=(),
    )
