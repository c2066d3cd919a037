"""Connections: the address that was checked is the one that is dialled, and one deadline covers all reads and writes.

Connections to the registries' own servers, which may be on private networks, are kept apart from those that redirects
and token services lead to (`other_host`). Behind a proxy only numeric hosts can be judged.

httpcore's own pool is not used: it takes what came behind an answer for the answer to the next request.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import httpcore

from archfit.base.printable import visible
from archfit.registry.http.host_policy import HostPolicy
from archfit.registry.http.limits import UNLIMITED, ProcessorBudget, TooMuch
from archfit.registry.http.proxies import Proxy, proxy_at, proxy_for, variable_of
from archfit.registry.http.request import Unreachable, reason
from archfit.registry.http.tls import context as tls_context
from archfit.registry.http.tls import refusal
from archfit.registry.http.trust import DEFAULT_PORTS, USUAL, Tls, Trust, shown
from archfit.startup.record import Record

if TYPE_CHECKING:
    import ssl

CONNECT_SECONDS = 10.0
READ_SECONDS = 15.0
MAX_IDLE = 128
IDLE_SECONDS = 60.0
# Of all heads of one answer: informational ones, their lines and the last one count. Of real registries, 60 and 6 KiB.
MOST_HEAD_LINES = 1000
MOST_HEAD_BYTES = 64 * 1024
_HEAD_READ_BYTES = 4096
_AT_ONCE_SECONDS = 1e-6


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


class PooledConnection(httpcore.HTTP11Connection):
    """One that is kept for the next request of its way."""

    def __init__(self, way: Way, stream: TimedStream) -> None:
        origin = httpcore.Origin(way.scheme.encode(), way.host.encode(), way.port)
        super().__init__(origin, stream, IDLE_SECONDS)
        self.way = way
        self._timed = stream

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """As httpcore's; what follows the head is no part of it."""
        response = super().handle_request(request)
        self._timed.head_is_read()
        return response

    def may_stay(self) -> bool:
        """The answer was read to its end, and nothing came behind it, which httpcore itself does not say."""
        return self.is_idle() and not self._h11_state.trailing_data[0]


