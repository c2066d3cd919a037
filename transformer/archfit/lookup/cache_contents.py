"""What a cache holds, and for how long it is of use.

tag:..       for --cache-ttl or --max-stale, whichever is longer; not from the future, which would be for ever
digest:..    while a tag's entry of use names it, and for 30 days from when it was last confirmed
contents:..  for 30 days from when it was read, as programs:..
tags:..      for --max-stale or a day, whichever is longer
host:..      always
claim:..     until the time that it states
others, and what cannot be read: never
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from archfit.lookup import entries

if TYPE_CHECKING:
    from archfit.lookup.store.sqlite import SqliteStore

_KINDS = {
    "tag": "tags",
    "digest": "digests",
    "contents": "builds",
    "programs": "builds",
    "tags": "lists",
    "host": "servers",
    "claim": "claims",
}
_DATED = _KINDS.keys() - {"host", "claim"}
_DIGEST_SECONDS = 30 * 86400
_CLAIM_SECONDS = 60
_KEPT_HUNDREDTHS = 75
"""What is left of a file that had become too large, so that it is not pruned all the time."""


def expired(items: Sequence[tuple[str, str]], now: float, tag_seconds: int) -> list[str]:
    """The keys that no run would use any more. now: Unix seconds. tag_seconds: how long a tag's entry is of use."""

    def lasts(when: int, seconds: int) -> bool:
        return -entries.CLOCK_SLACK_SECONDS <= now - when <= seconds

    named = {
        entry[0].digest
        for key, text in items
        if key.startswith("tag:") and (entry := entries.from_json(text, "")) and lasts(entry[1], tag_seconds)
    }

    lives = {
        "tag": tag_seconds,
        "digest": _DIGEST_SECONDS,
        "contents": _DIGEST_SECONDS,
        "programs": _DIGEST_SECONDS,
        "tags": max(tag_seconds, entries.LIST_SECONDS),
    }

    def useful(key: str, text: str) -> bool:
        kind = key.partition(":")[0]
        if kind == "claim":
            return now < _time(text, "until") <= now + _CLAIM_SECONDS
        if kind == "digest" and _digest(key) in named:
            return True
        return kind not in lives or lasts(confirmed_at(key, text), lives[kind])

    return [key for key, text in items if not (readable(key, text) and useful(key, text))]


def prune_pages(
    store: SqliteStore, now: float, tag_seconds: int, most: int, pause: Callable[[], object] = lambda: None
) -> int:
    """Remove what is expired, then the oldest while more than `most` bytes are used; how many entries.

    What has no date counts as the oldest. An old digest goes although a tag names it. pause: called after some hundred
    entries. Raises StoreTrouble.
    """
    removed = 0
    ages: dict[int, int] = {}
    for page in store.pages():
        gone = set(expired(page, now, tag_seconds))
        removed += store.discard(gone) if gone else 0
        for key, text in page:
            if key not in gone:
                minute = confirmed_at(key, text) // 60
                ages[minute] = ages.get(minute, 0) + len(key) + len(text)
        pause()
    used = store.used()
    if used <= most:
        return removed
    left = sum(ages.values())
    enough = left * _KEPT_HUNDREDTHS * most // (100 * used)
    latest = -1
    for minute in sorted(ages):
        if left <= enough:
            break
        left -= ages[minute]
        latest = minute
    for page in store.pages():
        gone = {key for key, text in page if confirmed_at(key, text) // 60 <= latest}
        removed += store.discard(gone) if gone else 0
        pause()
    return removed


def counts(keys: Iterable[str]) -> dict[str, int]:
    """How many there are of each kind."""
    numbers = dict.fromkeys((*_KINDS.values(), "others"), 0)  # two kinds are builds
    for key in keys:
        numbers[_KINDS.get(key.partition(":")[0], "others")] += 1
    return numbers


def readable(key: str, text: str) -> bool:
    """A run could use it."""
    match key.partition(":")[0]:
        case "tag":
            return entries.from_json(text, "") is not None
        case "digest":
            return entries.from_json(text, _digest(key)) is not None
        case "contents":
            return entries.contents_from_json(text) is not None
        case "programs":
            return entries.programs_from_json(text) is not None
        case "tags":
            return entries.tags_from_json(text) is not None
        case "host" | "claim":
            return isinstance(_object(text), dict)
    return False


def _digest(key: str) -> str:
    """`sha256:..` of `digest:host/repository@sha256:..~endpoint#credential`."""
    return key.removeprefix("digest:").partition("#")[0].partition("~")[0].rpartition("@")[2]


def confirmed_at(key: str, text: str) -> int:
    """When an entry was last confirmed, in Unix seconds; 0 without one."""
    return int(_time(text, "checked")) if key.partition(":")[0] in _DATED else 0


def _time(text: str, field: str) -> float:
    entry = _object(text)
    when = entry.get(field) if isinstance(entry, dict) else None
    return when if isinstance(when, int | float) and 0 < when < 2**40 else 0


def _object(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
