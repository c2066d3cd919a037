"""One HTTP exchange: the only module that knows httpx.

    Wire.send(method, url, headers)  ->  Reply(status, headers, body)

One client and one TLS context for the process; HTTP/1.1; no cookies, no redirects, no decoding: bodies are read raw
and only up to a limit, and a Content-Encoding other than identity is refused (httpx would inflate a bomb before it
could be counted). Names are resolved here, every address is judged (`addresses`), and the judged address is dialled.
Connections for what a registry pointed to (a redirect, a token service elsewhere) are kept apart from those to the
registries themselves, because the latter may lead to private networks. No read, write or connect outlives the run's
deadline, however slowly the bytes drip.

Proxies: see `proxies`; behind a proxy only numeric hosts can be judged,
as the proxy resolves names. Trust: SSL_CERT_FILE or SSL_CERT_DIR, else certifi's bundle.
"""

from __future__ import annotations

import http.cookiejar
import os
import socket
import ssl
import threading
import time
from urllib.parse import urlsplit

import httpcore
import httpx

from archfit.errors import RegistryError
from archfit.record import Record
from archfit.registry.addresses import kind_of
from archfit.registry.proxies import proxy_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

CONNECT_SECONDS = 10.0
READ_SECONDS = 15.0
MAX_CONNECTIONS = 128
_resolve = socket.getaddrinfo


class Unreachable(RegistryError):
    """No HTTP answer. again: asking once more may help."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.again = again


class Reply(Record):
    """An answer. headers: lower-case names, repeated ones joined by ", ". url: what was asked in the end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    challenges: tuple[str, ...] = ()


class Wire:
    """The process's connections; safe to use from several threads.

    named: `host:port` of servers the operator named: any address but a refused one may be dialled.
    own: `host:port` of registries that references name: private addresses may be dialled, but not loopback.
    """

    def __init__(
        self,
        agent: str,
        environ: Mapping[str, str] = os.environ,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.named: set[tuple[str, int]] = set()
        self.own: set[tuple[str, int]] = set()
        self.deadline = monotonic() + 3600.0
        self._monotonic = monotonic
        self.environ = environ
        self._transport = _Transport(self)
        jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx.Client(transport=self._transport, trust_env=False, cookies=jar)
        # httpx by itself invites compression.
        self._client.headers = httpx.Headers({"user-agent": agent, "accept-encoding": "identity"})

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        limit: int,
        content: bytes = b"",
        foreign: bool = False,
    ) -> Reply:
        """One request, one answer; at most `limit` bytes of body. foreign: a registry pointed to this URL.

        Raises Unreachable, and RegistryError for an address or an answer that is refused.
        """
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
        except RegistryError:
            raise
        except (httpx.InvalidURL, UnicodeError):
            raise RegistryError(f"{where!r} is no host that can be asked") from None
        except (httpcore.TimeoutException, TimeoutError):
            raise Unreachable(f"{where} did not answer in time", again=self.left() > 0) from None
        except (httpcore.ProxyError, httpcore.UnsupportedProtocol) as error:
            raise Unreachable(f"the proxy for {where} refused: {_plain(error)}", again=False) from None
        except httpx.RemoteProtocolError:
            # httpx reads Location even where it does not follow it.
            raise RegistryError(f"{where} redirects to something that is no URL: refused") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpx.HTTPError, OSError) as error:
            raise Unreachable(f"the connection to {where} broke: {_plain(error)}", again=True) from None

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
            if len(body) > limit:
                raise RegistryError(
                    f"{where} sent more than {limit} bytes: refused", status=response.status_code
                )
        challenges = tuple(response.headers.get_list("www-authenticate"))
        return Reply(response.status_code, dict(response.headers), bytes(body), url, challenges)

    def left(self) -> float:
        """Seconds until the deadline, 0 after it."""
        return max(0.0, self.deadline - self._monotonic())

    def close(self) -> None:
        self._client.close()


