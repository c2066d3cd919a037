"""A lookup process from inside: what a registry sends costs time and memory here, never in the server.

    the server ── Ask ──► by rank ──► threads, a Lookup each ── Answered, Noted .. ──► the server

It ends when the server's end of the pair closes, also by the server's death, and heeds no signal that a terminal or a
process group gets. Its address space is limited: a lookup that needs more is Unknown. It is nicer than the server.

A Lookup is made for one run: it remembers servers that could not be reached, counts retries, reads credentials once and
keeps something of each image. So a thread makes a new one after a lookup that failed, after 100 lookups and after five
minutes; until then connections, tokens and the cache's file stay open.

A lookup that is cut off may leave a thread behind: nothing ends a wait for a name server. Where there are more than
MOST_THREADS, none looks up another image before some of them have ended.

Pods are written by tenants, so a registry at a private address is asked only where the operator named it
(`named_hosts_only`, see `registry.http.host_policy`), and the answers for an image may cost PROCESSOR_SECONDS.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from socket import socket
from typing import TypeAlias

import archfit.lookup.registry_lookup  # noqa: F401 - the first lookup must not wait until h11 is loaded
from archfit.base.errors import ArchfitError, message_of
from archfit.images.platforms import Answer, Found, Unknown
from archfit.lookup.cache_contents import prune_pages
from archfit.lookup.lookup import Lookup, open_lookup
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.open import open_store
from archfit.lookup.store.sqlite import SqliteStore
from archfit.registry.credentials.keychain import PullKeychain
from archfit.registry.http.limits import RequestBudget
from archfit.registry.registry_errors import NO_THREAD
from archfit.startup.record import Record
from archfit.webhook.lookups.messages import (
    WORKERS,
    Answered,
    Ask,
    HasStale,
    Noted,
    Ready,
    Replies,
    WorkerOptions,
    framed,
)
from archfit.webhook.lookups.pull_secret_answers import Chosen, ClusterSecrets, PullSecretAnswers

THREADS = 32
MOST_THREADS = 128
PROCESSOR_SECONDS = 0.5
_SWITCH_SECONDS = 0.001
"""A thread that waits for the interpreter's lock gets it sooner, where many have much to read."""
LIFE_SECONDS = 300.0
LIFE_LOOKUPS = 100
PRUNE_SECONDS = 30.0
PRUNE_ALL_SECONDS = 3600.0
CACHE_BYTES = 128 << 20
"""Of the SQLite file: half of the emptyDir that the shipped manifests have for it."""
_MOST_PLATFORMS = 32
_LEAST_SECONDS = 0.1
_PAUSE_SECONDS = 0.05
_PRUNE_PAUSE_SECONDS = 0.01
_NICE = 5
_STACK_BYTES = 1 << 20
_NO_MEMORY = Unknown(
    "its answers need more memory than lookups may take: give the server more (--memory-limit)"
)

WithSecrets: TypeAlias = "Callable[[Ask], tuple[Answer | None, Sequence[str], Replies]]"
"""The answer that a pull secret gives, else None; warnings; answers of servers."""


def serve_lookups(link: socket, options: WorkerOptions) -> None:
    """The process, until the server's end of the pair closes. link: its own end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    sys.setswitchinterval(_SWITCH_SECONDS)
    threading.stack_size(_STACK_BYTES)
    limit_memory(options.memory_bytes)
    sending = threading.Lock()

    def tell(message: Record) -> None:
        content = framed(message)
        with sending, contextlib.suppress(OSError):  # the server has gone, and this process with it
            link.sendall(content)

    threads = lookup_threads(options, tell)
    if options.keeps_cache:
        threading.Thread(target=partial(_prune, options, tell), name="archfit-prune", daemon=True).start()
    tell(Ready())
    with link.makefile("rb") as stream, contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
        while True:
            threads.start(pickle.load(stream))  # noqa: S301 - of the process that started this one


def limit_memory(more: int) -> None:
    """Address space: what the process has now and `more` bytes, besides the stacks of its threads."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:  # not on Linux
        return
    size = pages * resource.getpagesize() + MOST_THREADS * _STACK_BYTES + more
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def lookup_threads(options: WorkerOptions, tell: Callable[[Record], None]) -> LookupThreads:
    """Those of a process, which ask as its options say."""
    operator = options.operator
    opened = partial(
        open_lookup,
        overrides=options.image_platforms,
        environ=options.environ,
        named_hosts_only=True,
        processor_seconds=PROCESSOR_SECONDS,
        budget=RequestBudget(
            [rate.replace(per_second=rate.per_second / WORKERS) for rate in operator.requests_per_second],
            time.monotonic,
            time.sleep,
        ),
    )
    with_secrets = None
    if options.reads_secrets:

        def open_with(chosen: Chosen) -> Lookup:
            return opened(operator, keychain=PullKeychain(operator.authfile, options.environ, chosen))

        secrets = ClusterSecrets(options.environ)
        with_secrets = PullSecretAnswers(secrets.read, open_with, time.monotonic).answer
    return LookupThreads(partial(opened, operator), tell, options.architectures, with_secrets=with_secrets)


