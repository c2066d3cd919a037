"""Requests with tries, pauses and redirects.

    send        waits where the server asked for a pause; then up to 5 tries
    a try       the request, then at most 5 redirects
    a request   waits for a free place at its server (`servers`), then goes to `HttpTransport`

    408, 500, 502, 503, 504     up to 5 tries in all
    429                         the same, but not for Docker Hub's pull limit, which lasts hours
    connection errors           up to 3 tries; a wrong certificate, an unknown name or a refused address: 1

Waits are Retry-After, in seconds or as an HTTP date (RFC 9110 10.2.3), else 0.25 s, doubled for each try up to 4 s. A
wait that would end after the deadline is not begun.

A redirect never leads from https to http. Where scheme, host or port change, only Accept goes along: not Authorization,
nor any header that the operator has set for one server. A token request follows no redirect to another origin. No wait
lasts longer than the run's deadline.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from urllib.parse import urljoin, urlsplit

from archfit.registry.http.request import Reply, Request, Unreachable, origin_of
from archfit.registry.http.servers import Servers
from archfit.registry.http.transport import HttpTransport
from archfit.registry.registry_errors import RegistryError

TRIES = 5
CONNECTION_TRIES = 3
RETRIED = frozenset({408, 429, 500, 502, 503, 504})
BUSY = frozenset({429, 503})
_FIRST_WAIT = 0.25
_LONGEST_WAIT = 4.0
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LIMITS = re.compile(r"[0-9]{1,12}(?:;w=[0-9]{1,12})?", re.ASCII).fullmatch


class RetryingClient:
    """Safe to use from several threads. now: Unix seconds, for Retry-After dates. wait: sleeps for some seconds.

    requests: how many were sent, by kind. sparing: manifests are not asked for where few pulls are left.
    """

    def __init__(
        self,
        transport: HttpTransport,
        servers: Servers,
        now: Callable[[], float],
        wait: Callable[[float], object],
    ) -> None:
        self.transport = transport
        self.servers = servers
        self.requests: dict[str, int] = {}
        self.sparing = False
        self._replies: dict[tuple[str, int], int] = {}
        self._now = now
        self._wait = wait
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
        pause = server.paused_for(self._now())
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
                again = request.retry and error.retryable and tried < CONNECTION_TRIES
                if not (again and server.may_retry() and self._pause(wait_seconds(tried, None))):
                    raise
                continue
            if not request.retry or reply.status not in RETRIED or tried == TRIES:
                return reply
            if reply.status == 429 and is_pull_limit(reply.headers, reply.body):
                return reply
            asked = retry_after(reply.headers.get("retry-after", ""), self._now())
            if asked:
                server.pause_until(self._now() + asked)
            if not (server.may_retry() and self._pause(wait_seconds(tried, asked))):
                return reply

    def _pause(self, seconds: float) -> bool:
        """Wait, unless the deadline would pass meanwhile."""
        if seconds >= self.transport.left():
            return False
        self._wait(seconds)
        return True

    def _follow(self, request: Request) -> Reply:
        start = request.origin
        for _ in range(MAX_REDIRECTS + 1):
            reply = self._send_once(request)
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

    def _send_once(self, request: Request) -> Reply:
        server = self.servers.of(request.origin)
        wave = server.begin(self.transport.left())
        try:
            with self._counting:
                self.requests[request.kind] = self.requests.get(request.kind, 0) + 1
            reply = self.transport.send(request)
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

    def _count_reply(self, request: Request, status: int) -> None:
        key = request.origin.partition("://")[2], status
        with self._counting:
            self._replies[key] = self._replies.get(key, 0) + 1


def _redirected(url: str, location: str) -> str:
    """Where a redirect leads. Raises RegistryError for what must not be followed."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
    except ValueError:
        raise RegistryError(f"{origin_of(url)} redirects to an invalid URL: refused") from None
    origin_of(target)
    if "@" in parts.netloc:
        raise RegistryError(f"{origin_of(url)} redirects to a URL with a user name in it: refused")
    if parts.scheme == "http" and urlsplit(url).scheme == "https":
        raise RegistryError(f"{origin_of(url)} redirects from https to plain http: refused")
    return target.partition("#")[0]


def retry_after(header: str, now: float) -> float | None:
    """Seconds to wait that a Retry-After header asks for, None if it cannot be read. now: Unix seconds."""
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


def wait_seconds(tried: int, asked: float | None) -> float:
    """How long to wait after `tried` tries, where the server asked for `asked` seconds."""
    return asked if asked is not None else min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (tried - 1))


def is_pull_limit(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this 429 is Docker Hub's pull limit, which lasts hours, and not its guard against floods."""
    text = body[:4096].lower()
    if b"pull rate limit" in text or b"increase-rate-limit" in text:
        return True
    remaining = headers.get("ratelimit-remaining", "").partition(";")[0].strip()
    return remaining == "0"
