"""The server's process: two ports, certificates and lock file that are watched, signals.

    SIGTERM    readiness off ── --drain-delay: requests still come, each response closes its connection
               ── no new connections; requests that are under way end, in 10 s at most ── exit 0
    SIGTERM again, or SIGINT: without --drain-delay

One process, one event loop (uvloop); lookups in threads (`lookup_workers`). Several replicas are several processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TextIO, TypeVar

from prometheus_client import Counter
from uvloop import new_event_loop

import archfit.lookup.registry_lookup  # noqa: F401 - the first review must not wait until httpx is loaded
from archfit import __version__
from archfit.base.documentation import place
from archfit.base.errors import ArchfitError
from archfit.images.platforms import Answer
from archfit.lookup.cache_contents import prune_pages
from archfit.lookup.lockfile import lock_of
from archfit.lookup.lookup import Lookup, open_lookup
from archfit.lookup.operator_files import check
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.open import open_store
from archfit.lookup.store.sqlite import SqliteStore
from archfit.options.settings import Options, Settings
from archfit.registry.credentials.keychain import PullKeychain
from archfit.startup.record import Record
from archfit.webhook.admission_decision import DecisionCache
from archfit.webhook.admitted_pod import at_admission
from archfit.webhook.certificate_files import Certificates, identity
from archfit.webhook.circuit_breakers import CircuitBreakers
from archfit.webhook.connection import CONNECTION_BYTES, Connections
from archfit.webhook.http_server import HttpServer, collect_rarely, route_library_messages
from archfit.webhook.listen_address import ListenAddress, listen
from archfit.webhook.lookup_queue import LookupQueue
from archfit.webhook.lookups.lookup_workers import LookupWorkers
from archfit.webhook.lookups.pull_secret_answers import Chosen, ClusterSecrets, PullSecretAnswers
from archfit.webhook.lookups.shared_answers import PendingLookup, PullSecret, SharedAnswers
from archfit.webhook.memory_budget import SMALL, Bodies, MemoryLimit, Share
from archfit.webhook.server_log import ServerLog, unbuffered
from archfit.webhook.server_metrics import Probes, ServerMetrics
from archfit.webhook.waiting_reviews import WaitingReviews
from archfit.webhook.webhook import PATH, Webhook

_A = TypeVar("_A", bound=Answer)
WORKERS = 64
MOST_WAITING = 1024
MOST_WAITING_OF_ONE = 256
WATCH_SECONDS = 2.0
_WARN_AGAIN_SECONDS = 300.0
_MOST_WARNINGS = 1000
_LONGEST_WARNING = 500
PROBE_CONNECTIONS = 32
PRUNE_SECONDS = 30.0
PRUNE_ALL_SECONDS = 3600.0
CACHE_BYTES = 128 << 20
"""Of the SQLite file: half of the emptyDir that the shipped manifests have for it."""
_PRUNE_PAUSE_SECONDS = 0.01


class WatchedLock:
    """options: name the file; "" is none. current: what it holds. Raises UsageError and InvalidLock."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._seen: object = None
        self.reload()

    def changed(self) -> bool:
        """Whether the file is another than at the last `reload`."""
        return bool(self._options.lock_file) and identity(self._options.lock_file) != self._seen

    def reload(self) -> None:
        """Read the file again. Raises UsageError and InvalidLock, and the old content goes on."""
        self._seen = identity(self._options.lock_file)
        self.current = lock_of(self._options)


class ServeOptions(Record):
    """What `archfit serve` has beside the options of any run.

    cert, key: paths; "" for plain HTTP. drain_delay: seconds. pull_secrets: those that count. client_ca: a path; "" for
    clients without a certificate. memory: what the process may take.
    """

    listen: ListenAddress
    probes: ListenAddress
    cert: str = ""
    key: str = ""
    drain_delay: float = 5.0
    log_level: str = "info"
    pull_secrets: frozenset[PullSecret] = frozenset()
    client_ca: str = ""
    memory: MemoryLimit = MemoryLimit()


