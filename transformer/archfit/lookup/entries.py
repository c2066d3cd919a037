"""Answers as the store keeps them: JSON texts, re-validated when they are read.

    tag:..            {"checked": 1767225600, "digest": "sha256:..", "index": true, "image": true, "platforms": [..],
                       "rules": 2}
    digest:..         the same without "digest"
    host:..           see `registry.hosts`

    platforms         as the entries state them, variants too: what they mean is decided anew by each run
    rules             by which rules entries of an index were left out; where these have changed since, the index is
                      asked for again. Entries of single manifests count as they are

A tag's entry repeats the platforms, so that a warm run reads everything in one query. Only Found is kept: `Unknown`
is never cached, and `Absent` is asked again each time, so that it never decides a failure from the cache.
"""

from __future__ import annotations

import functools
import json

from archfit.errors import InvalidReference
from archfit.images.platforms import Found, Platform, parse_platform
from archfit.images.reference import Reference, is_digest

_MAX_PLATFORMS = 256
# 1, unwritten, left out what has an `artifactType`, and kept what a runtime never reaches.
_RULES = 2
_LATEST = 2**40  # Unix seconds; what claims to be younger is rubbish
_platform = functools.cache(parse_platform)


def key_of(reference: Reference) -> str:
    """The key under which an answer for this reference is kept."""
    return f"{'digest' if reference.digest else 'tag'}:{reference.normalised}"


def dump(found: Found, checked: int) -> dict[str, str]:
    """The two texts worth keeping, without their keys: "tag" and "digest". checked: Unix seconds."""
    body = {
        "image": found.image,
        "index": found.index,
        "platforms": [str(platform) for platform in found.platforms],
        "rules": _RULES,
    }
    return {
        "tag": json.dumps({"checked": checked, "digest": found.digest, **body}),
        "digest": json.dumps({"checked": checked, **body}),
    }


def load(text: str, digest: str) -> tuple[Found, int] | None:
    """A kept answer and when it was checked (0 for a digest's entry); None for anything that `dump` did not make.

    digest: the digest whose entry it is, "" for a tag's.
    """
    try:
        kept = json.loads(text)
        index, image, names = kept["index"], kept["image"], kept["platforms"]
        checked = 0 if digest else kept["checked"]
        digest = digest or kept["digest"]
        if not (
            isinstance(index, bool)
            and isinstance(image, bool)
            and isinstance(names, list)
            and len(names) <= _MAX_PLATFORMS
            and bool(names) == image
            and isinstance(digest, str)
            and is_digest(digest)
            and isinstance(checked, int)
            and (not index or kept.get("rules") == _RULES)
            and 0 <= checked < _LATEST
        ):
            return None
        platforms: tuple[Platform, ...] = tuple(_platform(name) for name in names)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidReference):
        return None
    return Found(tuple(sorted(set(platforms), key=str)), digest, index, image, "cache"), checked
