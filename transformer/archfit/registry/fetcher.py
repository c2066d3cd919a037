"""Many images at once: threads that start together, one for each image up to 32 for a server and 64 in all.

    question (reference, what the cache knew)  ->  Found | Absent | Unknown
    part (repository and digest)               ->  ImageContents | Absent | Unknown

    main thread    start threads | load TLS | load what asks and reads (`client`, httpx) | wait for answers
    each thread    dial the first server .. | begin TLS ................................ | ask | the next question

The first connections are made while the rest is loaded, because a round trip takes longer than loading and needs no
processor. The threads are daemons and the caller stops waiting at the deadline, so that neither a slow name server nor
a slow proxy delays the run. (`concurrent.futures` would wait for its threads when the interpreter ends.)

    questions by server     docker.io: 0 3 4 7      ghcr.io: 1 5      quay.io: 2 6
    taken                   0 1 2   3 5 6   4   7

A thread takes the next question server after server, at most 32 of one server at once. One that finds nothing to take
ends: what is left belongs to servers that 32 other threads are asking.

The network side of a run, from here down; a Request goes down, a Reply comes back:

    Fetcher          threads, one question each
    RegistryClient   the requests of a question, at several endpoints in order; challenges and tokens
    RetryingClient   pauses, tries, redirects, requests in flight
    HttpTransport    who may be asked; connections that are kept, proxies, limits of answers
    Dialer           names, addresses, sockets; dials ahead
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TypeAlias, TypeVar

from archfit.images.contents import ImageContents
from archfit.images.platforms import Absent, Found, Unknown
from archfit.images.reference import Reference
from archfit.images.tags import TagList
from archfit.options.settings import Operator
from archfit.registry.credentials.keychain import Keychain
from archfit.registry.http.dialer import Dialer
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.limits import (
    MAX_IN_FLIGHT,
    MAX_PER_SERVER,
    OF_PROCESS,
    LargeBodies,
    RequestBudget,
    Reserve,
)
from archfit.registry.http.request import late
from archfit.registry.http.trust import Trust, host_port
from archfit.registry.lookup_context import LookupContext
from archfit.registry.registry_errors import NO_THREAD, InvalidManifest, ManifestUnknown, RegistryError
from archfit.registry.registry_questions import Part, Question, Route
from archfit.registry.routing.routes import Routes

T = TypeVar("T")
Q = TypeVar("Q", Question, Part)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.client import RegistryClient

# A signal that comes just before a thread begins to wait for a lock is not handled before that wait ends.
_SIGNALS_SECONDS = 0.25

Fetched: TypeAlias = Found | Absent | Unknown


class Fetcher:
    """recall: platforms that the cache has for a digest of a repository. keychain: the operator's credentials.

    routes: where each image is asked for. reserve: where processes share the budgets of `--requests-per-second`, None
    where each has its own.
    """

    def __init__(
        self,
        operator: Operator,
        context: LookupContext,
        recall: Callable[[Reference, str], Found | None],
        keychain: Keychain,
        routes: Routes,
        *,
        reserve: Reserve | None = None,
    ) -> None:
        policy = HostPolicy(routes.named, operator.allow_hosts, operator.deny_hosts, keychain.named_hosts)
        rates = operator.requests_per_second
        self._context = context
        self._recall = recall
        self._keychain = keychain
        self._routes = routes
        self._left = context.deadline.left
        self._budget = RequestBudget(rates, monotonic, context.wait, reserve) if rates else None
        self._bodies = LargeBodies(self._left, OF_PROCESS)
        self._trust = Trust(routes.tls, operator.ca_file)
        self._dialer = Dialer(self._left, policy, self._trust, context.environ, ahead=not rates)
        self._client: RegistryClient | None = None
        self._loading = threading.Lock()
        self._sparing = False
        self._remembered: dict[str, str] = {}

    @property
    def client(self) -> RegistryClient:
        """What asks registries; loaded when it is first needed."""
        with self._loading:
            if self._client is None:
                from archfit.registry.client import RegistryClient
                from archfit.registry.http.transport import HttpTransport

                transport = HttpTransport(self._dialer, self._bodies, self._budget)
                self._client = RegistryClient(transport, self._keychain, self._context, self._recall)
                self._client.http.sparing = self._sparing
            return self._client

    def spare(self, *, pulls: bool) -> None:
        """Whether manifests are not asked for from now on where a server has few pulls left."""
        self._sparing = pulls
        if self._client:
            self._client.http.sparing = pulls

    def remember(self, kept: Mapping[str, str]) -> None:
        """Take over what earlier runs learned of servers. kept: what the store has under `host:<origin>`."""
        self._remembered |= kept
        self.client.servers.from_json({key.removeprefix("host:"): text for key, text in kept.items()})

    @property
    def sent(self) -> Mapping[str, int]:
        """How many requests were sent, by kind."""
        return self._client.http.requests if self._client else {}

    @property
    def pulls_left(self) -> dict[str, str]:
        """The last RateLimit-Remaining header of each server that sends it, by origin."""
        servers = self._client.servers if self._client else ()
        return {server.origin: server.pulls_left for server in servers if server.pulls_left}

    def take_replies(self) -> dict[tuple[str, int], int]:
        """As `RetryingClient.take_replies`."""
        return self._client.http.take_replies() if self._client else {}

    def warnings(self) -> list[str]:
        """Sentences about servers that were asked."""
        return self._trust.warnings()

    def changed_servers(self) -> dict[str, str]:
        """What the store should have for servers that answered, where it has not, by `host:<origin>`."""
        texts = {f"host:{server.origin}": server.to_json() for server in self.client.servers if server.known}
        changed = {key: text for key, text in texts.items() if self._remembered.get(key) != text}
        self._remembered |= changed
        return changed

    def close(self) -> None:
        """Close all connections."""
        if self._client:
            self._client.http.transport.close()
        self._dialer.close()

    def routes(self, questions: Sequence[Question | Part]) -> list[Route]:
        """Where each question will be asked; the references' own registries become dialable."""
        found = [self._route(question.reference) for question in questions]
        for endpoint in (endpoint for route in found for endpoint in route.endpoints):
            if not endpoint.configured and not self._context.named_hosts_only:
                with contextlib.suppress(RegistryError):  # the request raises the same error
                    self._dialer.policy.referenced.add(host_port(endpoint.origin))
        return found

    def _route(self, reference: Reference) -> Route:
        try:
            endpoints = self._routes.endpoints(reference)
        except RegistryError as error:
            return Route((), str(error))
        able = any(endpoint.may_answer(reference) for endpoint in endpoints)
        return Route(
            tuple(endpoints), "" if able else f"no mirror of {reference.registry} may be asked for it"
        )

    def ask(
        self,
        questions: Sequence[Question],
        routes: Sequence[Route],
        meanwhile: Callable[[], object],
    ) -> list[Fetched]:
        """An answer for each question, in their order, before the deadline.

        meanwhile: called once, when connections are being made and before anything is asked.
        """
        return self._in_threads(questions, routes, lambda client: client.platforms, meanwhile)

    def read(
        self,
        parts: Sequence[Part],
        routes: Sequence[Route],
        meanwhile: Callable[[], object],
    ) -> list[ImageContents | Absent | Unknown]:
        """What is behind each digest, as `ask`."""
        return self._in_threads(parts, routes, lambda client: client.part, meanwhile)

    def tags(
        self,
        questions: Sequence[Question],
        routes: Sequence[Route],
        meanwhile: Callable[[], object],
    ) -> list[TagList | Absent | Unknown]:
        """The tags of each repository, as `ask`."""
        return self._in_threads(questions, routes, lambda client: client.tags, meanwhile)

    def _in_threads(
        self,
        questions: Sequence[Q],
        routes: Sequence[Route],
        resolve: Callable[[RegistryClient], Callable[[Q, Route], T]],
        meanwhile: Callable[[], object],
    ) -> list[T | Absent | Unknown]:
        turns = FairQueue([_first(route) for route in routes])
        done: queue.SimpleQueue[tuple[int, T | Absent | Unknown | Exception]] = queue.SimpleQueue()
        secured, loaded, failed = threading.Event(), threading.Event(), True

        def work() -> None:
            while (index := turns.take()) is not None:
                if not loaded.is_set():
                    origin = _asked_first(questions[index].reference, routes[index])
                    self._ahead(self._dialer.dial_ahead, origin)
                    secured.wait()
                    self._ahead(self._dialer.begin_tls, origin)
                    loaded.wait()
                if failed:
                    return
                answer = self._answer(questions[index], routes[index], resolve)
                turns.give_back(index)
                done.put((index, answer))

        for started in range(turns.threads):
            try:
                threading.Thread(target=work, daemon=True).start()
            except RuntimeError:  # the machine allows no more threads; those that run take the rest
                if not started:
                    return [_no_thread(question) for question in questions]
                break
        try:
            self._dialer.prepare_tls(endpoint.origin for route in routes for endpoint in route.endpoints)
            secured.set()
            _ = self.client
            meanwhile()
            failed = False
        finally:
            secured.set()
            loaded.set()
        answers: dict[int, T | Absent | Unknown] = {}
        while len(answers) < len(questions):
            left = self._left()
            try:
                index, answer = done.get(timeout=min(left, _SIGNALS_SECONDS))
            except queue.Empty:
                if left > _SIGNALS_SECONDS:
                    continue
                break
            if isinstance(answer, Exception):
                raise answer
            answers[index] = answer
            if self._context.progress:
                self._context.progress(len(answers), len(questions))
        return [answers.get(index) or self._late(route) for index, route in enumerate(routes)]

    def _ahead(self, step: Callable[[str], None], origin: str) -> None:
        if origin:
            with contextlib.suppress(RegistryError):  # the request itself meets what goes wrong
                step(origin)

    def _late(self, route: Route) -> Unknown:
        return Unknown(late(_first(route)))

    def _answer(
        self, question: Q, route: Route, resolve: Callable[[RegistryClient], Callable[[Q, Route], T]]
    ) -> T | Absent | Unknown | Exception:
        if route.refusal:
            return Unknown(f"archfit does not ask for {question.reference}: {route.refusal}")
        try:
            return resolve(self.client)(question, route)
        except ManifestUnknown as error:
            return Absent(str(error))
        except RegistryError as error:
            return Unknown(str(error), mistake=error.mistake)
        except InvalidManifest as error:
            return Unknown(
                f"{_origins(route)} answered for {question.reference}, but the answer is not understood: {error}"
            )
        except Exception as error:  # noqa: BLE001 - a bug must reach the caller, not end a thread in silence
            return error
        finally:
            self._bodies.leave()


