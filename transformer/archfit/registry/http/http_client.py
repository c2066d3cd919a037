"""HTTP/1.1 for all threads of a run, under one policy of tries, pauses, redirects and limits; no cookies.

Waits are Retry-After, in seconds or as an HTTP date (RFC 9110 10.2.3), else 0.25 s, doubled for each try up to 4 s. A
wait that would end after the deadline is not begun. Docker Hub's pull limit lasts hours and is not waited for.

A redirect never leads from https to http. Where scheme, host or port change, only Accept goes along: not Authorization,
nor any header that the operator has set for one server. A token request follows no redirect to another origin.

A server that gzips unasked is read; what it sends and what that becomes have the same limit.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import sleep, time
from urllib.parse import quote, urljoin, urlsplit

import h11

from archfit import __version__
from archfit.registry.http.connections import READ_SECONDS, ConnectionPool, Way
from archfit.registry.http.http11 import Ended, Http11Connection
from archfit.registry.http.limits import MOST_PIECES, PIECE_BYTES, SMALL, LargeBodies, RequestBudget, TooMuch
from archfit.registry.http.request import (
    Broken,
    Reply,
    Request,
    TooLarge,
    Unreachable,
    late,
    origin_of,
    reason,
)
from archfit.registry.http.servers import Servers
from archfit.registry.http.trust import DEFAULT_PORTS, host_port, shown
from archfit.registry.quirks import PULL_LIMIT
from archfit.registry.registry_errors import RegistryError

AGENT = f"archfit/{__version__}"
TRIES = 5
CONNECTION_TRIES = 3
RETRIED = frozenset({408, 429, 500, 502, 503, 504})
BUSY = frozenset({429, 503})
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 4.0
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {"accept": "*/*", "connection": "keep-alive", "user-agent": AGENT, "accept-encoding": "identity"}
_LONGEST_URL = 65536
_SAFE = "/%:@!$&'()*+,;=?~[]"
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]").search
_NAME = re.compile(r"(?:[A-Za-z0-9_-]{1,63}(?:\.|$))+|[0-9A-Fa-f]*:[A-Za-z0-9._:%-]+", re.ASCII).fullmatch
_ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}", re.ASCII).fullmatch
_LIMITS = re.compile(r"[0-9]{1,12}(?:;w=[0-9]{1,12})?", re.ASCII).fullmatch


class HttpClient:
    """clock: Unix seconds, for Retry-After dates. wait: sleeps for some seconds.

    bodies: large answers that are in memory. budget: when a server may be asked, None for at any time; the turn is
    taken last, so that nothing slow comes between it and the request. read_seconds: how long a server may be silent
    within an answer.
    requests: how many were sent, by kind. sparing: manifests are not asked for where few pulls are left.
    """

    def __init__(
        self,
        connections: ConnectionPool,
        bodies: LargeBodies,
        *,
        clock: Callable[[], float] = time,
        wait: Callable[[float], object] = sleep,
        budget: RequestBudget | None = None,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self.servers = Servers()
        self.policy = connections.policy
        self.requests: dict[str, int] = {}
        self.sparing = False
        self.close = connections.close
        self._connections = connections
        self._left = connections.left
        self._bodies = bodies
        self._clock = clock
        self._wait = wait
        self._budget = budget
        self._read_seconds = read_seconds
        self._replies: dict[tuple[str, int], int] = {}
        self._counting = threading.Lock()

    def take_replies(self) -> dict[tuple[str, int], int]:
        """How many answers came since the last call, by server (`host[:port]`) and HTTP status; 0 is none."""
        with self._counting:
            replies, self._replies = self._replies, {}
        return replies

    def send(self, request: Request) -> Reply:
        """The last answer. Raises RegistryError where there is none, or one that is refused."""
        server = self.servers.of(request.origin)
        if self.sparing and request.kind == "manifest" and server.few_pulls_left:
            raise RegistryError(
                f"{request.origin} has {server.few_pulls_left} pulls left, which are kept for images that run"
            )
        pause = server.paused_for(self._clock())
        if pause and not self._pause(pause):
            raise RegistryError(
                f"{request.origin} asked for a pause of {pause:.0f} s, which ends after the deadline: try again later",
                status=429,
            )
        tried = 0
        while True:
            tried += 1
            try:
                reply = self._follow(request)
            except Unreachable as error:
                tries = CONNECTION_TRIES if request.retry else 2 if isinstance(error, Broken) else 1
                again = error.retryable and tried < tries
                if not (again and server.may_retry() and self._pause(wait_seconds(tried, None))):
                    raise
                continue
            if not request.retry or reply.status not in RETRIED or tried == TRIES:
                return reply
            if reply.status == 429 and is_pull_limit(reply.headers, reply.body):
                return reply
            seconds = retry_after(reply.headers.get("retry-after", ""), self._clock())
            if seconds:
                server.pause_until(self._clock() + seconds)
            if not (server.may_retry() and self._pause(wait_seconds(tried, seconds))):
                return reply

    def exchange(self, request: Request) -> Reply:
        """One request, one answer, no redirect.

        Raises Unreachable, and RegistryError for a server, an address or an answer that is refused.
        """
        server = self.servers.of(request.origin)
        wave = server.begin(self._left())
        try:
            with self._counting:
                self.requests[request.kind] = self.requests.get(request.kind, 0) + 1
            reply = self._answered(request)
        except RegistryError:
            self._count_reply(request, 0)
            raise
        finally:
            server.end()
        self._count_reply(request, reply.status)
        if reply.status in BUSY:
            server.busy(wave)
        pulls_left = reply.headers.get("ratelimit-remaining", "")
        if _LIMITS(pulls_left):  # other text might repeat what the server was sent
            server.pulls_left = pulls_left
        pull_limit = reply.headers.get("ratelimit-limit", "")
        if _LIMITS(pull_limit):
            server.pull_limit = pull_limit
        return reply

    def _pause(self, seconds: float) -> bool:
        """Wait, unless the deadline would pass meanwhile."""
        if seconds >= self._left():
            return False
        self._wait(seconds)
        return True

    def _follow(self, request: Request) -> Reply:
        start = request.origin
        for _ in range(MAX_REDIRECTS + 1):
            reply = self.exchange(request)
            location = reply.headers.get("location", "")
            if reply.status not in _REDIRECTS or not location:
                return reply
            before, request = request.origin, request.replace(url=_redirected(request.url, location))
            if request.origin != before:
                if request.kind == "token":
                    raise RegistryError(f"the token service at {start} redirects to another host: refused")
                accept = {name: value for name, value in request.headers.items() if name == "accept"}
                request = request.replace(headers=accept)
        raise RegistryError(f"{start} redirects more than {MAX_REDIRECTS} times")

    def _count_reply(self, request: Request, status: int) -> None:
        key = request.origin.partition("://")[2], status
        with self._counting:
            self._replies[key] = self._replies.get(key, 0) + 1

    def _answered(self, request: Request) -> Reply:
        shown = request.origin.partition("://")[2]
        self.policy.check(*host_port(request.origin))
        if self._left() <= 0:
            raise Unreachable(late(shown), retryable=False)
        if self._budget:
            self._budget.take(shown, self._left())
        where = urlsplit(request.url).netloc
        try:
            return self._exchanged(request)
        except TimeoutError:
            if self._left() > 0:
                raise Unreachable(f"{where} did not answer in time", retryable=True) from None
            raise Unreachable(late(where), retryable=False) from None
        except TooMuch as much:
            raise RegistryError(f"{where} sent {much}: refused") from None
        except (h11.LocalProtocolError, UnicodeEncodeError):  # whose words may be a secret
            raise RegistryError(
                f"the request to {where} cannot be sent: one of its headers is not valid"
            ) from None
        except (h11.RemoteProtocolError, OSError) as error:
            raise Broken(f"the connection to {where} broke: {reason(error)}") from None

    def _exchanged(self, request: Request) -> Reply:
        connections, origin = self._connections, request.origin
        scheme = origin.partition("://")[0]
        host, port = host_port(origin)
        way = connections.way(scheme, host, port, other_host=request.other_host)
        if not connections.trust.of(host, port).verify:
            connections.trust.insecure.add(f"{scheme}://{host}:{port}")
        message = _message(request, way)
        while True:
            connection = connections.take(way)
            try:
                answer = connection.ask(message, request.content, self._read_seconds)
                reply = self._read(answer, connection, request)
            except BaseException as error:
                connection.close()
                if isinstance(error, Ended) and not request.content:
                    continue  # each time there is one kept connection less
                raise
            connections.give_back(way, connection)
            return reply

    def _read(self, answer: h11.Response, connection: Http11Connection, request: Request) -> Reply:
        where, status = urlsplit(request.url).netloc, answer.status_code
        fields = [(name.decode(), _text(value)) for name, value in answer.headers]
        headers: dict[str, str] = {}
        for name, value in fields:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ({"identity", ""} if request.take else {"identity", "gzip", ""}):
            raise RegistryError(
                f"{where} sent a compressed answer ({encoding[:20]!r}), which archfit did not ask for: refused"
            )
        parts = _counted(connection.body())
        if status in _REDIRECTS and "location" in headers:
            _check_location(request.url, headers["location"], where)
        if request.take and status == 200:
            request.take(parts)
            return Reply(status, headers, b"", request.url)
        body = bytearray()
        for part in _unzipped(parts, where, request.limit) if encoding == "gzip" else parts:
            body += part
            if len(body) > SMALL:
                self._bodies.enter()
            if len(body) > request.limit:
                raise TooLarge(f"{where} sent more than {request.limit} bytes: refused", status=status)
        challenges = tuple(value for name, value in fields if name == "www-authenticate")
        return Reply(status, headers, bytes(body), request.url, challenges)


def _counted(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The parts of a body. Raises TooMuch: the work for each is the same, however small it is."""
    size = 0
    for number, part in enumerate(parts, 1):
        size += len(part)
        if number > MOST_PIECES + size // PIECE_BYTES:
            raise TooMuch(f"an answer in {number} pieces for {size} bytes")
        yield part


