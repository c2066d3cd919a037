"""Requests as a well-behaved client makes them: in turn, again when it helps, across redirects.

    ask = up to 5 times:  send, then follow at most 5 redirects

A redirect never leads from https to http, and where scheme, host or port change, nothing but Accept goes along: not
Authorization, nor what the operator has sent to one server. A token request follows none to another origin. Every
request waits for its server's turn (`hosts`) and no wait outlives the run's deadline.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from urllib.parse import urljoin, urlsplit

from archfit.errors import RegistryError
from archfit.registry.transport import retry_policy
from archfit.registry.transport.connection import Reply, Unreachable, Wire
from archfit.registry.transport.servers import Hosts

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LIMITS = re.compile(r"[0-9]{1,12}(?:;w=[0-9]{1,12})?", re.ASCII).fullmatch


class Asker:
    """now: Unix seconds, for Retry-After dates. wait: sleeps for some seconds."""

    def __init__(
        self, wire: Wire, hosts: Hosts, now: Callable[[], float], wait: Callable[[float], object]
    ) -> None:
        self.wire = wire
        self.hosts = hosts
        self.requests: dict[str, int] = {}
        self._now = now
        self._wait = wait
        self._counting = threading.Lock()

    def ask(
        self,
        kind: str,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        home: str,
        limit: int,
        content: bytes = b"",
        patient: bool = True,
    ) -> Reply:
        """The last answer. kind: what is counted. home: origin of the registry that this is for.

        patient: asked again when it helps; another server is asked instead where not. Raises RegistryError where
        there is no answer at all, or one that is refused.
        """
        tried = 0
        host = self.hosts.of(origin_of(url))
        quiet = host.quiet(self._now())
        if quiet and not self._pause(quiet):
            raise RegistryError(f"{origin_of(url)} asked to be left alone for {quiet:.0f} s", status=429)
        while True:
            tried += 1
            try:
                reply = self._follow(kind, method, url, headers, home=home, limit=limit, content=content)
            except Unreachable as error:
                again = patient and error.again and tried < retry_policy.CONNECTION_TRIES
                if not again or not host.again() or not self._pause(retry_policy.wait_seconds(tried, None)):
                    raise
                continue
            if not patient or reply.status not in retry_policy.AGAIN or tried == retry_policy.TRIES:
                return reply
            if reply.status == 429 and retry_policy.is_pull_limit(reply.headers, reply.body):
                return reply
            asked = retry_policy.retry_after(reply.headers.get("retry-after", ""), self._now())
            if asked:
                host.hush(self._now() + asked)
            if not host.again() or not self._pause(retry_policy.wait_seconds(tried, asked)):
                return reply

    def _pause(self, seconds: float) -> bool:
        """Wait, unless the deadline would pass meanwhile."""
        if seconds >= self.wire.left():
            return False
        self._wait(seconds)
        return True

    def _follow(
        self,
        kind: str,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        home: str,
        limit: int,
        content: bytes,
    ) -> Reply:
        sent = dict(headers)
        start = origin_of(url)
        for _ in range(MAX_REDIRECTS + 1):
            reply = self._send(kind, method, url, sent, home=home, limit=limit, content=content)
            location = reply.headers.get("location", "")
            if reply.status not in _REDIRECTS or not location:
                return reply
            here, url = url, _next(url, location)
            if origin_of(url) != origin_of(here):
                sent = {name: value for name, value in sent.items() if name == "accept"}
                if kind == "token":
                    raise RegistryError(f"the token service at {start} redirects elsewhere: refused")
        raise RegistryError(f"{start} redirects more than {MAX_REDIRECTS} times")

    def _send(
        self,
        kind: str,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        home: str,
        limit: int,
        content: bytes,
    ) -> Reply:
        origin = origin_of(url)
        host = self.hosts.of(origin)
        wave = host.begin(self.wire.left())
        try:
            with self._counting:
                self.requests[kind] = self.requests.get(kind, 0) + 1
            reply = self.wire.send(method, url, headers, limit=limit, content=content, foreign=origin != home)
        finally:
            host.end()
        if reply.status in retry_policy.BUSY:
            host.busy(wave)
        limits = reply.headers.get("ratelimit-remaining", "")
        if _LIMITS(limits):  # other words might be what the server was sent
            host.limits = limits
        return reply


def origin_of(url: str) -> str:
    """`scheme://host[:port]`, lower case, without a default port. Raises RegistryError for no http or https URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not host:
        raise RegistryError("the registry leads to something that is no http or https URL: refused")
    bracketed = f"[{host}]" if ":" in host else host
    default = {"https": 443, "http": 80}[parts.scheme]
    return f"{parts.scheme}://{bracketed}" + (f":{port}" if port and port != default else "")


def _next(url: str, location: str) -> str:
    """Where a redirect leads. Raises RegistryError for what must not be followed."""
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
    except ValueError:
        raise RegistryError(f"{origin_of(url)} redirects to something that is no URL: refused") from None
    origin_of(target)
    if "@" in parts.netloc:
        raise RegistryError(f"{origin_of(url)} redirects to a URL with a user name in it: refused")
    if parts.scheme == "http" and urlsplit(url).scheme == "https":
        raise RegistryError(f"{origin_of(url)} redirects from https to plain http: refused")
    return target.partition("#")[0]
