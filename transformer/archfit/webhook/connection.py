"""Connections of HTTP/1.1, with the limits that uvicorn leaves to others: of a request's head, its time, and how many
there are. What is too large is answered with 431; what takes too long closes.

For a new connection where there are too many, an old one closes: first the oldest handshake, then the oldest that had
no answer yet, then the one that was answered longest ago: those of the API server answer requests. Where all have a
request under way, or have just come, so that nobody has looked yet whether their request is there, the new one waits.

The API server keeps its connections for as long as it may. After scaling, new replicas would stay idle, so each
connection ends after about 1,000 requests (scope["state"]["requests"]); scope["state"]["abort"] ends it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from socket import SO_RCVBUF, SOL_SOCKET, socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

CONNECTION_BYTES = 112 * 1024
"""Of a connection with TLS, between one that is idle (60 KiB) and one that has sent half a body and waits (200 KiB)."""
MOST_HEADER_BYTES = 16 * 1024
MOST_HEADERS = 100
REQUEST_SECONDS = 20.0
HANDSHAKE_SECONDS = 10.0
CLOSE_SECONDS = 2.0
_BUFFER_BYTES = 32 * 1024
_PAUSE_SECONDS = 0.1
_CONTINUE = b"HTTP/1.1 100 "
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connections:
    """Those of one port. most: how many. closed: called for each that is closed for a new one, with "handshake" or
    "connection". refused: called with the status of each request that is refused before it is read.
    """

    def __init__(
        self,
        most: int,
        closed: Callable[[str], None] = lambda _what: None,
        refused: Callable[[int], None] = lambda _status: None,
    ) -> None:
        self.most = most
        self.refused = refused
        self._closed = closed
        self.handshakes: dict[asyncio.Task[None], None] = {}
        self.silent: dict[Connection, None] = {}
        """Without an answer yet, or with a request that is not complete; none whose bytes nobody has read."""
        self.idle: dict[Connection, None] = {}
        self.open = 0
        self._changed = asyncio.Event()

    @property
    def held(self) -> int:
        """How many there are, with those in their handshake."""
        return self.open + len(self.handshakes)

    async def room(self) -> None:
        """Waits until one more may come, which takes the place of another where there are too many."""
        if len(self.handshakes) >= max(1, self.most // 2):
            self._end_handshake()
        while self.held >= self.most:
            self._changed.clear()
            if self.silent or self.idle:
                some = self.silent or self.idle
                oldest = next(iter(some))
                del some[oldest]
                self._closed("connection")
                oldest.transport.abort()
            elif self.handshakes:
                self._end_handshake()
                continue
            await self._changed.wait()

    def _end_handshake(self) -> None:
        oldest = next(iter(self.handshakes))
        del self.handshakes[oldest]
        self._closed("handshake")
        oldest.cancel()

    def opened(self, connection: Connection) -> None:
        """The connection had its turn to be read, and holds no complete request."""
        self.silent[connection] = None
        self._changed.set()

    def answered(self, connection: Connection) -> None:
        """The connection has no request under way now."""
        self.silent.pop(connection, None)
        self.idle[connection] = None
        self._changed.set()

    def ended(self, connection: Connection) -> None:
        """The connection is no more."""
        self.open -= 1
        self.silent.pop(connection, None)
        self.idle.pop(connection, None)
        self._changed.set()

    def handshake_ended(self, task: asyncio.Task[None]) -> None:
        """A handshake is done, or was given up."""
        self.handshakes.pop(task, None)
        self._changed.set()


class Listener:
    """Accepts connections on one socket. make: a protocol for each. context: None is plain HTTP.

    `asyncio.Server` would take any number at once, and says nothing of handshakes that are under way.
    """

    def __init__(
        self,
        port: socket,
        make: Callable[[], asyncio.Protocol],
        context: ssl.SSLContext | None,
        connections: Connections,
    ) -> None:
        # New connections take it over: what the kernel keeps of a body is charged to the same cgroup.
        port.setsockopt(SOL_SOCKET, SO_RCVBUF, _BUFFER_BYTES)
        port.setblocking(False)
        self._port = port
        self._make = make
        self._context = context
        self._connections = connections
        self._accepting = asyncio.ensure_future(self._accept())

    def close(self) -> None:
        """As asyncio.Server."""
        self._accepting.cancel()
        for task in tuple(self._connections.handshakes):
            task.cancel()

    async def wait_closed(self) -> None:
        """As asyncio.Server."""
        await asyncio.wait((self._accepting, *self._connections.handshakes))

    async def _accept(self) -> None:
        loop, connections = asyncio.get_running_loop(), self._connections
        while True:
            try:
                plain, _ = await loop.sock_accept(self._port)
            except OSError:  # no more files, or the client has gone
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            try:
                await connections.room()
            except BaseException:
                plain.close()
                raise
            task = loop.create_task(self._connect(plain))
            if self._context is None:  # there is no handshake that a client could make long
                await asyncio.wait({task})
                continue
            connections.handshakes[task] = None
            task.add_done_callback(connections.handshake_ended)

    async def _connect(self, plain: socket) -> None:
        times = {"ssl_handshake_timeout": HANDSHAKE_SECONDS, "ssl_shutdown_timeout": CLOSE_SECONDS}
        # The client has gone, speaks no TLS, or took too long.
        with contextlib.suppress(OSError, ssl.SSLError, asyncio.CancelledError):
            await asyncio.get_running_loop().connect_accepted_socket(
                self._make, plain, ssl=self._context, **(times if self._context else {})
            )


class _Joined(asyncio.Transport):
    """A transport whose head of a response waits for the body.

    uvicorn writes one after the other. Over TLS each would be a record and a system call of its own, and wake the
    client twice.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._head = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """As asyncio.Transport."""
        if self._head or data[: len(_CONTINUE)] == _CONTINUE:
            head, self._head = self._head, b""
            self._transport.write(head + data)
        else:
            self._head = bytes(data)

    def flush(self) -> None:
        """A head without a body, of a response to HEAD."""
        if self._head and not self.is_closing():
            self.write(b"")

    def close(self) -> None:
        """As asyncio.Transport."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """As asyncio.Transport."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """As asyncio.Transport."""
        return self._transport.is_closing()


class _HeadTooLarge(Exception):
    """Stops the parser, which makes an error of its own of it."""


class Connection(HttpToolsProtocol):
    """See the module. among: those of its port."""

    def __init__(self, *arguments: Any, among: Connections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._among = among
        self._requests = 0
        self._in_head = self._in_request = False
        self._head_bytes = self._part_bytes = 0
        self._slow: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As asyncio.Protocol."""
        super().connection_made(transport)
        self.transport = self._joined = _Joined(transport)
        self._among.open += 1
        # What the client has sent already is read in the next round of the event loop, behind what is called soon.
        self.loop.call_soon(self.loop.call_soon, self._opened)
        self._slow = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def _opened(self) -> None:
        if not self.transport.is_closing() and (self._in_request or not self._requests):
            self._among.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """As asyncio.Protocol."""
        self._arrived()
        self._among.ended(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As asyncio.Protocol."""
        self._part_bytes = len(data)
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > MOST_HEADER_BYTES:
            self._refuse()
        if self._in_request and self._slow is None:
            self._slow = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def on_message_begin(self) -> None:
        """As httptools calls it."""
        super().on_message_begin()
        self._requests += 1
        state = self.scope["state"]
        state["requests"], state["abort"] = self._requests, self._joined.abort
        self._in_head = self._in_request = True
        self._head_bytes = self._part_bytes

    def on_headers_complete(self) -> None:
        """As httptools calls it."""
        self._in_head = False
        # Without what came with the head.
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > MOST_HEADERS or min(self._head_bytes, size) > MOST_HEADER_BYTES:
            self._refuse()
            raise _HeadTooLarge
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """As httptools calls it."""
        super().on_message_complete()
        self._in_request = False
        self._arrived()
        if not self.cycle.response_complete:
            self._among.silent.pop(self, None)
            self._among.idle.pop(self, None)

    def on_response_complete(self) -> None:
        """As uvicorn calls it."""
        self._joined.flush()
        super().on_response_complete()
        self._among.answered(self)

    def send_400_response(self, msg: str) -> None:
        """As uvicorn calls it for what is no HTTP, and for an exception of this class."""
        if not self.transport.is_closing():
            self._among.refused(400)
            super().send_400_response(msg)

    def _refuse(self) -> None:
        if not self.transport.is_closing():
            self._among.refused(431)
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _arrived(self) -> None:
        if self._slow:
            self._slow.cancel()
            self._slow = None

    def _too_slow(self) -> None:
        self._slow = None
        if not self.transport.is_closing():
            self.transport.close()
