"""Requests over connections that are kept: HTTP/1.1 (`http1`), no cookies, no redirects, no decoding.

    exchange ── an idle connection to the same server by the same way, or a new one ── `http1.ask` ── Reply

    way                                                 kept apart
    direct, the registries' own servers                 requests to the registry itself (not `other_host`)
    direct, other hosts                                 redirects and token services (`other_host`); because the
                                                        registries' own servers may be on private networks
    through a proxy                                     http: the whole URL as target; https: CONNECT, then TLS;
                                                        only numeric hosts can be judged

Bodies are read raw and only up to a limit; a Content-Encoding other than identity is refused, because a bomb would be
inflated before it could be counted. No read or write lasts longer than the run's deadline, however slowly the bytes
drip. There is one TLS context for each kind of trust (`trust`), made when a connection first needs it.
"""

from __future__ import annotations

import ssl
import threading
from collections import deque
from collections.abc import Mapping
from time import monotonic
from urllib.parse import urljoin, urlsplit

from archfit.registry.registry_errors import RegistryError
from archfit.registry.transport.bodies import SMALL, LargeBodies
from archfit.registry.transport.dialer import SILENT_SECONDS, Dialer
from archfit.registry.transport.host_port import DEFAULT_PORTS, HostPort
from archfit.registry.transport.http1 import ask
from archfit.registry.transport.http_message import Answer, Head, InvalidHeader, ProtocolError
from archfit.registry.transport.network_stream import NetworkStream, reason
from archfit.registry.transport.proxies import proxy_for, variable_of
from archfit.registry.transport.proxy_tunnel import Proxy, ProxyRefused, open_tunnel, proxy_at
from archfit.registry.transport.request import Reply, Request, Unreachable, late
from archfit.registry.transport.request_target import RequestTarget, holds_control, request_target
from archfit.registry.transport.tls import context
from archfit.registry.transport.trust import USUAL, Tls, Trust
from archfit.typing_names import TypeAlias

MAX_IDLE = 128
IDLE_SECONDS = 60.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Way: TypeAlias = "tuple[str, str, int, str | bool]"
"""Scheme, host, port; then the proxy's URL, or for a direct connection whether it is to another host."""


