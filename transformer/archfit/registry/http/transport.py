"""Requests over connections that are kept: HTTP/1.1 by httpcore, no cookies, no redirects, no decoding.

    RetryingClient ── Request ──> HttpTransport ── httpx.Request ──> httpcore.HTTP11Connection ──> streams, Dialer
                   <── Reply ────

    httpx       the parts of a URL, headers
    httpcore    one connection: a request is written, its answer is read; TLS inside TLS
    here        which connection, who may be asked, how long and how much is read

    way                                                 kept apart
    direct, the registries' own servers                 requests to the registry itself (not `other_host`)
    direct, other hosts                                 redirects and token services (`other_host`); because the
                                                        registries' own servers may be on private networks
    through a proxy                                     http: the whole URL as target; https: CONNECT, then TLS;
                                                        only numeric hosts can be judged

Bodies are read raw and only up to a limit; a Content-Encoding other than identity is refused, because a bomb would be
inflated before it could be counted. No read or write lasts longer than the run's deadline, however slowly the bytes
drip. There is one TLS context for each kind of trust (`trust`), made when a connection first needs it.

httpcore's own pool is not used: it takes what came behind an answer for the answer to the next request.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from archfit import __version__
from archfit.registry.http.dialer import Dialer
from archfit.registry.http.limits import SMALL, LargeBodies, RequestBudget
from archfit.registry.http.proxies import Proxy, proxy_at, proxy_for, variable_of
from archfit.registry.http.request import Reply, Request, TooLarge, Unreachable, late, reason
from archfit.registry.http.streams import READ_SECONDS, DirectStream, ProxyStream
from archfit.registry.http.trust import DEFAULT_PORTS, USUAL, HostPort, host_port
from archfit.registry.registry_errors import RegistryError

AGENT = f"archfit/{__version__}"
MAX_IDLE = 128
IDLE_SECONDS = 60.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Way: TypeAlias = "tuple[str, str, int, str | bool]"
"""Scheme, host, port; then the proxy's URL, or for a direct connection whether it is to another host."""

# httpcore's lines for debugging hold headers of answers: signed URLs, cookies.
logging.getLogger("httpcore").setLevel(logging.WARNING)


class _ProxyRefused(Exception):
    """The proxy answered CONNECT with another status than 2xx: "407 Proxy Authentication Required"."""


class _Connection(httpcore.HTTP11Connection):
    """httpcore's connection; it says whether anything came behind the last answer, as httpcore itself does not."""

    def may_stay(self) -> bool:
        """The answer was read to its end, and nothing came behind it."""
        return self.is_idle() and not self._h11_state.trailing_data[0]


