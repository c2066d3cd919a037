"""HTTP: the only module that knows httpx.

One client and one TLS context for the process; HTTP/1.1; no cookies, no redirects, no decoding: bodies are read raw
and only up to a limit, and a Content-Encoding other than identity is refused (httpx would inflate a bomb before it
could be counted). Connections come from `dial`; those to what a registry pointed to are kept apart from those to the
registries themselves, because the latter may lead to private networks. No read or write outlives the run's deadline,
however slowly the bytes drip.

Proxies: see `proxies`; behind one only numeric hosts can be judged, as it resolves the names.
Trust: see `contexts`; a server that is trusted in a way of its own shares no connections and no context.
"""

from __future__ import annotations

import http.cookiejar
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from archfit.errors import RegistryError
from archfit.registry.transport.bodies import SMALL, LargeBodies
from archfit.registry.transport.connection import Reply
from archfit.registry.transport.dialer import CONNECT_SECONDS, Dialler, Unreachable
from archfit.registry.transport.network_stream import Stream, Wired, plain
from archfit.registry.transport.proxies import proxy_for
from archfit.registry.transport.tls import context
from archfit.registry.transport.trust import USUAL, Tls, Trust

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl


READ_SECONDS = 15.0
MAX_CONNECTIONS = 128


class Engine:
    """Exchanges for all threads; see `Wire`."""

    def __init__(
        self, dialler: Dialler, agent: str, environ: Mapping[str, str], trust: Trust, bodies: LargeBodies
    ) -> None:
        self._dialler = dialler
        self._bodies = bodies
        jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx.Client(
            transport=_Transport(dialler, environ, trust), trust_env=False, cookies=jar
        )
        # httpx by itself invites compression.
        self._client.headers = httpx.Headers({"user-agent": agent, "accept-encoding": "identity"})

    def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        limit: int,
        content: bytes,
        foreign: bool,
    ) -> Reply:
        """As `Wire.send`."""
        where = urlsplit(url).netloc
        try:
            request = self._client.build_request(
                method, url, headers=dict(headers), content=content or None, extensions={"foreign": foreign}
            )
            response = self._client.send(request, stream=True)
            try:
                return self._read(response, url, limit)
            finally:
                response.close()
        except (httpx.InvalidURL, UnicodeError):
            raise RegistryError(f"{where!r} is no host that can be asked") from None
        except (httpcore.TimeoutException, TimeoutError):
            raise Unreachable(f"{where} did not answer in time", again=self._dialler.left() > 0) from None
        except (httpcore.ProxyError, httpcore.UnsupportedProtocol) as error:
            raise Unreachable(f"the proxy for {where} refused: {plain(error)}", again=False) from None
        except (httpcore.LocalProtocolError, httpx.LocalProtocolError):
            # The library's own words repeat the header, which may be a credential.
            raise RegistryError(
                f"the request to {where} cannot be sent: a header of it is not valid"
            ) from None
        except httpx.RemoteProtocolError:
            # httpx reads Location even where it does not follow it.
            raise RegistryError(f"{where} redirects to something that is no URL: refused") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpx.HTTPError, OSError) as error:
            raise Unreachable(f"the connection to {where} broke: {plain(error)}", again=True) from None

    def close(self) -> None:
        """End all connections."""
        self._client.close()

    def _read(self, response: httpx.Response, url: str, limit: int) -> Reply:
        where = urlsplit(url).netloc
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", ""}:
            raise RegistryError(
                f"{where} sent a compressed answer ({encoding[:20]!r}) that nobody asked for: refused"
            )
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > SMALL:
                self._bodies.enter()
            if len(body) > limit:
                raise RegistryError(
                    f"{where} sent more than {limit} bytes: refused", status=response.status_code
                )
        challenges = tuple(response.headers.get_list("www-authenticate"))
        return Reply(response.status_code, dict(response.headers), bytes(body), url, challenges)


class _Transport(httpx.BaseTransport):
    """The client's requests over httpcore's pools: the registries', the strangers', and one for each proxy."""

    def __init__(self, dialler: Dialler, environ: Mapping[str, str], trust: Trust) -> None:
        self._dialler = dialler
        self._environ = environ
        self._trust = trust
        self._contexts: dict[Tls, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self._pools: dict[tuple[object, ...], httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        host, port = url.host, url.port or {"https": 443, "http": 80}[url.scheme]
        foreign = bool(request.extensions.get("foreign"))
        left = self._dialler.left()
        if left <= 0:
            raise httpcore.ReadTimeout
        timeout = {
            "connect": min(left, CONNECT_SECONDS),
            "read": min(left, READ_SECONDS),
            "write": left,
            "pool": left,
        }
        answer = self._pool(url.scheme, host, port, foreign=foreign).handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions={"timeout": timeout},
            )
        )
        stream = answer.extensions.get("network_stream")
        if isinstance(stream, Stream) and not stream.answered:
            stream.close()
            answer.close()
            raise httpcore.RemoteProtocolError("an answer came before its request")
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def _pool(self, scheme: str, host: str, port: int, *, foreign: bool) -> httpcore.ConnectionPool:
        proxy = proxy_for(scheme, host, port, self._environ)
        if proxy:
            self._dialler.judge_literal(host, port, foreign=foreign)
        tls = self._trust.of(host, port)
        # A server with a trust of its own has a pool of its own, which nothing else is sent through.
        key = (scheme, proxy or foreign, *((host, port) if tls != USUAL else ()))
        with self._lock:
            if key not in self._pools:
                if not tls.verify:
                    self._trust.careless.add(f"{scheme}://{host}:{port}")
                backend = _ToProxy(self._dialler) if proxy else _Direct(self._dialler, foreign)
                options: dict[str, Any] = {
                    "ssl_context": self._context(tls) if scheme == "https" else None,
                    "max_connections": MAX_CONNECTIONS,
                    "max_keepalive_connections": MAX_CONNECTIONS,
                    "keepalive_expiry": 60.0,
                    "network_backend": backend,
                }
                if proxy.startswith("https:"):
                    options["proxy_ssl_context"] = self._context(USUAL)
                self._pools[key] = _through(proxy, options) if proxy else httpcore.ConnectionPool(**options)
            return self._pools[key]

    def _context(self, tls: Tls) -> ssl.SSLContext:
        if tls not in self._contexts:
            self._contexts[tls] = context(tls, self._trust.ca_file, self._environ)
        return self._contexts[tls]

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer.iter_stream())

    def close(self) -> None:
        self._answer.close()


class _Direct(httpcore.NetworkBackend):
    """Connections from the dialler."""

    def __init__(self, dialler: Dialler, foreign: bool) -> None:
        self._dialler = dialler
        self._foreign = foreign

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the dialler knows the deadline
        local_address: str | None = None,  # noqa: ARG002 - httpcore's signature
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - httpcore's signature
    ) -> httpcore.NetworkStream:
        host = host.strip("[]")
        made = self._dialler.connect(host, port, foreign=self._foreign)
        return Stream(Wired(made), self._dialler, host)


class _ToProxy(httpcore.NetworkBackend):
    """Connections to a proxy, which the operator chose."""

    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        made = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        return Stream(made, self._dialler, host)


def _through(proxy: str, options: dict[str, Any]) -> httpcore.ConnectionPool:
    parts = urlsplit(proxy)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RegistryError("the proxy in the environment is no http:// or https:// URL")
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return httpcore.HTTPProxy(proxy_url=bare, proxy_auth=auth, **options)
