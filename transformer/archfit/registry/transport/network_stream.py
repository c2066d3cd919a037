"""Streams for httpcore: a socket that the dialer connected, and the run's deadline over any stream.

    DeadlineStream(SocketStream(socket))      a server that is asked directly
    DeadlineStream(stream of httpcore)        a proxy; httpcore's own stream can also do TLS inside TLS

Both raise httpcore's own exceptions, as its backends do; DeadlineStream also says why TLS was refused.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable
from typing import Any

import httpcore

from archfit.printable import visible
from archfit.registry.transport.request import Unreachable

# OpenSSL's words for an answer that is no TLS record.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
# X509_V_ERR_* of OpenSSL's x509_vfy.h.
_NOT_YET_VALID, _EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 9, 10, 62, 64


class SocketStream(httpcore.NetworkStream):
    """A connected socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._socket.settimeout(timeout)
            return self._socket.recv(max_bytes)
        except TimeoutError:
            raise httpcore.ReadTimeout from None
        except OSError as error:
            raise httpcore.ReadError(reason(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(buffer)
        except TimeoutError:
            raise httpcore.WriteTimeout from None
        except OSError as error:
            raise httpcore.WriteError(reason(error)) from error

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        try:
            self._socket.settimeout(timeout)
            return SocketStream(ssl_context.wrap_socket(self._socket, server_hostname=server_hostname))
        except TimeoutError:
            self.close()
            raise httpcore.ConnectTimeout from None
        except OSError as error:
            self.close()
            raise httpcore.ConnectError(reason(error)) from error

    def get_extra_info(self, info: str) -> Any:
        if info == "socket":
            return self._socket
        return _readable(self._socket) if info == "is_readable" else None


class DeadlineStream(httpcore.NetworkStream):
    """A stream whose every wait ends at the run's deadline. left: seconds until then. host, port: for messages.

    answered: something was read after what was written last. Bytes beyond the end of an answer stay in httpcore's
    buffer, where they would be taken for the answer to the connection's next request.
    """

    def __init__(
        self, inner: httpcore.NetworkStream, left: Callable[[], float], host: str, port: int
    ) -> None:
        self._inner = inner
        self._left = left
        self._host = host
        self._port = port
        self.answered = False

    def _clamped(self, timeout: float | None) -> float:
        left = self._left()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if timeout is None else min(timeout, left)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._inner.read(max_bytes, self._clamped(timeout))
        self.answered = True
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.answered = False
        self._inner.write(buffer, self._clamped(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        try:
            inner = self._inner.start_tls(ssl_context, server_hostname, self._clamped(timeout))
        except httpcore.ConnectError as error:
            why = error.__cause__ or error.__context__ or error
            if isinstance(why, ssl.SSLCertVerificationError):
                raise Unreachable(untrusted(self._host, why), retryable=False, mistake=True) from None
            if isinstance(why, ssl.SSLError) and why.reason in _NO_TLS:
                host = self._host if self._port == 443 else f"{self._host}:{self._port}"
                raise Unreachable(
                    f"{host} answers without TLS. If it serves plain http, write --mirror {host}=http://{host}",
                    retryable=False,
                    mistake=True,
                ) from None
            if isinstance(why, ssl.SSLError):
                raise Unreachable(
                    f"{self._host} does not speak TLS as expected ({why.reason})", retryable=False
                ) from None
            raise
        return DeadlineStream(inner, self._left, self._host, self._port)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _readable(connected: socket.socket) -> bool:
    """Something waits to be read; on an idle connection that is its end."""
    if connected.fileno() < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([connected], [], [], 0)[0])
    waiting = select.poll()
    waiting.register(connected, select.POLLIN)
    return bool(waiting.poll(0))


def reason(error: BaseException) -> str:
    """The error's own words, short and printable."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return visible(str(text)[:200]).rstrip(".")


def untrusted(host: str, error: ssl.SSLCertVerificationError) -> str:
    """Why a server's certificate is refused, and what to do about it."""
    problem = f"the TLS certificate of {host} is not trusted ({error.verify_message.rstrip('.')})"
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return f"{problem}: renew it, or set the clock of this machine right"
    if error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        return f"{problem}: use a name that the certificate has, or let one be made for {host}"
    return f"{problem}: name the CA with --ca-file or in SSL_CERT_FILE"
