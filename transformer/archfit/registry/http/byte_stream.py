"""The bytes of one connection: a socket, TLS over it, and TLS over that where a proxy is spoken to with TLS.

No wait lasts longer than the run.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

T = TypeVar("T")
_READ_BYTES = 64 * 1024


class ByteStream(Protocol):
    """seconds: the longest wait, 0 for none. Raises TimeoutError, and OSError where the connection breaks."""

    def read(self, most: int, seconds: float) -> bytes:
        """What came, at most so many bytes; b"" at the end."""

    def write(self, data: bytes, seconds: float) -> None: ...

    def close(self) -> None: ...


class TcpStream:
    """left: seconds until the run's deadline."""

    def __init__(self, connected: socket.socket, left: Callable[[], float]) -> None:
        self._socket = connected
        self._left = left

    def read(self, most: int, seconds: float) -> bytes:
        self._socket.settimeout(clamped(self._left, seconds))
        try:
            return self._socket.recv(most)
        except BlockingIOError:
            raise TimeoutError from None

    def write(self, data: bytes, seconds: float) -> None:
        self._socket.settimeout(clamped(self._left, seconds))
        self._socket.sendall(data)

    def close(self) -> None:
        self._socket.close()


class TlsStream:
    """TLS with `host`, whose certificate has to name it. seconds: for the handshake. Raises ssl.SSLError, too."""

    def __init__(self, below: ByteStream, context: ssl.SSLContext, host: str, seconds: float) -> None:
        self._below = below
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._do(self._tls.do_handshake, seconds)

    def read(self, most: int, seconds: float) -> bytes:
        try:
            return self._do(lambda: self._tls.read(most), seconds)
        except ssl.SSLEOFError:  # the end without TLS's own; HTTP knows whether something is missing
            return b""

    def write(self, data: bytes, seconds: float) -> None:
        rest = memoryview(data)
        while rest:  # OpenSSL may write a part
            rest = rest[self._do(partial(self._tls.write, rest), seconds) :]

    def close(self) -> None:
        self._below.close()

    def _do(self, step: Callable[[], T], seconds: float) -> T:
        end, has_read = monotonic() + seconds, False
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._send(end)
                if has_read and monotonic() >= end:  # records came without content
                    raise TimeoutError from None
            except ssl.SSLError:
                with contextlib.suppress(OSError):
                    self._send(end)  # the alert that says why
                raise
            else:
                self._send(end)
                return result
            data, has_read = self._below.read(_READ_BYTES, max(0.0, end - monotonic())), True
            if data:
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    def _send(self, end: float) -> None:
        if self._outgoing.pending:
            self._below.write(self._outgoing.read(), max(0.0, end - monotonic()))


def has_ended(stream: ByteStream) -> bool:
    """An idle connection has come to its end, or something has come that nobody asked for.

    It reads: what TLS has taken from the socket waits there no more.
    """
    try:
        stream.read(1, 0)
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def clamped(left: Callable[[], float], seconds: float) -> float:
    """At most what is left. Raises TimeoutError where that is nothing."""
    most = left()
    if most <= 0:
        raise TimeoutError
    return min(most, seconds)
