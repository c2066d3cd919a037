"""Which shard asks for an image.

    shard = the first 8 bytes of SHA-256("host/repository"), big-endian, modulo the number of shards

All tags and digests of a repository are in one shard, so that the tokens, limits and single flights of a registry are
not spread over all of them; what is no reference is hashed as it is written. The hash is the same on every machine and
in every version of archfit.

A shard starts from what the lists say: `as_listed` takes back what an earlier run asked.
"""

from __future__ import annotations

import hashlib

from archfit.cluster.audit_facts import AuditFacts, ImageFacts
from archfit.errors import InvalidReference
from archfit.images.reference import parse


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
        images=tuple(ImageFacts(one.reference, "Unread") if one.reference else one for one in facts.images),
        builds=tuple(
            one.replace(verdict="unread", platform="", manifest="", index="", reason="", moved="")
            for one in facts.builds
        ),
        shards=(),
    )