def serve(settings: Settings, own: ServeOptions, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """Serve until a signal. The exit code. Raises ArchfitError where the server cannot start."""
    check(settings.operator, settings.options.lock_file)
    lock = WatchedLock(settings.options)
    certificates = Certificates(own.cert, own.key, own.client_ca) if own.cert else None
    with contextlib.ExitStack() as sockets:
        ports = [
            sockets.enter_context(listen(address, flag))
            for address, flag in ((own.listen, "--listen"), (own.probes, "--probe-listen"))
        ]
        log = ServerLog(unbuffered(stderr), own.log_level, most=own.memory.share("log_lines"))
        try:
            process = ServerProcess(settings, own, log, environ, lock, certificates)
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                return runner.run(process.run(*ports))
        finally:
            log.close()


@dataclass(eq=False, repr=False)
class ServerProcess:
    """See the module. environ: of the process, for lookups."""

    _settings: Settings
    _own: ServeOptions
    _log: ServerLog
    _environ: Mapping[str, str]
    _lock: WatchedLock
    _certificates: Certificates | None

    def __post_init__(self) -> None:
        settings, own, log, certificates = self._settings, self._own, self._log, self._certificates
        self._prune_all = time.monotonic() + PRUNE_ALL_SECONDS
        self._warned: dict[str, float] = {}
        self._stopping = asyncio.Event()
        self._at_once = asyncio.Event()
        options = at_admission(settings.options)
        breakers = CircuitBreakers(time.monotonic)
        turns: LookupQueue[PendingLookup] = LookupQueue(
            WORKERS, MOST_WAITING, MOST_WAITING_OF_ONE, breakers.standing, time.monotonic
        )
        memory = own.memory
        self._shares = {
            name: Share(memory.share(name), small=SMALL.get(name, 0))
            for name in ("reviews", "bodies", "verdicts", "answers")
        }
        self._metrics = metrics = ServerMetrics(
            lambda: turns.waiting,
            lambda: turns.running,
            (lambda: certificates.current.not_after) if certificates else None,
            breakers.states,
            memory,
            self._held,
        )
        for name, share in self._shares.items():
            share.refused = metrics.refusals[name].inc
        log.refused = metrics.refusals["log_lines"].inc
        self._connections = Connections(
            memory.share("connections") // CONNECTION_BYTES,
            lambda what: metrics.closed[what].inc(),
            lambda status: metrics.http_errors[status].inc(),
        )
        no_cache = settings.operator.no_cache or settings.operator.offline
        with_secrets = None
        if own.pull_secrets:
            secrets = ClusterSecrets(self._environ)
            with_secrets = PullSecretAnswers(secrets.read, self._open_with, time.monotonic).answer
        self._workers = LookupWorkers(
            WORKERS,
            self._open_lookup,
            lambda pending, answer: self._soon(self._answers.on_answer, pending, answer),
            self._warn,
            metrics.replied,
            time.monotonic,
            stale_found=lambda pending, answer: self._soon(self._answers.stale_found, pending, answer),
            open_cached=None if no_cache else partial(self._open_lookup, offline=True),
            with_secrets=with_secrets,
        )
        self._answers = SharedAnswers(
            options,
            settings.operator.cache_ttl_seconds,
            self._lock.current,
            turns,
            breakers,
            self._workers.start,
            time.monotonic,
            metrics.looked_up,
            timeout_seconds=settings.operator.timeout_seconds,
            evicted=metrics.evicted.inc,
            cut_off=metrics.cut_off.inc,
            share=self._shares["answers"],
            # The other half is for those whose images are known, and for those that arrive.
            waiting=WaitingReviews(max(1, self._connections.most // 2), metrics.crowded_out.inc),
        )
        self._probes = Probes(metrics, self._not_ready)
        self._webhook = Webhook(
            self._answers,
            DecisionCache(options, self._shares["verdicts"]),
            metrics,
            log,
            Bodies(self._shares["bodies"], time.monotonic, metrics.closed["body"].inc),
            self._shares["reviews"],
            self._probes,
            own.pull_secrets,
        )

    async def run(self, port: socket.socket, probe_port: socket.socket) -> int:
        """Serve on two sockets that listen, until a signal. The exit code."""
        self._loop = loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        route_library_messages(self._log)
        context = self._certificates.context if self._certificates else None
        webhook = HttpServer(self._webhook, self._connections, context)
        probes = HttpServer(self._probes, Connections(PROBE_CONNECTIONS))
        collect_rarely()
        watching = asyncio.ensure_future(self._watch())
        serving = [
            asyncio.ensure_future(server.serve([sock]))
            for server, sock in ((webhook, port), (probes, probe_port))
        ]
        self._log.line(
            "info",
            "listening",
            version=__version__,
            webhook=f"{'https' if self._certificates else 'http'}://{_shown(port)}{PATH}",
            probes=f"http://{_shown(probe_port)}",
            memoryLimit=f"{self._own.memory.limit >> 20}Mi ({self._own.memory.source})",
            configuration=list(self._settings.sources),
        )
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([*serving, stop], return_when=asyncio.FIRST_COMPLETED)
            ended = next((task for task in serving if task.done()), None)
            if ended:
                ended.result()
                return 1
            await self._drain(webhook, probes, serving)
        finally:
            for task in (watching, stop):
                task.cancel()
            self._workers.close()
        self._log.line("info", "stopped")
        return 0

    async def _drain(
        self, webhook: HttpServer, probes: HttpServer, serving: Sequence[asyncio.Future[None]]
    ) -> None:
        self._webhook.draining = True
        self._log.line("info", "draining", delaySeconds=self._own.drain_delay)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._at_once.wait(), self._own.drain_delay)
        webhook.should_exit = True
        await serving[0]
        probes.should_exit = True
        await serving[1]

    def _stop(self, number: int) -> None:
        if self._stopping.is_set() or number == signal.SIGINT:
            self._at_once.set()
        self._stopping.set()

    def _not_ready(self) -> str:
        if self._webhook.draining:
            return "it is stopping"
        if self._certificates and time.time() >= self._certificates.current.not_after:
            return f"its certificate has expired: renew it, as {place('serve', 'the-certificate')} says"
        return ""

    def _held(self, share: str) -> float:
        if share == "connections":
            return self._connections.held * CONNECTION_BYTES
        return self._log.held if share == "log_lines" else self._shares[share].held

    async def _watch(self) -> None:
        certificates, lock, metrics = self._certificates, self._lock, self._metrics
        operator = self._settings.operator
        prunes = isinstance(operator.cache, str) and not (operator.no_cache or operator.offline)
        next_prune = time.monotonic() + PRUNE_SECONDS
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if prunes and time.monotonic() >= next_prune:
                await asyncio.to_thread(self._prune)
                next_prune = time.monotonic() + PRUNE_SECONDS
            if certificates and certificates.changed():
                await self._reload("certificate", certificates.reload, metrics.certificate_reloads)
            if lock.changed() and await self._reload("lock file", lock.reload, metrics.lock_file_reloads):
                self._answers.use_lock(lock.current)

    def _prune(self) -> None:
        """Keep the cache's file small. Trouble with it is for the log; the answers go on."""
        operator = self._settings.operator
        full = time.monotonic() >= self._prune_all
        try:
            with contextlib.closing(open_store(operator, self._environ, time.time)) as store:
                if not isinstance(store, SqliteStore):
                    return
                if full or store.used() > CACHE_BYTES:
                    self._prune_all = time.monotonic() + PRUNE_ALL_SECONDS
                    tag_seconds = max(operator.cache_ttl_seconds, operator.max_stale_seconds)
                    pause = partial(time.sleep, _PRUNE_PAUSE_SECONDS)
                    self._metrics.cache_pruned.inc(
                        prune_pages(store, time.time(), tag_seconds, CACHE_BYTES, pause)
                    )
                self._metrics.cache_bytes.set(store.size())
        except StoreTrouble as trouble:
            self._warn(str(trouble))

    async def _reload(self, what: str, reload: Callable[[], None], counter: Counter) -> bool:
        try:
            await asyncio.to_thread(reload)
        except ArchfitError as error:
            self._log.line("error", f"{what} not reloaded: the old one stays in use", reason=str(error))
            counter.labels("failure").inc()
            return False
        self._log.line("info", f"{what} reloaded")
        counter.labels("success").inc()
        return True

    def _open_lookup(self, keychain: PullKeychain | None = None, *, offline: bool = False) -> Lookup:
        operator = self._settings.operator
        return open_lookup(
            operator.replace(offline=True) if offline else operator,
            self._settings.options.image_platforms,
            environ=self._environ,
            named_hosts_only=True,
            keychain=keychain,
        )

    def _open_with(self, chosen: Chosen) -> Lookup:
        return self._open_lookup(PullKeychain(self._settings.operator.authfile, self._environ, chosen))

    def _soon(self, call: Callable[[PendingLookup, _A], None], pending: PendingLookup, answer: _A) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(call, pending, answer)

    def _warn(self, message: str) -> None:
        """A warning of a lookup, each at most once in five minutes."""
        message = message[:_LONGEST_WARNING]
        now = time.monotonic()
        if now - self._warned.get(message, -_WARN_AGAIN_SECONDS) < _WARN_AGAIN_SECONDS:
            return
        if len(self._warned) >= _MOST_WARNINGS:
            self._warned.clear()
        self._warned[message] = now
        self._log.line("warning", "lookup", reason=message)


def _shown(port: socket.socket) -> str:
    host, number = port.getsockname()[:2]
    return f"[{host}]:{number}" if ":" in host else f"{host}:{number}"
