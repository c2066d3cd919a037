"""Threads that look images up, one at a time each, with a `Lookup` that is kept from one image to the next.

A Lookup is made for one run: it remembers servers that could not be reached, counts retries, reads credentials once and
keeps something of each image. So a worker makes a new one after a lookup that failed, after 100 lookups and after five
minutes; until then connections, tokens and the cache's file stay open. The threads are daemons: none delays the end of
the process.

A lookup that is cut off may leave a thread behind: nothing ends a wait for a name server. Where there are more than 256
threads, a worker is not free before some of them have ended.

Pods are written by tenants, so a registry at a private address is asked only where the operator named it
(`named_hosts_only`, see `registry.http.host_policy`).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from archfit.base.errors import ArchfitError, message_of
from archfit.images.platforms import Answer, Found, Unknown
from archfit.lookup.lookup import Lookup
from archfit.registry.registry_errors import NO_THREAD
from archfit.webhook.lookups.shared_answers import PendingLookup

LIFE_SECONDS = 300.0
LIFE_LOOKUPS = 100
MOST_THREADS = 256
_LEAST_SECONDS = 0.1
_PAUSE_SECONDS = 0.05
Replies = Mapping[tuple[str, int], int]


@dataclass(eq=False, repr=False)
class LookupWorkers:
    """open_lookup: a new Lookup of the operator. open_cached: one that asks no registry; None where there is no cache.

    with_secrets: the answer that a pull secret gives, else None.

    on_answer: called from the thread of a worker with the lookup and its answer. warn: the same with each warning.
    replied: called there with how many answers of each (server, HTTP status) there were. clock: seconds, monotonic.
    threads: how many the process has. wait: sleeps for some seconds.
    """

    workers: int
    open_lookup: Callable[[], Lookup]
    on_answer: Callable[[PendingLookup, Answer], None]
    warn: Callable[[str], None]
    replied: Callable[[Replies], None]
    clock: Callable[[], float]
    _: KW_ONLY
    stale_found: Callable[[PendingLookup, Found], None] = lambda _pending_lookup, _found: None
    open_cached: Callable[[], Lookup] | None = None
    with_secrets: Callable[[PendingLookup], tuple[Answer | None, Sequence[str], Replies]] | None = None
    threads: Callable[[], int] = threading.active_count
    wait: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        self._pending: queue.SimpleQueue[PendingLookup | None] = queue.SimpleQueue()
        self._threads = 0
        self._idle = 0
        self._counting = threading.Lock()

    def start(self, pending: PendingLookup) -> None:
        """Look the image up in a thread of its own. The caller starts no more than `workers` at once."""
        with self._counting:
            another = not self._idle and self._threads < self.workers
            if self._idle:
                self._idle -= 1
            elif another:
                self._threads += 1
        if another:
            try:
                threading.Thread(target=self._work, name="archfit-lookup", daemon=True).start()
            except RuntimeError:
                with self._counting:
                    self._threads -= 1
                if not self._threads:
                    self.on_answer(pending, Unknown(f"asking for it needs a thread, which {NO_THREAD}"))
                    return
        self._pending.put(pending)

    def close(self) -> None:
        """Ends the workers that wait; the others end with the process."""
        for _ in range(self._threads):
            self._pending.put(None)

    def _work(self) -> None:
        cached = _Worker(self.open_cached, self.clock, offline=True) if self.open_cached else None
        worker = _Worker(self.open_lookup, self.clock)
        while (pending := self._pending.get()) is not None:
            kept = self._kept(cached, pending) if cached else None
            answer = (
                kept if kept and (pending.paused or kept.origin != "stale") else self._asked(worker, pending)
            )
            while pending.was_asked and _failed(answer) and self.threads() > MOST_THREADS:
                self.wait(_PAUSE_SECONDS)
            with self._counting:
                self._idle += 1
            self.on_answer(pending, answer)
        worker.close()
        if cached:
            cached.close()

    def _kept(self, cached: _Worker, pending: PendingLookup) -> Found | None:
        """What the cache has, fresh or stale. Trouble with it is for the lookup that follows."""
        if pending.secrets:
            return None
        try:
            answer, _, _ = cached.answer(pending.reference.original, pending.seconds)
        except Exception:  # noqa: BLE001 - the lookup that follows meets it again and tells it
            return None
        if not isinstance(answer, Found):
            return None
        if answer.origin == "stale":
            self.stale_found(pending, answer)
        return answer

    def _asked(self, worker: _Worker, pending: PendingLookup) -> Answer:
        if pending.paused:
            return Unknown(pending.paused)
        until = self.clock() + pending.seconds
        try:
            if pending.secrets and self.with_secrets:
                answer, messages, replies = self.with_secrets(pending)
                self._tell(messages, replies)
                if answer:
                    pending.was_asked = True
                    return answer
            answer, messages, replies = worker.answer(
                pending.reference.original, max(_LEAST_SECONDS, until - self.clock())
            )
            pending.was_asked = not (isinstance(answer, Found) and answer.origin == "cache")
            pending.unreached = _failed(answer) and not any(status for _, status in replies)
            self._tell(messages, replies)
        except Exception as error:  # noqa: BLE001 - a worker must not end, and each lookup gets an answer
            if not isinstance(error, ArchfitError):
                self.warn(message_of(error))
            return Unknown(message_of(error), mistake=True)
        return answer

    def _tell(self, messages: Sequence[str], replies: Replies) -> None:
        for message in messages:
            self.warn(message)
        if replies:
            self.replied(replies)


@dataclass(eq=False, repr=False)
class _Worker:
    """The Lookup of one thread. offline: it asks no registry, so that no answer of it is a failure."""

    open_lookup: Callable[[], Lookup]
    clock: Callable[[], float]
    offline: bool = False
    _lookup: Lookup | None = None
    _until: float = 0.0
    _left: int = 0
    _told: int = 0

    def answer(self, text: str, seconds: float) -> tuple[Answer, Sequence[str], Replies]:
        """The answer for an image string, the warnings about it, the answers of servers. Raises ArchfitError."""
        if self._lookup is None or not self._left or self.clock() >= self._until:
            self.close()
            self._lookup = self.open_lookup()
            self._until, self._left, self._told = self.clock() + LIFE_SECONDS, LIFE_LOOKUPS, 0
        self._left -= 1
        lookup = self._lookup
        try:
            answer = lookup.resolve([text], seconds=seconds)[text]
            messages, replies = lookup.messages[self._told :], lookup.take_replies()
            self._told += len(messages)
        except BaseException:
            self.close()
            raise
        if _failed(answer) and not self.offline:
            self.close()
        return answer, messages, replies

    def close(self) -> None:
        lookup, self._lookup = self._lookup, None
        if lookup:
            lookup.close()


def _failed(answer: Answer) -> bool:
    """The registry was asked and gave no answer that counts."""
    return isinstance(answer, Unknown) or (isinstance(answer, Found) and answer.origin == "stale")
