"""uvicorn as the webhook needs it: HTTP/1.1 with limits, no signals, no access log, and garbage collected rarely.

Idle connections are kept for 120 s, longer than Go's client keeps them, so that it is the client that closes them.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import socket
import ssl
from collections.abc import Generator
from functools import partial
from typing import Any

import uvicorn

from archfit.webhook.connection import Connection, Connections, Listener
from archfit.webhook.server_log import LibraryMessages, ServerLog
from archfit.webhook.server_metrics import Application

DRAIN_SECONDS = 10
_KEEP_ALIVE_SECONDS = 120
_GC_THRESHOLDS = (20_000, 20, 50)


class HttpServer(uvicorn.Server):
    """A server for one port. connections: its own. context: for TLS; None is plain HTTP.

    The process handles the signals.
    """

    def __init__(
        self, application: Application, connections: Connections, context: ssl.SSLContext | None = None
    ) -> None:
        self._connections = connections
        protocol: Any = partial(Connection, among=connections)
        super().__init__(
            uvicorn.Config(
                application,
                http=protocol,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=DRAIN_SECONDS,
                ssl_context_factory=(lambda _config, _default: context) if context else None,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn calls it."""
        await self.lifespan.startup()
        protocol: Any = self.config.http_protocol_class
        make = partial(
            protocol,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        self.servers: Any = [
            Listener(port, make, self.config.ssl, self._connections) for port in sockets or ()
        ]
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn calls it; nobody may wait for a socket that it closes."""
        for listener in self.servers:
            listener.close()
            await listener.wait_closed()
        await super().shutdown(sockets)

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