def _unzipped(parts: Iterable[bytes], where: str, limit: int) -> Iterator[bytes]:
    """The content of a gzip stream of one member, never more than one byte above the limit. Raises RegistryError."""
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    sent, left = 0, limit
    for part in parts:
        sent += len(part)
        try:
            content = decoder.decompress(part, left + 1)
        except zlib.error:
            raise RegistryError(f"{where} says that its answer is gzip, and it is not: refused") from None
        yield content
        left -= len(content)
        if left < 0 or sent > limit or decoder.unused_data:
            break
    if sent and (not decoder.eof or decoder.unused_data):
        raise RegistryError(
            f"{where} sent a gzip answer that is cut off, too long or of several parts: refused"
        )


def _message(request: Request, way: Way) -> h11.Request:
    """Raises RegistryError, h11.LocalProtocolError and UnicodeEncodeError for what cannot be sent."""
    target, proxy = _target(request.url), way.forward
    own = {name.lower(): value for name, value in request.headers.items()}
    host = shown(way.host, way.port, DEFAULT_PORTS[way.scheme])
    headers = {"Host": host, **_HEADERS, **own, **(proxy.headers if proxy else {})}
    if request.content:
        headers["Content-Length"] = str(len(request.content))
    if proxy:
        target = f"{way.scheme}://{host}{target}"
    if any("\x7f" in value for value in headers.values()):  # h11 refuses all else that is not visible
        raise h11.LocalProtocolError("DEL in a header")
    return h11.Request(method=request.method, target=target, headers=list(headers.items()))


