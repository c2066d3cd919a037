"""One connection as bytes, as `httpcore` reads and writes them, under the run's deadline.

    DirectStream    a connected socket; TLS over it, which the dialer may have begun
    ProxyStream     httpcore's own stream to a proxy, and through it; it knows TLS inside TLS: https through a proxy
                    that itself is asked over https

Every wait ends at the run's deadline, whatever httpcore asks for. What fails raises OSError or httpcore's errors.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable
from typing import Any

import httpcore

from archfit.registry.http.dialer import CONNECT_SECONDS
from archfit.registry.http.tls import refusal, wrapped

READ_SECONDS = 15.0
_AT_ONCE_SECONDS = 1e-6


class DirectStream(httpcore.NetworkStream):
    """left: seconds until the run's deadline."""

    def __init__(self, connected: socket.socket, left: Callable[[], float]) -> None:
        self._socket = connected
        self._left = left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What comes next; b"" at the end."""
        self._socket.settimeout(_clamped(self._left, timeout or READ_SECONDS))
        return self._socket.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it. httpcore reads on after a WriteError: a server may refuse a request that it has not read."""
        if not buffer:
            return
        self._socket.settimeout(_clamped(self._left, timeout or float("inf")))
        try:
            self._socket.sendall(buffer)
        except TimeoutError:
            raise
        except OSError as error:
            raise httpcore.WriteError from error

    def secure(self, context: ssl.SSLContext, host: str, port: int) -> None:
        """TLS with `host`, whose certificate has to name it. port: for messages.

        Raises Unreachable where TLS is refused, else OSError; the connection is closed then.
        """
        try:
            seconds = _clamped(self._left, CONNECT_SECONDS)
            if not isinstance(self._socket, ssl.SSLSocket):
                self._socket = wrapped(context, self._socket, host)
            self._socket.settimeout(seconds)
            self._socket.do_handshake()
        except OSError as error:
            self.close()
            refused = refusal(host, port, error)
            if refused:
                raise refused from None
            raise

    def get_extra_info(self, info: str) -> Any:
        """`is_readable`: something waits to be read; on an idle connection that is its end."""
        return self._is_readable() if info == "is_readable" else None

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def _is_readable(self) -> bool:
        number = self._socket.fileno()
        if number < 0 or (isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()):
            return True
        if not hasattr(select, "poll"):
            return bool(select.select([number], [], [], 0)[0])
        waiting = select.poll()
        waiting.register(number, select.POLLIN)
        return bool(waiting.poll(0))


class ProxyStream(httpcore.NetworkStream):
    """A new connection to a proxy, which the operator chose: its address is not judged. left: as above.

    Raises httpcore.ConnectError and httpcore.ConnectTimeout.
    """

    def __init__(self, host: str, port: int, left: Callable[[], float]) -> None:
        self._left = left
        seconds = max(min(CONNECT_SECONDS, left()), 0.001)
        self._stream = httpcore.SyncBackend().connect_tcp(host, port, seconds)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What comes next; b"" at the end."""
        return self._stream.read(max_bytes, _clamped(self._left, timeout or READ_SECONDS))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        if buffer:
            self._stream.write(buffer, _clamped(self._left, timeout or float("inf")))

    def secure(self, context: ssl.SSLContext, host: str, port: int) -> None:
        """As `DirectStream.secure`; a second time, TLS inside TLS."""
        try:
            self._stream = self._stream.start_tls(context, host, _clamped(self._left, CONNECT_SECONDS))
        except httpcore.ConnectError as error:
            self.close()
            refused = refusal(host, port, error.__cause__)
            if refused:
                raise refused from None
            raise

    def get_extra_info(self, info: str) -> Any:
        """As `DirectStream.get_extra_info`. It reads: what TLS inside TLS has taken from the socket waits no more."""
        if info != "is_readable":
            return None
        try:
            self._stream.read(1, _AT_ONCE_SECONDS)
        except httpcore.ReadTimeout:
            return False
        except httpcore.ReadError:
            return True
        return True

    def close(self) -> None:
        """End the connection."""
        self._stream.close()


def _clamped(left: Callable[[], float], seconds: float) -> float:
    """At most what is left. Raises TimeoutError where that is nothing."""
    most = left()
    if most <= 0:
        raise TimeoutError
    return min(most, seconds)
