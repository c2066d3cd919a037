"""Which shard asks for an image.

    shard = the first 8 bytes of SHA-256("host/repository"), big-endian, modulo the number of shards

All tags and digests of a repository are in one shard, so that the tokens, limits and single flights of a registry are
not spread over all of them; what is no reference is hashed as it is written. The hash is the same on every machine and
in every version of archfit.
"""

from __future__ import annotations

import hashlib

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