def _text(value: bytes) -> str:
    """Of a header; it is of UTF-8, or of one byte for each character."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _target(url: str) -> str:
    """Path and query of a URL. Raises RegistryError for one that no request can have."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    # `127.1` is a name to the resolver alone, whose address is judged.
    address = host.count(".") == 3 and host.replace(".", "").isdecimal()
    if len(url) > _LONGEST_URL or _UNSEEN(url) or not (_ADDRESS if address else _NAME)(host):
        raise RegistryError(f"{parts.netloc!r} is not a host that can be asked: correct the name")
    # With a host before it, no path is taken for one, nor goes on with one.
    path = quote(urlsplit(urljoin("http://host", f"/.{parts.path}")).path, safe=_SAFE)
    return f"{path}?{quote(parts.query, safe=_SAFE)}" if parts.query else path


def _check_location(url: str, location: str, where: str) -> None:
    """Raises RegistryError for a redirect to a URL that no request can have, also where nobody would follow it."""
    invalid = bool(_UNSEEN(location))  # which `urljoin` drops
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        if parts.scheme in DEFAULT_PORTS and parts.hostname:
            origin_of(target)
            _target(target)
    except (ValueError, RegistryError):
        invalid = True
    if invalid:
        raise RegistryError(f"{where} redirects to an invalid URL: refused")


def _redirected(url: str, location: str) -> str:
    target = urljoin(url, location)  # `_check_location` has read it
    parts = urlsplit(target)
    origin_of(target)
    if "@" in parts.netloc:
        raise RegistryError(f"{origin_of(url)} redirects to a URL with a user name in it: refused")
    if parts.scheme == "http" and urlsplit(url).scheme == "https":
        raise RegistryError(f"{origin_of(url)} redirects from https to plain http: refused")
    return target.partition("#")[0]


def retry_after(header: str, now: float) -> float | None:
    """Seconds of a Retry-After header, None if it cannot be read. now: Unix seconds."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    if not text:
        return None
    from email.utils import parsedate_to_datetime  # 3.5 ms, for what few servers send

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def wait_seconds(tried: int, wanted: float | None) -> float:
    """How long to wait after `tried` tries, where the server asked for `wanted` seconds."""
    return wanted if wanted is not None else min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (tried - 1))


def is_pull_limit(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this 429 is Docker Hub's pull limit, which lasts hours, and not its guard against floods."""
    text = body[:4096].lower()
    remaining = headers.get("ratelimit-remaining", "").partition(";")[0].strip()
    return remaining == "0" or any(words in text for words in PULL_LIMIT)
