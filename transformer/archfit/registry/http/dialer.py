"""TCP connections: resolve a name, check its addresses, connect to one of those.

    resolve  ->  HostPolicy.permitted  ->  connect         no second resolution in between

    dial_ahead     connects before anything can be asked, while TLS and httpx are being loaded
    prepare_tls    loads TLS: 5 ms, and up to 20 for the CAs
    begin_tls      TLS on a connection that was dialled ahead begins, before the request needs it
    connect        a connection for a request: one that was dialled ahead, or a new one

No connection attempt lasts longer than the run's deadline. Names and addresses go to the system as bytes or to the
socket itself: `socket` by itself loads Python's codec for international names, which takes as long as a connection.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, TypeAlias

from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.proxies import proxy_for
from archfit.registry.http.request import Unreachable
from archfit.registry.http.trust import USUAL, HostPort, Tls, Trust, host_port
from archfit.registry.registry_errors import RegistryError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl

Found: TypeAlias = "tuple[int, int, int, str, tuple[Any, ...]]"
"""As `socket.getaddrinfo` has it."""

Dialled: TypeAlias = "dict[HostPort, deque[tuple[float, socket.socket | RegistryError]]]"
"""Since when, and the connection or the error, oldest first."""

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 10.0
"""How long a connection that was dialled ahead is used: servers end those that stay silent."""


def _resolve(host: str, port: int, **hints: int) -> Sequence[Found]:
    return socket.getaddrinfo(host.encode("ascii") if host.isascii() else host, port, **hints)


class Dialer:
    """Dials for all threads of a run. left: seconds until the run's deadline, 0 after it. environ: names the proxies.

    ahead: connections are dialled ahead; not where requests are to be rare, nor once a request can dial for itself.
    """

    def __init__(
        self,
        left: Callable[[], float],
        policy: HostPolicy,
        trust: Trust,
        environ: Mapping[str, str],
        *,
        ahead: bool = True,
    ) -> None:
        self.left = left
        self.policy = policy
        self.trust = trust
        self.environ = environ
        self.ahead = ahead
        self._lock = threading.Lock()
        self._ready: Dialled = {}
        self._begun: Dialled = {}
        self._closed = False
        self._contexts: dict[Tls, ssl.SSLContext] = {}
        self._making_context = threading.Lock()

    def dial_ahead(self, origin: str) -> None:
        """Dial for the next thread that connects there, to no other host; it gets the connection, or the error.

        Raises RegistryError for a server that is refused.
        """
        scheme, _, _ = origin.partition("://")
        host, port = host_port(origin)
        self.policy.check(host, port)
        if not self.ahead or self.left() <= 0 or proxy_for(scheme, host, port, self.environ):
            return
        made: socket.socket | RegistryError
        try:
            made = self._dial(host, port, other_host=False)
        except RegistryError as error:
            made = error
        self._keep(self._ready, host, port, made)

    def prepare_tls(self, origins: Iterable[str]) -> None:
        """Load what requests to these origins need of TLS."""
        if any(origin.startswith("https:") for origin in origins):
            with contextlib.suppress(RegistryError):  # each request to such a server raises it
                self.context(USUAL)

    def begin_tls(self, origin: str) -> None:
        """Begin TLS on a connection that was dialled ahead, if there is one. The request says what goes wrong.

        A token, or another thread's answer, is often waited for before that request. Raises RegistryError.
        """
        if not origin.startswith("https:"):
            return
        from archfit.registry.http.tls import begun

        host, port = host_port(origin)
        made = self.context(self.trust.of(host, port))
        connected = self._taken(self._ready, host, port)
        if isinstance(connected, socket.socket):
            secured = begun(made, connected, host)
            if secured:
                self._keep(self._begun, host, port, secured)
        elif connected:
            self._keep(self._ready, host, port, connected)

    def context(self, tls: Tls) -> ssl.SSLContext:
        """The TLS context for servers of this trust, made once. Raises RegistryError."""
        from archfit.registry.http.tls import context

        with self._making_context:
            if tls not in self._contexts:
                self._contexts[tls] = context(tls, self.trust.ca_file, self.environ)
            return self._contexts[tls]

    def connect(self, host: str, port: int, *, other_host: bool) -> socket.socket:
        """A connection, on which TLS may have begun. other_host: as for `HostPolicy.permitted`.

        Raises RegistryError for addresses that are refused, Unreachable where no address answers.
        """
        made = None
        if not other_host:
            made = self._taken(self._begun, host, port) or self._taken(self._ready, host, port)
        if isinstance(made, RegistryError):
            raise made
        return made or self._dial(host, port, other_host=other_host)

    def _taken(self, dialled: Dialled, host: str, port: int) -> socket.socket | RegistryError | None:
        while True:
            with self._lock:
                ready = dialled.get((host, port))
                if not ready:
                    return None
                since, made = ready.popleft()
            if monotonic() - since <= SILENT_SECONDS:
                return made
            if not isinstance(made, RegistryError):
                made.close()

    def _keep(self, dialled: Dialled, host: str, port: int, made: socket.socket | RegistryError) -> None:
        with self._lock:
            if not self._closed:
                dialled.setdefault((host, port), deque()).append((monotonic(), made))
            elif not isinstance(made, RegistryError):
                made.close()

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
            for ready in (*self._ready.values(), *self._begun.values()):
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
