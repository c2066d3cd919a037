"""The metrics, in a registry of their own, by the rules of Prometheus. No label holds the name of an image.

    archfit_admission_requests_total{outcome}            by outcome (`admission_decision`)
    archfit_admission_duration_seconds                   from the request's headers to its response
    archfit_admission_deadlines_total                    requests that were answered before all lookups were done
    archfit_admission_crowded_out_total                  requests that stopped waiting for others
    archfit_admission_requests_in_progress               requests that are being answered
    archfit_lookups_total{origin,outcome}                answers for images: where each is from, what it is
    archfit_lookups_waiting, archfit_lookups_running     images that wait for a lookup; lookups that are under way
    archfit_lookups_evicted_total                        images that lost their place among those that wait
    archfit_lookups_cut_off_total                        lookups that took all of their time
    archfit_registries_paused{state}                     registries that are slow or down: `open`, `half_open`
    archfit_registry_requests_total{host,code}           answers of registries by server and status; `none`: no answer
    archfit_certificate_expiry_timestamp_seconds         the end of the certificate in use
    archfit_certificate_reloads_total{result}            certificates read again: `success`, `failure`
    archfit_lock_file_reloads_total{result}              the same for the lock file
    archfit_memory_limit_bytes                           the limit that the server keeps half of for itself
    archfit_memory_share_bytes{share}                    what each part may hold (`memory_budget`)
    archfit_memory_held_bytes{share}                     what it holds now, as it is estimated
    archfit_memory_refusals_total{share}                 what did not fit
    archfit_connections_closed_total{what}               `connection`, `handshake`, `body`: closed for a new one
    archfit_http_errors_total{code}                      requests that were answered with an HTTP error
    archfit_cache_file_bytes                             the SQLite file of the cache
    archfit_cache_pruned_total                           entries that the server removed from it
    archfit_build_info{version}                          always 1

Pods are written by tenants, and so are the hosts of their images: after 100 hosts the others count as `other`.
Source: prometheus.io, "Metric and label naming"; promtool check metrics.

The second port, plain HTTP, as an ASGI application: probes and metrics. Source: ASGI 3.0, "HTTP & WebSocket message
format".

    GET /livez      200 while the event loop runs
    GET /readyz     200, or 503 with the reason: it drains, or its certificate has expired
    GET /metrics    Prometheus' text format

Neither registries nor the cache count for readiness: without them Pods are still admitted, and all replicas would be
taken out of service at once.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import partial
from http import HTTPStatus
from typing import Any, TypeAlias, get_args

import prometheus_client as prometheus

from archfit import __version__
from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.webhook.server.admission_decision import Outcome
from archfit.webhook.server.memory_budget import NO_LIMIT, SHARES, MemoryLimit

Scope: TypeAlias = Mapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


MOST_HOSTS = 100
OTHER_HOSTS = "other"
_LONGEST_HOST = 253
_CODES = frozenset(map(int, HTTPStatus))
_ERRORS = (400, 404, 405, 413, 415, 431, 503)
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_KINDS = {Found: "found", Absent: "absent", Unknown: "unknown", Unasked: "unasked", Malformed: "malformed"}


class ServerMetrics:
    """waiting, running: lookups, read when the metrics are. expiry: of the certificate, in Unix seconds.

    paused: how many registries are, by state. limit: of memory. held: bytes that a share holds.
    """

    def __init__(
        self,
        waiting: Callable[[], float] = lambda: 0,
        running: Callable[[], float] = lambda: 0,
        expiry: Callable[[], float] | None = None,
        paused: Callable[[], Mapping[str, int]] = dict,
        limit: MemoryLimit = NO_LIMIT,
        held: Callable[[str], float] = lambda _share: 0,
    ) -> None:
        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]  # as it is written there
        self.registry = registry = prometheus.CollectorRegistry()
        requests = prometheus.Counter(
            "archfit_admission_requests_total",
            "Admission requests, by outcome.",
            ["outcome"],
            registry=registry,
        )
        self._outcomes = {outcome: requests.labels(outcome) for outcome in get_args(Outcome)}
        self._duration = prometheus.Histogram(
            "archfit_admission_duration_seconds",
            "Time from the headers of an admission request to its response.",
            buckets=_BUCKETS,
            registry=registry,
        )
        self.deadlines = prometheus.Counter(
            "archfit_admission_deadlines_total",
            "Admission requests that were answered before all lookups were done.",
            registry=registry,
        )
        self.crowded_out = prometheus.Counter(
            "archfit_admission_crowded_out_total",
            "Admission requests that stopped waiting because too many waited.",
            registry=registry,
        )
        self.in_progress = 0
        name, text = "archfit_admission_requests_in_progress", "Admission requests that are being answered."
        _gauge(registry, name, text, lambda: self.in_progress)
        self._lookups = prometheus.Counter(
            "archfit_lookups_total",
            "Answers for images, by origin and outcome.",
            ["origin", "outcome"],
            registry=registry,
        )
        self._counted: dict[tuple[str, str], prometheus.Counter] = {}
        _gauge(registry, "archfit_lookups_waiting", "Images that wait for a lookup.", waiting)
        _gauge(registry, "archfit_lookups_running", "Lookups that are under way.", running)
        self.evicted = prometheus.Counter(
            "archfit_lookups_evicted_total",
            "Images that lost their place among those that wait for a lookup.",
            registry=registry,
        )
        self.cut_off = prometheus.Counter(
            "archfit_lookups_cut_off_total",
            "Lookups that took all of the time that one may take.",
            registry=registry,
        )
        states = prometheus.Gauge(
            "archfit_registries_paused",
            "Registries that are slow or down, by the state of their circuit breaker.",
            ["state"],
            registry=registry,
        )
        for state in ("open", "half_open"):
            states.labels(state).set_function(partial(_number, paused, state))
        self._replies = prometheus.Counter(
            "archfit_registry_requests_total",
            "Answers of registries, by server and HTTP status; none is no answer.",
            ["host", "code"],
            registry=registry,
        )
        if expiry:
            text = "The end of the certificate in use, in seconds since 1970."
            _gauge(registry, "archfit_certificate_expiry_timestamp_seconds", text, expiry)
        self.certificate_reloads = _reloads(registry, "certificate", "Certificates that were read again.")
        self.lock_file_reloads = _reloads(registry, "lock_file", "Lock files that were read again.")
        _gauge(registry, "archfit_memory_limit_bytes", "The memory limit.", lambda: limit.limit)
        shares = prometheus.Gauge(
            "archfit_memory_share_bytes", "What each part may hold.", ["share"], registry=registry
        )
        holding = prometheus.Gauge(
            "archfit_memory_held_bytes", "What each part holds now.", ["share"], registry=registry
        )
        refusals = prometheus.Counter(
            "archfit_memory_refusals_total", "What did not fit, by part.", ["share"], registry=registry
        )
        self.refusals = {share: refusals.labels(share) for share in SHARES}
        for share in SHARES:
            shares.labels(share).set(limit.share(share))
            holding.labels(share).set_function(partial(held, share))
        closed = prometheus.Counter(
            "archfit_connections_closed_total",
            "Connections that were closed for a new one.",
            ["what"],
            registry=registry,
        )
        self.closed = {what: closed.labels(what) for what in ("connection", "handshake", "body")}
        errors = prometheus.Counter(
            "archfit_http_errors_total",
            "Requests that were answered with an HTTP error.",
            ["code"],
            registry=registry,
        )
        self.http_errors = {code: errors.labels(str(code)) for code in _ERRORS}
        self.cache_bytes = prometheus.Gauge(
            "archfit_cache_file_bytes", "The SQLite file of the cache.", registry=registry
        )
        self.cache_pruned = prometheus.Counter(
            "archfit_cache_pruned_total", "Entries that were removed from the cache.", registry=registry
        )
        build = prometheus.Gauge(
            "archfit_build_info", "The version of archfit, as a label.", ["version"], registry=registry
        )
        build.labels(__version__).set(1)
        prometheus.ProcessCollector(registry=registry)
        prometheus.PlatformCollector(registry=registry)
        prometheus.GCCollector(registry=registry)
        self._hosts: set[str] = set()
        self._lock = threading.Lock()

    def answered(self, outcome: str, seconds: float) -> None:
        """A request has its response."""
        self._outcomes[outcome].inc()
        self._duration.observe(seconds)

    def looked_up(self, answer: Answer, origin: str = "") -> None:
        """A request got an answer for an image. origin: "memory", "" for what the answer itself says."""
        kind = _KINDS[type(answer)]
        key = origin or (answer.origin if isinstance(answer, Found) else "registry"), kind
        counter = self._counted.get(key)
        if counter is None:
            counter = self._counted[key] = self._lookups.labels(*key)
        counter.inc()

    def replied(self, replies: Mapping[tuple[str, int], int]) -> None:
        """Registries answered. Safe to call from several threads."""
        for (name, status), number in replies.items():
            host = name[:_LONGEST_HOST]
            with self._lock:
                if host not in self._hosts and len(self._hosts) < MOST_HOSTS:
                    self._hosts.add(host)
                shown = host if host in self._hosts else OTHER_HOSTS
            code = str(status) if status in _CODES else "other" if status else "none"
            self._replies.labels(shown, code).inc(number)

    def text(self) -> bytes:
        """All metrics in the text format 0.0.4."""
        return prometheus.generate_latest(self.registry)


CONTENT_TYPE = prometheus.CONTENT_TYPE_LATEST


def _gauge(registry: prometheus.CollectorRegistry, name: str, text: str, read: Callable[[], float]) -> None:
    prometheus.Gauge(name, text, registry=registry).set_function(read)


def _number(counts: Callable[[], Mapping[str, int]], key: str) -> int:
    return counts().get(key, 0)


def _reloads(registry: prometheus.CollectorRegistry, what: str, text: str) -> prometheus.Counter:
    made = prometheus.Counter(f"archfit_{what}_reloads_total", text, ["result"], registry=registry)
    for result in ("success", "failure"):
        made.labels(result)
    return made


_TEXT = "text/plain; charset=utf-8"


class Probes:
    """not_ready: why no requests should come, "" where they may."""

    def __init__(self, metrics: ServerMetrics, not_ready: Callable[[], str]) -> None:
        self._metrics = metrics
        self._not_ready = not_ready

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """As ASGI calls it."""
        if scope["type"] != "http":
            return
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
            return 200, CONTENT_TYPE, self._metrics.text()
        why = self._not_ready() if path == "/readyz" else ""
        return (503, _TEXT, f"{why}\n".encode()) if why else (200, _TEXT, b"ok\n")
