"""TLS inside TLS: to a registry over https, through a proxy that itself is asked over https.

    registry's TLS <-> two buffers (`ssl.MemoryBIO`) <-> the proxy's TLS <-> socket

An `SSLSocket` speaks TLS only on a socket, so that here the inner TLS reads and writes buffers. It behaves as a socket,
as far as `network_stream` needs one.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from archfit.typing_names import TypeAlias

T = TypeVar("T")
_RECORD = 16 * 1024 + 512

Outer: TypeAlias = "ssl.SSLSocket | NestedTls"


class NestedTls:
    """TLS with `host` over a connection that is TLS already. Raises OSError, as a socket does."""

    def __init__(self, outer: Outer, context: ssl.SSLContext, host: str) -> None:
        self._outer = outer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._inner = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host.encode("ascii"))
        self._done(self._inner.do_handshake)

    def settimeout(self, seconds: float) -> None:
        self._outer.settimeout(seconds)

    def recv(self, size: int) -> bytes:
        try:
            return self._done(partial(self._inner.read, size))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    def sendall(self, data: bytes) -> None:
        while data:
            data = data[self._done(partial(self._inner.write, data)) :]

    def fileno(self) -> int:
        return self._outer.fileno()

    def pending(self) -> int:
        """Bytes that have come and were not asked for: the end of the inner TLS may be among them."""
        return self._inner.pending() + self._incoming.pending + self._outer.pending()

    def close(self) -> None:
        self._outer.close()

    def _done(self, step: Callable[[], T]) -> T:
        """What the step returns, once the other side has sent what it needs."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._flush()
                data = self._outer.recv(_RECORD)
                if data:
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            else:
                self._flush()
                return result

    def _flush(self) -> None:
        data = self._outgoing.read()
        if data:
            self._outer.sendall(data)
