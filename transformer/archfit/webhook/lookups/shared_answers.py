"""Answers for the images of all requests: memory, then one lookup for each image, however many requests wait for it.

    kept in memory   of a digest, an override or the lock file     for ever
                     of a tag                                      for the rest of --cache-ttl
                     Absent, Unknown, an answer that is stale      5 seconds, then the registry is asked again

When a request's time is spent, or too many wait (`waiting_reviews`), it gets what the cache has, up to --max-stale old;
else Unknown. The same at once where the registry is paused (`circuit_breakers`), or the image lost its place among
those that wait (`lookup_queue`).

A lookup may take a quarter of --timeout, less where few workers are free: three seconds at least, and one of a registry
that has not answered in time before. A lookup that a request no longer waits for goes on, so that the next request
finds its answer. Everything here runs in the event loop and never waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from archfit.base.errors import InvalidReference
from archfit.base.memo import Memo
from archfit.images.overrides import override
from archfit.images.platforms import (
    ARCHITECTURES,
    Answer,
    Found,
    Malformed,
    Platform,
    Unknown,
    unanswerable,
)
from archfit.images.reference import Reference, parse
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options
from archfit.startup.record import Record
from archfit.webhook.circuit_breakers import SLOW_SECONDS, CircuitBreakers
from archfit.webhook.lookup_queue import LookupQueue, Turn
from archfit.webhook.memory_budget import Share
from archfit.webhook.waiting_reviews import WaitingReviews

PAUSE_SECONDS = 5.0
SHORTEST_SECONDS = 1.0
LONGEST_IMAGE = 1024
"""Of a host of 253 characters, a path of 255, a tag of 128 and a digest of 135, with room."""
_ANSWER_BYTES = 900
_MOST_PLATFORMS = 32
_TOO_LONG = Malformed(f"it has more than {LONGEST_IMAGE} characters, more than any image reference")
_NO_TURN = Turn("", "", is_new=False)
_FOR_EVER = float("inf")


class PullSecret(Record):
    """A Secret that the operator named, of a Pod that refers to it."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


Secrets = tuple[PullSecret, ...]


@dataclass(eq=False, repr=False)
class PendingLookup:
    """A lookup, from its first request on. answer: for requests. texts: the image strings that it is for.

    waiting: the namespaces whose turn it waits for. turn: the one that came. began: by the clock.
    seconds: how long it may take. paused: why only the cache is asked, "" where the registry is. trial: it shows
    whether a paused registry answers again. slow: it has been counted as such.

    Set by the worker: stale, what the cache has, too old to be used before the registry was asked; was_asked, whether
    the registry was; unreached, whether that gave no answer at all.
    """

    reference: Reference
    secrets: Secrets
    answer: asyncio.Future[Answer]
    texts: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    turn: Turn = _NO_TURN
    began: float = 0.0
    seconds: float = 0.0
    paused: str = ""
    stale: Found | None = None
    timer: asyncio.TimerHandle | None = None
    was_asked: bool = False
    slow: bool = False
    trial: bool = False
    unreached: bool = False


