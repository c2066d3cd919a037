"""Answers from registries, for what the cache does not have: the gate to everything of the network.

    references ── single_flight ── Fetcher ── Found | Absent | Unknown ── cache
                  (one process asks for each image, the others wait)

Of all processes that need an image and share a cache, one asks for it and the others wait for its answer:

    claim ─┬─ won       read again (the other may just have finished), ask, keep, release
           └─ not won   pause, read; claim again, as the other may have failed or died

A process first asks for the images that it claimed, then waits for the others. It waits for at most half of its time
and then asks for the rest itself: claims save requests, but no answer depends on them. The cache does not keep `Absent`
and `Unknown`, so each process gets them from the registry itself.

`lookup` imports this module when the first image has to be asked for; a run that finds everything in the cache never
does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Protocol, TypeAlias, TypeVar

from archfit.images.contents import ImageContents
from archfit.images.platforms import Absent, Answer, Found, Unknown
from archfit.images.reference import Reference
from archfit.images.tags import TagList
from archfit.lookup import tag_entries
from archfit.lookup.cache import LookupCache
from archfit.lookup.entries import contents_key
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.open import open_budget
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.fetcher import Fetcher
from archfit.registry.lookup_context import LookupContext
from archfit.registry.registry_questions import Part, Question, Route
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Routes

T = TypeVar("T")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.lookup.store.redis import RedisStore
    from archfit.registry.client import RawManifest

ContentsAnswer: TypeAlias = ImageContents | Absent | Unknown


class RegistryLookup:
    """The gate of one lookup. warn: takes a sentence for the user."""

    def __init__(
        self,
        operator: Operator,
        cache: LookupCache,
        keychain: Keychain,
        routes: Routes,
        context: LookupContext,
        *,
        warn: Callable[[str], None],
    ) -> None:
        self._shares_answers = operator.cache_ttl_seconds > 0
        self._cache = cache
        self._context = context
        self._warn = warn
        self._warned: set[str] = set()
        self._budget = _shared_budget(operator, context, warn)
        reserve = self._budget.reserve if self._budget else None
        self._fetcher = Fetcher(operator, context, cache.recall, keychain, routes, reserve=reserve)

    @property
    def requests(self) -> dict[str, int]:
        """How many requests of each kind were sent, sorted by kind."""
        return dict(sorted(self._fetcher.sent.items()))

    def take_replies(self) -> dict[tuple[str, int], int]:
        """How many answers came since the last call, by server and HTTP status; 0 is none."""
        return self._fetcher.take_replies()

    @property
    def pulls_left(self) -> dict[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        return self._fetcher.pulls_left

    def spare(self, *, pulls: bool) -> None:
        """As `Fetcher.spare`."""
        self._fetcher.spare(pulls=pulls)

    def answers(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        """An answer for each, by normalised reference. stale: what the cache has that is too old to be used as it is.

        Where the cache may be used at all, an image that another process asks for just now is waited for.
        """
        if not self._shares_answers:
            return self._ask(references, stale)
        clock = self._context.clock

        def kept(some: Sequence[Reference], since: float) -> dict[str, Answer]:
            return {**self._cache.read(some, clock(), since=since)[0]}

        return single_flight(
            references,
            self._cache,
            kept,
            lambda some: self._ask(some, stale),
            clock=clock,
            wait=self._context.wait,
            left=self._context.deadline.left,
        )

    def keep_contents(self) -> dict[str, ImageContents]:
        """From now on, keep what is behind the indexes and manifests that are read; by digest, as it grows."""
        client = self._fetcher.client
        if client.contents is None:
            client.contents = {}
        return client.contents

    def contents(self, parts: Sequence[Part]) -> dict[str, ContentsAnswer]:
        """What is behind each digest, by normalised reference, asked in the same way as images are."""
        by_name = {part.reference.normalised: part for part in parts}

        def kept(some: Sequence[Reference], _since: float) -> dict[str, ContentsAnswer]:
            return {**kept_contents(self._cache, [by_name[reference.normalised] for reference in some])}

        def ask(some: Sequence[Reference]) -> dict[str, ContentsAnswer]:
            return self._read([by_name[reference.normalised] for reference in some])

        references = [part.reference for part in parts]
        if not self._shares_answers:
            return ask(references)
        return single_flight(
            references,
            self._cache,
            kept,
            ask,
            clock=self._context.clock,
            wait=self._context.wait,
            left=self._context.deadline.left,
        )

    def tag_lists(self, repositories: Sequence[Reference]) -> dict[str, TagList | Absent | Unknown]:
        """The tags of each repository (`tag_entries.repository`), by its normalised reference.

        A list of the last 24 hours is used as it is.
        """
        clock = self._context.clock

        def kept(some: Sequence[Reference], _since: float) -> dict[str, TagList | Absent | Unknown]:
            return {**kept_lists(self._cache, some, clock(), tag_entries.LIST_SECONDS)}

        if not self._shares_answers:
            return self._list(repositories)
        return single_flight(
            repositories,
            self._cache,
            kept,
            self._list,
            clock=clock,
            wait=self._context.wait,
            left=self._context.deadline.left,
        )

    def manifests(
        self, references: Sequence[Reference], meanwhile: Callable[[], object]
    ) -> dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]:
        """What registries answer now, by normalised reference, with the manifest and where it was read.

        meanwhile: called while connections are made.
        """

        def keep_documents() -> None:
            self._fetcher.client.documents = {}
            meanwhile()

        answers = self._ask(references, {}, keep_documents)
        documents = self._fetcher.client.documents or {}
        return {name: (answer, *documents.get(name, (None, None))) for name, answer in answers.items()}

    def close(self) -> None:
        """Close all connections."""
        self._fetcher.close()
        if self._budget:
            self._budget.close()

    def _ask(
        self,
        references: Sequence[Reference],
        stale: Mapping[str, Found],
        meanwhile: Callable[[], object] | None = None,
    ) -> dict[str, Answer]:
        fetcher = self._fetcher
        questions = [Question(reference, stale.get(reference.normalised)) for reference in references]
        routes = fetcher.routes(questions)

        def prepare() -> None:
            self._prepare(routes)
            if meanwhile:
                meanwhile()

        answers = fetcher.ask(questions, routes, prepare)
        self._pass_warnings()
        client = fetcher.client
        asked = list(zip(references, routes, answers, strict=True))
        found = [
            (
                reference,
                answer,
                client.answered_by.get(reference.normalised),
                client.credential_sent(route),
            )
            for reference, route, answer in asked
            if isinstance(answer, Found)
        ]
        self._cache.write(found, fetcher.changed_servers(), int(self._context.clock()))
        contents = client.contents
        if contents is not None:
            self._keep(
                (reference.replace(tag="", digest=answer.digest), contents[answer.digest], endpoint, used)
                for reference, answer, endpoint, used in found
                if answer.digest in contents
            )
        return {reference.normalised: answer for reference, _, answer in asked}

    def _list(self, repositories: Sequence[Reference]) -> dict[str, TagList | Absent | Unknown]:
        fetcher = self._fetcher
        questions = [Question(reference) for reference in repositories]
        routes = fetcher.routes(questions)
        answers = fetcher.tags(questions, routes, lambda: self._prepare(routes))
        self._pass_warnings()
        client, now = fetcher.client, int(self._context.clock())
        self._cache.write((), fetcher.changed_servers(), now)
        asked = list(zip(repositories, routes, answers, strict=True))
        self._cache.write_texts(
            (
                (
                    reference,
                    tag_entries.to_json(answer, now),
                    client.answered_by.get(reference.normalised),
                    client.credential_sent(route),
                )
                for reference, route, answer in asked
                if isinstance(answer, TagList)
            ),
            tag_entries.tags_key,
        )
        return {reference.normalised: answer for reference, _, answer in asked}

    def _read(self, parts: Sequence[Part]) -> dict[str, ContentsAnswer]:
        fetcher = self._fetcher
        routes = fetcher.routes(parts)
        answers = fetcher.read(parts, routes, lambda: self._prepare(routes))
        self._pass_warnings()
        client = fetcher.client
        self._cache.write((), fetcher.changed_servers(), int(self._context.clock()))
        self._keep(
            (
                part.reference,
                answer,
                client.answered_by.get(part.reference.normalised),
                client.credential_sent(route),
            )
            for part, route, answer in zip(parts, routes, answers, strict=True)
            if isinstance(answer, ImageContents)
        )
        return {part.reference.normalised: answer for part, answer in zip(parts, answers, strict=True)}

    def _prepare(self, routes: Sequence[Route]) -> None:
        """While connections are made: load what asks, and take over what the cache knows of the servers."""
        origins = [endpoint.origin for route in routes for endpoint in route.endpoints]
        self._fetcher.remember(self._cache.servers(origins))

    def _pass_warnings(self) -> None:
        for text in self._fetcher.warnings():
            if text not in self._warned:
                self._warned.add(text)
                self._warn(text)

    def _keep(self, read: Iterable[tuple[Reference, ImageContents, Endpoint | None, bool]]) -> None:
        from archfit.lookup import content_entries  # only `archfit audit` asks for contents

        now = int(self._context.clock())
        self._cache.write_texts(
            (
                (reference, content_entries.to_json(contents, now), endpoint, used)
                for reference, contents, endpoint, used in read
            ),
            contents_key,
        )


def _shared_budget(
    operator: Operator, context: LookupContext, warn: Callable[[str], None]
) -> SharedBudget | None:
    """The budget that processes share, where there is one; trouble is a warning of the cache's already."""
    if not operator.requests_per_second:
        return None
    with contextlib.suppress(StoreTrouble):
        store = open_budget(operator, context.environ, context.clock, context.deadline.left_for_cache)
        if store:
            return SharedBudget(store, os.urandom(8).hex(), monotonic, warn)
    return None


