"""Answers as the store keeps them: their keys, and JSON texts, which are re-validated when they are read.

    tag:<host/repository:tag>
    digest:<host/repository>@<digest>
    contents:<host/repository>@<digest>      what is behind it (`content_entries`), for `archfit audit`

These are the keys of answers of the images' own registries. `scoped_keys` adds who answered and who may read the
answer, where that matters.

    tag:..            {"checked": 1767225600, "digest": "sha256:..", "index": true, "image": true, "platforms": [..],
                       "rules": 2}
    digest:..         the same without "digest"
    host:..           see `registry.http.servers`

    platforms         as the entries state them, variants too: each run decides what they mean
    rules             the version of the rules by which entries of an index were left out; where it is another one, the
                      index is asked for again. Entries of single manifests do not depend on it

A tag's entry repeats the platforms, so that a warm run reads everything in one query. Only Found is kept: `Unknown`
and `Absent` are asked for again in each run, so that no run fails because of an old answer.
"""

from __future__ import annotations

from archfit.base import c_json
from archfit.base.errors import InvalidReference
from archfit.base.memo import Memo
from archfit.images.platforms import Found, Platform, parse_platform
from archfit.images.reference import Reference, is_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from archfit.registry.routing.endpoints import Endpoint

_MAX_PLATFORMS = 256
# 1, unwritten, left out what has an `artifactType`, and kept what a runtime never reaches.
RULES = 2
CLOCK_SLACK_SECONDS = 60
"""How far clocks of machines that share a cache may differ: a later time is from the future."""
_LATEST = 2**40  # Unix seconds; a later time is an error


def _parsed(names: tuple[str, ...]) -> tuple[Platform, ...]:
    """The platforms for a list of names, sorted. Raises InvalidReference."""
    return tuple(sorted(set(map(parse_platform, names)), key=str))


_platforms = Memo(_parsed, 256)
_OFTEN = 32
"""Platforms of an index that others repeat; a longer list is parsed anew."""


def to_json(found: Found, checked: int) -> dict[str, str]:
    """The two texts worth keeping, without their keys: "tag" and "digest". checked: Unix seconds."""
    body = {
        "image": found.image,
        "index": found.index,
        "platforms": [str(platform) for platform in found.platforms],
        "rules": RULES,
    }
    return {
        "tag": c_json.dumps({"checked": checked, "digest": found.digest, **body}),
        "digest": c_json.dumps({"checked": checked, **body}),
    }


def from_json(text: str, digest: str) -> tuple[Found, int] | None:
    """A kept answer and when it was checked (0 for a digest's entry); None for anything that `to_json` did not make.

    digest: the digest whose entry it is, "" for a tag's.
    """
    try:
        kept = c_json.loads(text)
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
            and (not index or kept.get("rules") == RULES)
            and 0 <= checked < _LATEST
        ):
            return None
        platforms = _platforms[tuple(names)] if len(names) <= _OFTEN else _parsed(tuple(names))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidReference):
        return None
    return Found(platforms, digest, index, image, "cache"), checked


def key_of(reference: Reference) -> str:
    """The key of an answer of the reference's own registry that everybody may read."""
    return f"{'digest' if reference.digest else 'tag'}:{reference.normalised}"


def contents_key(key: str) -> str:
    """The key of a digest's contents. key: of the digest's answer."""
    return f"contents:{key.partition(':')[2]}"


class OwnKeys:
    """Keys without any addition. The two-step methods (`server`, `prepare`, `late`) are for `scoped_keys`."""

    def of(self, reference: Reference) -> list[str]:
        """The keys to read first."""
        return [key_of(reference)]

    def server(self, reference: Reference) -> str:
        """The key of the server's entry, where `late` needs that entry; else ""."""
        del reference
        return ""

    def prepare(self, servers: Iterable[tuple[Reference, str]]) -> None:
        """Get ready for `late` of these references and their servers' entries."""

    def late(self, reference: Reference, server: str) -> list[str]:
        """More keys to read. server: the server's entry, "" if there is none."""
        del reference, server
        return []

    def written(self, reference: Reference, endpoint: Endpoint | None, *, used: bool) -> str:
        """The key to write. endpoint: who answered, None for the image's own registry. used: a credential was sent."""
        del endpoint, used
        return key_of(reference)

    def claimed(self, reference: Reference) -> str:
        """The key of a claim: who asks for the image just now."""
        return key_of(reference)
