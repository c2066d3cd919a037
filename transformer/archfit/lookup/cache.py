"""The cache as one run uses it: what it holds for images, how old that is, and who is asking for what.

A tag is fresh up to --cache-ttl, then stale; one from the future is stale with the age -1, and counts as older than all
others. A digest is fresh for ever. A claim ends by itself after some seconds.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from archfit.images.platforms import Found
from archfit.images.reference import Reference
from archfit.lookup import entries
from archfit.lookup.entries import OwnKeys
from archfit.lookup.store import MemoryStore, StoreTrouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from typing import TypeVar

    from archfit.images.contents import ImageContents, Part
    from archfit.images.tag_list import TagList
    from archfit.lookup.store import Store
    from archfit.programs.program import Programs
    from archfit.programs.start import Start
    from archfit.registry.routing.endpoints import Endpoint

    T = TypeVar("T")

_NEVER = float("inf")


def _younger(known: Found, other: Found) -> bool:
    return 0 <= known.age_seconds < other.age_seconds or other.age_seconds < 0 <= known.age_seconds


class LookupCache:
    """Safe to use from several threads; raises nothing. warn: takes a sentence, once, where the store failed."""

    def __init__(self, store: Store, keys: OwnKeys, ttl_seconds: int, warn: Callable[[str], None]) -> None:
        self._store = store
        self._keys = keys
        self._ttl = ttl_seconds
        self._warn = warn
        self._lock = allocate_lock()
        self._owner = os.urandom(8).hex()
        # A reference's key may change once a credential helper has answered: a claim ends under its own key.
        self._claims: dict[str, str] = {}

    def read(
        self,
        references: Sequence[Reference],
        now: float,
        *,
        since: float = _NEVER,
        settled: Container[str] = (),
    ) -> tuple[dict[str, Found], dict[str, Found]]:
        """What is fresh, and what is stale, by normalised reference; each from the youngest entry.

        now, since: Unix seconds; answers that were checked after `since` are fresh, too. settled: those for
        which one round trip to the store is enough, as the answer does not depend on it.
        """
        fresh: dict[str, Found] = {}
        stale: dict[str, Found] = {}
        rest = references
        for texts_of in (self._texts, self._late):
            texts = texts_of(rest)
            for reference in rest:
                name = reference.normalised
                known = self._known(reference, texts.get(name, ()), now, since)
                if known and known.origin != "stale":
                    fresh[name] = known
                elif known and (name not in stale or _younger(known, stale[name])):
                    stale[name] = known
            rest = [
                reference
                for reference in rest
                if reference.normalised not in fresh and reference.normalised not in settled
            ]
        return fresh, stale

    def recall(self, reference: Reference, digest: str) -> Found | None:
        """What is kept for a digest of the same repository. May be called from several threads."""
        pinned = reference.replace(tag="", digest=digest)
        return self.read([pinned], 0)[0].get(pinned.normalised)

    def servers(self, origins: Iterable[str]) -> dict[str, str]:
        """What is kept of servers, by `host:<origin>`."""
        return self._get([f"host:{origin}" for origin in dict.fromkeys(origins)])

    def write(
        self,
        answers: Iterable[tuple[Reference, Found, Endpoint | None, bool]],
        servers: Mapping[str, str],
        now: int,
    ) -> None:
        """Keep answers, each with who answered and whether a credential was sent for it, and what is known of servers.

        now: Unix seconds.
        """
        texts = dict(servers)
        for reference, answer, endpoint, used in answers:
            both = entries.to_json(answer, now)
            pinned = reference.replace(tag="", digest=answer.digest)
            texts[self._keys.written(pinned, endpoint, used=used)] = both["digest"]
            if reference.tag:
                texts[self._keys.written(reference, endpoint, used=used)] = both["tag"]
        self._put(texts)

    def _other_texts(self, references: Iterable[Reference], kind: str) -> dict[str, list[str]]:
        """Texts of a kind of `entries.other_key`, by normalised reference."""
        kept = self._texts(references, kind)
        rest = [reference for reference in references if not kept.get(reference.normalised)]
        return {**kept, **self._late(rest, kind)}

    def contents(self, parts: Sequence[Part]) -> dict[str, ImageContents]:
        """What is kept of what is behind digests, and is enough, by normalised reference."""
        texts = self._other_texts([part.reference for part in parts], "contents")
        known: dict[str, ImageContents] = {}
        for part in parts:
            name = part.reference.normalised
            for contents in map(entries.contents_from_json, texts.get(name, ())):
                if contents and part.is_answered_by(contents):
                    known.setdefault(name, contents)
        return known

    def programs(self, starts: Mapping[Reference, Iterable[Start]]) -> dict[str, Programs]:
        """What is kept of what manifests start, and has all of the starts, by normalised reference."""
        texts = self._other_texts(list(starts), "programs")
        kept: dict[str, Programs] = {}
        for reference, some in starts.items():
            name = reference.normalised
            programs = next(filter(None, map(entries.programs_from_json, texts.get(name, ()))), None)
            if programs and all(map(programs.of, some)):
                kept[name] = programs
        return kept

    def tag_lists(self, repositories: Sequence[Reference], now: float, seconds: float) -> dict[str, TagList]:
        """The kept lists of tags, not older than some seconds, by normalised reference."""
        texts = self._other_texts(repositories, "tags")
        lists = {name: entries.youngest_tags(some, now, seconds) for name, some in texts.items()}
        return {name: listed for name, listed in lists.items() if listed}

    def write_others(
        self,
        answers: Iterable[tuple[Reference, T, Endpoint | None, bool]],
        kind: str,
        to_json: Callable[[T, int], str],
        now: int,
    ) -> None:
        """Keep contents, programs or lists of tags, in the same way. kind, to_json: those of `entries` for them."""
        texts = {
            self._keys.written(reference, endpoint, used=used): to_json(answer, now)
            for reference, answer, endpoint, used in answers
        }
        self._put({entries.other_key(kind, key): text for key, text in texts.items()})

    def claim(self, references: Sequence[Reference], seconds: float) -> set[str]:
        """Those, by normalised reference, that no other process is asking for: they are this one's to ask."""
        keys = {reference.normalised: self._keys.claimed(reference) for reference in references}
        with self._lock:
            try:
                won = self._store.claim(list(keys.values()), self._owner, seconds)
            except StoreTrouble as trouble:
                self._use_memory(trouble)
                return set(keys)
            claimed = {name: key for name, key in keys.items() if key in won}
            self._claims |= claimed
        return set(claimed)

    def release(self, references: Iterable[Reference]) -> None:
        """End this process's claims."""
        with self._lock:
            names = [reference.normalised for reference in references]
            keys = [self._claims.pop(name) for name in names if name in self._claims]
            try:
                if keys:
                    self._store.release(keys, self._owner)
            except StoreTrouble as trouble:
                self._use_memory(trouble)

    def close(self) -> None:
        self._store.close()

    def _known(self, reference: Reference, texts: Iterable[str], now: float, since: float) -> Found | None:
        """The youngest entry for the reference, with the origin "stale" where it is not fresh."""
        kept = [entry for text in texts if (entry := entries.from_json(text, reference.digest))]
        if not kept:
            return None
        # A later entry is dated in the future, and counts only where there is no other.
        latest = _NEVER if reference.digest else now + entries.CLOCK_SLACK_SECONDS
        answer, checked = max(kept, key=lambda entry: (entry[1] <= latest, entry[1]))
        age = 0 if reference.digest else int(now) - checked
        future = checked > latest
        known = answer.replace(age_seconds=-1 if future else max(0, age))
        is_fresh = reference.digest or (not future and (checked >= since or 0 < self._ttl >= age))
        return known if is_fresh else known.replace(origin="stale")

    def _texts(self, references: Iterable[Reference], kind: str = "") -> dict[str, list[str]]:
        """What the store has under the keys that are known at once. kind: of `entries.other_key`, "" for answers."""
        return self._held({reference.normalised: self._keys.of(reference) for reference in references}, kind)

    def _late(self, references: Sequence[Reference], kind: str = "") -> dict[str, list[str]]:
        """What can only be asked for once the servers' entries are known."""
        return self._held(self._keys.late(references, self._get), kind)

    def _held(self, keys: Mapping[str, list[str]], kind: str) -> dict[str, list[str]]:
        """What the store has for the keys of each name, in one round trip."""
        if kind:
            keys = {name: [entries.other_key(kind, key) for key in some] for name, some in keys.items()}
        kept = self._get([key for some in keys.values() for key in some])
        return {name: [kept[key] for key in some if key in kept] for name, some in keys.items()}

    def _get(self, keys: list[str]) -> dict[str, str]:
        with self._lock:
            try:
                return self._store.get_many(keys) if keys else {}
            except StoreTrouble as trouble:
                self._use_memory(trouble)
                return {}

    def _put(self, texts: dict[str, str]) -> None:
        with self._lock:
            try:
                if texts:
                    self._store.put_many(texts)
            except StoreTrouble as trouble:
                self._use_memory(trouble)
                self._store.put_many(texts)

    def _use_memory(self, trouble: StoreTrouble) -> None:
        self._warn(f"{trouble}; this run goes on without it")
        self._store.close()
        self._store = MemoryStore()
