"""Where the server listens: 8443 or :8443 (every address, IPv6 and IPv4), 127.0.0.1:8443, [::1]:8443. Port 0 is any
that is free; the log says which.
"""

from __future__ import annotations

import ipaddress
import socket

from archfit.base.errors import UsageError
from archfit.startup.record import Record

_BACKLOG = 1024


class ListenAddress(Record):
    """host: an address without brackets, "" for all."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Nobody outside this machine reaches it."""
        return bool(self.host) and ipaddress.ip_address(self.host).is_loopback


def listen_address(text: str, flag: str) -> ListenAddress:
    """The address that a flag names. Raises UsageError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else -1
        if host:
            ipaddress.ip_address(host)
    except ValueError:
        number = -1
    if not 0 <= number <= 65535:
        raise UsageError(f"{flag}: {text!r} is not an address: write :8443, 127.0.0.1:8443 or [::1]:8443")
    return ListenAddress(host, number)


def listen(address: ListenAddress, flag: str) -> socket.socket:
    """A socket that listens. Raises UsageError."""
    dual = not address.host and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual or ":" in address.host else socket.AF_INET
    try:
        return socket.create_server(
            (address.host, address.port), family=family, backlog=_BACKLOG, dualstack_ipv6=dual
        )
    except OSError as error:
        shown = f"{address.host}:{address.port}"
        raise UsageError(
            f"{flag}: cannot listen at {shown} ({error.strerror}): name another address or port"
        ) from None
