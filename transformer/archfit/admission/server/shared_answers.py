"""Answers for the images of all requests: memory, then one lookup for each image, however many requests wait for it.

    not a reference, an override, in the lock file      known at once
    in memory, and fresh                                known at once
    a lookup of the same image is under way             waits for it
    else                                                a lookup begins: cache, then registry (`lookup_lanes`)

    kept in memory   of a digest, an override or the lock file     for ever
                     of a tag                                      for the rest of --cache-ttl
                     Absent, Unknown, an answer that is stale      5 seconds, then the registry is asked again
    at most          20,000 texts; the oldest goes first

When a request's time is spent, it gets what the cache has, up to --max-stale old; else Unknown.

A registry that could not be reached is not asked for 5 seconds: pods get what the cache has without waiting for it.

Everything here runs in the event loop and never waits. A lookup that a request no longer waits for goes on, so that the
next request finds its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from archfit.admission.server.lookup_turns import LookupTurns
from archfit.errors import InvalidReference
from archfit.images.overrides import override
from archfit.images.platforms import Answer, Found, ImagePlatforms, Unknown, unanswerable
from archfit.images.reference import Reference, parse
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options
from archfit.record import Record

KEPT = 20_000
PAUSE_SECONDS = 5.0
_MOST_DOWN = 1000
_FOR_EVER = float("inf")
_MEMORY = "memory"


class PullSecret(Record):
    """A Secret that the operator named, of a Pod that refers to it."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


Secrets = tuple[PullSecret, ...]


class Flight:
    """A lookup that is under way. texts: the image strings that it is for. landed: its answer, when it has one.

    stale: what the cache has, too old to be used before the registry was asked. down: the registry could not be reached
    a moment ago, so that only the cache is asked. unreached: the registry could not be reached now.
    """

    __slots__ = ("down", "landed", "namespace", "reference", "secrets", "stale", "texts", "unreached")

    def __init__(
        self, reference: Reference, secrets: Secrets, namespace: str, landed: asyncio.Future[Answer]
    ) -> None:
        self.reference = reference
        self.secrets = secrets
        self.namespace = namespace
        self.texts: set[str] = set()
        self.landed = landed
        self.stale: Found | None = None
        self.down = False
        self.unreached = False


class SharedAnswers:
    """overrides: those of the configuration. ttl_seconds: how long the digest of a tag is believed.

    turns: who is looked up next. start: begins a lookup, whose answer comes back to `landed`. clock: seconds of a
    clock that never goes back.
    counted: called with each answer that a request gets, and "memory" where it was there.
    """

    def __init__(
        self,
        options: Options,
        ttl_seconds: float,
        lock: Lock | None,
        turns: LookupTurns[Flight],
        start: Callable[[Flight], None],
        clock: Callable[[], float],
        counted: Callable[[Answer, str], None] = lambda _answer, _origin: None,
        kept: int = KEPT,
    ) -> None:
        self._overrides: tuple[ImagePlatforms, ...] = options.image_platforms
        self._ttl = ttl_seconds
        self._lock = lock
        self._start = start
        self._clock = clock
        self._counted = counted
        self._most = kept
        self._turns = turns
        self._kept: dict[tuple[str, Secrets], tuple[Answer, float]] = {}
        self._flights: dict[tuple[str, Secrets], Flight] = {}
        self._down: dict[str, float] = {}

    def use_lock(self, lock: Lock | None) -> None:
        """The lock file has changed: what is kept in memory may be from the old one."""
        self._lock = lock
        self._kept.clear()

    def known(self, text: str, secrets: Secrets = ()) -> Answer | None:
        """The answer for an image string, if nobody has to be asked. Raises UsageError for overrides that disagree."""
        found = self._kept.get((text, secrets))
        if found and found[1] > self._clock():
            self._counted(found[0], _MEMORY)
            return found[0]
        try:
            reference = parse(text)
        except InvalidReference as error:
            return unanswerable(text, error)
        answer = self._stated(reference)
        if answer:
            self._keep(text, secrets, answer, _FOR_EVER)
            self._counted(answer, "")
        return answer

    async def asked(
        self, texts: Sequence[str], namespace: str, seconds: float, secrets: Secrets = ()
    ) -> tuple[Mapping[str, Answer], bool]:
        """Answers for image strings that are not `known`, and whether all lookups were done in time.

        seconds: until the request has to be answered.
        """
        answers: dict[str, Answer] = {}
        flights: dict[str, Flight] = {}
        for text in texts:
            flight = self._flight(text, namespace, secrets)
            if flight:
                flights[text] = flight
            else:
                answers[text] = Unknown(
                    "too many other images are being looked up: create the pod again later"
                )
        if flights:
            await asyncio.wait({flight.landed for flight in flights.values()}, timeout=max(0.0, seconds))
        in_time = all(flight.landed.done() for flight in flights.values())
        for text, flight in flights.items():
            landed = flight.landed
            answers[text] = landed.result() if landed.done() else flight.stale or _late(flight, seconds)
        for answer in answers.values():
            self._counted(answer, "")
        return answers, in_time

    def stale_found(self, flight: Flight, answer: Found) -> None:
        """The cache has an answer, for requests whose time is spent before the registry has answered."""
        flight.stale = answer

    def landed(self, flight: Flight, answer: Answer) -> None:
        """The lookup has its answer."""
        self._flights.pop((flight.reference.normalised, flight.secrets), None)
        if flight.unreached:
            self._down[flight.reference.registry] = self._clock() + PAUSE_SECONDS
            if len(self._down) > _MOST_DOWN:
                del self._down[next(iter(self._down))]
        until = self._until(flight.reference, answer)
        for text in flight.texts:
            self._keep(text, flight.secrets, answer, until)
        flight.landed.set_result(answer)
        self._turns.give_back(flight.namespace, flight.reference.registry)
        self._begin()

    def _flight(self, text: str, namespace: str, secrets: Secrets) -> Flight | None:
        reference = parse(text)
        key = reference.normalised, secrets
        flight = self._flights.get(key)
        if flight is None:
            landed = asyncio.get_running_loop().create_future()
            flight = Flight(reference, secrets, namespace, landed)
            if not self._turns.add(namespace, reference.registry, flight):
                return None
            self._flights[key] = flight
            self._begin()
        flight.texts.add(text)
        return flight

    def _begin(self) -> None:
        while flight := self._turns.take():
            flight.down = self._down.get(flight.reference.registry, 0) > self._clock()
            self._start(flight)

    def _stated(self, reference: Reference) -> Answer | None:
        stated = override(reference, self._overrides) if self._overrides else None
        if stated or not self._lock:
            return stated
        held = self._lock.images.get(reference.normalised)
        return held or (self._lock.missing_answer(reference) if self._lock.only else None)

    def _until(self, reference: Reference, answer: Answer) -> float:
        if not isinstance(answer, Found) or answer.origin == "stale":
            return self._clock() + PAUSE_SECONDS
        if reference.digest:
            return _FOR_EVER
        return self._clock() + max(0.0, self._ttl - answer.age_seconds)

    def _keep(self, text: str, secrets: Secrets, answer: Answer, until: float) -> None:
        kept = self._kept
        kept.pop((text, secrets), None)
        kept[text, secrets] = answer, until
        if len(kept) > self._most:
            del kept[next(iter(kept))]


def _late(flight: Flight, seconds: float) -> Unknown:
    return Unknown(
        f"{flight.reference.registry} gave no answer within {seconds:.1f} s, and the lookup goes on for the next pod"
    )