class HttpTransport:
    """Exchanges for all threads; see the module. agent: the User-Agent header."""

    def __init__(
        self, dialer: Dialer, agent: str, environ: Mapping[str, str], trust: Trust, bodies: LargeBodies
    ) -> None:
        self._dialer = dialer
        self._agent = agent
        self._environ = environ
        self._trust = trust
        self._bodies = bodies
        self._contexts: dict[Tls, ssl.SSLContext] = {}
        self._making_context = threading.Lock()
        self._lock = threading.Lock()
        self._begun: dict[HostPort, deque[tuple[float, NetworkStream]]] = {}
        self._idle: dict[Way, deque[tuple[float, NetworkStream]]] = {}
        self._closed = False

    def exchange(self, request: Request) -> Reply:
        """As `Connections.send`."""
        where = urlsplit(request.url).netloc
        try:
            wanted = request_target(request.url)
        except ValueError:
            raise RegistryError(f"{where!r} is not a host that can be asked: correct the name") from None
        try:
            return self._exchanged(request, wanted)
        except TimeoutError:
            if self._dialer.left() > 0:
                raise Unreachable(f"{where} did not answer in time", retryable=True) from None
            raise Unreachable(late(where), retryable=False) from None
        except ProxyRefused as error:
            raise self._proxy_problem(wanted, f"refused a connection to {where}: {reason(error)}") from None
        except InvalidHeader:
            raise RegistryError(
                f"the request to {where} cannot be sent: one of its headers is not valid"
            ) from None
        except (ProtocolError, OSError) as error:
            raise Unreachable(f"the connection to {where} broke: {reason(error)}", retryable=True) from None

    def close(self) -> None:
        """Close all connections, and those that threads are done with after the run's end."""
        with self._lock:
            self._closed = True
            for idle in self._idle.values():
                while idle:
                    idle.pop()[1].close()
            for begun in self._begun.values():
                while begun:
                    begun.pop()[1].close()

    def prepare(self, tls: Tls = USUAL) -> ssl.SSLContext:
        """The TLS context for servers of this trust, made once."""
        with self._making_context:
            if tls not in self._contexts:
                self._contexts[tls] = context(tls, self._trust.ca_file, self._environ)
            return self._contexts[tls]

    def begin(self, host: str, port: int) -> None:
        """Begin TLS on a connection that was dialled ahead, for the next request to this registry that needs one.

        A token, or another thread's answer, is often waited for before that request. Raises RegistryError.
        """
        made = self.prepare(self._trust.of(host, port))
        connected = self._dialer.dialled(host, port)
        if connected:
            stream = NetworkStream(connected, self._dialer.left)
            stream.begin_tls(made, host)
            with self._lock:
                if not self._closed:
                    self._begun.setdefault((host, port), deque()).append((monotonic(), stream))
                    return
            stream.close()

    def _exchanged(self, request: Request, wanted: RequestTarget) -> Reply:
        scheme, host, port = wanted.scheme, wanted.host, wanted.port
        if self._dialer.left() <= 0:
            raise TimeoutError
        proxy = proxy_for(scheme, host, port, self._environ)
        if proxy:
            self._dialer.check_literal(host, port, other_host=request.other_host)
        tls = self._trust.of(host, port)
        if not tls.verify:
            self._trust.insecure.add(f"{scheme}://{host}:{port}")
        way = (scheme, host, port, proxy or request.other_host)
        head = self._head(request, wanted, proxy_at(proxy) if proxy and scheme == "http" else None)
        encoded = head.encoded()
        stream = self._kept(way) or self._connected(wanted, request, proxy, tls)
        complete = False
        try:
            answer = ask(stream, head, encoded, request.content)
            reply = self._read(answer, request)
            complete = answer.is_complete()
        finally:
            if complete:
                self._keep(way, stream)
            else:
                stream.close()
        return reply

    def _head(self, request: Request, wanted: RequestTarget, proxy: Proxy | None) -> Head:
        headers = {"Host": wanted.authority}
        if proxy:
            headers |= proxy.headers
        given = {name.lower(): value for name, value in request.headers.items()}
        defaults = {
            "accept": "*/*",
            "connection": "keep-alive",
            "user-agent": self._agent,
            "accept-encoding": "identity",
        }
        headers |= defaults | given
        if request.content:
            headers["content-length"] = str(len(request.content))
        target = f"{wanted.scheme}://{wanted.authority}{wanted.target}" if proxy else wanted.target
        return Head(request.method, target, headers)

    def _connected(self, wanted: RequestTarget, request: Request, proxy: str, tls: Tls) -> NetworkStream:
        """A new connection. Raises OSError, Unreachable, RegistryError, and ProxyRefused."""
        dialer, host, port = self._dialer, wanted.host, wanted.port
        if proxy:
            through = proxy_at(proxy)
            try:
                connected = dialer.connect_to_proxy(through.host, through.port)
            except OSError as error:
                if dialer.left() <= 0:
                    raise TimeoutError from None
                raise self._proxy_problem(wanted, f"cannot be connected to ({reason(error)})") from None
            stream = NetworkStream(connected, dialer.left)
        else:
            stream = self._fresh(wanted, other_host=request.other_host)
        try:
            if proxy:
                if through.scheme == "https":
                    stream.start_tls(self.prepare(), through.host, through.port)
                if wanted.scheme == "https":
                    open_tunnel(stream, through, host, port)
            if wanted.scheme == "https":
                stream.start_tls(self.prepare(tls), host, port)
        except BaseException:
            stream.close()
            raise
        return stream

    def _proxy_problem(self, wanted: RequestTarget, what: str) -> Unreachable:
        """What the user is told about a proxy. what: goes on after its name."""
        variable = variable_of(wanted.scheme, self._environ)
        proxy = proxy_at(proxy_for(wanted.scheme, wanted.host, wanted.port, self._environ))
        if ": 407" in what:
            remedy = f"write user and password into {variable}, as {proxy.scheme}://USER:PASSWORD@{proxy.host}:{proxy.port}"
        else:
            remedy = f"correct {variable}, or ask {wanted.host} without it: NO_PROXY={wanted.host}"
        return Unreachable(
            f"the proxy {proxy} ({variable}), through which {wanted.authority} is asked, {what}: {remedy}",
            retryable=False,
            mistake=True,
        )

    def _fresh(self, wanted: RequestTarget, *, other_host: bool) -> NetworkStream:
        """A connection to the server itself, without TLS or with TLS begun."""
        host, port = wanted.host, wanted.port
        if wanted.scheme == "https" and not other_host:
            with self._lock:
                begun = self._begun.get((host, port), deque())
                while begun:
                    since, stream = begun.popleft()
                    if monotonic() - since <= SILENT_SECONDS:
                        return stream
                    stream.close()
        return NetworkStream(self._dialer.connect(host, port, other_host=other_host), self._dialer.left)

    def _kept(self, way: Way) -> NetworkStream | None:
        """An idle connection that the other side has not ended."""
        while True:
            with self._lock:
                idle = self._idle.get(way)
                if not idle:
                    return None
                since, stream = idle.popleft()
            if monotonic() - since <= IDLE_SECONDS and not stream.has_ended():
                return stream
            stream.close()

    def _keep(self, way: Way, stream: NetworkStream) -> None:
        with self._lock:
            idle = self._idle.setdefault(way, deque())
            idle.append((monotonic(), stream))
            oldest = idle.popleft()[1] if self._closed or len(idle) > MAX_IDLE else None
        if oldest:
            oldest.close()

    def _read(self, answer: Answer, request: Request) -> Reply:
        where = urlsplit(request.url).netloc
        headers: dict[str, str] = {}
        for name, value in answer.headers:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", ""}:
            raise RegistryError(
                f"{where} sent a compressed answer ({encoding[:20]!r}), which archfit did not ask for: refused"
            )
        if answer.status in _REDIRECTS and "location" in headers:
            _check_location(request.url, headers["location"], where)
        body = bytearray()
        for part in answer.body():
            body += part
            if len(body) > SMALL:
                self._bodies.enter()
            if len(body) > request.limit:
                raise RegistryError(
                    f"{where} sent more than {request.limit} bytes: refused", status=answer.status
                )
        challenges = tuple(value for name, value in answer.headers if name == "www-authenticate")
        return Reply(answer.status, headers, bytes(body), request.url, challenges)


def _check_location(url: str, location: str, where: str) -> None:
    """Raises RegistryError for a redirect to a URL that no request can have, also where nobody would follow it."""
    valid = not holds_control(location)
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        if parts.scheme in DEFAULT_PORTS and parts.hostname:
            request_target(target)
    except ValueError:
        valid = False
    if not valid:
        raise RegistryError(f"{where} redirects to an invalid URL: refused")
