"""Answers for the images of all requests: memory, then one lookup for each image, however many requests wait for it.

    kept in memory   of a digest, an override or the lock file     for ever
                     of a tag                                      for the rest of --cache-ttl
                     Absent, Unknown, an answer that is stale      5 seconds, then the registry is asked again

When a request's time is spent, or too many wait, it gets what the cache has, up to --max-stale old; else Unknown.

A lookup may take a quarter of --timeout. It waits for others of its namespace, of which 8 go on at once, and of its
registry, of which 16 do: half of what a worker does at once, so that `queue` of `lab/campaign/webhook` leaves room in
each. There, namespaces that have the fewest come first. Where two namespaces want the same image, the one whose turn
comes first has it looked up. A lookup that no request waits for any longer goes on, so that the next one finds its
answer. Everything here runs in the event loop and never waits for a process.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from archfit.base.errors import InvalidReference
from archfit.images.overrides import override
from archfit.images.platforms import Answer, Found, Malformed, Unknown, unanswerable
from archfit.images.reference import Reference, parse
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Options
from archfit.webhook.lookups.fair_places import FairPlaces, Semaphores
from archfit.webhook.lookups.messages import Answered, Secrets
from archfit.webhook.memory_budget import Share
from archfit.webhook.server_metrics import ServerMetrics

PAUSE_SECONDS = 5.0
OF_NAMESPACE = 8
OF_REGISTRY = 16
MOST_WAITING = 4096
LONGEST_IMAGE = 1024
"""Of a host of 253 characters, a path of 255, a tag of 128 and a digest of 135, with room."""
_ANSWER_BYTES, _PLATFORM_BYTES = 700, 200
_TOO_LONG = Malformed(f"it has more than {LONGEST_IMAGE} characters, more than any image reference")
_TOO_MANY = Unknown("too many other images are being looked up: create the pod again later")
_FOR_EVER = float("inf")


class Worker(Protocol):
    """Whoever looks images up for a namespace, as `worker_process.WorkerProcess` does."""

    def look_up(
        self, text: str, secrets: Secrets, seconds: float, rank: int, has_stale: Callable[[Found], None]
    ) -> Awaitable[Answered]:
        """The answer for an image string."""


@dataclass(eq=False, repr=False)
class PendingLookup:
    """A lookup, from its first request on. answer: for requests. texts: the image strings that it is for.

    waiting: the namespaces that want it. begun: one of them has it looked up. stale: what the cache has, too old to be
    used before the registry was asked.
    """

    reference: Reference
    secrets: Secrets
    answer: asyncio.Future[Answer]
    texts: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    begun: bool = False
    stale: Found | None = None


@dataclass(eq=False, repr=False)
class SharedAnswers:
    """options: with the overrides of the configuration. ttl_seconds: how long the digest of a tag is believed.

    worker: who looks up for a namespace. clock: seconds of a clock that never goes back. timeout_seconds: of all
    lookups of a run. share: of memory, for what is kept: the oldest goes first. reviews: places of those that wait.
    """

    options: Options
    ttl_seconds: float
    lock: Lock | None
    worker: Callable[[str], Worker]
    metrics: ServerMetrics
    share: Share
    reviews: FairPlaces
    timeout_seconds: float = 30.0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.longest_seconds = self.timeout_seconds / 4
        self._places = FairPlaces(MOST_WAITING)
        self._of_namespace, self._of_registry = Semaphores(OF_NAMESPACE), Semaphores(OF_REGISTRY)
        self._running_of = Counter[str]()
        self._turns: set[asyncio.Task[None]] = set()
        self._kept: dict[tuple[str, Secrets], tuple[Answer, float, int]] = {}
        self._pending: dict[tuple[str, Secrets], PendingLookup] = {}

    @property
    def running(self) -> int:
        return self._running_of.total()

    @property
    def waiting(self) -> int:
        return self._places.held - self.running

    def use_lock(self, lock: Lock | None) -> None:
        """The lock file has changed: what is kept in memory may be from the old one."""
        self.lock = lock
        self._kept.clear()
        self.share.give(self.share.held)

    def known(self, text: str, secrets: Secrets = ()) -> Answer | None:
        """The answer for an image string, if nobody has to be asked. Raises UsageError for overrides that disagree."""
        kept = self._kept.get((text, secrets))
        if kept and kept[1] > self.clock():
            self.metrics.looked_up(kept[0], "memory")
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
            self.metrics.looked_up(answer)
        return answer

    async def look_up(
        self, texts: Sequence[str], namespace: str, seconds: float, secrets: Secrets = ()
    ) -> tuple[Mapping[str, Answer], bool]:
        """Answers for image strings that are not `known`, and whether all lookups were done in time.

        seconds: until the request has to be answered; at once, where too many of its namespace wait.
        """
        lookups = {text: self._pending_lookup(text, namespace, secrets) for text in texts}
        with self.reviews.place(namespace) as may_wait:
            if may_wait:
                answers_to_come = {pending.answer for pending in lookups.values()}
                await asyncio.wait(answers_to_come, timeout=max(0.0, seconds))
            else:
                self.metrics.crowded_out.inc()
        in_time = all(pending.answer.done() for pending in lookups.values())
        answers = {
            text: pending.answer.result()
            if pending.answer.done()
            else pending.stale or _late(pending, seconds, may_wait=may_wait)
            for text, pending in lookups.items()
        }
        for answer in answers.values():
            self.metrics.looked_up(answer)
        return answers, in_time

    def _pending_lookup(self, text: str, namespace: str, secrets: Secrets) -> PendingLookup:
        reference = parse(text)
        key = reference.normalised, secrets
        pending = self._pending.get(key)
        if pending is None:
            pending = PendingLookup(reference, secrets, asyncio.get_running_loop().create_future())
            self._pending[key] = pending
        pending.texts.add(text)
        if not pending.begun and namespace not in pending.waiting:
            if self._places.take(namespace):
                pending.waiting.add(namespace)
                turn = asyncio.create_task(self._turn(pending, namespace))
                self._turns.add(turn)
                turn.add_done_callback(self._turns.discard)
            else:
                self.metrics.lookups_refused.inc()
                if not pending.waiting:
                    del self._pending[key]
                    pending.answer.set_result(_TOO_MANY)
        return pending

    async def _turn(self, pending: PendingLookup, namespace: str) -> None:
        """A namespace waits for its turn, and has the image looked up where no other was faster."""
        registry = pending.reference.registry
        try:
            async with self._of_namespace.of(namespace), self._of_registry.of(registry):
                if not pending.begun:
                    pending.begun = True
                    self._answer(pending, await self._looked_up(pending, namespace))
        finally:
            self._places.give(namespace)

    async def _looked_up(self, pending: PendingLookup, namespace: str) -> Answer:
        def has_stale(answer: Found) -> None:
            pending.stale = answer

        rank = self._running_of[namespace]
        self._running_of[namespace] += 1
        try:
            answered = await self.worker(namespace).look_up(
                pending.reference.original, pending.secrets, self.longest_seconds, rank, has_stale
            )
        finally:
            self._running_of[namespace] -= 1
            if not self._running_of[namespace]:
                del self._running_of[namespace]
        if answered.cut_off:
            self.metrics.cut_off.inc()
        return answered.answer

    def _answer(self, pending: PendingLookup, answer: Answer) -> None:
        del self._pending[pending.reference.normalised, pending.secrets]
        until = self._until(pending.reference, answer)
        for text in pending.texts:
            self._keep(text, pending.secrets, answer, until)
        pending.answer.set_result(answer)

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

    def _keep(self, text: str, secrets: Secrets, answer: Answer, until: float) -> None:
        kept, share = self._kept, self.share
        size = _ANSWER_BYTES + 2 * len(text)
        if isinstance(answer, Found):
            size += _PLATFORM_BYTES * len(answer.platforms)
        elif isinstance(answer, Unknown):
            size += 4 * len(answer.cause)
        old = kept.pop((text, secrets), None)
        if old:
            share.give(old[2])
        if size > share.size:
            share.refused()
            return
        while not share.take(size):
            share.give(kept.pop(next(iter(kept)))[2])
        kept[text, secrets] = answer, until, size


def _late(pending: PendingLookup, seconds: float, *, may_wait: bool) -> Unknown:
    if not may_wait:
        return Unknown(
            "too many pods of its namespace wait for answers of registries, and the lookup goes on for the next pod"
        )
    registry = pending.reference.registry
    return Unknown(
        f"{registry} gave no answer within {seconds:.1f} s, and the lookup goes on for the next pod"
    )