class HttpTransport:
    """Exchanges for all threads; see the module. read_seconds: how long a server may be silent within an answer.

    bodies: large answers that are in memory. budget: when a server may be asked, None for at any time; the turn is
    taken last, so that nothing slow comes between it and the request.
    """

    def __init__(
        self,
        dialer: Dialer,
        bodies: LargeBodies,
        budget: RequestBudget | None = None,
        *,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        dialer.ahead = False
        self.left: Callable[[], float] = dialer.left
        self.policy = dialer.policy
        self._dialer = dialer
        self._bodies = bodies
        self._budget = budget
        self._timeouts = {"timeout": {"read": read_seconds}}
        self._lock = threading.Lock()
        self._idle: dict[Way, deque[_Connection]] = {}
        self._closed = False

    def send(self, request: Request) -> Reply:
        """One request, one answer, no redirect.

        Raises Unreachable, and RegistryError for a server, an address or an answer that is refused.
        """
        origin = request.origin
        shown = origin.partition("://")[2]
        self.policy.check(*host_port(origin))
        if self.left() <= 0:
            raise Unreachable(late(shown), retryable=False)
        if self._budget:
            self._budget.take(shown, self.left())
        where = urlsplit(request.url).netloc
        try:
            url = _url(request.url)
        except httpx.InvalidURL:
            raise RegistryError(f"{where!r} is not a host that can be asked: correct the name") from None
        try:
            return self._exchanged(request, url)
        except (TimeoutError, httpcore.TimeoutException):
            if self.left() > 0:
                raise Unreachable(f"{where} did not answer in time", retryable=True) from None
            raise Unreachable(late(where), retryable=False) from None
        except _ProxyRefused as error:
            raise self._proxy_problem(url, f"refused a connection to {where}: {reason(error)}") from None
        except (httpcore.LocalProtocolError, UnicodeEncodeError):  # whose words may be a secret
            raise RegistryError(
                f"the request to {where} cannot be sent: one of its headers is not valid"
            ) from None
        except (httpcore.RemoteProtocolError, httpcore.NetworkError, OSError) as error:
            raise Unreachable(
                f"the connection to {where} broke: {reason(_origin_of(error))}", retryable=True
            ) from None

    def close(self) -> None:
        """Close all connections, and those that threads are done with after the run's end."""
        with self._lock:
            self._closed = True
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()

    def _exchanged(self, request: Request, url: httpx.URL) -> Reply:
        scheme = url.scheme
        host, port = _server(url)
        proxy = proxy_for(scheme, host, port, self._dialer.environ)
        if proxy:
            self._dialer.check_literal(host, port, other_host=request.other_host)
        if not self._dialer.trust.of(host, port).verify:
            self._dialer.trust.insecure.add(f"{scheme}://{host}:{port}")
        message = self._message(request, url, proxy_at(proxy) if proxy and scheme == "http" else None)
        way = (scheme, host, port, proxy or request.other_host)
        connection = self._kept(way) or self._connected(url, proxy, other_host=request.other_host)
        try:
            with contextlib.closing(connection.handle_request(message)) as response:
                reply = self._read(response, request)
        except BaseException:
            connection.close()
            raise
        self._keep(way, connection)
        return reply

    def _message(self, request: Request, url: httpx.URL, proxy: Proxy | None) -> httpcore.Request:
        """proxy: that gets the whole URL as target."""
        defaults = {
            "accept": "*/*",
            "connection": "keep-alive",
            "user-agent": AGENT,
            "accept-encoding": "identity",
        }
        given = {name.lower(): value for name, value in request.headers.items()}
        headers = {**defaults, **given, **(proxy.headers if proxy else {})}
        if any("\x7f" in value for value in headers.values()):  # h11 refuses all else that is not visible
            raise httpcore.LocalProtocolError
        made = httpx.Request(request.method, url, headers=headers, content=request.content or None)
        target = b"%b://%b%b" % (url.raw_scheme, url.netloc, url.raw_path) if proxy else url.raw_path
        return httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=_server(url)[1], target=target),
            headers=made.headers.raw,
            content=request.content or None,
            extensions=self._timeouts,
        )

    def _connected(self, url: httpx.URL, proxy: str, *, other_host: bool) -> _Connection:
        """A new connection. Raises OSError, httpcore's errors, Unreachable, RegistryError, and _ProxyRefused."""
        host, port = _server(url)
        stream = (
            self._to_proxy(url, proxy_at(proxy))
            if proxy
            else DirectStream(self._dialer.connect(host, port, other_host=other_host), self.left)
        )
        try:
            if url.scheme == "https":
                stream.secure(self._dialer.context(self._dialer.trust.of(host, port)), host, port)
        except BaseException:
            stream.close()
            raise
        return _Connection(httpcore.Origin(url.raw_scheme, url.raw_host, port), stream, IDLE_SECONDS)

    def _to_proxy(self, url: httpx.URL, proxy: Proxy) -> ProxyStream:
        """A connection to the proxy, which leads to the server where that is asked over https (RFC 9110, 9.3.6)."""
        try:
            stream = ProxyStream(proxy.host, proxy.port, self.left)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            if self.left() <= 0:
                raise TimeoutError from None
            raise self._proxy_problem(url, f"cannot be connected to ({reason(_origin_of(error))})") from None
        try:
            if proxy.scheme == "https":
                stream.secure(self._dialer.context(USUAL), proxy.host, proxy.port)
            if url.scheme == "https":
                _open_tunnel(stream, proxy, *_server(url))
        except BaseException:
            stream.close()
            raise
        return stream

    def _proxy_problem(self, url: httpx.URL, what: str) -> Unreachable:
        """What the user is told about a proxy. what: goes on after its name."""
        (host, port), environ = _server(url), self._dialer.environ
        variable = variable_of(url.scheme, environ)
        proxy = proxy_at(proxy_for(url.scheme, host, port, environ))
        if ": 407" in what:
            remedy = f"write user and password into {variable}, as {proxy.scheme}://USER:PASSWORD@{proxy.host}:{proxy.port}"
        else:
            remedy = f"correct {variable}, or ask {host} without it: NO_PROXY={host}"
        return Unreachable(
            f"the proxy {proxy} ({variable}), through which {url.netloc.decode('ascii')} is asked, {what}: {remedy}",
            retryable=False,
            mistake=True,
        )

    def _kept(self, way: Way) -> _Connection | None:
        """An idle connection that the other side has not ended."""
        while True:
            with self._lock:
                idle = self._idle.get(way)
                if not idle:
                    return None
                connection = idle.popleft()
            if not connection.has_expired():
                return connection
            connection.close()

    def _keep(self, way: Way, connection: _Connection) -> None:
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

    def _read(self, response: httpcore.Response, request: Request) -> Reply:
        where = urlsplit(request.url).netloc
        fields = httpx.Headers(response.headers).multi_items()
        headers: dict[str, str] = {}
        for name, value in fields:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", ""}:
            raise RegistryError(
                f"{where} sent a compressed answer ({encoding[:20]!r}), which archfit did not ask for: refused"
            )
        if response.status in _REDIRECTS and "location" in headers:
            _check_location(request.url, headers["location"], where)
        body = bytearray()
        for part in response.iter_stream():
            body += part
            if len(body) > SMALL:
                self._bodies.enter()
            if len(body) > request.limit:
                raise TooLarge(
                    f"{where} sent more than {request.limit} bytes: refused", status=response.status
                )
        challenges = tuple(value for name, value in fields if name == "www-authenticate")
        return Reply(response.status, headers, bytes(body), request.url, challenges)