@dataclass(eq=False, repr=False)
class LookupThreads:
    """open_lookup: a new Lookup of the operator. tell: takes what the server is told, from any thread.

    architectures: platforms of others are left out of an answer that has very many. threads: how many begin at once,
    a quarter of them for the first of a namespace alone (rank 0), so that four namespaces cannot take all.
    clock: seconds, monotonic. count: how many threads the process has. wait: sleeps for some seconds. Raises
    ArchfitError where there may not be so many threads.
    """

    open_lookup: Callable[[], Lookup]
    tell: Callable[[Record], None]
    architectures: frozenset[str] = frozenset()
    threads: int = THREADS
    with_secrets: WithSecrets | None = None
    clock: Callable[[], float] = time.monotonic
    count: Callable[[], int] = threading.active_count
    wait: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        self._waiting: dict[int, Ask] = {}
        self._any: queue.PriorityQueue[tuple[int, int]] = queue.PriorityQueue()
        self._first: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        try:
            for number in range(self.threads):
                take = self._first.get if number % 4 == 3 else self._any.get
                threading.Thread(target=self._work, args=(take,), name="archfit-lookup", daemon=True).start()
        except (RuntimeError, MemoryError):
            raise ArchfitError(f"it needs {self.threads} threads, which {NO_THREAD}") from None

    def start(self, ask: Ask) -> None:
        """Look the image up once a thread is free, before those of a higher rank."""
        self._waiting[ask.number] = ask
        self._any.put((ask.rank, ask.number))
        if not ask.rank:
            self._first.put((ask.rank, ask.number))

    def _work(self, take: Callable[[], tuple[int, int]]) -> None:
        own = KeptLookup(self.open_lookup, self.clock)
        while True:
            ask = self._waiting.pop(take()[-1], None)
            if ask is None:  # a thread of the other kind has it
                continue
            until = self.clock() + ask.seconds
            try:
                answer = self._asked(own, ask, until)
            except MemoryError:
                own.close()
                answer = _NO_MEMORY
            except Exception as error:  # noqa: BLE001 - a thread must not end, and each lookup gets an answer
                if not isinstance(error, ArchfitError):
                    self._note([message_of(error)], {})
                answer = Unknown(message_of(error), mistake=True)
            while failed(answer) and self.count() > MOST_THREADS:
                self.wait(_PAUSE_SECONDS)
            cut_off = failed(answer) and self.clock() >= until
            self.tell(Answered(ask.number, bounded(answer, self.architectures), cut_off))

    def _asked(self, own: KeptLookup, ask: Ask, until: float) -> Answer:
        if ask.secrets and self.with_secrets:
            answer, messages, replies = self.with_secrets(ask)
            self._note(messages, replies)
            if answer:
                return answer
        left = max(_LEAST_SECONDS, until - self.clock())
        fresh, messages, replies = own.answer(ask.text, left, partial(self._tell_stale, ask.number))
        self._note(messages, replies)
        return fresh

    def _tell_stale(self, number: int, answer: Found) -> None:
        stale = bounded(answer, self.architectures)
        if isinstance(stale, Found):
            self.tell(HasStale(number, stale))

    def _note(self, messages: Sequence[str], replies: Replies) -> None:
        if messages or replies:
            self.tell(Noted(messages, replies))


@dataclass(eq=False, repr=False)
class KeptLookup:
    """The Lookup of one thread."""

    open_lookup: Callable[[], Lookup]
    clock: Callable[[], float]
    _lookup: Lookup | None = None
    _until: float = 0.0
    _left: int = 0

    def answer(
        self, text: str, seconds: float, has_stale: Callable[[Found], None]
    ) -> tuple[Answer, Sequence[str], Replies]:
        """The answer for an image string, the warnings about it, the answers of servers. Raises ArchfitError.

        has_stale: takes what the cache has, while registries are asked.
        """
        if self._lookup is None or not self._left or self.clock() >= self._until:
            self.close()
            self._lookup = self.open_lookup()
            self._until, self._left = self.clock() + LIFE_SECONDS, LIFE_LOOKUPS
        self._left -= 1
        lookup = self._lookup
        lookup.has_stale = has_stale
        try:
            answer = lookup.resolve([text], seconds=seconds)[text]
            messages, replies = lookup.warnings[:], lookup.take_replies()
            lookup.warnings.clear()
        except BaseException:
            self.close()
            raise
        if failed(answer):
            self.close()
        return answer, messages, replies

    def close(self) -> None:
        lookup, self._lookup = self._lookup, None
        if lookup:
            lookup.close()


def failed(answer: Answer) -> bool:
    """The registry was asked and gave no answer that counts."""
    return isinstance(answer, Unknown) or (isinstance(answer, Found) and answer.origin == "stale")


def bounded(answer: Answer, architectures: frozenset[str]) -> Answer:
    """The answer with the platforms that a node may have, where it has very many."""
    if not isinstance(answer, Found) or len(answer.platforms) <= _MOST_PLATFORMS:
        return answer
    known = [platform for platform in answer.platforms if platform.architecture in architectures]
    known.sort(key=lambda platform: (bool(platform.variant), str(platform)))
    if not known:
        return Unknown(f"none of its {len(answer.platforms)} platforms is one that a node may have")
    return answer.replace(platforms=tuple(sorted(known[:_MOST_PLATFORMS], key=str)))


def _prune(options: WorkerOptions, tell: Callable[[Record], None]) -> None:
    """Keep the cache's file small, for ever. Trouble with it is for the log; the answers go on."""
    operator = options.operator
    prune_all = time.monotonic() + PRUNE_ALL_SECONDS
    while True:
        time.sleep(PRUNE_SECONDS)
        try:
            with contextlib.closing(open_store(operator, options.environ, time.time)) as store:
                if not isinstance(store, SqliteStore):
                    return
                removed = 0
                if time.monotonic() >= prune_all or store.used() > CACHE_BYTES:
                    prune_all = time.monotonic() + PRUNE_ALL_SECONDS
                    tag_seconds = max(operator.cache_ttl_seconds, operator.max_stale_seconds)
                    pause = partial(time.sleep, _PRUNE_PAUSE_SECONDS)
                    removed = prune_pages(store, time.time(), tag_seconds, CACHE_BYTES, pause)
                tell(Noted([], {}, (store.size(), removed)))
        except StoreTrouble as trouble:
            tell(Noted([str(trouble)], {}))
