"""A cache as if the images' own registries had been asked a moment ago.

warm({"nginx:1": ["linux/amd64"]}, place)      entries of tags and digests; place: the cache's file
"""

import hashlib
import time
from collections.abc import Iterable, Mapping

from archfit.images.platforms import Found, parse_platform
from archfit.images.reference import parse
from archfit.lookup import entries
from archfit.lookup.entries import key_of
from archfit.lookup.store.sqlite import SqliteStore


def warm(platforms: Mapping[str, Iterable[str]], place: str, now: float | None = None) -> None:
    """Keep an index with these platforms for each image. now: Unix seconds, None for the clock's."""
    kept: dict[str, str] = {}
    for text, names in platforms.items():
        reference = parse(text)
        digest = reference.digest or f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        found = Found(tuple(sorted(map(parse_platform, names), key=str)), digest)
        made = entries.to_json(found, int(time.time() if now is None else now))
        kept[key_of(reference.replace(tag="", digest=digest))] = made["digest"]
        if reference.tag:
            kept[key_of(reference)] = made["tag"]
    store = SqliteStore(place)
    store.put_many(kept)
    store.close()
