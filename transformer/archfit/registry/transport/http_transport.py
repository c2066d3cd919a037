"""HTTP: the only module that knows httpx, as a client over this transport on httpcore's public interface.

    exchange -> httpx.Client -> handle_request -> httpcore.ConnectionPool -> connect_tcp -> Dialer

One client for the process; HTTP/1.1; no cookies, no redirects, no decoding: bodies are read raw and only up to a limit,
and a Content-Encoding other than identity is refused (httpx would inflate a bomb before it could be counted). No read
or write lasts longer than the run's deadline, however slowly the bytes drip.

    pool                                                shared by
    direct, the registries' own servers                 requests to the registry itself (not `other_host`)
    direct, other hosts                                 redirects and token services (`other_host`); separate, because
                                                        the registries' own servers may be on private networks
    each proxy                                          all that goes through it; only numeric hosts can be judged
    each server with TLS trust of its own (`trust`)     nothing else; it has a TLS context of its own, too
"""

from __future__ import annotations

import http.cookiejar
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from archfit.errors import RegistryError
from archfit.registry.transport.bodies import SMALL, LargeBodies
from archfit.registry.transport.dialer import CONNECT_SECONDS, Dialer
from archfit.registry.transport.host_port import DEFAULT_PORTS
from archfit.registry.transport.network_stream import DeadlineStream, SocketStream, reason
from archfit.registry.transport.proxies import proxy_for
from archfit.registry.transport.request import Reply, Request, Unreachable
from archfit.registry.transport.tls import context
from archfit.registry.transport.trust import USUAL, Tls, Trust

READ_SECONDS = 15.0
MAX_CONNECTIONS = 128


class HttpTransport(httpx.BaseTransport):
    """Exchanges for all threads; see the module. agent: the User-Agent header."""

    def __init__(
        self, dialer: Dialer, agent: str, environ: Mapping[str, str], trust: Trust, bodies: LargeBodies
    ) -> None:
        self._dialer = dialer
        self._environ = environ
        self._trust = trust
        self._bodies = bodies
        self._contexts: dict[Tls, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self._pools: dict[tuple[object, ...], httpcore.ConnectionPool] = {}
        no_cookies = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx.Client(transport=self, trust_env=False, cookies=no_cookies)
        # httpx by itself asks for compression.
        self._client.headers = httpx.Headers({"user-agent": agent, "accept-encoding": "identity"})

    def exchange(self, request: Request) -> Reply:
        """As `Connections.send`."""
        where = urlsplit(request.url).netloc
        try:
            response = self._client.send(
                self._client.build_request(
                    request.method,
                    request.url,
                    headers=dict(request.headers),
                    content=request.content or None,
                    extensions={"other_host": request.other_host},
                ),
                stream=True,
            )
            try:
                return self._read(response, request)
            finally:
                response.close()
        except (httpx.InvalidURL, UnicodeError):
            raise RegistryError(f"{where!r} is not a host that can be asked: correct the name") from None
        except (httpcore.TimeoutException, TimeoutError):
            raise Unreachable(f"{where} did not answer in time", retryable=self._dialer.left() > 0) from None
        except (httpcore.ProxyError, httpcore.UnsupportedProtocol) as error:
            raise Unreachable(f"the proxy for {where} refused: {reason(error)}", retryable=False) from None
        except (httpcore.LocalProtocolError, httpx.LocalProtocolError):
            # The library's own words repeat the header, which may be a credential.
            raise RegistryError(
                f"the request to {where} cannot be sent: one of its headers is not valid"
            ) from None
        except httpx.RemoteProtocolError:
            # httpx reads Location even where it does not follow it.
            raise RegistryError(f"{where} redirects to an invalid URL: refused") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpx.HTTPError, OSError) as error:
            raise Unreachable(f"the connection to {where} broke: {reason(error)}", retryable=True) from None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """As httpx.BaseTransport."""
        url = request.url
        left = self._dialer.left()
        if left <= 0:
            raise httpcore.ReadTimeout
        timeout = {
            "connect": min(left, CONNECT_SECONDS),
            "read": min(left, READ_SECONDS),
            "write": left,
            "pool": left,
        }
        pool = self._pool(
            url.scheme,
            url.host,
            url.port or DEFAULT_PORTS[url.scheme],
            other_host=bool(request.extensions.get("other_host")),
        )
        answer = pool.handle_request(
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
        if isinstance(stream, DeadlineStream) and not stream.answered:
            stream.close()
            answer.close()
            raise httpcore.RemoteProtocolError("an answer came before its request")
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    def _read(self, response: httpx.Response, request: Request) -> Reply:
        where = urlsplit(request.url).netloc
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", ""}:
            raise RegistryError(
                f"{where} sent a compressed answer ({encoding[:20]!r}), which archfit did not ask for: refused"
            )
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > SMALL:
                self._bodies.enter()
            if len(body) > request.limit:
                raise RegistryError(
                    f"{where} sent more than {request.limit} bytes: refused", status=response.status_code
                )
        challenges = tuple(response.headers.get_list("www-authenticate"))
        return Reply(response.status_code, dict(response.headers), bytes(body), request.url, challenges)

    def _pool(self, scheme: str, host: str, port: int, *, other_host: bool) -> httpcore.ConnectionPool:
        proxy = proxy_for(scheme, host, port, self._environ)
        if proxy:
            self._dialer.check_literal(host, port, other_host=other_host)
        tls = self._trust.of(host, port)
        key = (scheme, proxy or other_host, *((host, port) if tls != USUAL else ()))
        with self._lock:
            if key not in self._pools:
                if not tls.verify:
                    self._trust.insecure.add(f"{scheme}://{host}:{port}")
                backend = _ToProxy(self._dialer) if proxy else _Direct(self._dialer, other_host)
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


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer.iter_stream())

    def close(self) -> None:
        self._answer.close()


class _Direct(httpcore.NetworkBackend):
    """Connections from the dialer."""

    def __init__(self, dialer: Dialer, other_host: bool) -> None:
        self._dialer = dialer
        self._other_host = other_host

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the dialer knows the deadline
        local_address: str | None = None,  # noqa: ARG002 - httpcore's signature
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - httpcore's signature
    ) -> httpcore.NetworkStream:
        host = host.strip("[]")
        made = self._dialer.connect(host, port, other_host=self._other_host)
        return DeadlineStream(SocketStream(made), self._dialer.left, host, port)


class _ToProxy(httpcore.NetworkBackend):
    """Connections to a proxy, which the operator chose: its address is not judged."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
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
        return DeadlineStream(made, self._dialer.left, host, port)


def _through(proxy: str, options: dict[str, Any]) -> httpcore.ConnectionPool:
    parts = urlsplit(proxy)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RegistryError(
            "the proxy in the environment is not an http:// or https:// URL: "
            "correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
        )
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return httpcore.HTTPProxy(proxy_url=bare, proxy_auth=auth, **options)