def _url(text: str) -> httpx.URL:
    """Raises httpx.InvalidURL."""
    url = httpx.URL(text)
    if not url.host:
        raise httpx.InvalidURL("a URL without a host")
    return url


def _server(url: httpx.URL) -> HostPort:
    """Host, without brackets, lower case, ASCII; and port."""
    return url.raw_host.decode("ascii"), url.port or DEFAULT_PORTS[url.scheme]


def _open_tunnel(stream: ProxyStream, proxy: Proxy, host: str, port: int) -> None:
    """From now on the stream, to the proxy, leads to `host:port`. Raises _ProxyRefused."""
    server = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    url = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target=server)
    headers = {"Host": server, "accept": "*/*", **proxy.headers}
    response = httpcore.HTTP11Connection(url.origin, stream).handle_request(
        httpcore.Request("CONNECT", url, headers=list(headers.items()))
    )
    if not 200 <= response.status <= 299:
        words = response.extensions["reason_phrase"].decode("ascii", errors="ignore")
        raise _ProxyRefused(f"{response.status} {words}")


def _origin_of(error: BaseException) -> BaseException:
    """The system's own error where httpcore's stands for one."""
    return error.__cause__ if isinstance(error.__cause__, OSError) else error


def _check_location(url: str, location: str, where: str) -> None:
    """Raises RegistryError for a redirect to a URL that no request can have, also where nobody would follow it."""
    try:
        httpx.URL(location)  # `urljoin` drops control characters
        target = urljoin(url, location)
        parts = urlsplit(target)
        if parts.scheme in DEFAULT_PORTS and parts.hostname:
            _url(target)
    except (ValueError, httpx.InvalidURL):
        raise RegistryError(f"{where} redirects to an invalid URL: refused") from None
