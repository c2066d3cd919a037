"""One HTTP/1.1 connection, with the limits that uvicorn leaves to others.

    request line and headers   64 KiB, 100 headers            431, and the connection closes
    time for a request         20 s from its first byte, or from the connection's, to its last     it closes
    requests                   counted in scope["state"]["requests"], for `Connection: close` after many

The API server keeps its connections for as long as it may. After scaling, new replicas would stay idle, so each
connection ends after about 1,000 requests.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEADER_BYTES = 64 * 1024
MOST_HEADERS = 100
REQUEST_SECONDS = 20.0
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class _HeadTooLarge(Exception):
    """Stops the parser, which makes an error of its own of it."""


class Connection(HttpToolsProtocol):
    """See the module."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._requests = 0
        self._in_head = False
        self._head_bytes = 0
        self._slow: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As asyncio.Protocol."""
        super().connection_made(transport)
        self._slow = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """As asyncio.Protocol."""
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As asyncio.Protocol."""
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEADER_BYTES:
                self._refuse()

    def on_message_begin(self) -> None:
        """As httptools calls it."""
        super().on_message_begin()
        self._requests += 1
        self.scope["state"]["requests"] = self._requests
        self._in_head, self._head_bytes = True, 0
        if self._slow is None:
            self._slow = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def on_headers_complete(self) -> None:
        """As httptools calls it."""
        self._in_head = False
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MOST_HEADER_BYTES or len(self.headers) > MOST_HEADERS:
            self._refuse()
            raise _HeadTooLarge
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """As httptools calls it."""
        super().on_message_complete()
        self._arrived()

    def send_400_response(self, msg: str) -> None:
        """As uvicorn calls it for what is no HTTP, and for an exception of this class."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def _refuse(self) -> None:
        if not self.transport.is_closing():
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