class FairQueue:
    """Indices of `servers`, each taken once; safe to use from several threads."""

    def __init__(self, servers: Sequence[str]) -> None:
        self._servers = servers
        self._waiting: dict[str, deque[int]] = {}
        for index, server in enumerate(servers):
            self._waiting.setdefault(server, deque()).append(index)
        self._order = deque(self._waiting)
        self._asking: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.threads = min(
            MAX_IN_FLIGHT, sum(min(MAX_PER_SERVER, len(indices)) for indices in self._waiting.values())
        )

    def take(self) -> int | None:
        """The next index, None where there is none to take now."""
        with self._lock:
            for _ in range(len(self._order)):
                server = self._order[0]
                self._order.rotate(-1)
                if self._asking[server] < MAX_PER_SERVER:
                    index = self._waiting[server].popleft()
                    if not self._waiting[server]:
                        self._order.pop()
                    self._asking[server] += 1
                    return index
        return None

    def give_back(self, index: int) -> None:
        """The thread that took the index is done with it."""
        with self._lock:
            self._asking[self._servers[index]] -= 1


def _no_thread(question: Question | Part) -> Unknown:
    return Unknown(f"asking for {question.reference} needs a thread, which {NO_THREAD}")


def _asked_first(reference: Reference, route: Route) -> str:
    """The origin of the first server that will be asked, "" where none will."""
    able = (one.origin for one in route.endpoints if one.may_answer(reference) and not one.fallback)
    return next(able, "")


def _first(route: Route) -> str:
    """Who is asked first."""
    return route.endpoints[0].origin if route.endpoints else ""


def _origins(route: Route) -> str:
    return " or ".join(dict.fromkeys(endpoint.origin for endpoint in route.endpoints))
