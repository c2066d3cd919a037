"""The second port, plain HTTP, as an ASGI application: probes and metrics.

    GET /livez      200 while the event loop runs
    GET /readyz     200, or 503 with the reason: it drains, or its certificate has expired
    GET /metrics    Prometheus' text format

Neither registries nor the cache count for readiness: without them Pods are still admitted, and all replicas would be
taken out of service at once.
"""

from __future__ import annotations

from collections.abc import Callable

from archfit.admission.server.asgi import Receive, Scope, Send
from archfit.admission.server.server_metrics import CONTENT_TYPE, ServerMetrics

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
