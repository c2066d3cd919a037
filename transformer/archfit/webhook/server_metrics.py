"""The metrics, in a registry of their own, and the second port, plain HTTP: probes and metrics.

No label holds the name of an image. Pods are written by tenants, and so are the hosts of their images: after 100 hosts
the others count as `other`.

Neither registries nor the cache count for /readyz: without them Pods are still admitted, and all replicas would be
taken out of service at once.
Source: prometheus.io, "Metric and label naming"; promtool check metrics; ASGI 3.0, "HTTP & WebSocket message format".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from http import HTTPStatus
from typing import Any, TypeAlias, get_args

import prometheus_client as prometheus

from archfit import __version__
from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.webhook.admission_decision import Outcome
from archfit.webhook.memory_budget import NO_LIMIT, SHARES, MemoryLimit

Scope: TypeAlias = Mapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_HOSTS = 100
OTHER_HOSTS = "other"
_LONGEST_HOST = 253
_CODES = frozenset(map(int, HTTPStatus))
_ERRORS = (400, 404, 405, 411, 413, 415, 431, 503)
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_KINDS = {Found: "found", Absent: "absent", Unknown: "unknown", Unasked: "unasked", Malformed: "malformed"}


class ServerMetrics:
    """waiting, running: lookups, read when the metrics are. expiry: of the certificate, in Unix seconds.

    limit: of memory. held: bytes that a share holds.
    """

    def __init__(
        self,
        waiting: Callable[[], float] = lambda: 0,
        running: Callable[[], float] = lambda: 0,
        expiry: Callable[[], float] | None = None,
        limit: MemoryLimit = NO_LIMIT,
        held: Callable[[str], float] = lambda _share: 0,
    ) -> None:
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]  # as it is written there
        self.registry = registry = prometheus.CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> prometheus.Counter:
            return prometheus.Counter(f"archfit_{name}", text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> prometheus.Gauge:
            return prometheus.Gauge(f"archfit_{name}", text, labels, registry=registry)

        requests = counter("admission_requests_total", "Admission requests, by outcome.", "outcome")
        self._outcomes = {outcome: requests.labels(outcome) for outcome in get_args(Outcome)}
        self._duration = prometheus.Histogram(
            "archfit_admission_duration_seconds",
            "Time from the headers of an admission request to its response.",
            buckets=_BUCKETS,
            registry=registry,
        )
        self.deadlines = counter(
            "admission_deadlines_total", "Requests answered before all lookups were done."
        )
        crowded = "Requests that did not wait, as too many of their namespace did."
        self.crowded_out = counter("admission_crowded_out_total", crowded)
        self.in_progress = 0
        answering = gauge("admission_requests_in_progress", "Admission requests that are being answered.")
        answering.set_function(lambda: self.in_progress)
        self._lookups = counter("lookups_total", "Answers, by origin and outcome.", "origin", "outcome")
        gauge("lookups_waiting", "Images that wait for a lookup.").set_function(waiting)
        gauge("lookups_running", "Lookups that are under way.").set_function(running)
        self.lookups_refused = counter("lookups_refused_total", "Images for which too many others waited.")
        self.cut_off = counter("lookups_cut_off_total", "Lookups that took all the time that one may take.")
        self.workers_ended = counter("lookup_processes_ended_total", "Lookup processes that were replaced.")
        by_status = "Answers of registries, by server and HTTP status; none is no answer."
        self._replies = counter("registry_requests_total", by_status, "host", "code")
        if expiry:
            end = "The end of the certificate in use, in seconds since 1970."
            gauge("certificate_expiry_timestamp_seconds", end).set_function(expiry)
        self.certificate_reloads = counter("certificate_reloads_total", "Certificates read again.", "result")
        self.lock_file_reloads = counter("lock_file_reloads_total", "Lock files read again.", "result")
        for reloads in (self.certificate_reloads, self.lock_file_reloads):
            for result in ("success", "failure"):
                reloads.labels(result)
        gauge("memory_limit_bytes", "The memory limit.").set(limit.limit)
        shares = gauge("memory_share_bytes", "What each part may hold.", "share")
        holding = gauge("memory_held_bytes", "What each part holds now.", "share")
        refusals = counter("memory_refusals_total", "What did not fit, by part.", "share")
        self.refusals = {share: refusals.labels(share) for share in SHARES}
        for share in SHARES:
            shares.labels(share).set(limit.share(share))
            holding.labels(share).set_function(partial(held, share))
        resident = gauge("lookup_processes_resident_bytes", "Memory of the lookup processes.")
        resident.set_function(partial(held, "lookups"))
        closed = counter("connections_closed_total", "Connections that were closed for a new one.", "what")
        self.closed = {what: closed.labels(what) for what in ("connection", "handshake", "body")}
        errors = counter("http_errors_total", "Requests that were answered with an HTTP error.", "code")
        self.http_errors = {code: errors.labels(str(code)) for code in _ERRORS}
        self.cache_bytes = gauge("cache_file_bytes", "The SQLite file of the cache.")
        self.cache_pruned = counter("cache_pruned_total", "Entries that were removed from the cache.")
        gauge("build_info", "The version of archfit, as a label.", "version").labels(__version__).set(1)
        prometheus.ProcessCollector(registry=registry)
        prometheus.PlatformCollector(registry=registry)
        prometheus.GCCollector(registry=registry)
        self._hosts: set[str] = set()

    def answered(self, outcome: str, seconds: float) -> None:
        self._outcomes[outcome].inc()
        self._duration.observe(seconds)

    def looked_up(self, answer: Answer, origin: str = "") -> None:
        """A request got an answer for an image. origin: "memory", "" for what the answer itself says."""
        origin = origin or (answer.origin if isinstance(answer, Found) else "registry")
        self._lookups.labels(origin, _KINDS[type(answer)]).inc()

    def replied(self, replies: Mapping[tuple[str, int], int]) -> None:
        for (name, status), number in replies.items():
            host = name[:_LONGEST_HOST]
            if host not in self._hosts and len(self._hosts) < MOST_HOSTS:
                self._hosts.add(host)
            shown = host if host in self._hosts else OTHER_HOSTS
            code = str(status) if status in _CODES else "other" if status else "none"
            self._replies.labels(shown, code).inc(number)

    def text(self) -> bytes:
        """All metrics in the text format 0.0.4."""
        return prometheus.generate_latest(self.registry)


_TEXT = "text/plain; charset=utf-8"


class Probes:
    """not_ready: why no requests should come, "" where they may."""

    def __init__(self, metrics: ServerMetrics, not_ready: Callable[[], str]) -> None:
        self._metrics = metrics
        self._not_ready = not_ready

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        status, kind, body = self._answer(scope["method"], scope["path"])
        headers = [
            (b"content-type", kind.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _answer(self, method: str, path: str) -> tuple[int, str, bytes]:
        if path not in {"/livez", "/readyz", "/metrics"}:
            return 404, _TEXT, b"there is nothing here: see /livez, /readyz and /metrics\n"
        if method not in {"GET", "HEAD"}:
            return 405, _TEXT, b"this takes GET\n"
        if path == "/metrics":
            return 200, prometheus.CONTENT_TYPE_LATEST, self._metrics.text()
        why = self._not_ready() if path == "/readyz" else ""
        return (503, _TEXT, f"{why}\n".encode()) if why else (200, _TEXT, b"ok\n")
