"""Many images at once: threads that start together, one for each image up to 32 for a server and 64 in all.

    question (reference, what the cache knew)  ->  Found | Absent | Unknown
    part (repository and digest)               ->  Contents | Absent | Unknown

    tag, stale in the cache     HEAD; the same digest confirms it; another one is looked up in the cache, then fetched
    anything else               GET by tag or digest; platforms by `resolve_platforms`

    several endpoints           in order; a tag only at those that may resolve it. The next one where one cannot be
                                asked, refuses, or does not have it; Absent only where the last one says so. A server
                                that gave no HTTP answer is not asked again in this run, if there is another.

The threads are daemons and the caller stops waiting at the deadline, so that neither a slow name server nor a slow
proxy delays the run. (`concurrent.futures` would wait for its threads when the interpreter ends.)
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence

from archfit.errors import InvalidManifest, ManifestUnknown, Misconfigured, RegistryError
from archfit.images.contents import Contents
from archfit.images.platforms import Absent, Found, Unknown
from archfit.images.reference import Reference
from archfit.record import Record
from archfit.registry import manifest
from archfit.registry.client import RawManifest, RegistryClient
from archfit.registry.fair_queue import FairQueue
from archfit.registry.limits import NO_THREAD
from archfit.registry.manifest import Descriptor, Index, Manifest
from archfit.registry.resolve_platforms import Offer, resolve_platforms
from archfit.registry.routing.endpoints import Endpoint
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connections import Connections
from archfit.registry.transport.host_port import host_port
from archfit.registry.transport.request import Unreachable
from archfit.typing_names import Literal, T, TypeAlias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Q = TypeVar("Q", "Question", "Part")

Fetched: TypeAlias = Found | Absent | Unknown


class Question(Record):
    """An image to ask for. known: what the cache has for its tag, too old to be used as it is; None if nothing."""

    reference: Reference
    known: Found | None = None


class Part(Record):
    """A digest to read. reference: with the digest. kind: "document", with all that says its platforms; "manifest",
    the document alone, which is not an index; "config", the blob of an image's config.
    """

    reference: Reference
    kind: Literal["document", "manifest", "config"] = "document"


class Route(Record):
    """Where a question is asked, in order. refusal: why no server is asked, "" where one is."""

    endpoints: tuple[Endpoint, ...]
    refusal: str = ""


class Fetcher:
    """recall: platforms that the cache has for a digest of a repository; called from several threads.

    named_hosts_only: a server on a private network is asked only if the operator named it.
    answered_by: by normalised reference, the endpoint that answered.
    documents: by normalised reference, the manifest and where it was read; None keeps none.
    contents: by digest, what is behind the documents that were read; None keeps none.
    """

    def __init__(
        self,
        client: RegistryClient,
        connections: Connections,
        routes: Routes,
        recall: Callable[[Reference, str], Found | None],
        *,
        named_hosts_only: bool = False,
    ) -> None:
        self._named_hosts_only = named_hosts_only
        self._client = client
        self._connections = connections
        self._routes = routes
        self._recall = recall
        self.answered_by: dict[str, Endpoint] = {}
        self.documents: dict[str, tuple[Endpoint, RawManifest]] | None = None
        self.contents: dict[str, Contents] | None = None
        self._unreachable: set[str] = set()

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
        progress: Callable[[int, int], None] | None,
    ) -> list[Fetched]:
        """An answer for each question, in their order, before the deadline. progress: called with (done, total)."""
        return self._in_threads(questions, routes, self._resolve, progress)

    def read(
        self, parts: Sequence[Part], routes: Sequence[Route], progress: Callable[[int, int], None] | None
    ) -> list[Contents | Absent | Unknown]:
        """What is behind each digest, in their order, before the deadline. progress: called with (done, total)."""
        return self._in_threads(parts, routes, self._read_part, progress)

    def _in_threads(
        self,
        questions: Sequence[Q],
        routes: Sequence[Route],
        resolve: Callable[[Q, Route], T],
        progress: Callable[[int, int], None] | None,
    ) -> list[T | Absent | Unknown]:
        turns = FairQueue([_first(route) for route in routes])
        done: queue.SimpleQueue[tuple[int, T | Absent | Unknown | Exception]] = queue.SimpleQueue()

        def work() -> None:
            while (index := turns.take()) is not None:
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
        answers: dict[int, T | Absent | Unknown] = {}
        while len(answers) < len(questions):
            try:
                index, answer = done.get(timeout=self._connections.left())
            except queue.Empty:
                break
            if isinstance(answer, Exception):
                raise answer
            answers[index] = answer
            if progress:
                progress(len(answers), len(questions))
        return [answers.get(index) or self._late(route) for index, route in enumerate(routes)]

    def _late(self, route: Route) -> Unknown:
        return Unknown(
            f"{_first(route)} gave no answer before the deadline: try again, or allow more with --timeout"
        )

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

    def _resolve(self, question: Question, route: Route) -> Found:
        reference = question.reference
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        if not reference.tag:
            return self._in_turn(pulls, lambda endpoint: self._pinned(reference, endpoint))
        return self._in_turn(
            [endpoint for endpoint in route.endpoints if endpoint.resolves],
            lambda endpoint: self._resolved_at(question, endpoint, pulls),
        )

    def _read_part(self, part: Part, route: Route) -> Contents:
        pulls = [endpoint for endpoint in route.endpoints if endpoint.pulls]
        return self._in_turn(pulls, lambda endpoint: self._part_at(part, endpoint))

    def _part_at(self, part: Part, endpoint: Endpoint) -> Contents:
        reference = part.reference
        if part.kind == "config":
            contents = Contents(
                "config", platform=manifest.parse_config(self._client.blob(endpoint, reference.digest))
            )
        else:
            document = self._client.manifest(endpoint, reference.digest)
            parsed = self._parsed(document)
            if part.kind == "manifest" and isinstance(parsed, Manifest):
                contents = _contents(parsed, None)
            else:
                contents = _contents(parsed, self._offer(parsed, document.digest, endpoint))
        self.answered_by[reference.normalised] = endpoint
        return contents

    def _resolved_at(self, question: Question, endpoint: Endpoint, pulls: Sequence[Endpoint]) -> Found:
        found = self._tagged(question, endpoint, pulls)
        self.answered_by[question.reference.normalised] = endpoint
        return found

    def _pinned(self, reference: Reference, endpoint: Endpoint) -> Found:
        found = self._read(reference, endpoint, reference.digest)
        self.answered_by[reference.normalised] = endpoint
        return found

    def _tagged(self, question: Question, endpoint: Endpoint, pulls: Sequence[Endpoint]) -> Found:
        """What the tag points to, at a server that may resolve tags."""
        reference, known = question.reference, question.known
        digest = self._client.digest(endpoint, reference.tag) if known or not endpoint.pulls else ""
        if digest:
            if known and digest == known.digest:
                return known.replace(origin="registry", age_seconds=0)
            seen = self._recall(reference, digest)
            if seen:
                return seen.replace(origin="registry", age_seconds=0)
            if not endpoint.pulls:
                return self._in_turn(pulls, lambda other: self._read(reference, other, digest))
            with contextlib.suppress(ManifestUnknown):
                # The tag may have moved since; or the server sent a digest that it does not have.
                return self._read(reference, endpoint, digest)
        if not endpoint.pulls:
            raise RegistryError(
                f"{endpoint.origin} may only resolve tags, and gives no digest for {reference.tag}"
            )
        return self._read(reference, endpoint, reference.tag)

    def _in_turn(self, endpoints: Sequence[Endpoint], ask: Callable[[Endpoint], T]) -> T:
        """The first answer. Raises an error of the last server's kind, with the messages of all."""
        failed: list[RegistryError] = []
        for index, endpoint in enumerate(endpoints):
            after = [other for other in endpoints[index + 1 :] if not other.fallback]
            if endpoint.fallback and not isinstance(failed[-1] if failed else None, Unreachable):
                continue
            following = endpoints[index + 1 : index + 2]
            if following and endpoint.origin in self._unreachable:
                failed.append(Unreachable(f"{endpoint.origin} was not reached before", retryable=False))
                continue
            try:
                return ask(endpoint.replace(last=not after))
            except RegistryError as error:
                if following and isinstance(error, Unreachable):
                    self._unreachable.add(endpoint.origin)
                # Its frames hold the answer that was read; a run has no garbage collector to free it later.
                failed.append(error.with_traceback(None))
        raise _joined(failed)

    def _read(self, reference: Reference, endpoint: Endpoint, tag_or_digest: str) -> Found:
        document = self._client.manifest(endpoint, tag_or_digest)
        if self.documents is not None:
            self.documents[reference.normalised] = (endpoint, document)

        digest, parsed = document.digest, self._parsed(document)
        del document  # up to 4 MiB, which are not needed while its children are read
        offer = self._offer(parsed, digest, endpoint)
        if self.contents is not None:
            self.contents[digest] = _contents(parsed, offer)
        return Found(offer.platforms, digest, offer.index, offer.image)

    def _offer(self, parsed: Index | Manifest, digest: str, endpoint: Endpoint) -> Offer:
        def read(kind: str, descriptor: Descriptor) -> bytes:
            if kind == "blobs":
                return self._client.blob(endpoint, descriptor.digest)
            try:
                return self._client.manifest(endpoint, descriptor.digest).body
            except ManifestUnknown as error:
                raise RegistryError(f"{error}, which its index names", status=404) from None

        return resolve_platforms(parsed, digest, read)

    def _parsed(self, document: RawManifest) -> Index | Manifest:
        if self._connections.left() <= 0:
            raise RegistryError("its answer came too late: allow more time with --timeout")
        return manifest.parse(document.body, document.content_type)


def _contents(parsed: Index | Manifest, offer: Offer | None) -> Contents:
    if isinstance(parsed, Index):
        return Contents("index", offer.builds if offer else ())
    config = parsed.config.digest if parsed.config else ""
    return Contents(
        "manifest", config=config, platform=offer.platforms[0] if offer and offer.platforms else None
    )


def _joined(failed: Sequence[RegistryError]) -> RegistryError:
    """One error for all servers that were asked: the last one's kind, with the messages of all."""
    if len(failed) == 1:
        return failed[0]
    messages = "; ".join(dict.fromkeys(str(error) for error in failed))
    if failed and isinstance(failed[-1], ManifestUnknown):
        return ManifestUnknown(messages, status=404)
    if failed and all(error.mistake for error in failed):
        return Misconfigured(messages)
    return RegistryError(messages or "no server may be asked for it")


def _no_thread(question: Question | Part) -> Unknown:
    return Unknown(f"asking for {question.reference} needs a thread, which {NO_THREAD}")


def _first(route: Route) -> str:
    """Who is asked first."""
    return route.endpoints[0].origin if route.endpoints else ""


def _origins(route: Route) -> str:
    return " or ".join(dict.fromkeys(endpoint.origin for endpoint in route.endpoints))
