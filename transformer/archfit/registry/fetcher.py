"""Many images at once: threads that start together, one for each image up to 32 for a server and 64 in all.

    question (reference, what the cache knew)  ->  Found | Absent | Unknown

    tag, stale in the cache     HEAD; the same digest confirms it; another one is looked up in the cache, then fetched
    anything else               GET by tag or digest; platforms by `walk`

    several servers             in order; a tag only at those that may resolve. The next one where one cannot be asked,
                                refuses, or does not have it; Absent only where the last one says so. One that gave no
                                HTTP answer is not asked again in this run, if there is another.

The threads are daemons and the caller stops waiting at the deadline, so that neither a name server nor a dripping
proxy can hold up the run. (`concurrent.futures` would wait for its threads when the interpreter ends.)
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from archfit.errors import InvalidManifest, ManifestUnknown, RegistryError
from archfit.images.platforms import Absent, Found, Unknown
from archfit.images.reference import Reference
from archfit.record import Record
from archfit.registry import manifest, resolve
from archfit.registry.client import Client, Document
from archfit.registry.fair_queue import Turns
from archfit.registry.limits import NO_THREAD
from archfit.registry.manifest import Descriptor, Index, Manifest
from archfit.registry.routing.endpoints import Target, place_of
from archfit.registry.routing.routes import Routes
from archfit.registry.transport.connection import Wire
from archfit.registry.transport.dialer import Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    T = TypeVar("T")

Asked: TypeAlias = Found | Absent | Unknown


class Question(Record):
    """An image to ask for. known: what the cache has for its tag, too old to be believed; None if nothing."""

    reference: Reference
    known: Found | None = None


class Route(Record):
    """Where a question is asked, in order. refusal: why nobody is asked, where there is no place."""

    places: tuple[Target, ...]
    refusal: str = ""


class Crew:
    """recall: platforms that the cache has for a digest of a repository; called from several threads.

    named_hosts_only: a reference alone opens no private network; only a server that the operator named may be there.
    servers: by normalised reference, who said what it stands for.
    documents: by normalised reference, what was read and where; None, and nothing is kept, unless somebody sets it.
    """

    def __init__(
        self,
        client: Client,
        wire: Wire,
        routes: Routes,
        recall: Callable[[Reference, str], Found | None],
        *,
        named_hosts_only: bool = False,
    ) -> None:
        self._named_hosts_only = named_hosts_only
        self._client = client
        self._wire = wire
        self._routes = routes
        self._recall = recall
        self.servers: dict[str, Target] = {}
        self.documents: dict[str, tuple[Target, Document]] | None = None
        self._gone: set[str] = set()

    def routes(self, questions: Sequence[Question]) -> list[Route]:
        """Where each question will be asked; the references' own registries become dialable."""
        found = [self._route(question.reference) for question in questions]
        for place in (place for route in found for place in route.places):
            if not place.configured and not self._named_hosts_only:
                with contextlib.suppress(RegistryError):  # asking it says the same
                    self._wire.own.add(place_of(place.origin))
        return found

    def _route(self, reference: Reference) -> Route:
        try:
            places = self._routes.places(reference)
        except RegistryError as error:
            return Route((), str(error))
        able = [place for place in places if (place.resolves if reference.tag else place.pulls)]
        return Route(tuple(places), "" if able else f"no mirror of {reference.registry} may be asked for it")

    def ask(
        self,
        questions: Sequence[Question],
        routes: Sequence[Route],
        progress: Callable[[int, int], None] | None,
    ) -> list[Asked]:
        """An answer for each question, in their order, before the wire's deadline."""
        turns = Turns([_first(route) for route in routes])
        done: queue.SimpleQueue[tuple[int, Asked | Exception]] = queue.SimpleQueue()

        def work() -> None:
            while (index := turns.take()) is not None:
                answer = self._answer(questions[index], routes[index])
                turns.give_back(index)
                done.put((index, answer))

        for started in range(turns.threads):
            try:
                threading.Thread(target=work, daemon=True).start()
            except RuntimeError:  # the machine allows no more threads; those that run take the rest
                if not started:
                    return [_no_thread(question) for question in questions]
                break
        answers: dict[int, Asked] = {}
        while len(answers) < len(questions):
            try:
                index, answer = done.get(timeout=self._wire.left())
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

    def _answer(self, question: Question, route: Route) -> Asked | Exception:
        if route.refusal:
            return Unknown(f"{question.reference} is not asked for: {route.refusal}")
        try:
            return self._resolve(question, route)
        except ManifestUnknown as error:
            return Absent(str(error))
        except RegistryError as error:
            return Unknown(str(error))
        except InvalidManifest as error:
            return Unknown(
                f"{_origins(route)} answered for {question.reference}, but not understandably: {error}"
            )
        except Exception as error:  # noqa: BLE001 - a bug must reach the caller, not end a thread in silence
            return error
        finally:
            self._wire.bodies.leave()

    def _resolve(self, question: Question, route: Route) -> Found:
        reference = question.reference
        pulls = [place for place in route.places if place.pulls]
        if not reference.tag:
            return self._in_turn(pulls, lambda place: self._pinned(reference, place))
        return self._in_turn(
            [place for place in route.places if place.resolves],
            lambda place: self._said_by(question, place, pulls),
        )

    def _said_by(self, question: Question, place: Target, pulls: Sequence[Target]) -> Found:
        found = self._tagged(question, place, pulls)
        self.servers[question.reference.normalised] = place
        return found

    def _pinned(self, reference: Reference, place: Target) -> Found:
        found = self._read(reference, place, reference.digest)
        self.servers[reference.normalised] = place
        return found

    def _tagged(self, question: Question, place: Target, pulls: Sequence[Target]) -> Found:
        """What the tag points to, by a server that may say so."""
        reference, known = question.reference, question.known
        digest = self._client.digest(place, reference.tag) if known or not place.pulls else ""
        if digest:
            if known and digest == known.digest:
                return known.replace(origin="registry", age_seconds=0)
            seen = self._recall(reference, digest)
            if seen:
                return seen.replace(origin="registry", age_seconds=0)
            if not place.pulls:
                return self._in_turn(pulls, lambda other: self._read(reference, other, digest))
            with contextlib.suppress(ManifestUnknown):
                # The tag may have moved on since; or the server's digest is none of its own.
                return self._read(reference, place, digest)
        if not place.pulls:
            raise RegistryError(f"{place.origin} may only say digests, and says none for {reference.tag}")
        return self._read(reference, place, reference.tag)

    def _in_turn(self, places: Sequence[Target], ask: Callable[[Target], T]) -> T:
        """The first answer. Raises the last server's error, ManifestUnknown among them, with the others' words."""
        failed: list[RegistryError] = []
        for index, place in enumerate(places):
            after = [other for other in places[index + 1 :] if not other.instead]
            if place.instead and not isinstance(failed[-1] if failed else None, Unreachable):
                continue
            following = places[index + 1 : index + 2]
            if following and place.origin in self._gone:
                failed.append(Unreachable(f"{place.origin} was not reached before", again=False))
                continue
            try:
                return ask(place.replace(last=not after))
            except RegistryError as error:
                if following and isinstance(error, Unreachable):
                    self._gone.add(place.origin)
                # Its frames hold the answer that was read; a run has no garbage collector to free it later.
                failed.append(error.with_traceback(None))
        raise _joined(failed)

    def _read(self, reference: Reference, place: Target, tag_or_digest: str) -> Found:
        document = self._client.manifest(place, tag_or_digest)
        if self.documents is not None:
            self.documents[reference.normalised] = (place, document)

        def read(kind: str, descriptor: Descriptor) -> bytes:
            if kind == "blobs":
                return self._client.blob(place, descriptor.digest)
            try:
                return self._client.manifest(place, descriptor.digest).body
            except ManifestUnknown as error:
                raise RegistryError(f"{error}, which its index names", status=404) from None

        digest, parsed = document.digest, self._parsed(document)
        del document  # 4 MiB that nobody needs while its children are read
        offer = resolve.offered(parsed, digest, read)
        return Found(offer.platforms, digest, offer.index, offer.image)

    def _parsed(self, document: Document) -> Index | Manifest:
        if self._wire.left() <= 0:
            raise RegistryError("its answer came too late: allow more time with --timeout")
        return manifest.parse(document.body, document.content_type)


def _joined(failed: Sequence[RegistryError]) -> RegistryError:
    """One error for all servers that were asked: the last one's kind, with the words of all."""
    if len(failed) == 1:
        return failed[0]
    said = "; ".join(dict.fromkeys(str(error) for error in failed))
    if failed and isinstance(failed[-1], ManifestUnknown):
        return ManifestUnknown(said, status=404)
    return RegistryError(said or "nobody may be asked for it")


def _no_thread(question: Question) -> Unknown:
    return Unknown(f"asking for {question.reference} needs a thread, which {NO_THREAD}")


def _first(route: Route) -> str:
    """Who is asked first."""
    return route.places[0].origin if route.places else ""


def _origins(route: Route) -> str:
    return " or ".join(dict.fromkeys(place.origin for place in route.places))
