"""Answers from registries, for what the cache does not have: the gate to everything of the network.

    references ── single_flight ── Fetcher ── Found | Absent | Unknown ── cache
                  (one process asks for each image, the others wait)

`resolver` imports this module when the first image has to be asked for; a run that finds everything in the cache never
does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from archfit.images.platforms import Answer, Found
from archfit.images.reference import Reference
from archfit.lookup.cache import LookupCache
from archfit.lookup.single_flight import single_flight
from archfit.lookup.surroundings import Surroundings
from archfit.options.settings import Operator
from archfit.registry.client import RawManifest
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.fetcher import Question
from archfit.registry.registry_session import RegistrySession
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Routes


class RegistryLookup:
    """The gate of one lookup. warn: takes a sentence for the user."""

    def __init__(
        self,
        operator: Operator,
        cache: LookupCache,
        keychain: Keychain,
        routes: Routes,
        surroundings: Surroundings,
        *,
        warn: Callable[[str], None],
    ) -> None:
        self._shares_answers = operator.cache_ttl_seconds > 0
        self._cache = cache
        self._surroundings = surroundings
        self._warn = warn
        self._warned: set[str] = set()
        self._session = RegistrySession(
            operator,
            surroundings.environ,
            surroundings.clock,
            surroundings.wait,
            surroundings.deadline.left,
            cache.recall,
            keychain,
            routes,
            named_hosts_only=surroundings.named_hosts_only,
        )

    @property
    def requests(self) -> dict[str, int]:
        """How many requests of each kind were sent, sorted by kind."""
        return dict(sorted(self._session.http.requests.items()))

    def take_replies(self) -> dict[tuple[str, int], int]:
        """How many answers came since the last call, by server and HTTP status; 0 is none."""
        return self._session.http.take_replies()

    @property
    def pulls_left(self) -> dict[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        return {server.origin: server.pulls_left for server in self._session.servers if server.pulls_left}

    def answers(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        """An answer for each, by normalised reference. stale: what the cache has that is too old to be used as it is.

        Where the cache may be used at all, an image that another process asks for just now is waited for.
        """
        if not self._shares_answers:
            return self._ask(references, stale)
        return single_flight(
            references,
            self._cache,
            lambda some: self._ask(some, stale),
            clock=self._surroundings.clock,
            wait=self._surroundings.wait,
            left=self._surroundings.deadline.left,
        )

    def manifests(
        self, references: Sequence[Reference]
    ) -> dict[str, tuple[Answer, Endpoint | None, RawManifest | None]]:
        """What registries answer now, by normalised reference, with the manifest and where it was read."""
        fetcher = self._session.fetcher
        fetcher.documents = {}
        answers = self._ask(references, {})
        return {
            name: (answer, *fetcher.documents.get(name, (None, None))) for name, answer in answers.items()
        }

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def _ask(self, references: Sequence[Reference], stale: Mapping[str, Found]) -> dict[str, Answer]:
        session, fetcher = self._session, self._session.fetcher
        questions = [Question(reference, stale.get(reference.normalised)) for reference in references]
        routes = fetcher.routes(questions)
        origins = [endpoint.origin for route in routes for endpoint in route.endpoints]
        session.recall_servers(self._cache.servers(origins))
        answers = fetcher.ask(questions, routes, self._surroundings.progress)
        for text in session.warnings():
            if text not in self._warned:
                self._warned.add(text)
                self._warn(text)
        asked = list(zip(references, routes, answers, strict=True))
        found = [
            (
                reference,
                answer,
                fetcher.answered_by.get(reference.normalised),
                session.credential_sent(route),
            )
            for reference, route, answer in asked
            if isinstance(answer, Found)
        ]
        self._cache.write(found, session.changed_servers(), int(self._surroundings.clock()))
        return {reference.normalised: answer for reference, _, answer in asked}
