"""The server's process: two ports, certificates and lock file that are watched, signals.

    SIGTERM    readiness off ── --drain-delay: requests still come, each response closes its connection
               ── no new connections; requests that are under way end, in 10 s at most ── exit 0
    SIGTERM again, or SIGINT: without --drain-delay

One event loop (uvloop), and processes of its own for lookups (`lookups.worker_process`), which are there before it is
ready. Several replicas are several servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from prometheus_client import Counter
from uvloop import new_event_loop

from archfit import __version__
from archfit.base.documentation import place
from archfit.base.errors import ArchfitError
from archfit.images.platforms import ARCHITECTURES
from archfit.lookup.lockfile import lock_of
from archfit.lookup.operator_files import check
from archfit.options.settings import Operator, Options, Settings
from archfit.startup.record import Record
from archfit.webhook.admission_decision import DecisionCache
from archfit.webhook.admitted_pod import at_admission
from archfit.webhook.certificate_files import Certificates, identity
from archfit.webhook.connection import (
    CONNECTION_BYTES,
    Connections,
    HttpServer,
    collect_rarely,
    most_connections,
    route_library_messages,
)
from archfit.webhook.listen_address import ListenAddress, listen
from archfit.webhook.lookups.fair_places import FairPlaces
from archfit.webhook.lookups.messages import WORKERS, Noted, WorkerOptions
from archfit.webhook.lookups.pull_secret_answers import ClusterSecrets
from archfit.webhook.lookups.shared_answers import SharedAnswers
from archfit.webhook.lookups.worker_process import LookupWorkers, WorkerProcess, check_platform
from archfit.webhook.memory_budget import MemoryLimit, Share
from archfit.webhook.server_log import ServerLog, unbuffered
from archfit.webhook.server_metrics import Probes, ServerMetrics
from archfit.webhook.webhook import PATH, Webhook

WATCH_SECONDS = 2.0
_WARN_AGAIN_SECONDS = 300.0
_MOST_WARNINGS = 1000
_LONGEST_WARNING = 500
PROBE_CONNECTIONS = 32


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
    pull_secrets: frozenset[str] = frozenset()
    client_ca: str = ""
    memory: MemoryLimit = MemoryLimit()


def serve(settings: Settings, own: ServeOptions, stderr: TextIO, environ: Mapping[str, str]) -> int:
    """Serve until a signal. The exit code. Raises ArchfitError where the server cannot start."""
    check_platform()
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
        if own.pull_secrets:
            ClusterSecrets(self._environ)
        self._warned: dict[str, float] = {}
        self._stopping = asyncio.Event()
        self._at_once = asyncio.Event()
        options, operator, memory = at_admission(settings.options), settings.operator, own.memory
        self._metrics = metrics = ServerMetrics(
            lambda: self._answers.waiting,
            lambda: self._answers.running,
            (lambda: certificates.current.expires) if certificates else None,
            memory,
            self._held,
        )
        self._shares = {
            name: Share(memory.share(name), metrics.refusals[name].inc)
            for name in ("reviews", "bodies", "verdicts", "answers")
        }
        log.refused = metrics.refusals["log_lines"].inc
        self._connections = Connections(most_connections(memory.share("connections")), metrics)
        self._workers = self._lookup_workers(options, operator)
        self._answers = SharedAnswers(
            options,
            operator.cache_ttl_seconds,
            self._lock.current,
            self._workers.of,
            metrics,
            self._shares["answers"],
            # The rest is for those whose images are known, and for those that arrive.
            FairPlaces(max(1, self._connections.most * 3 // 4)),
            operator.timeout_seconds,
        )
        self._probes = Probes(metrics, self._not_ready)
        self._webhook = Webhook(
            self._answers,
            DecisionCache(options, self._shares["verdicts"]),
            metrics,
            log,
            self._shares["bodies"],
            self._shares["reviews"],
            self._probes,
            own.pull_secrets,
        )

    def _lookup_workers(self, options: Options, operator: Operator) -> LookupWorkers:
        keeps_cache = isinstance(operator.cache, str) and not (operator.no_cache or operator.offline)
        worker = WorkerOptions(
            operator,
            options.image_platforms,
            dict(self._environ),
            frozenset((*options.cluster_architectures, *ARCHITECTURES)),
            self._own.memory.lookups // WORKERS,
            reads_secrets=bool(self._own.pull_secrets),
        )
        return LookupWorkers(
            [
                WorkerProcess(
                    worker.replace(keeps_cache=keeps_cache and not number),
                    operator.timeout_seconds / 4,
                    self._note,
                    self._ended,
                )
                for number in range(WORKERS)
            ]
        )

    async def run(self, port: socket.socket, probe_port: socket.socket) -> int:
        """Serve on two sockets that listen, until a signal. The exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        route_library_messages(self._log)
        stop = asyncio.ensure_future(self._stopping.wait())
        starting = asyncio.ensure_future(self._workers.start())
        try:
            await asyncio.wait((starting, stop), return_when=asyncio.FIRST_COMPLETED)
            if not stop.done():
                starting.result()
                await self._serve(port, probe_port, stop)
        finally:
            for task in (starting, stop):
                task.cancel()
            await self._workers.close()
        self._log.line("info", "stopped")
        return 0

    async def _serve(self, port: socket.socket, probe_port: socket.socket, stop: asyncio.Future[Any]) -> None:
        context = self._certificates.context if self._certificates else None
        webhook = HttpServer(self._webhook, port, self._connections, context)
        probes = HttpServer(self._probes, probe_port, Connections(PROBE_CONNECTIONS, self._metrics))
        collect_rarely()
        watching = asyncio.ensure_future(self._watch())
        serving: list[asyncio.Future[Any]] = [server.start() for server in (webhook, probes)]
        self._log.line(
            "info",
            "listening",
            version=__version__,
            webhook=f"{'https' if self._certificates else 'http'}://{_shown(port)}{PATH}",
            probes=f"http://{_shown(probe_port)}",
            memoryLimit=f"{self._own.memory.limit >> 20}Mi ({self._own.memory.source})",
            configuration=list(self._settings.sources),
        )
        try:
            await asyncio.wait([*serving, stop], return_when=asyncio.FIRST_COMPLETED)
            for task in serving:
                if task.done():
                    task.result()
                    raise ArchfitError("archfit serve: a port is served no longer: see its log")
            await self._drain(webhook, probes)
        finally:
            watching.cancel()

    async def _drain(self, webhook: HttpServer, probes: HttpServer) -> None:
        self._webhook.draining = True
        self._log.line("info", "draining", delaySeconds=self._own.drain_delay)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._at_once.wait(), self._own.drain_delay)
        await webhook.stop()
        await probes.stop()

    def _stop(self, number: int) -> None:
        if self._stopping.is_set() or number == signal.SIGINT:
            self._at_once.set()
        self._stopping.set()

    def _not_ready(self) -> str:
        if self._webhook.draining:
            return "it is stopping"
        if self._certificates and time.time() >= self._certificates.current.expires:
            return f"its certificate has expired: renew it, as {place('serve', 'the-certificate')} says"
        return ""

    def _held(self, share: str) -> float:
        if share == "connections":
            return len(self._connections.all) * CONNECTION_BYTES
        if share == "lookups":
            return self._workers.resident_bytes()
        return self._log.held if share == "log_lines" else self._shares[share].held

    async def _watch(self) -> None:
        certificates, lock, metrics = self._certificates, self._lock, self._metrics
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if certificates and certificates.changed():
                await self._reload("certificate", certificates.reload, metrics.certificate_reloads)
            if lock.changed() and await self._reload("lock file", lock.reload, metrics.lock_file_reloads):
                self._answers.use_lock(lock.current)

    def _note(self, noted: Noted) -> None:
        for message in noted.messages:
            self._warn(message)
        self._metrics.replied(noted.replies)
        if noted.cache:
            size, removed = noted.cache
            self._metrics.cache_bytes.set(size)
            self._metrics.cache_pruned.inc(removed)

    def _ended(self, why: str) -> None:
        self._metrics.workers_ended.inc()
        self._log.line("warning", "a lookup process has ended, and is started again", reason=why)

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