@dataclass(eq=False, repr=False)
class SharedAnswers:
    """options: with the overrides of the configuration. ttl_seconds: how long the digest of a tag is believed.

    timeout_seconds: of all lookups of a run. turns: who is looked up next. breakers: which registries are asked.
    start: begins a lookup, whose answer comes back to `on_answer`. clock: seconds of a clock that never goes back.
    share: of memory, for what is kept: the oldest goes first. waiting: the reviews that wait for lookups.
    counted: called with each answer that a request gets, and "memory" where it was there. evicted, cut_off: called for
    each image that lost its place, and each lookup that took all of its time.
    """

    options: Options
    ttl_seconds: float
    lock: Lock | None
    turns: LookupQueue[PendingLookup]
    breakers: CircuitBreakers
    start: Callable[[PendingLookup], None]
    clock: Callable[[], float]
    counted: Callable[[Answer, str], None] = lambda _answer, _origin: None
    _: KW_ONLY
    share: Share
    waiting: WaitingReviews
    timeout_seconds: float = 30.0
    evicted: Callable[[], None] = lambda: None
    cut_off: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._architectures = frozenset((*self.options.cluster_architectures, *ARCHITECTURES))
        self._platforms: Memo[tuple[Platform, ...], tuple[Platform, ...]] = Memo(lambda same: same, 256)
        self.breakers.changed = self._standing_changed
        self._longest = self.timeout_seconds / 4
        self._running: set[PendingLookup] = set()
        self._kept: dict[tuple[str, Secrets], tuple[Answer, float, int]] = {}
        self._pending: dict[tuple[str, Secrets], PendingLookup] = {}

    def use_lock(self, lock: Lock | None) -> None:
        """The lock file has changed: what is kept in memory may be from the old one."""
        self.lock = lock
        self._kept.clear()
        self.share.give(self.share.held)

    def known(self, text: str, secrets: Secrets = ()) -> Answer | None:
        """The answer for an image string, if nobody has to be asked. Raises UsageError for overrides that disagree."""
        kept = self._kept.get((text, secrets))
        if kept and kept[1] > self.clock():
            self.counted(kept[0], "memory")
            return kept[0]
        if len(text) > LONGEST_IMAGE:
            return _TOO_LONG
        try:
            reference = parse(text)
        except InvalidReference as error:
            return unanswerable(text, error)
        answer = self._stated(reference)
        if answer:
            self._keep(text, secrets, answer, _FOR_EVER)
            self.counted(answer, "")
        return answer

    async def asked(
        self, texts: Sequence[str], namespace: str, seconds: float, secrets: Secrets = ()
    ) -> tuple[Mapping[str, Answer], bool]:
        """Answers for image strings that are not `known`, and whether all lookups were done in time.

        seconds: until the request has to be answered; sooner, where too many wait (`waiting_reviews`).
        """
        crowded_out = False
        lookups = {text: self._pending_lookup(text, namespace, secrets) for text in texts}
        try:
            async with asyncio.timeout(max(0.0, seconds)) as deadline:
                with self.waiting.waits(namespace, deadline) as place:
                    await asyncio.wait({pending.answer for pending in lookups.values()})
        except TimeoutError:
            crowded_out = place.crowded_out
        in_time = all(pending.answer.done() for pending in lookups.values())
        answers = {
            text: pending.answer.result()
            if pending.answer.done()
            else pending.stale or _late(pending, seconds, crowded_out=crowded_out)
            for text, pending in lookups.items()
        }
        for answer in answers.values():
            self.counted(answer, "")
        return answers, in_time

    def stale_found(self, pending: PendingLookup, answer: Found) -> None:
        """The cache has an answer, for requests whose time is spent before the registry has answered."""
        pending.stale = answer

    def on_answer(self, pending: PendingLookup, answer: Answer) -> None:
        """The lookup has its answer."""
        answer = self._bounded(answer)
        self._pending.pop((pending.reference.normalised, pending.secrets), None)
        self._running.discard(pending)
        if pending.timer:
            pending.timer.cancel()
        self._judge(pending)
        until = self._until(pending.reference, answer)
        for text in pending.texts:
            self._keep(text, pending.secrets, answer, until)
        if not pending.answer.done():
            pending.answer.set_result(answer)
        self.turns.give_back(pending.turn)
        self._begin()

    def overdue(self, pending: PendingLookup) -> None:
        """The lookup is slow; it goes on."""
        pending.slow = True
        self.turns.strike(pending.turn.namespace)
        trial, pending.trial = pending.trial, False
        self.breakers.slow(pending.reference.registry, pending.turn.namespace, trial=trial)
        self._begin()

    def _judge(self, pending: PendingLookup) -> None:
        registry, namespace = pending.reference.registry, pending.turn.namespace
        trial, pending.trial = pending.trial, False
        if not pending.was_asked:
            if trial:
                self.breakers.untried(registry)
            return
        cut_off = self.clock() - pending.began >= pending.seconds
        if cut_off:
            self.cut_off()
        if pending.unreached and not (cut_off and pending.seconds < self._longest):
            self.breakers.unreached(registry, namespace, trial=trial)
        elif cut_off and not pending.slow:
            pending.trial = trial
            self.overdue(pending)
        elif not pending.slow:
            self.breakers.answered(registry, trial=trial)

    def _standing_changed(self, registry: str) -> None:
        """Where it is paused now, nobody waits for its lookups any longer. They go on, for the next pod."""
        self.turns.reconsider(registry)
        for pending in self._running:
            if pending.reference.registry == registry and not (pending.paused or pending.trial):
                why = self.breakers.paused(registry, pending.turn.namespace)
                if why and not pending.answer.done():
                    pending.answer.set_result(pending.stale or Unknown(why))

    def _pending_lookup(self, text: str, namespace: str, secrets: Secrets) -> PendingLookup:
        reference = parse(text)
        key = reference.normalised, secrets
        pending = self._pending.get(key)
        if pending is None:
            pending = PendingLookup(reference, secrets, asyncio.get_running_loop().create_future())
            self._pending[key] = pending
        pending.texts.add(text)
        if pending not in self._running and namespace not in pending.waiting:
            pending.waiting.add(namespace)
            lost = self.turns.add(namespace, reference.registry, pending)
            if lost:
                self._evict(*lost)
            self._begin()
        return pending

    def _evict(self, namespace: str, pending: PendingLookup) -> None:
        """It waits no longer for a turn of the namespace; others may still have it looked up."""
        pending.waiting.discard(namespace)
        if not pending.waiting:
            self.evicted()
            del self._pending[pending.reference.normalised, pending.secrets]
            pending.answer.set_result(
                Unknown("too many other images are being looked up: create the pod again later")
            )

    def _begin(self) -> None:
        while taken := self.turns.take():
            turn, pending = taken
            namespace, registry = turn.namespace, turn.registry
            for other in pending.waiting:
                if other != namespace:
                    self.turns.remove(other, registry, pending)
            pending.waiting.clear()
            pending.turn, pending.began = turn, self.clock()
            shortest = SHORTEST_SECONDS if turn.is_new else SLOW_SECONDS
            pending.seconds = min(self._longest, max(shortest, self._longest * self.turns.ease))
            pending.paused = self.breakers.paused(registry, namespace)
            self._running.add(pending)
            if not pending.paused:
                pending.trial = self.breakers.begin(registry, namespace)
                loop = asyncio.get_running_loop()
                pending.timer = loop.call_later(SLOW_SECONDS, self.overdue, pending)
            self.start(pending)

    def _stated(self, reference: Reference) -> Answer | None:
        overrides = self.options.image_platforms
        stated = override(reference, overrides) if overrides else None
        if stated or not self.lock:
            return stated
        held = self.lock.images.get(reference.normalised)
        return held or (self.lock.missing_answer(reference) if self.lock.only else None)

    def _until(self, reference: Reference, answer: Answer) -> float:
        if not isinstance(answer, Found) or answer.origin == "stale":
            return self.clock() + PAUSE_SECONDS
        if reference.digest:
            return _FOR_EVER
        return self.clock() + max(0.0, self.ttl_seconds - answer.age_seconds)

    def _bounded(self, answer: Answer) -> Answer:
        """The answer with the platforms that a node may have; equal platforms are one object."""
        if not isinstance(answer, Found):
            return answer
        platforms = answer.platforms
        if len(platforms) > _MOST_PLATFORMS:
            known = [platform for platform in platforms if platform.architecture in self._architectures]
            known.sort(key=lambda platform: (bool(platform.variant), str(platform)))
            platforms = tuple(sorted(known[:_MOST_PLATFORMS], key=str))
            if not platforms:
                return Unknown(f"none of its {len(answer.platforms)} platforms is one that a node may have")
        shared = self._platforms[platforms]
        return answer if shared is answer.platforms else answer.replace(platforms=shared)

    def _keep(self, text: str, secrets: Secrets, answer: Answer, until: float) -> None:
        kept, share = self._kept, self.share
        size = _ANSWER_BYTES + 2 * len(text) + (4 * len(answer.cause) if isinstance(answer, Unknown) else 0)
        old = kept.pop((text, secrets), None)
        if old:
            share.give(old[2])
        if size > share.size:
            share.refused()
            return
        while not share.take(size):
            share.give(kept.pop(next(iter(kept)))[2])
        kept[text, secrets] = answer, until, size


def _late(pending: PendingLookup, seconds: float, *, crowded_out: bool) -> Unknown:
    registry = pending.reference.registry
    if crowded_out:
        return Unknown(
            f"{registry} gave no answer before too many pods of its namespace waited, "
            "and the lookup goes on for the next pod"
        )
    return Unknown(
        f"{registry} gave no answer within {seconds:.1f} s, and the lookup goes on for the next pod"
    )
