"""uvicorn as the webhook needs it, and the limits of connections that it leaves to others: of a request's head, and of
how many there are. What is too large is answered with 431.

For a new connection where there are too many, or no file is left for it, an old one closes: the oldest that had no
answer yet, then the one that was answered longest ago: those of the API server answer requests. Where all have a
request under way, or have just come, so that nobody has looked yet whether their request is there, the new one waits.
Without this, `handshakes`, `idle` and `idle after one` of `lab/campaign/webhook` shut the API server out, and `half
heads` takes its memory.

The API server keeps its connections for as long as it may. After scaling, new replicas would stay idle, so each
connection ends after about 1,000 requests (scope["state"]["requests"]); scope["state"]["abort"] ends it at once. Idle
connections are kept for 120 s, longer than Go's client keeps them, so that it is the client that closes them.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import resource
import ssl
from collections.abc import Generator
from socket import SO_RCVBUF, SOL_SOCKET, socket
from typing import Any, Literal, TypeAlias

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from archfit.webhook.server_log import LibraryMessages, ServerLog
from archfit.webhook.server_metrics import Application, ServerMetrics

State: TypeAlias = Literal["silent", "busy", "idle"]

DRAIN_SECONDS = 10
CONNECTION_BYTES = 112 * 1024
"""Of a connection with TLS, between one that is idle (60 KiB) and one that has sent half a body and waits (200 KiB)."""
MOST_HEADER_BYTES = 16 * 1024
HANDSHAKE_SECONDS = 10.0
TURN_SECONDS = 0.001
"""Of a handshake, before the next one begins. Of hundreds at once, as in `stalls`, none would be done before there are
too many, and those that came first would close."""
CLOSE_SECONDS = 2.0
_KEEP_ALIVE_SECONDS = 120
_OWN_FILES = 128
"""Descriptors that are for no connection: log, lookup processes, probes, files that are read."""
_GC_THRESHOLDS = (20_000, 20, 50)
_BUFFER_BYTES = 32 * 1024
_MOST_PIPELINED = 16
"""Requests before the answer to the first; no API server sends two. Without it, `pipelined` of `lab/campaign/webhook`
takes memory for thousands of each part that is read, and `trailers` where lines behind a body are kept."""
_PAUSE_SECONDS = 0.1
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def most_connections(memory: int) -> int:
    """How many connections the server may have: as memory allows, and as the process has descriptors."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    by_files = max(1, files - _OWN_FILES) if files != resource.RLIM_INFINITY else memory
    return max(1, min(memory // CONNECTION_BYTES, by_files))


class Connections:
    """Those of one port, with those in their handshake, in the order in which they came or had their last answer.

    most: how many. metrics: count each that is closed for a new one, and each request that is refused unread.
    """

    def __init__(self, most: int, metrics: ServerMetrics) -> None:
        self.most = most
        self.metrics = metrics
        self.all: dict[Connection, None] = {}
        self._changed = asyncio.Event()

    async def room(self) -> None:
        """Waits until one more may come, which takes the place of another where there are too many."""
        while len(self.all) >= self.most:
            self._changed.clear()
            self.end_oldest()
            await self._changed.wait()

    def end_oldest(self) -> None:
        """Close the oldest that nobody needs, if there is one."""
        for state in ("silent", "idle"):
            for connection in self.all:
                if connection.state == state:
                    self.metrics.closed[connection.end()].inc()
                    return

    def waits(self, connection: Connection) -> None:
        """The connection waits for a request, or the rest of one, and is the last of those that do."""
        if connection in self.all:
            self.all[connection] = self.all.pop(connection)
        self._changed.set()

    def ended(self, connection: Connection) -> None:
        self.all.pop(connection, None)
        self._changed.set()


class HttpServer(uvicorn.Server):
    """A server for one port that listens. connections: its own. context: for TLS; None is plain HTTP.

    It accepts connections itself: `asyncio.Server` would take any number at once, and says nothing of handshakes that
    are under way. The process handles the signals.
    """

    def __init__(
        self,
        application: Application,
        port: socket,
        connections: Connections,
        context: ssl.SSLContext | None = None,
    ) -> None:
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
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=DRAIN_SECONDS,
            )
        )
        # New connections take it over: what the kernel keeps of a body is charged to the same cgroup.
        port.setsockopt(SOL_SOCKET, SO_RCVBUF, _BUFFER_BYTES)
        port.setblocking(False)
        self.config.load()
        self._port = port
        self._context = context
        self._connections = connections

    def start(self) -> asyncio.Future[None]:
        """Take connections and answer them; done when the server has ended."""
        self._accepting = asyncio.ensure_future(self._accept())
        self._serving = asyncio.ensure_future(self.serve(sockets=[]))
        return self._serving

    async def stop(self) -> None:
        """No new connections; requests that are under way end, in DRAIN_SECONDS at most."""
        self._accepting.cancel()
        await asyncio.wait((self._accepting,))
        self._port.close()
        self.should_exit = True
        await self._serving

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn calls it."""
        yield

    async def _accept(self) -> None:
        loop, connections = asyncio.get_running_loop(), self._connections
        while True:
            try:
                plain, _ = await loop.sock_accept(self._port)
            except OSError:  # no more files, or the client has gone
                connections.end_oldest()
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            try:
                await connections.room()
            except BaseException:
                plain.close()
                raise
            connection = Connection(self.config, self.server_state, {}, among=connections)
            connections.all[connection] = None
            connection.handshake = task = loop.create_task(self._connect(plain, connection))
            task.add_done_callback(connection.handshake_ended)
            # Without TLS there is no handshake that a client could make long.
            await asyncio.wait({task}, timeout=TURN_SECONDS if self._context else None)

    async def _connect(self, plain: socket, connection: Connection) -> None:
        times = {"ssl_handshake_timeout": HANDSHAKE_SECONDS, "ssl_shutdown_timeout": CLOSE_SECONDS}
        # The client has gone, speaks no TLS, or took too long.
        with contextlib.suppress(OSError, ssl.SSLError, asyncio.CancelledError):
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, plain, ssl=self._context, **(times if self._context else {})
            )


def route_library_messages(log: ServerLog) -> None:
    """Messages of uvicorn, asyncio and Python go to the log, warnings and errors unless it writes more."""
    logging.captureWarnings(True)
    for name in ("uvicorn", "asyncio", "py.warnings"):
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


class _TooLarge(Exception):
    """Stops the parser, which makes an error of its own of it."""


class Connection(HttpToolsProtocol):
    """See the module. among: those of its port. handshake: done once there is a transport, or none will be."""

    handshake: asyncio.Task[None]

    def __init__(self, *arguments: Any, among: Connections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._among = among
        self._is_made = self._is_read = self._is_ending = self._in_head = False
        self._requests = self._head_bytes = 0

    @property
    def state(self) -> State:
        """Silent in its handshake, without a request, or with half of one; busy with a request that has no answer, or
        with bytes that nobody has read, or while it ends; idle with an answer.
        """
        if self._is_ending or (self._is_made and not self._is_read):
            return "busy"
        if not self._requests or self._in_head or self.cycle.more_body:
            return "silent"
        return "idle" if self.cycle.response_complete else "busy"

    def handshake_ended(self, _: object) -> None:
        """There is a transport, or none will be."""
        if not self._is_made:
            self._among.ended(self)

    def end(self) -> str:
        """Close it at once. What it was."""
        self._is_ending = True
        if not self._is_made:
            self.handshake.cancel()
            return "handshake"
        self.transport.abort()
        return "connection"

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_made = True
        # What the client has sent already is read in the next round of the event loop, behind what is called soon.
        self.loop.call_soon(self.loop.call_soon, self._read)

    def _read(self) -> None:
        self._is_read = True
        self._among.waits(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.ended(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEADER_BYTES:
                with contextlib.suppress(_TooLarge):
                    self._refuse()

    def on_message_begin(self) -> None:
        """As httptools calls it."""
        super().on_message_begin()
        self._requests += 1
        state = self.scope["state"]
        state["requests"], state["abort"] = self._requests, self.transport.abort
        self._in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """As httptools calls it, also for what follows a body."""
        if not self._in_head:
            self._refuse()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """As httptools calls it."""
        self._in_head, self._head_bytes = False, 0
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MOST_HEADER_BYTES or len(self.pipeline) >= _MOST_PIPELINED:
            self._refuse()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """As uvicorn calls it."""
        super().on_response_complete()
        self._among.waits(self)

    def send_400_response(self, msg: str) -> None:
        """As uvicorn calls it for what is no HTTP, and for an exception of this class."""
        if not self.transport.is_closing():
            self._among.metrics.http_errors[400].inc()
            super().send_400_response(msg)

    def _refuse(self) -> None:
        if not self.transport.is_closing():
            self._among.metrics.http_errors[431].inc()
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        raise _TooLarge
