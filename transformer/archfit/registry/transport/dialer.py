"""TCP connections: resolve a name, check its addresses, connect to one of those.

    resolve  ->  HostPolicy.permitted  ->  connect         no second resolution in between

`dial_ahead` connects before the connection can be used, while TLS is still being loaded. No connection attempt lasts
longer than the run's deadline. Names and addresses go to the system as bytes or to the socket itself: `socket` by
itself loads Python's codec for international names, which takes as long as a connection.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic

from archfit.registry.registry_errors import RegistryError
from archfit.registry.transport.host_policy import HostPolicy
from archfit.registry.transport.host_port import HostPort
from archfit.registry.transport.request import Unreachable
from archfit.typing_names import Any, TypeAlias

Found: TypeAlias = "tuple[int, int, int, str, tuple[Any, ...]]"
"""As `socket.getaddrinfo` has it."""

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 10.0
"""How long a connection that was dialled ahead is used: servers end those that stay silent."""


def _resolve(host: str, port: int, **hints: int) -> Sequence[Found]:
    return socket.getaddrinfo(host.encode("ascii") if host.isascii() else host, port, **hints)


class Dialer:
    """Dials for all threads of a run. left: seconds until the run's deadline, 0 after it."""

    def __init__(self, left: Callable[[], float], policy: HostPolicy) -> None:
        self.left = left
        self.policy = policy
        self._lock = threading.Lock()
        self._ready: dict[HostPort, deque[tuple[float, socket.socket | RegistryError]]] = {}
        self._closed = False

    def dial_ahead(self, host: str, port: int) -> None:
        """Dial for the next thread that connects there, to no other host; it gets the connection, or the error."""
        made: socket.socket | RegistryError
        try:
            made = self._dial(host, port, other_host=False)
        except RegistryError as error:
            made = error
        self._keep(host, port, made)

    def connect(self, host: str, port: int, *, other_host: bool) -> socket.socket:
        """A connection. other_host: as for `HostPolicy.permitted`.

        Raises RegistryError for addresses that are refused, Unreachable where no address answers.
        """
        made = None if other_host else self._dialled(host, port)
        if isinstance(made, RegistryError):
            raise made
        return made or self._dial(host, port, other_host=other_host)

    def dialled(self, host: str, port: int) -> socket.socket | None:
        """A connection that was dialled ahead; an error is left for `connect`."""
        made = self._dialled(host, port)
        if isinstance(made, RegistryError):
            self._keep(host, port, made)
            return None
        return made

    def _dialled(self, host: str, port: int) -> socket.socket | RegistryError | None:
        while True:
            with self._lock:
                ready = self._ready.get((host, port))
                if not ready:
                    return None
                since, made = ready.popleft()
            if monotonic() - since <= SILENT_SECONDS:
                return made
            if not isinstance(made, RegistryError):
                made.close()

    def _keep(self, host: str, port: int, made: socket.socket | RegistryError) -> None:
        with self._lock:
            if not self._closed:
                self._ready.setdefault((host, port), deque()).append((monotonic(), made))
            elif not isinstance(made, RegistryError):
                made.close()

    def connect_to_proxy(self, host: str, port: int) -> socket.socket:
        """A connection to a proxy, which the operator chose: its address is not judged. Raises OSError."""
        made = socket.create_connection((host, port), max(min(CONNECT_SECONDS, self.left()), 0.001))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def check_literal(self, host: str, port: int, *, other_host: bool) -> None:
        """Check a numeric host that a proxy would connect to; the proxy resolves names. Raises RegistryError."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except (socket.gaierror, UnicodeError):
            return
        self.policy.permitted(host, port, [str(entry[4][0]) for entry in found], other_host=other_host)

    def close(self) -> None:
        """Close the connections that no thread used, and those that threads make after the run's end."""
        with self._lock:
            self._closed = True
            for ready in self._ready.values():
                for _, made in ready:
                    if not isinstance(made, RegistryError):
                        made.close()
                ready.clear()

    def _dial(self, host: str, port: int, *, other_host: bool) -> socket.socket:
        try:
            found = _resolve(host, port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise Unreachable(
                f"the name {host!r} cannot be resolved: correct the registry's name, or where only a proxy knows "
                "it, set HTTPS_PROXY",
                retryable=again,
            ) from None
        addresses = self.policy.permitted(
            host, port, list(dict.fromkeys(str(entry[4][0]) for entry in found)), other_host=other_host
        )
        why = "it has no address"
        for address in addresses:
            # The last address may take all the time there is, each before it half of that.
            share = min(CONNECT_SECONDS, self.left()) / (1 if address == addresses[-1] else 2)
            try:
                made = _connect(address, port, max(share, 0.001))
            except TimeoutError:
                why = "it does not accept connections in time"
            except OSError as error:
                why = error.strerror or str(error)
            else:
                return made
        raise Unreachable(
            f"{host}:{port} cannot be connected to ({why}): check the name, the port and the network",
            retryable=bool(addresses),
        )


def _connect(address: str, port: int, seconds: float) -> socket.socket:
    """A connection to a numeric address. Raises OSError."""
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect((address, port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        made.close()
        raise
    return made
