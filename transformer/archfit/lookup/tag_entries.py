"""Lists of tags as the store keeps them: JSON texts, re-validated when they are read.

tags:..     {"checked": 1767225600, "read": "complete", "tags": ["1.24.3", "latest"],
             "offers": {"1.24.3": ["linux/amd64", "linux/arm64"]}}

read        "complete" or "partial"; what could not be read at all is asked for again in each run
offers      what the list itself says of platforms (`registry.tag_list`)

An entry is of use for 24 hours, with --offline for as long as --max-stale says.
"""

from __future__ import annotations

import json

from archfit.base.errors import InvalidReference
from archfit.images.platforms import parse_platform
from archfit.images.reference import Reference
from archfit.images.tags import TagList
from archfit.lookup.entries import CLOCK_SLACK_SECONDS

LIST_SECONDS = 86400
_MOST = 200_000
_LATEST = 2**40  # Unix seconds; a later time is an error


def repository(reference: Reference) -> Reference:
    """What stands for the whole repository of a reference, in routes, keys and claims."""
    return reference.replace(tag="", digest="", original=reference.name)


def tags_key(key: str) -> str:
    """The key of a repository's list. key: of `repository`'s answer, with who answered and for whom."""
    return f"tags:{key.partition(':')[2]}"


def to_json(listed: TagList, checked: int) -> str:
    """The text to keep. checked: Unix seconds."""
    offers = {tag: [str(platform) for platform in platforms] for tag, platforms in listed.offers.items()}
    body = {"checked": checked, "read": listed.read, "tags": list(listed.tags)}
    return json.dumps({**body, "offers": offers} if offers else body)


def from_json(text: str) -> tuple[TagList, int] | None:
    """The list and when it was read; None for anything that `to_json` did not make."""
    try:
        kept = json.loads(text)
        checked, read, tags = kept["checked"], kept["read"], kept["tags"]
        if not (
            isinstance(checked, int)
            and 0 <= checked < _LATEST
            and read in {"complete", "partial"}
            and isinstance(tags, list)
            and len(tags) <= _MOST
            and all(isinstance(tag, str) for tag in tags)
        ):
            return None
        offers = {tag: tuple(map(parse_platform, names)) for tag, names in kept.get("offers", {}).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidReference):
        return None
    return TagList(tuple(tags), read, offers=offers), checked


def fresh(texts: list[str], now: float, seconds: float) -> TagList | None:
    """The youngest list of those that are not older; None where there is none. now: Unix seconds."""
    kept = [entry for text in texts if (entry := from_json(text))]
    young = [entry for entry in kept if -CLOCK_SLACK_SECONDS <= now - entry[1] <= seconds]
    return max(young, key=lambda entry: entry[1])[0] if young else None
