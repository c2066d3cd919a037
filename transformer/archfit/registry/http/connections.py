"""Connections: the address that was checked is the one that is dialled, and one deadline covers all reads and writes.

Connections to the registries' own servers, which may be on private networks, are kept apart from those that redirects
and token services lead to (`other_host`). Behind a proxy only numeric hosts can be judged.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import h11

from archfit.base.printable import visible
from archfit.registry.http.byte_stream import ByteStream, TcpStream, TlsStream, clamped
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.http11 import Http11Connection
from archfit.registry.http.limits import UNLIMITED, ProcessorBudget
from archfit.registry.http.proxies import Proxy, proxy_at, proxy_for, variable_of
from archfit.registry.http.request import Unreachable, reason
from archfit.registry.http.tls import context as tls_context
from archfit.registry.http.tls import refusal
from archfit.registry.http.trust import DEFAULT_PORTS, USUAL, Tls, Trust, shown
from archfit.startup.record import Record

CONNECT_SECONDS = 10.0
READ_SECONDS = 15.0
MAX_IDLE = 128


class Way(Record):
    """How a server is reached. proxy: its URL, "" for none. other_host: of a direct one, as the module says."""

    scheme: str
    host: str
    port: int
    proxy: str
    other_host: bool

    @property
    def forward(self) -> Proxy | None:
        """The proxy that gets the whole URL as target."""
        return proxy_at(self.proxy) if self.proxy and self.scheme == "http" else None


class ConnectionPool:
    """For all threads of a run. left: seconds until its deadline, 0 after it. environ: names the proxies.

    work: what each image may cost.
    """

    def __init__(
        self,
        left: Callable[[], float],
        policy: HostPolicy,
        trust: Trust,
        environ: Mapping[str, str],
        work: ProcessorBudget = UNLIMITED,
    ) -> None:
        self.left = left
        self._work = work
        self.policy = policy
        self.trust = trust
        self._environ = environ
        self._lock = threading.Lock()
        self._idle: dict[Way, deque[Http11Connection]] = {}
        self._closed = False
        self._silent: set[str] = set()
        self._contexts: dict[Tls, ssl.SSLContext] = {}
        self._making_context = threading.Lock()

    def way(self, scheme: str, host: str, port: int, *, other_host: bool) -> Way:
        """How the server is reached. other_host: a redirect or a token service on another host leads there.

        Raises RegistryError for a numeric host that a proxy may not be asked for; the proxy resolves names.
        """
        proxy = proxy_for(scheme, host, port, self._environ)
        if not proxy:
            return Way(scheme, host, port, "", other_host)
        try:
            known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except (socket.gaierror, UnicodeError):
            known = []
        addresses = [str(entry[4][0]) for entry in known]
        self.policy.permitted(host, port, addresses, other_host=other_host)
        return Way(scheme, host, port, proxy, other_host=False)

    def take(self, way: Way) -> Http11Connection:
        """An idle connection that the other side has not ended, else a new one.

        Raises OSError, h11.ProtocolError, TooMuch, Unreachable and RegistryError.
        """
        while True:
            with self._lock:
                idle = self._idle.get(way)
                kept = idle.popleft() if idle else None
            if kept is None:
                return Http11Connection(self._connected(way), self._work)
            if not kept.has_ended():
                return kept
            kept.close()

    def give_back(self, way: Way, connection: Http11Connection) -> None:
        """Keep it for another request, if it may be used again."""
        if not connection.may_stay():
            connection.close()
            return
        with self._lock:
            idle = self._idle.setdefault(way, deque())
            idle.append(connection)
            oldest = idle.popleft() if self._closed or len(idle) > MAX_IDLE else None
        if oldest:
            oldest.close()

    def close(self) -> None:
        """Close all connections, and those that threads are done with after the run's end."""
        with self._lock:
            self._closed = True
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()

    def context(self, tls: Tls) -> ssl.SSLContext:
        """Made once for all servers of this trust. Raises RegistryError."""
        with self._making_context:
            if tls not in self._contexts:
                self._contexts[tls] = tls_context(tls, self.trust.ca_file, self._environ)
            return self._contexts[tls]

    def refused_by_proxy(self, way: Way, what: str) -> Unreachable:
        """What the user is told about a proxy. what: goes on after its name."""
        variable, proxy = variable_of(way.scheme, self._environ), proxy_at(way.proxy)
        if ": 407" in what:
            remedy = f"write user and password into {variable}, as {proxy.scheme}://USER:PASSWORD@{proxy.host}:{proxy.port}"
        else:
            remedy = f"correct {variable}, or ask {way.host} without it: NO_PROXY={way.host}"
        server = shown(way.host, way.port, DEFAULT_PORTS[way.scheme])
        return Unreachable(
            f"the proxy {proxy} ({variable}), through which {server} is asked, {what}: {remedy}",
            retryable=False,
            mistake=True,
        )

    def _connected(self, way: Way) -> ByteStream:
        stream = self._to_proxy(way) if way.proxy else self._dialled(way)
        if way.scheme != "https":
            return stream
        return self._secured(stream, self.trust.of(way.host, way.port), way.host, way.port)

    def _secured(self, stream: ByteStream, tls: Tls, host: str, port: int) -> TlsStream:
        """TLS over a stream, which is closed where that fails. Raises Unreachable where TLS itself is refused."""
        try:
            return TlsStream(stream, self.context(tls), host, CONNECT_SECONDS)
        except BaseException as error:
            stream.close()
            refused = refusal(host, port, error)
            if refused:
                raise refused from None
            raise

    def _dialled(self, way: Way) -> TcpStream:
        host, port = way.host, way.port
        try:
            entries = _resolve(host, port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise Unreachable(
                f"the name {host!r} cannot be resolved: correct the registry's name, or where only a proxy knows "
                "it, set HTTPS_PROXY",
                retryable=again,
            ) from None
        resolved = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
        permitted = self.policy.permitted(host, port, resolved, other_host=way.other_host)
        addresses = sorted(_alternating(permitted), key=self._silent.__contains__)
        why = "it has no address"
        for address in addresses:
            # The last address may take all the time there is, each before it half of that.
            share = min(CONNECT_SECONDS, self.left()) / (1 if address == addresses[-1] else 2)
            try:
                return TcpStream(_connect(address, port, max(share, 0.001)), self.left)
            except TimeoutError:
                self._silent.add(address)
                why = "it does not accept connections in time"
            except OSError as error:
                why = reason(error)
        raise Unreachable(
            f"{host}:{port} cannot be connected to ({why}): check the name, the port and the network",
            retryable=bool(addresses),
        )

    def _to_proxy(self, way: Way) -> ByteStream:
        """A connection to the proxy, which leads to the server where that is asked over https (RFC 9110, 9.3.6).

        The operator chose the proxy, so its address is not judged.
        """
        proxy = proxy_at(way.proxy)
        try:
            connected = _connect(proxy.host, proxy.port, clamped(self.left, CONNECT_SECONDS))
        except (OSError, UnicodeError) as error:  # of a name with a label that is empty or too long
            if self.left() <= 0:
                raise TimeoutError from None
            raise self.refused_by_proxy(way, f"cannot be connected to ({reason(error)})") from None
        stream: ByteStream = TcpStream(connected, self.left)
        if proxy.scheme == "https":
            stream = self._secured(stream, USUAL, proxy.host, proxy.port)
        if way.scheme == "https":
            try:
                self._open_tunnel(stream, proxy, way)
            except BaseException:
                stream.close()
                raise
        return stream

    def _open_tunnel(self, stream: ByteStream, proxy: Proxy, way: Way) -> None:
        server = shown(way.host, way.port)
        headers = {"host": server, "accept": "*/*", **proxy.headers}
        request = h11.Request(method="CONNECT", target=server, headers=list(headers.items()))
        answer = Http11Connection(stream, self._work).ask(request, b"", READ_SECONDS)
        if not 200 <= answer.status_code <= 299:
            words = answer.reason.decode("ascii", errors="ignore")
            status = visible(f"{answer.status_code} {words}"[:200]).rstrip(".")
            raise self.refused_by_proxy(
                way, f"refused a connection to {shown(way.host, way.port, 443)}: {status}"
            )


def _alternating(addresses: Sequence[str]) -> list[str]:
    """The addresses with IPv4 and IPv6 by turns (RFC 8305, section 4): often only one of them leads anywhere."""
    first = any(":" in address for address in addresses[:1])
    kinds = ([address for address in addresses if (":" in address) is six] for six in (first, not first))
    return [address for turn in zip_longest(*kinds) for address in turn if address]


def _resolve(host: str, port: int, **hints: int) -> Sequence[tuple[int, int, int, str, tuple[Any, ...]]]:
    return socket.getaddrinfo(host, port, **hints)


def _connect(host: str, port: int, seconds: float) -> socket.socket:
    connected = socket.create_connection((host, port), seconds)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connected
