"""One connection as bytes: a connected socket, TLS over it, and the run's deadline over both.

    NetworkStream(socket)      plain
    .begin_tls                 sends what TLS begins with, and waits for nothing
    .start_tls                 TLS from then on; a second time, TLS inside TLS (`nested_tls`): https through a proxy
                               that itself is asked over https

Every wait ends at the run's deadline. Reads and writes raise OSError, of which TimeoutError is one.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable

from archfit.printable import visible
from archfit.registry.transport.dialer import CONNECT_SECONDS
from archfit.registry.transport.request import NoTls, Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.registry.transport.nested_tls import NestedTls

READ_SECONDS = 15.0
_AT_ONCE = 64 * 1024
# OpenSSL's words for an answer that is no TLS record.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
# X509_V_ERR_* of OpenSSL's x509_vfy.h.
_NOT_YET_VALID, _EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 9, 10, 62, 64


class NetworkStream:
    """See the module. left: seconds until the run's deadline."""

    def __init__(self, connected: socket.socket, left: Callable[[], float]) -> None:
        self._socket = connected
        self._tls: ssl.SSLSocket | NestedTls | None = None
        self._left = left
        self._begun: ssl.SSLSocket | OSError | None = None

    def read(self) -> bytes:
        """What comes next, at most 64 KiB; b"" at the end."""
        wire = self._tls or self._socket
        wire.settimeout(self._clamped(READ_SECONDS))
        return wire.recv(_AT_ONCE)

    def write(self, data: bytes) -> None:
        wire = self._tls or self._socket
        wire.settimeout(self._clamped(float("inf")))
        wire.sendall(data)

    def begin_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Send the first message of TLS with `host`, so that its answer comes while something else is done.

        `start_tls` goes on from there, and raises what went wrong here.
        """
        try:
            self._socket.settimeout(0)
            self._begun = self._tls = _wrapped(context, self._socket, host)
            self._begun.do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError as error:
            self._begun = error

    def start_tls(self, context: ssl.SSLContext, host: str, port: int) -> None:
        """TLS with `host`, whose certificate has to name it. port: for messages.

        Raises Unreachable where TLS is refused, else OSError; the connection is closed then.
        """
        begun, self._begun = self._begun, None
        try:
            seconds = self._clamped(CONNECT_SECONDS)
            if isinstance(begun, OSError):
                raise begun
            if self._tls is None or begun:
                secured = self._tls = begun or _wrapped(context, self._socket, host)
                secured.settimeout(seconds)
                secured.do_handshake()
            else:
                from archfit.registry.transport.nested_tls import NestedTls

                self._tls.settimeout(seconds)
                self._tls = NestedTls(self._tls, context, host)
        except OSError as error:
            self.close()
            refused = _refused(host, port, error)
            if refused:
                raise refused from None
            raise

    def has_ended(self) -> bool:
        """Something waits to be read; on an idle connection that is its end."""
        number = (self._tls or self._socket).fileno()
        if number < 0:
            return True
        # What TLS inside TLS has taken from the socket does not wait there any more.
        if self._tls and self._tls.pending():
            return True
        if not hasattr(select, "poll"):
            return bool(select.select([number], [], [], 0)[0])
        waiting = select.poll()
        waiting.register(number, select.POLLIN)
        return bool(waiting.poll(0))

    def close(self) -> None:
        (self._tls or self._socket).close()

    def _clamped(self, seconds: float) -> float:
        left = self._left()
        if left <= 0:
            raise TimeoutError
        return min(left, seconds)


def _wrapped(context: ssl.SSLContext, connected: socket.socket, host: str) -> ssl.SSLSocket:
    # The name as bytes: for a str, `ssl` loads the codec for international names.
    name = host.encode("ascii")
    return context.wrap_socket(connected, server_hostname=name, do_handshake_on_connect=False)


def _refused(host: str, port: int, error: OSError) -> Unreachable | None:
    """What the user is told where TLS itself failed; None for a connection that broke or took too long."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Unreachable(untrusted(host, error), retryable=False, mistake=True)
    if not isinstance(error, ssl.SSLError):
        return None
    if error.reason in _NO_TLS:
        return NoTls(host if port == 443 else f"{host}:{port}")
    return Unreachable(f"{host} does not speak TLS as expected ({error.reason})", retryable=False)


def reason(error: BaseException) -> str:
    """The error's own words, short and printable."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return visible(str(text)[:200]).rstrip(".")


def untrusted(host: str, error: ssl.SSLCertVerificationError) -> str:
    """Why a server's certificate is refused, and what to do about it."""
    problem = f"the TLS certificate of {host} is not trusted ({error.verify_message.rstrip('.')})"
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return f"{problem}: renew it, or set the clock of this machine right"
    if error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        return f"{problem}: use a name that the certificate has, or let one be made for {host}"
    return f"{problem}: name the CA with --ca-file or in SSL_CERT_FILE"
