"""Answers from registries, for what the cache does not have: the gate to everything of the network.

    references ── single_flight ── side_by_side ── RegistryClient ── Found | Absent | Unknown ── cache
                  (one process asks for each image, the others wait)

    a digest       ImageContents | Absent | Unknown
    a repository   TagList | Absent | Unknown

`lookup` imports this module when the first image has to be asked for; a run that finds everything in the cache never
does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from archfit.images.contents import ImageContents, Part
from archfit.images.platforms import Absent, Answer, Found, Unknown
from archfit.images.reference import Reference
from archfit.images.tags import TagList
from archfit.lookup import entries
from archfit.lookup.cache import LookupCache
from archfit.lookup.pool import NoThread, side_by_side
from archfit.lookup.single_flight import single_flight
from archfit.lookup.store.open import open_budget
from archfit.options.settings import Operator
from archfit.registry.client import RawManifest, RegistryClient
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.http.request import late
from archfit.registry.lookup_context import LookupContext
from archfit.registry.refusals import because
from archfit.registry.registry_errors import NO_THREAD, InvalidManifest, ManifestUnknown, RegistryError
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Route, Routes

T = TypeVar("T")
ContentsAnswer: TypeAlias = ImageContents | Absent | Unknown


class _Outcome(NamedTuple, Generic[T]):
    """endpoint: who answered, None where nobody did. used: a credential was sent for it."""

    reference: Reference
    answer: T | Absent | Unknown
    endpoint: Endpoint | None
    used: bool


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
        self._budget = open_budget(operator, context, warn)
        reserve = self._budget.reserve if self._budget else None
        self.client = RegistryClient(operator, context, cache.recall, keychain, routes, reserve=reserve)

    @property
    def requests(self) -> dict[str, int]:
        """How many requests of each kind were sent, sorted by kind."""
        return dict(sorted(self.client.http.requests.items()))

    @property
    def pulls_left(self) -> dict[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        return {server.origin: server.pulls_left for server in self.client.http.servers if server.pulls_left}

    def answers(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        """An answer for each, by normalised reference. stale: what the cache has that is too old to be used as it is.

        Where the cache may be used at all, an image that another process asks for just now is waited for.
        """

        def kept(some: Sequence[Reference], since: float) -> dict[str, Answer]:
            return {**self._cache.read(some, self._context.clock(), since=since)[0]}

        return self._shared(references, kept, lambda some: self._ask(some, stale))

    def contents(self, parts: Sequence[Part]) -> dict[str, ContentsAnswer]:
        """What is behind each digest, by normalised reference, asked in the same way as images are."""
        by_name = {part.reference.normalised: part for part in parts}

        def kept(some: Sequence[Reference], _since: float) -> dict[str, ContentsAnswer]:
            return {**self._cache.contents([by_name[reference.normalised] for reference in some])}

        def ask(some: Sequence[Reference]) -> dict[str, ContentsAnswer]:
            return self._read([by_name[reference.normalised] for reference in some])

        return self._shared([part.reference for part in parts], kept, ask)

    def tag_lists(
        self, repositories: Sequence[Reference], near: Mapping[str, Sequence[str]]
    ) -> dict[str, TagList | Absent | Unknown]:
        """The tags of each repository (`entries.repository`), by its normalised reference.

        near: by the same, how the tags in use begin.
        A list of the last 24 hours is used as it is.
        """

        def kept(some: Sequence[Reference], _since: float) -> dict[str, TagList | Absent | Unknown]:
            return {**self._cache.tag_lists(some, self._context.clock(), entries.LIST_SECONDS)}

        return self._shared(repositories, kept, lambda some: self._list(some, near))

    def keep_contents(self) -> dict[str, ImageContents]:
        """From now on, keep what is behind the indexes and manifests that are read; by digest, as it grows."""
        if self.client.contents is None:
            self.client.contents = {}
        return self.client.contents

    def manifests(
        self, references: Sequence[Reference]
    ) -> dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]:
        """What registries answer now, by normalised reference, with the manifest and where it was read."""
        documents = self.client.documents = {}
        answers = self._ask(references, {})
        return {name: (answer, *documents.get(name, (None, None))) for name, answer in answers.items()}

    def close(self) -> None:
        """Close all connections."""
        self.client.http.close()
        if self._budget:
            self._budget.close()

    def _shared(
        self,
        references: Sequence[Reference],
        kept: Callable[[Sequence[Reference], float], dict[str, T]],
        ask: Callable[[Sequence[Reference]], dict[str, T]],
    ) -> dict[str, T]:
        """The answers, by normalised reference; one process asks for each, where the cache may be used at all."""
        if not self._shares_answers:
            return ask(references)
        context = self._context
        return single_flight(
            references,
            self._cache,
            kept,
            ask,
            clock=context.clock,
            wait=context.wait,
            left=context.deadline.left,
        )

    def _ask(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        client = self.client
        rows = self._all(
            references,
            lambda reference, route: client.image(reference, stale.get(reference.normalised), route),
        )
        answered = [
            (row.reference, row.answer, row.endpoint, row.used)
            for row in rows
            if isinstance(row.answer, Found)
        ]
        self._cache.write(answered, client.changed_servers(), self._now())
        contents = client.contents
        if contents is not None:
            self._keep(
                (reference.replace(tag="", digest=found.digest), contents[found.digest], endpoint, used)
                for reference, found, endpoint, used in answered
                if found.digest in contents
            )
        return {row.reference.normalised: row.answer for row in rows}

    def _list(
        self, repositories: Sequence[Reference], near: Mapping[str, Sequence[str]]
    ) -> dict[str, TagList | Absent | Unknown]:
        rows = self._all(
            repositories,
            lambda reference, route: self.client.tags(route, near.get(reference.normalised, ())),
        )
        self._cache.write((), self.client.changed_servers(), self._now())
        self._cache.write_texts(
            (
                (row.reference, entries.tags_to_json(row.answer, self._now()), row.endpoint, row.used)
                for row in rows
                if isinstance(row.answer, TagList)
            ),
            entries.tags_key,
        )
        return {row.reference.normalised: row.answer for row in rows}

    def _read(self, parts: Sequence[Part]) -> dict[str, ContentsAnswer]:
        by_name = {part.reference.normalised: part for part in parts}
        rows = self._all(
            [part.reference for part in parts],
            lambda reference, route: self.client.part(by_name[reference.normalised], route),
        )
        self._cache.write((), self.client.changed_servers(), self._now())
        self._keep(
            (row.reference, row.answer, row.endpoint, row.used)
            for row in rows
            if isinstance(row.answer, ImageContents)
        )
        return {row.reference.normalised: row.answer for row in rows}

    def _all(
        self, references: Sequence[Reference], ask: Callable[[Reference, Route], tuple[T, Endpoint]]
    ) -> list[_Outcome[T]]:
        """Each reference asked for, all of them side by side, until the deadline."""
        client = self.client
        routes = [client.route(reference) for reference in references]
        origins = [endpoint.origin for route in routes for endpoint in route.endpoints]
        client.remember(self._cache.servers(origins))
        answers: Mapping[int, tuple[T | Absent | Unknown, Endpoint | None]] = {}
        nobody = ""
        try:
            answers = side_by_side(
                [route.first for route in routes],
                lambda index: _answer(references[index], routes[index], ask),
                self._context.deadline.left,
                self._context.progress,
            )
        except NoThread:
            nobody = f"needs a thread, which {NO_THREAD}"
        for text in client.trust.warnings():
            if text not in self._warned:
                self._warned.add(text)
                self._warn(text)
        rows = []
        for index, (reference, route) in enumerate(zip(references, routes, strict=True)):
            missing = Unknown(f"asking for {reference} {nobody}" if nobody else late(route.first))
            answer, endpoint = answers.get(index) or (missing, None)
            rows.append(_Outcome(reference, answer, endpoint, client.credential_sent(route)))
        return rows

    def _keep(self, read: Iterable[tuple[Reference, ImageContents, Endpoint | None, bool]]) -> None:
        now = self._now()
        self._cache.write_texts(
            (
                (reference, entries.contents_to_json(contents, now), endpoint, used)
                for reference, contents, endpoint, used in read
            ),
            entries.contents_key,
        )

    def _now(self) -> int:
        return int(self._context.clock())


def _answer(
    reference: Reference, route: Route, ask: Callable[[Reference, Route], tuple[T, Endpoint]]
) -> tuple[T | Absent | Unknown, Endpoint | None]:
    if route.refusal:
        return Unknown(f"archfit does not ask for {reference}: {route.refusal}"), None
    try:
        return ask(reference, route)
    except ManifestUnknown as error:
        return Absent(str(error)), None
    except RegistryError as error:
        return Unknown(str(error), mistake=error.mistake), None
    except InvalidManifest as error:
        servers = " or ".join(dict.fromkeys(f"{one.origin}{because(one)}" for one in route.endpoints))
        return Unknown(f"{servers} answered for {reference}, but the answer is not understood: {error}"), None
