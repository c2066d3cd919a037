"""Many images at once: threads that start together, one for each image up to 32 for a server and 64 in all.

    question (reference, what the cache knew)  ->  Found | Absent | Unknown
    part (repository and digest)               ->  Contents | Absent | Unknown

    main thread    start threads | load what asks and reads (`image_requests`), TLS | wait for answers
    each thread    dial the first server ................................ | ask | the next question

The first connections are made while the rest is loaded, because a round trip takes longer than loading and needs no
processor. The threads are daemons and the caller stops waiting at the deadline, so that neither a slow name server nor
a slow proxy delays the run. (`concurrent.futures` would wait for its threads when the interpreter ends.)
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence

from archfit.images.contents import Contents
from archfit.images.platforms import Absent, Found, Unknown
from archfit.images.reference import Reference
from archfit.registry.fair_queue import FairQueue
from archfit.registry.limits import NO_THREAD
from archfit.registry.registry_errors import InvalidManifest, ManifestUnknown, RegistryError
from archfit.registry.registry_questions import Part, Question, Route
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.host_port import host_port
from archfit.registry.transport.request import late
from archfit.typing_names import T, TypeAlias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from archfit.registry.image_requests import ImageRequests

    Q = TypeVar("Q", Question, Part)

# A signal that comes just before a thread begins to wait for a lock is not handled before that wait ends.
_SIGNALS_SECONDS = 0.25

Fetched: TypeAlias = Found | Absent | Unknown


class Fetcher:
    """requests: gives what asks, and loads it once.

    named_hosts_only: a server on a private network is asked only if the operator named it.
    """

    def __init__(
        self,
        requests: Callable[[], ImageRequests],
        connections: Connections,
        routes: Routes,
        *,
        named_hosts_only: bool = False,
    ) -> None:
        self._named_hosts_only = named_hosts_only
        self._requests = requests
        self._connections = connections
        self._routes = routes

    def routes(self, questions: Sequence[Question | Part]) -> list[Route]:
        """Where each question will be asked; the references' own registries become dialable."""
        found = [self._route(question.reference) for question in questions]
        for endpoint in (endpoint for route in found for endpoint in route.endpoints):
            if not endpoint.configured and not self._named_hosts_only:
                with contextlib.suppress(RegistryError):  # the request raises the same error
                    self._connections.policy.referenced.add(host_port(endpoint.origin))
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
        progress: Callable[[int, int], None] | None,
    ) -> list[Fetched]:
        """An answer for each question, in their order, before the deadline.

        meanwhile: called once, when connections are being made and before anything is asked. progress: called with
        (done, total).
        """
        return self._in_threads(
            questions, routes, lambda one, at: self._requests().platforms(one, at), meanwhile, progress
        )

    def read(
        self,
        parts: Sequence[Part],
        routes: Sequence[Route],
        meanwhile: Callable[[], object],
        progress: Callable[[int, int], None] | None,
    ) -> list[Contents | Absent | Unknown]:
        """What is behind each digest, as `ask`."""
        return self._in_threads(
            parts, routes, lambda one, at: self._requests().part(one, at), meanwhile, progress
        )

    def _in_threads(
        self,
        questions: Sequence[Q],
        routes: Sequence[Route],
        resolve: Callable[[Q, Route], T],
        meanwhile: Callable[[], object],
        progress: Callable[[int, int], None] | None,
    ) -> list[T | Absent | Unknown]:
        turns = FairQueue([_first(route) for route in routes])
        done: queue.SimpleQueue[tuple[int, T | Absent | Unknown | Exception]] = queue.SimpleQueue()
        loaded, failed = threading.Event(), True

        def work() -> None:
            while (index := turns.take()) is not None:
                if not loaded.is_set():
                    origin = _asked_first(questions[index].reference, routes[index])
                    self._dial(origin)
                    loaded.wait()
                    self._begin_tls(origin)
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
            self._requests()
            meanwhile()
            failed = False
        finally:
            loaded.set()
        answers: dict[int, T | Absent | Unknown] = {}
        while len(answers) < len(questions):
            left = self._connections.left()
            try:
                index, answer = done.get(timeout=min(left, _SIGNALS_SECONDS))
            except queue.Empty:
                if left > _SIGNALS_SECONDS:
                    continue
                break
            if isinstance(answer, Exception):
                raise answer
            answers[index] = answer
            if progress:
                progress(len(answers), len(questions))
        return [answers.get(index) or self._late(route) for index, route in enumerate(routes)]

    def _dial(self, origin: str) -> None:
        if origin:
            with contextlib.suppress(RegistryError):  # the request itself meets what goes wrong
                self._connections.dial_ahead(origin)

    def _begin_tls(self, origin: str) -> None:
        if origin:
            with contextlib.suppress(RegistryError):
                self._connections.begin_tls(origin)

    def _late(self, route: Route) -> Unknown:
        return Unknown(late(_first(route)))

    def _answer(
        self, question: Q, route: Route, resolve: Callable[[Q, Route], T]
    ) -> T | Absent | Unknown | Exception:
        if route.refusal:
            return Unknown(f"archfit does not ask for {question.reference}: {route.refusal}")
        try:
            return resolve(question, route)
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
            self._connections.bodies.leave()


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
