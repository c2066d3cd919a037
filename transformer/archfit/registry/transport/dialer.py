"""Connections: names resolved, addresses judged, the judged address dialled.

    resolve  ->  addresses.kind_of  ->  connect         no second resolution in between
    kind            may be dialled
    public          always
    private         a server the operator named; over https the registry that a reference names
    loopback        a server the operator named
    refused         never

What a registry pointed to (a redirect, a token service elsewhere) is `foreign`: for it, only what the operator named
counts. `ahead` dials before anybody can use the connection: the time it takes passes while the HTTP library is still
being imported. Nothing outlives the run's deadline.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Callable

from archfit.errors import RegistryError
from archfit.registry.transport.addresses import Kind, kind_of
from archfit.registry.transport.host_policy import Named

CONNECT_SECONDS = 10.0
_resolve = socket.getaddrinfo


class Unreachable(RegistryError):
    """No HTTP answer. again: asking once more may help."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.again = again


class Dialler:
    """Dials for all threads of a run.

    named: servers the operator named. own: host and port of the registries that references name, over https.
    deadline: on the clock `monotonic`, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic, named: Named | None = None) -> None:
        self.named = named or Named()
        self.own: set[tuple[str, int]] = set()
        self.deadline = monotonic() + 3600.0
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._ready: dict[tuple[str, int, bool], deque[socket.socket]] = {}

    def left(self) -> float:
        """Seconds until the deadline, 0 after it."""
        return max(0.0, self.deadline - self._monotonic())

    def ahead(self, host: str, port: int, *, foreign: bool) -> None:
        """Dial for whoever connects there next. Raises as `connect` does."""
        made = self._dial(host, port, foreign)
        with self._lock:
            self._ready.setdefault((host, port, foreign), deque()).append(made)

    def connect(self, host: str, port: int, *, foreign: bool) -> socket.socket:
        """A connection. Raises RegistryError for addresses that are refused, Unreachable where nobody answers."""
        with self._lock:
            ready = self._ready.get((host, port, foreign))
            if ready:
                return ready.popleft()
        return self._dial(host, port, foreign)

    def close(self) -> None:
        """End the connections that nobody came for."""
        with self._lock:
            for ready in self._ready.values():
                while ready:
                    ready.pop().close()

    def permit(self, host: str, port: int) -> None:
        """Raises RegistryError for a server that the operator lets nobody ask, however it would be reached."""
        if self.named.denies(host, port):
            raise RegistryError(f"{_shown(host, port)} is not asked: --deny-host forbids it")

    def judge(self, host: str, port: int, addresses: list[str], *, foreign: bool) -> list[str]:
        """Those addresses of `host:port` that may be dialled. Raises RegistryError if there are none."""
        judged = [(address, kind_of(address)) for address in addresses]
        kinds: set[Kind] = {"public"}
        if all(kind == "public" for _, kind in judged):
            pass
        elif self.named.has(host, port):
            kinds |= {"private", "loopback"}
        elif (host.lower(), port) in self.own and not foreign:
            kinds.add("private")
        good = [address for address, kind in judged if kind in kinds]
        if not good and judged:
            raise RegistryError(_refusal(_shown(host, port), *judged[0]))
        return good

    def judge_literal(self, host: str, port: int, *, foreign: bool) -> None:
        """Judge a numeric host that a proxy would dial for us; names are the proxy's to resolve."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except (socket.gaierror, UnicodeError):
            return
        self.judge(host, port, [str(entry[4][0]) for entry in found], foreign=foreign)

    def _dial(self, host: str, port: int, foreign: bool) -> socket.socket:
        try:
            found = _resolve(host, port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise Unreachable(f"the name {host!r} cannot be resolved", again=again) from None
        addresses = self.judge(
            host, port, list(dict.fromkeys(str(entry[4][0]) for entry in found)), foreign=foreign
        )
        why = "it has no address"
        for address in addresses:
            # The last address may take all the time there is, each before it half of that.
            share = min(CONNECT_SECONDS, self.left()) / (1 if address == addresses[-1] else 2)
            try:
                made = socket.create_connection((address, port), max(share, 0.001))
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except TimeoutError:
                why = "it does not accept connections in time"
            except OSError as error:
                why = error.strerror or str(error)
            else:
                return made
        raise Unreachable(f"{host}:{port} cannot be connected to: {why}", again=bool(addresses))


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refusal(shown: str, address: str, kind: Kind) -> str:
    special = "a link-local, metadata or otherwise special"
    what = {"refused": special, "loopback": "a loopback"}.get(kind, "a private")
    remedy = f": if it is meant, name the server with --allow-host {shown}"
    refused = f"{shown} leads to {what} address, {address}, which is not dialled"
    return refused + ("" if kind == "refused" else remedy)
