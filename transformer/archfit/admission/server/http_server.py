"""uvicorn as the webhook needs it: HTTP/1.1 with limits, no signals, no access log, and garbage collected rarely.

connections         2,048, then 503
idle connections    120 s: longer than Go's client keeps them, so that it is the client that closes them
the end             10 s for the requests that are under way
"""

from __future__ import annotations

import contextlib
import gc
import logging
import ssl
from collections.abc import Generator

import uvicorn

from archfit.admission.server.asgi import Application
from archfit.admission.server.connection import Connection
from archfit.admission.server.server_log import LibraryMessages, ServerLog

DRAIN_SECONDS = 10
MOST_CONNECTIONS = 2048
_KEEP_ALIVE_SECONDS = 120
_GC_THRESHOLDS = (20_000, 20, 50)


class HttpServer(uvicorn.Server):
    """A server for one port. context: for TLS; None is plain HTTP. The process handles the signals."""

    def __init__(self, application: Application, context: ssl.SSLContext | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                http=Connection,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=DRAIN_SECONDS,
                ssl_context_factory=(lambda _config, _default: context) if context else None,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn calls it."""
        yield


def route_library_messages(log: ServerLog) -> None:
    """Messages of uvicorn and asyncio go to the log, warnings and errors unless it writes more."""
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [LibraryMessages(log)]
        logger.propagate = False
        logger.setLevel(logging.DEBUG if log.writes("debug") else logging.WARNING)


def collect_rarely() -> None:
    """Garbage collection: what is loaded stays for ever, and each request makes hundreds of containers without cycles.

    The command line turns collection off, because a run is short.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.enable()