class TimedStream(httpcore.NetworkStream):
    """A stream whose waits end at the run's deadline, in `left` seconds.

    After each write the head of an answer follows, however many informational ones come before it: their bytes and
    lines are counted. work: looked at in each read.

    Raises httpcore's errors, TimeoutError, TooMuch.
    """

    def __init__(
        self,
        stream: httpcore.NetworkStream,
        left: Callable[[], float],
        work: ProcessorBudget = UNLIMITED,
    ) -> None:
        self._stream = stream
        self._left = left
        self._work = work
        self._in_head = False
        self._head_bytes = self._head_lines = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._work.check()
        seconds = clamped(self._left, timeout or READ_SECONDS)
        if not self._in_head:
            return self._stream.read(max_bytes, seconds)
        # Whoever reads on has found no end of the head in what came before.
        if self._head_bytes > MOST_HEAD_BYTES or self._head_lines > MOST_HEAD_LINES:
            raise TooMuch(
                f"more than {MOST_HEAD_LINES} lines or {MOST_HEAD_BYTES >> 10} KiB before its answer"
            )
        data = self._stream.read(min(max_bytes, _HEAD_READ_BYTES), seconds)
        self._head_bytes += len(data)
        self._head_lines += data.count(b"\n")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._in_head = True
        self._head_bytes = self._head_lines = 0
        self._stream.write(buffer, clamped(self._left, timeout or float("inf")))

    def head_is_read(self) -> None:
        """The rest of the answer is its body."""
        self._in_head = False

    def secure(self, context: ssl.SSLContext, host: str, port: int) -> None:
        """TLS with `host`, whose certificate has to name it; a second time, TLS inside TLS. port: for messages.

        Raises Unreachable where TLS is refused; the connection is closed then.
        """
        try:
            self._stream = self._stream.start_tls(context, host, clamped(self._left, CONNECT_SECONDS))
        except httpcore.ConnectError as error:
            refused = refusal(host, port, error.__cause__)
            if refused:
                raise refused from None
            raise

    def get_extra_info(self, info: str) -> Any:
        """`is_readable`: something waits to be read; on an idle connection that is its end.

        It reads: what TLS has taken from the socket waits there no more.
        """
        if info != "is_readable":
            return None
        try:
            self._stream.read(1, _AT_ONCE_SECONDS)
        except httpcore.ReadTimeout as error:
            if error.__cause__:
                # contextlib's frame holds this error from Python 3.12 on: a cycle, and with it all of the lookup
                error.__cause__.__traceback__ = None
            return False
        except httpcore.ReadError:
            return True
        return True

    def close(self) -> None:
        self._stream.close()


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
        self._idle: dict[Way, deque[PooledConnection]] = {}
        self._closed = False
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

    def take(self, way: Way) -> PooledConnection:
        """An idle connection that the other side has not ended, else a new one.

        Raises OSError, httpcore's errors, Unreachable and RegistryError.
        """
        while True:
            with self._lock:
                idle = self._idle.get(way)
                kept = idle.popleft() if idle else None
            if kept is None:
                return PooledConnection(way, self._connected(way))
            if not kept.has_expired():
                return kept
            kept.close()

    def give_back(self, connection: PooledConnection) -> None:
        """Keep it for another request, if it may be used again."""
        if not connection.may_stay():
            connection.close()
            return
        with self._lock:
            idle = self._idle.setdefault(connection.way, deque())
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

    def _connected(self, way: Way) -> TimedStream:
        stream = self._to_proxy(way) if way.proxy else self._dialled(way)
        try:
            if way.scheme == "https":
                stream.secure(self.context(self.trust.of(way.host, way.port)), way.host, way.port)
        except BaseException:
            stream.close()
            raise
        return stream

    def _dialled(self, way: Way) -> TimedStream:
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
        addresses = self.policy.permitted(host, port, resolved, other_host=way.other_host)
        why = "it has no address"
        for address in addresses:
            # The last address may take all the time there is, each before it half of that.
            share = min(CONNECT_SECONDS, self.left()) / (1 if address == addresses[-1] else 2)
            try:
                return TimedStream(_connect(address, port, max(share, 0.001)), self.left, self._work)
            except httpcore.ConnectTimeout:
                why = "it does not accept connections in time"
            except httpcore.ConnectError as error:
                why = reason(error)
        raise Unreachable(
            f"{host}:{port} cannot be connected to ({why}): check the name, the port and the network",
            retryable=bool(addresses),
        )

    def _to_proxy(self, way: Way) -> TimedStream:
        """A connection to the proxy, which leads to the server where that is asked over https (RFC 9110, 9.3.6).

        The operator chose the proxy, so its address is not judged.
        """
        proxy = proxy_at(way.proxy)
        try:
            stream = TimedStream(
                _connect(proxy.host, proxy.port, clamped(self.left, CONNECT_SECONDS)), self.left, self._work
            )
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            if self.left() <= 0:
                raise TimeoutError from None
            raise self.refused_by_proxy(way, f"cannot be connected to ({reason(error)})") from None
        try:
            if proxy.scheme == "https":
                stream.secure(self.context(USUAL), proxy.host, proxy.port)
            if way.scheme == "https":
                self._open_tunnel(stream, proxy, way)
        except BaseException:
            stream.close()
            raise
        return stream

    def _open_tunnel(self, stream: TimedStream, proxy: Proxy, way: Way) -> None:
        server = shown(way.host, way.port)
        url = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target=server)
        headers = {"Host": server, "accept": "*/*", **proxy.headers}
        response = httpcore.HTTP11Connection(url.origin, stream).handle_request(
            httpcore.Request("CONNECT", url, headers=list(headers.items()))
        )
        if not 200 <= response.status <= 299:
            words = response.extensions["reason_phrase"].decode("ascii", errors="ignore")
            status = visible(f"{response.status} {words}"[:200]).rstrip(".")
            raise self.refused_by_proxy(
                way, f"refused a connection to {shown(way.host, way.port, 443)}: {status}"
            )


def clamped(left: Callable[[], float], seconds: float) -> float:
    """At most what is left. Raises TimeoutError where that is nothing."""
    most = left()
    if most <= 0:
        raise TimeoutError
    return min(most, seconds)


def _resolve(host: str, port: int, **hints: int) -> Sequence[tuple[int, int, int, str, tuple[Any, ...]]]:
    return socket.getaddrinfo(host, port, **hints)


def _connect(host: str, port: int, seconds: float) -> httpcore.NetworkStream:
    return httpcore.SyncBackend().connect_tcp(host, port, seconds)