def kept_contents(cache: LookupCache, parts: Sequence[Part]) -> dict[str, ImageContents]:
    """What the cache has that is enough, by normalised reference."""
    from archfit.lookup import content_entries

    found: dict[str, ImageContents] = {}
    texts = cache.read_texts([part.reference for part in parts], contents_key)
    for part in parts:
        name = part.reference.normalised
        for text in texts.get(name, ()):
            contents = content_entries.from_json(text)
            if contents and is_enough(part, contents):
                found[name] = contents
                break
    return found


def kept_lists(
    cache: LookupCache, repositories: Sequence[Reference], now: float, seconds: float
) -> dict[str, TagList]:
    """The lists of tags that the cache has, not older than some seconds, by normalised reference."""
    texts = cache.read_texts(repositories, tag_entries.tags_key)
    found = {name: tag_entries.fresh(some, now, seconds) for name, some in texts.items()}
    return {name: listed for name, listed in found.items() if listed}


def is_enough(part: Part, contents: ImageContents) -> bool:
    """It answers the part: a manifest's config may have been left unread."""
    whole = contents.kind == "index" or contents.platform is not None or not contents.config
    return whole or part.kind == "manifest"


_AGAIN_SECONDS = 5.0


class SharedBudget:
    """The request budget that processes share on a Redis or Valkey server; while it fails, one warning.

    It is asked again after five seconds. owner: names this process among those that share the server. clock: seconds
    that never go back.
    """

    def __init__(
        self, store: RedisStore, owner: str, clock: Callable[[], float], warn: Callable[[str], None]
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._warn = warn
        self._failed_until = float("-inf")
        self._warned = False

    def reserve(self, host: str, interval: float, longest: float) -> tuple[float | None, int] | None:
        """As `request_budget.Reserve`; None while the server fails."""
        if self._clock() < self._failed_until:
            return None
        try:
            return self._store.reserve(host, self._owner, interval, longest)
        except StoreTrouble as trouble:
            self._failed_until = self._clock() + _AGAIN_SECONDS
            if not self._warned:
                self._warned = True
                self._warn(f"{trouble}; this process keeps to its part of --requests-per-second by itself")
            return None

    def close(self) -> None:
        """Close the connections to the server."""
        self._store.close()


LEASE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 0.4


class Flights(Protocol):
    """What single flights need of a cache (`cache.LookupCache`)."""

    def claim(self, references: Sequence[Reference], seconds: float) -> set[str]: ...

    def release(self, references: Iterable[Reference]) -> None: ...


def single_flight(
    references: Sequence[Reference],
    cache: Flights,
    read: Callable[[Sequence[Reference], float], Mapping[str, T]],
    ask: Callable[[Sequence[Reference]], Mapping[str, T]],
    *,
    clock: Callable[[], float],
    wait: Callable[[float], object],
    left: Callable[[], float],
) -> dict[str, T]:
    """An answer for each, by normalised reference.

    read: what the cache has now, and from after a time in Unix seconds. ask: asks registries and writes the answers to
    the cache. clock: Unix seconds. wait: sleeps for some seconds. left: seconds to the deadline.
    """
    answers: dict[str, T] = {}
    since, half = int(clock()), left() / 2
    lease = min(LEASE_SECONDS, left() / 3)
    patience, pause = half, _FIRST_PAUSE_SECONDS
    waiting = list(references)
    while waiting:
        won = cache.claim(waiting, lease)
        claimed = [reference for reference in waiting if reference.normalised in won]
        try:
            answers |= read(waiting, since)
            mine = [
                reference
                for reference in (claimed if patience > 0 else waiting)
                if reference.normalised not in answers
            ]
            if mine:
                answers |= ask(mine)
        finally:
            cache.release(claimed)
        waiting = [reference for reference in waiting if reference.normalised not in answers]
        if waiting and not mine:
            pause = min(pause, patience)
            wait(pause)
            patience = patience - pause if left() > half else 0
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
    return answers