class _Transport(httpx.BaseTransport):
    """httpx's requests over httpcore's pools: the registries', the strangers', and one for each proxy."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._context: ssl.SSLContext | None = None
        self._lock = threading.Lock()
        self._pools: dict[tuple[str, object], httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        host, port = url.raw_host.decode("ascii"), url.port or {"https": 443, "http": 80}[url.scheme]
        foreign = bool(request.extensions.get("foreign"))
        left = self._wire.left()
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
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def _pool(self, scheme: str, host: str, port: int, *, foreign: bool) -> httpcore.ConnectionPool:
        proxy = proxy_for(scheme, host, port, self._wire.environ)
        if proxy:
            judge_literal(self._wire, host, port, foreign=foreign)
        key = (scheme, proxy or foreign)
        with self._lock:
            if key not in self._pools:
                if self._context is None and (scheme == "https" or proxy.startswith("https:")):
                    self._context = _context(self._wire.environ)
                backend = _Backend(self._wire, None if proxy else foreign)
                options: dict[str, Any] = {
                    "ssl_context": self._context,
                    "max_connections": MAX_CONNECTIONS,
                    "max_keepalive_connections": MAX_CONNECTIONS,
                    "keepalive_expiry": 60.0,
                    "network_backend": backend,
                }
                self._pools[key] = _through(proxy, options) if proxy else httpcore.ConnectionPool(**options)
            return self._pools[key]

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


class _Backend(httpcore.NetworkBackend):
    """Resolves, judges and dials. foreign: None for a proxy, which the operator chose."""

    def __init__(self, wire: Wire, foreign: bool | None) -> None:
        self._wire = wire
        self._foreign = foreign
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            found = _resolve(host.strip("[]"), port, type=socket.SOCK_STREAM)
        except (socket.gaierror, UnicodeError) as error:
            again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise Unreachable(f"the name {host!r} cannot be resolved", again=again) from None
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if self._foreign is not None:
            addresses = allowed(self._wire, host, port, addresses, foreign=self._foreign)
        for last, address in ((address == addresses[-1], address) for address in addresses):
            share = max(min(timeout or CONNECT_SECONDS, self._wire.left()) / (1 if last else 2), 0.001)
            try:
                stream = self._inner.connect_tcp(address, port, share, local_address, socket_options)
                return _Stream(stream, self._wire, host)
            except httpcore.ConnectTimeout:
                if last:
                    raise Unreachable(
                        f"{host}:{port} does not accept connections in time", again=True
                    ) from None
            except httpcore.ConnectError as error:
                if last:
                    raise Unreachable(
                        f"{host}:{port} cannot be connected to: {_plain(error)}", again=True
                    ) from None
        raise Unreachable(f"the name {host!r} has no address", again=False)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    """A stream whose every wait ends at the run's deadline."""

    def __init__(self, inner: httpcore.NetworkStream, wire: Wire, host: str) -> None:
        self._inner = inner
        self._wire = wire
        self._host = host

    def _clamped(self, timeout: float | None) -> float:
        left = self._wire.left()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if timeout is None else min(timeout, left)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._clamped(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._clamped(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        try:
            inner = self._inner.start_tls(ssl_context, server_hostname, self._clamped(timeout))
        except httpcore.ConnectError as error:
            why = error.__cause__ or error.__context__ or error
            if isinstance(why, ssl.SSLCertVerificationError):
                raise Unreachable(
                    f"the TLS certificate of {self._host} is not trusted ({why.verify_message}): "
                    "name the CA in SSL_CERT_FILE",
                    again=False,
                ) from None
            if isinstance(why, ssl.SSLError):
                raise Unreachable(
                    f"{self._host} does not speak TLS as expected ({why.reason})", again=False
                ) from None
            raise
        return _Stream(inner, self._wire, self._host)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def allowed(wire: Wire, host: str, port: int, addresses: list[str], *, foreign: bool) -> list[str]:
    """Those addresses of `host:port` that may be dialled. Raises RegistryError if there are none."""
    place = (host.strip("[]").lower(), port)
    kinds = {"public"}
    if place in wire.named:
        kinds |= {"private", "loopback"}
    elif place in wire.own and not foreign:
        kinds.add("private")
    judged = [(address, kind_of(address)) for address in addresses]
    good = [address for address, kind in judged if kind in kinds]
    if not good and judged:
        address, kind = judged[0]
        shown = f"{host}:{port}"
        what = {"refused": "a link-local, metadata or otherwise special", "loopback": "a loopback"}.get(
            kind, "a private"
        )
        remedy = (
            ""
            if kind == "refused"
            else f": if it is meant, name the server, as in `--mirror {shown}=https://{shown}`"
        )
        raise RegistryError(f"{shown} leads to {what} address, {address}, which is not dialled{remedy}")
    return good


def judge_literal(wire: Wire, host: str, port: int, *, foreign: bool) -> None:
    """Judge a numeric host that a proxy would dial for us; names are the proxy's to resolve."""
    try:
        found = _resolve(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):
        return
    allowed(wire, host, port, [str(entry[4][0]) for entry in found], foreign=foreign)


def _context(environ: Mapping[str, str]) -> ssl.SSLContext:
    file, folder = environ.get("SSL_CERT_FILE", ""), environ.get("SSL_CERT_DIR", "")
    if not file and not folder:
        import certifi

        file = certifi.where()
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ssl.SSLError) as error:
        raise RegistryError(
            f"the CA certificates in {file or folder} cannot be read: {_plain(error)}"
        ) from None


def _through(proxy: str, options: dict[str, Any]) -> httpcore.ConnectionPool:
    parts = urlsplit(proxy)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise RegistryError("the proxy in the environment is no http:// or https:// URL")
    from urllib.parse import unquote

    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return httpcore.HTTPProxy(proxy_url=bare, proxy_auth=auth, **options)


def _plain(error: BaseException) -> str:
    """The error's own words, short and printable."""
    told = error.__cause__ if isinstance(error.__cause__, OSError) else error
    text = getattr(told, "strerror", None) or str(told) or type(told).__name__
    return "".join(character for character in str(text)[:200] if character.isprintable())
